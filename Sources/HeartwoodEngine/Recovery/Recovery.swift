import HeartwoodFiles

/// Brings the log into order before the tree is read from it.
///
/// With `Way.copying`, the log continues in a new segment after an unclean end, and nothing is overwritten: a
/// crash during recovery leaves everything as it was.
struct Recovery {
  let folder: StoreFolder
  let anchor: AnchorFile
  let options: EngineOptions
  let path: [LogSegment]
  /// The segments before `path` that contain values.
  let earlier: [LogSegment]
  let ends: [UInt32: LogSegments.SegmentEnd]
  let scan: LogScan

  enum Way {
    /// Copies the end of the log to new segments. Required after a failed sync on a copy-on-write file
    /// system.
    case copying
    /// Rewrites the end of the log where it is, which needs no room on most file systems.
    case inPlace
  }

  /// The log of a store that was closed: it ends where the anchor says, and continues there.
  func cleanLog() throws(EngineError) -> Log {
    // The scan has reached this end. If the last segment has no frames yet, the last frame is before it.
    try makeLog(path, end: anchor.current.knownDurable)
  }

  /// The log of a store that was not closed.
  func run(
    _ contents: AnchorFile.Contents, listing: LogFinder.Listing, _ checkpoint: NamedCheckpoint?, next: UInt32,
    _ way: Way = .copying
  ) throws(EngineError) -> Log {
    // Read-only: frames that are not known to be durable are left in place and not shown.
    if options.access == .readOnly { return try makeLog(before(scan.durableEnd), end: scan.durableEnd) }
    if way == .inPlace { return try recoverInPlace(listing, contents, checkpoint, next: next) }
    // 1. Copy transactions that are not known to be durable to new segments; sync all but the last one.
    var copy = try unlinkingOnFailure(from: next) { () throws(EngineError) in try copyTail(number: next) }
    // 2. Sync the last one before anything refers to it.
    let factory = LogSegmentFactory(folder: folder, identifier: contents.slot.identifier, options: options)
    try unlinkingOnFailure(from: next) { () throws(EngineError) in
      try factory.makeDurable(copy.segment)
    }
    // 3. Name it in the anchor. After a crash before this the next opening recovers again.
    try nameInAnchor(&copy, checkpoint)
    // 4. Unlink unreferenced files, unless a slot of the anchor is lost, which may have referred to them.
    let path = before(scan.durableEnd) + copy.segments
    if !contents.isIncomplete { unlinkOrphans(listing, earlier + path, checkpoint) }
    unlinkNewHolds(listing)
    return Log(
      folder: folder, identifier: contents.slot.identifier, options: options, path: earlier + path,
      last: copy.segment, end: copy.end, filled: max(Format.firstFillBytes, copy.end.position.offset),
      ends: ends)
  }

  private func makeLog(_ path: [LogSegment], end: LogPoint) throws(EngineError) -> Log {
    guard let last = path.last, last.number == end.position.segment else {
      throw EngineError.damaged(
        "the log does not end in its last segment; restore the file", file: folder.path)
    }
    return Log(
      folder: folder, identifier: last.header.identifier, options: options, path: earlier + path, last: last,
      end: end, filled: last.limit, ends: ends)
  }

  /// The segments up to the one that contains a point.
  private func before(_ point: LogPoint) -> [LogSegment] {
    guard let index = path.firstIndex(where: { $0.number == point.position.segment }) else { return path }
    return Array(path[...index])
  }

  // MARK: Copying the tail

  /// Unlinks the new segments, which are unreferenced, if `body` throws `.noSpace`. Otherwise each failed
  /// opening would use more room.
  private func unlinkingOnFailure<Result>(
    from number: UInt32, _ body: () throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    do {
      return try body()
    } catch {
      guard error.code == .noSpace else { throw error }
      let names = (try? folder.entries()) ?? []
      folder.unlink(
        names.filter { name in SegmentName.parse(name).map { $0.isLog && $0.number >= number } == true })
      throw error
    }
  }

  private struct Copy {
    var segments: [LogSegment]
    var end: LogPoint
    /// The segment that is being written.
    var segment: LogSegment { segments[segments.count - 1] }
  }

  private func copyTail(number: UInt32) throws(EngineError) -> Copy {
    let tail = scan.frames[scan.durableCount..<scan.validCount].filter {
      $0.header.kind == Format.transactionKind
    }
    let start = scan.durableEnd
    let factory = LogSegmentFactory(folder: folder, identifier: anchor.current.identifier, options: options)
    let numbers = SegmentNumbers(next: number)
    func make(_ predecessor: LogPoint) throws(EngineError) -> LogSegment {
      try factory.make(
        number: try numbers.take(), predecessor: predecessor,
        copiedThrough: tail.isEmpty ? 0 : start.sequence &+ UInt64(tail.count) &- 1,
        durableThrough: start.sequence &- 1)
    }
    let first = try make(start)
    var copy = Copy(segments: [first], end: first.header.firstPoint)
    let builder = FrameBuilder()
    for frame in tail {
      if copy.end.position.offset >= options.segmentBytes {
        // A recovery after a crash accepts the last segment once its copy is complete, so all segments before
        // it must be durable.
        try factory.makeDurable(copy.segment)
        let next = try make(copy.end)
        copy.segments.append(next)
        copy.end = next.header.firstPoint
      }
      try append(frame, with: builder, to: &copy)
    }
    return copy
  }

