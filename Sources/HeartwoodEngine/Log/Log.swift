import HeartwoodBytes
import HeartwoodFiles

/// The log of an open store: its segments in order, and the end where frames are appended.
///
/// Invariants: `durable` ≤ `end`. Frames are appended only to the last segment of `path`, and only after a
/// slot of the anchor names that segment.
///
/// Not `Sendable`, and of an open store reached only through `WriterState`: so its members run with the writer lock held.
/// Other threads use the parts that `path` and `synced` are.
final class Log {
  let folder: StoreFolder
  let table = SegmentTable()
  let identifier: StoreIdentifier
  let options: EngineOptions

  /// The segments, and the published part of the log.
  let path: LogSegments
  /// The durable part of the log.
  let synced: DurableState
  /// Position of the next frame.
  private(set) var end: LogPoint
  /// Bytes of all frames appended since the store was opened, by other processes too.
  private(set) var appendedBytes = 0
  /// Set if bytes after `end` in the last segment remain from a failed write or from a rolled-back
  /// transaction whose frames were partly written. The log then continues in a new segment.
  private(set) var mustRoll = false
  /// Set if a write after `end` failed for lack of space. Its bytes are overwritten instead; see
  /// `OpenStore.eraseRefusedWrite`.
  private(set) var lacksRoom = false
  /// The place of a torn write: a frame whose writing failed, of which all or some bytes may be there.
  private(set) var tornWrite: (segment: LogSegment, offset: Int)?
  /// Segments begun for transactions that were rolled back. The anchor may name the last of them.
  private(set) var abandoned: [UInt32] = []
  /// Writes to the last segment.
  private var output: SegmentWriter

  let builder: FrameBuilder

  /// - Parameters:
  ///   - path: All segments, in order; the last one is appended to.
  ///   - end: Position of the next frame.
  init(
    folder: StoreFolder, identifier: StoreIdentifier, options: EngineOptions, path: [LogSegment],
    last: LogSegment, end: LogPoint, filled: Int, ends: [UInt32: LogSegments.SegmentEnd] = [:],
    durable: LogPoint? = nil
  ) {
    self.folder = folder
    self.identifier = identifier
    self.options = options
    builder = FrameBuilder(fullBytes: options.frameBytes)
    self.end = end
    synced = DurableState(path, durable: durable ?? end)
    output = SegmentWriter(last, filled: filled, options: options)
    for segment in path { table.add(segment) }
    self.path = LogSegments(path, published: end, ends: ends)
  }

  /// All live segments, in the log's order.
  var segments: [LogSegment] { path.segments }

  /// The end of the durable part.
  var durable: LogPoint { synced.durable }

  /// The end of the published part: frames before it are never rolled back.
  var published: LogPoint { path.published }

  /// The segment that is appended to.
  var last: LogSegment { output.segment }

  /// The preallocated zeros of the last segment.
  var preallocator: LogPreallocator { output.preallocator }

  /// Greatest size of a segment in bytes: the size that makes the log continue in another segment, and one
  /// more frame, which may contain a single large value.
  static func capacity(_ options: EngineOptions) -> Int {
    min(options.segmentBytes + Format.valueLimit + (64 << 20), Format.segmentLimit)
  }

  // MARK: Frames of other processes

  /// Continues the log after frames that another process has appended.
  ///
  /// - Parameters:
  ///   - later: The segments after the last one, in order.
  ///   - bytes: Total bytes of the appended frames.
  func follow(_ later: [LogSegment], end: LogPoint, durable: LogPoint, bytes: Int) {
    take(segments + later, end: end, durable: durable)
    appendedBytes += bytes
  }

  /// Replaces all segments.
  func replaceSegments(
    by segments: [LogSegment], end: LogPoint, durable: LogPoint, ends: [UInt32: LogSegments.SegmentEnd],
    bytes: Int
  ) {
    path.note(ends)
    take(segments, end: end, durable: durable)
    appendedBytes += bytes
  }

  private func take(_ segments: [LogSegment], end: LogPoint, durable: LogPoint) {
    guard let last = segments.last else { return }
    for segment in segments where table.slot(segment.number) == nil { table.add(segment) }
    path.replace(by: segments, published: end)
    self.end = end
    continueInPlace()
    synced.begin(segments, durable: durable)
    assert(hasSoundEnds, "The log's ends are out of order after other processes have written.")
    if last === self.last {
      preallocator.stop()
    } else {
      beginPreallocation(in: last, filled: last.limit)
    }
  }

  /// Starts preallocation in another segment.
  private func beginPreallocation(in segment: LogSegment, filled: Int) {
    preallocator.stop()
    output = SegmentWriter(segment, filled: filled, options: options)
  }