  /// Appends a frame, re-encoded for its new position. Checkpoints are not copied, because nothing names
  /// them.
  private func append(
    _ frame: ScannedFrame, with builder: FrameBuilder, to copy: inout Copy
  ) throws(EngineError) {
    let offset = copy.end.position.offset
    var header = frame.header
    header.sequence = copy.end.sequence
    header.previous = copy.end.chain
    header.durableThrough = copy.segment.header.durableThrough
    let copied: (bytes: Int, checksum: UInt64)
    if let large = try largeCopy(of: frame, header, in: copy.segment, at: offset) {
      copied = large
    } else {
      copied = try smallCopy(of: frame, header, with: builder, in: copy.segment, at: offset)
    }
    copy.end = LogPoint(
      position: LogPosition(segment: copy.segment.number, offset: offset + copied.bytes),
      sequence: copy.end.sequence &+ 1, chain: copied.checksum,
      generation: header.isLast ? header.transaction : copy.end.generation)
  }

  private func smallCopy(
    of frame: ScannedFrame, _ header: FrameHeader, with builder: FrameBuilder, in segment: LogSegment,
    at offset: Int
  ) throws(EngineError) -> (bytes: Int, checksum: UInt64) {
    builder.begin(at: offset, segmentSeed: segment.seed)
    var records = RecordIterator(frame.payload, firstOffset: 0)
    while let (record, _) = records.next() {
      _ = builder.append(operation: record.operation, key: record.key, value: record.storedValue)
    }
    let copied = builder.finish(header)
    try write(copied.bytes, to: segment, at: offset)
    try segment.publish(copied.bytes, at: offset)
    return (copied.bytes.count, copied.checksum)
  }

  /// Copies a large value, which has a frame of its own, without buffering it; returns nil for other frames.
  private func largeCopy(
    of frame: ScannedFrame, _ header: FrameHeader, in segment: LogSegment, at offset: Int
  ) throws(EngineError) -> (bytes: Int, checksum: UInt64)? {
    var records = RecordIterator(frame.payload, firstOffset: 0)
    guard header.recordCount == 1, let (record, _) = records.next(), record.operation == Format.putOperation,
      record.valueBytes >= options.frameBytes
    else { return nil }
    let large = LargeFrame(
      header: header, key: record.key, valueBytes: record.valueBytes, segmentSeed: segment.seed,
      offset: offset)
    let copied: (bytes: Int, checksum: UInt64)
    do {
      copied = try large.write({ record.storedValue }) { (bytes, offset) throws(EngineError) in
        try write(bytes, to: segment, at: offset)
      }
    } catch {
      let message = "the end of the log could not be copied"
      throw (error as? EngineError) ?? EngineError(.inputOutput, message, underlying: error)
    }
    try segment.publish(copied.bytes, at: offset)
    return copied
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, to segment: LogSegment, at offset: Int
  ) throws(EngineError) {
    do {
      try segment.file.writeFully(bytes, at: Int64(offset))
    } catch {
      throw EngineError.files(error, "the end of the log could not be copied")
    }
  }

  private func nameInAnchor(_ copy: inout Copy, _ checkpoint: NamedCheckpoint?) throws(EngineError) {
    let (number, end) = (copy.segment.number, copy.end)
    try update(checkpoint) {
      $0.lastLogSegment = number
      $0.nextSegment = number + 1
      $0.knownDurable = end
    }
  }

  func update(
    _ checkpoint: NamedCheckpoint?, _ change: (inout AnchorSlot) -> Void
  ) throws(EngineError) {
    let outcome = anchor.update {
      change(&$0)
      $0.isClean = false
      $0.checkpoint = checkpoint?.position
      $0.checkpointChecksum = checkpoint?.checksum ?? 0
    }
    switch outcome {
    case .written: return
    case .failed(let error), .unsynced(let error): throw error
    }
  }

  func unlinkOrphans(
    _ listing: LogFinder.Listing, _ path: [LogSegment], _ checkpoint: NamedCheckpoint?
  ) {
    let logs = Set(path.map(\.number))
    let pages = Set((checkpoint?.pageSegments ?? []).map(\.number))
    let names =
      listing.logs.filter { !logs.contains($0) }.map(SegmentName.log)
      + listing.pages.filter { !pages.contains($0) }.map(SegmentName.pages)
      + (listing.hasNewAnchor ? [StoreFolder.newAnchorName] : [])
    folder.unlink(names)
  }

  /// Unlinks what a change of the holds has left that was cut short. Nothing reads it.
  func unlinkNewHolds(_ listing: LogFinder.Listing) {
    if listing.hasNewHolds { folder.unlink([StoreFolder.newHoldsName]) }
  }
}