  /// Prepares for appending again. Another process may have preallocated zeros, and preallocation is stopped
  /// now.
  func resume() throws(EngineError) {
    preallocator.resume(filled: max(end.position.offset, try folder.size(of: last.file)))
  }

  // MARK: Appending

  /// Begins a frame at the end of the log.
  func beginFrame() {
    builder.begin(at: end.position.offset, segmentSeed: last.seed)
  }

  /// Completes the frame under construction, appends it and begins the next.
  ///
  /// - Parameters:
  ///   - isSynced: For the last frame: whether the writer waits for a sync of it.
  ///   - time: For the last frame: when the transaction was committed, nanoseconds since 1970.
  func appendTransactionFrame(
    _ number: UInt64, isLast: Bool, isSynced: Bool = false, isInternal: Bool = false, time: Int64 = 0,
    puts: UInt64 = 0, deletes: UInt64 = 0, makingRoom: () -> Bool = { false }
  ) throws(EngineError) {
    var header = nextHeader(Format.transactionKind, transaction: number)
    if isLast {
      header.flags = Format.lastFrameFlag | (isInternal ? Format.internalFlag : 0)
      header.time = time
      header.puts = puts
      header.deletes = deletes
    }
    let frame = builder.finish(header)
    try append(
      frame.bytes, unsyncedAt: isLast && !isSynced ? time : nil,
      next: point(behind: frame.bytes.count, frame.checksum, isLast ? number : nil), makingRoom)
    beginFrame()
  }

  /// Appends a frame with a single put, piece by piece, in the middle of a transaction; returns its record's
  /// position.
  func appendLargeFrame(
    _ number: UInt64, key: UnsafeRawBufferPointer, valueBytes: Int,
    _ nextPiece: () throws -> UnsafeRawBufferPointer
  ) throws -> ValueReference {
    let frame = LargeFrame(
      header: nextHeader(Format.transactionKind, transaction: number), key: key, valueBytes: valueBytes,
      segmentSeed: last.seed, offset: end.position.offset)
    let reference = ValueReference(
      segment: last.number, offset: UInt32(truncatingIfNeeded: frame.recordOffset))
    do {
      try last.checkHasRoom(upTo: frame.byteLimit)
      let written = try frame.write(nextPiece) { (bytes, offset) throws(EngineError) in
        try Self.write(bytes, at: offset, over: output)
      }
      try last.publish(written.bytes, at: frame.offset)
      end = point(behind: written.bytes, written.checksum, nil)
      appendedBytes += written.bytes
    } catch {
      abandonTail(at: frame.offset, error)
      throw error
    }
    return reference
  }

  /// Appends a checkpoint; returns its position and checksum.
  func append(_ checkpoint: CheckpointRecord) throws(EngineError) -> (position: LogPosition, checksum: UInt64)
  {
    let header = nextHeader(Format.checkpointKind, transaction: checkpoint.generation)
    let position = end.position
    let frame = checkpoint.frame(header, segmentSeed: last.seed, offset: position.offset)
    try frame.bytes.withBytes { (bytes) throws(EngineError) in
      try append(bytes, next: point(behind: bytes.count, frame.checksum, nil))
    }
    return (position, frame.checksum)
  }

  private func nextHeader(_ kind: UInt8, transaction: UInt64) -> FrameHeader {
    FrameHeader(
      kind: kind, flags: 0, payloadBytes: 0, recordCount: 0, sequence: end.sequence, transaction: transaction,
      previous: end.chain, durableThrough: durable.sequence &- 1, time: 0, puts: 0, deletes: 0)
  }

  /// The point after a frame of `count` bytes at the end of the log.
  private func point(behind count: Int, _ checksum: UInt64, _ generation: UInt64?) -> LogPoint {
    LogPoint(
      position: LogPosition(segment: end.position.segment, offset: end.position.offset + count),
      sequence: end.sequence &+ 1, chain: checksum, generation: generation ?? end.generation)
  }

  /// Writes a finished frame at the end of the log. On an error `end` does not move, and the log continues in
  /// a new segment.
  ///
  /// - Parameter makingRoom: Called if the disk is full; returns true to try once more.
  private func append(
    _ bytes: UnsafeRawBufferPointer, unsyncedAt time: Int64? = nil, next: LogPoint,
    _ makingRoom: () -> Bool = { false }
  ) throws(EngineError) {
    // Read once: each access counts a reference.
    let (output, offset) = (output, end.position.offset)
    assert(isInLastSegment, "A frame is appended to a segment that is not the last one.")
    do throws(EngineError) {
      try output.segment.checkHasRoom(upTo: offset + bytes.count)
      do throws(EngineError) {
        try Self.write(bytes, at: offset, unsyncedAt: time, over: output)
      } catch {
        guard error.code == .noSpace, makingRoom() else { throw error }
        try Self.write(bytes, at: offset, unsyncedAt: time, over: output)
      }
      try output.segment.publish(bytes, at: offset)
    } catch {
      abandonTail(at: offset, error)
      throw error
    }
    assert(next.sequence == end.sequence &+ 1, "A frame does not follow the last one.")
    end = next
    appendedBytes += bytes.count
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, unsyncedAt time: Int64? = nil,
    over output: SegmentWriter
  ) throws(EngineError) {
    do {
      try output.write(bytes, at: offset, unsyncedAt: time)
    } catch {
      throw EngineError.files(error, "the log could not be written")
    }
  }

  private func abandonTail(at offset: Int, _ error: any Error) {
    noteFailure(error)
    mustRoll = true
    tornWrite = (last, offset)
  }

  /// Records that a write of the log, or creating a segment, failed.
  func noteFailure(_ error: any Error) {
    if (error as? EngineError)?.code == .noSpace { lacksRoom = true }
  }

  /// Overwrites the bytes after the end of the log with zeros. Does not sync them.
  func zeroAfterEnd() throws(EngineError) {
    do {
      try preallocator.wipe(from: end.position.offset)
    } catch {
      throw EngineError.files(
        error, "the written part of a failed commit could not be overwritten with zeros")
    }
  }

  /// Continues the log at `end`, after the caller has made the zeros there durable or has begun another
  /// segment.
  func continueInPlace() {
    mustRoll = false
    lacksRoom = false
    tornWrite = nil
  }

  /// Erases the header of a torn write. All bytes of its frame may be there, and it must not be found in the
  /// short time until the log continues elsewhere.
  ///
  /// - Returns: Whether a sync has to make that durable.
  func eraseTornWrite() throws(EngineError) -> Bool {
    guard let (segment, offset) = tornWrite else { return false }
    let zeros = [UInt8](repeating: 0, count: Format.frameHeaderBytes)
    let found = try StoreFolder.read(segment.file, at: offset, count: zeros.count, path: segment.path)
    guard found.count == zeros.count, found != zeros else { return false }
    do {
      try segment.file.write(all: zeros, at: offset)
    } catch {
      throw EngineError.files(error, "the written part of a failed commit could not be erased")
    }
    return true
  }

  /// Moves the end of the log back to a point. The frames after it are rolled back, and the segments that
  /// were begun for them are abandoned.
  func rollBack(to point: LogPoint) {
    guard point != end else { return }
    if point.position.segment != last.number { abandonSegments(behind: point) }
    end = point
    mustRoll = true
    assert(hasSoundEnds, "A published or durable frame was rolled back.")
  }

  private func abandonSegments(behind point: LogPoint) {
    let (last, left) = path.cut(behind: point.position.segment)
    synced.forget(behind: point)
    for segment in left { _ = table.remove(segment.number) }
    abandoned += left.map(\.number)
    guard let last else { return }
    beginPreallocation(in: last, filled: last.limit)
    preallocator.stop()
  }

  /// Records a new segment that the anchor may or may not name.
  func abandon(_ number: UInt32) { abandoned.append(number) }

  /// Called when the files of the abandoned segments are deleted.
  func forgetAbandoned() { abandoned = [] }

  /// A request to sync everything appended so far. The sync itself needs no lock.
  func syncRequest() -> SyncRequest { synced.request(with: last, end: end) }

  // MARK: Continuing in a new segment

  /// Requires a new segment before the next frame.
  func requireRoll() { mustRoll = true }

  /// Continues the log in a new segment.
  ///
  /// - Precondition: A slot of the anchor names the segment.
  func take(_ segment: LogSegment, filled: Int) {
    require(
      segment.number > last.number && segment.header.predecessor == end,
      "A new segment does not continue the log at its end.")
    let first = segment.header.firstPoint
    // In the middle of a transaction, the published part ends before it.
    let isInside = path.published != end
    synced.continueLog(after: last, end: end, at: first)
    end = first
    continueInPlace()
    table.add(segment)
    path.append(segment, published: isInside ? nil : first)
    beginPreallocation(in: segment, filled: filled)
  }
}

// MARK: Invariants

extension Log {
  /// Whether the durable and the published part end before the log does.
  private var hasSoundEnds: Bool { durable.sequence <= end.sequence && published.sequence <= end.sequence }

  /// Whether the end is in the last segment.
  private var isInLastSegment: Bool {
    end.position.segment == last.number && segments.last?.number == last.number
  }
}
