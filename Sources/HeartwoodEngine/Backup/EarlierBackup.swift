import HeartwoodFiles

/// A backup that is in the folder already, as it says of itself.
struct EarlierBackup {
  let slot: AnchorSlot
  /// The segments of its log, by number.
  let logs: [UInt32: BackupContents.LogPart]
  /// Its segments of pages, by number.
  let pages: [UInt32: CheckpointRecord.Segment]
  /// All segments of its log, in order.
  private let segments: [LogSegment]

  /// Reads what the anchor names, and nothing that lies behind it.
  static func read(
    _ folder: StoreFolder, _ found: AnchorFile.Contents
  ) throws(EngineError) -> EarlierBackup {
    let options = EngineOptions(access: .readOnly, createsStore: false, reading: .buffered)
    let finder = LogFinder(folder: folder, identifier: found.slot.identifier, options: options)
    let log = try LogView(finder, found.slot, upTo: (found.slot.knownDurable, found.slot.knownDurable))
    return EarlierBackup(
      slot: found.slot, logs: try parts(log.segments, found.slot.knownDurable, log.checkpoint),
      pages: Dictionary((log.checkpoint?.pageSegments ?? []).map { ($0.number, $0) }) { first, _ in first },
      segments: log.segments)
  }

  /// Where the segments end, each of which has to end with the frame that is said to.
  private static func parts(
    _ segments: [LogSegment], _ end: LogPoint, _ checkpoint: NamedCheckpoint?
  ) throws(EngineError) -> [UInt32: BackupContents.LogPart] {
    var ends = checkpoint?.ends ?? [:]
    for segment in segments {
      if let predecessorEnd = segment.header.predecessor {
        ends[predecessorEnd.position.segment] = LogSegments.SegmentEnd(predecessorEnd)
      }
    }
    ends[end.position.segment] = LogSegments.SegmentEnd(end)
    var parts: [UInt32: BackupContents.LogPart] = [:]
    for segment in segments {
      guard let partEnd = ends[segment.number] else { continue }
      guard try segment.ends(at: partEnd) else {
        throw EngineError.damaged(
          "the backup that is there is damaged; name another folder", file: segment.path,
          offset: partEnd.offset)
      }
      parts[segment.number] = BackupContents.LogPart(header: segment.header, end: partEnd)
    }
    return parts
  }

  // MARK: Of the same past

  /// Throws where the store is not what this backup was made from, some time later.
  func requireOrigin(_ contents: BackupContents, _ folder: StoreFolder) throws(EngineError) {
    guard slot.knownDurable.sequence <= contents.end.sequence,
      slot.knownDurable.generation <= contents.end.generation
    else {
      throw EngineError(
        .exists,
        "the backup in the folder, of generation \(slot.knownDurable.generation), is newer than the store, which is at "
          + "\(contents.end.generation); name another folder", file: folder.path)
    }
    // Where the frame that the backup ends with is no longer in the store, of a segment that was there when the backup was
    // made is asked that the backup has it too.
    let hasEnd = contents.logs.contains { $0.header.number == slot.lastLogSegment }
    for part in contents.logs {
      guard let mine = logs[part.header.number] else {
        guard hasEnd || part.header.number >= slot.nextSegment else { throw Self.wentItsOwnWay(folder) }
        continue
      }
      guard mine.header == part.header else { throw Self.wentItsOwnWay(folder) }
      if mine.end == part.end { continue }
      if try continuesAfter(part, contents) { continue }
      guard try wasRecovered(part, contents) else { throw Self.wentItsOwnWay(folder) }
    }
    for part in contents.pages {
      guard let mine = pages[part.number] else { continue }
      guard mine.extent != part.extent || mine.chain == part.chain else { throw Self.wentItsOwnWay(folder) }
    }
  }

  /// Whether the store has gone on in the segment that the backup ends in, or from a place in it behind which there are
  /// but checkpoints: a recovery copies transactions only, where the slot of the anchor is lost that knew more.
  private func continuesAfter(
    _ part: BackupContents.LogPart, _ contents: BackupContents
  ) throws(EngineError) -> Bool {
    let end = slot.knownDurable
    guard part.header.number == end.position.segment else { return false }
    guard part.end.offset <= end.position.offset else { return true }
    let predecessorEnds = contents.logs.lazy.compactMap(\.header.predecessor)
    let predecessorEnd = predecessorEnds.first { $0.position.segment == end.position.segment }
    guard let last = segments.last, predecessorEnd?.generation == end.generation else { return false }
    return try last.ends(at: part.end)
  }

  /// Whether a recovery of the store has written the transactions at the end of this backup once more: those that nothing proved to be
  /// durable are copied to a new segment after a writer was killed, and the log branches before them.
  private func wasRecovered(
    _ part: BackupContents.LogPart, _ contents: BackupContents
  ) throws(EngineError) -> Bool {
    let branch = contents.logs.map(\.header).first { $0.predecessor?.position.segment == part.header.number }
    guard let branch, let point = branch.predecessor,
      try segments.first(where: { $0.number == part.header.number })?.ends(at: part.end) == true
    else { return false }
    var old = try LogWalk(LogSegments.tail(of: segments)[...], from: point, upTo: slot.knownDurable.position)
    let copies = contents.logs.compactMap { contents.files.logs[$0.header.number] }.drop {
      $0.number != branch.number
    }
    var new = try LogWalk(copies, from: branch.firstPoint, upTo: contents.end.position)
    while let frame = try old.nextTransaction() {
      guard let copy = try new.nextTransaction(), frame.isCopied(by: copy) else { return false }
    }
    return true
  }

  static func wentItsOwnWay(_ folder: StoreFolder) -> EngineError {
    EngineError(
      .exists,
      "the folder holds a backup that was written to, or one of another past of this store; name another folder",
      file: folder.path)
  }
}

extension AnchorFile.Contents {
  /// Both slots say the same, but for their sequence: so they are made, and nobody has written one since.
  var isUntouched: Bool {
    guard var older, slot.isClean else { return false }
    older.sequence = slot.sequence
    return older == slot
  }
}

extension LogSegment {
  /// Whether the frame before `end` is the one that is said to be there. Frames hold the checksum of the one before, so
  /// that all before it are then those that were written.
  func ends(at end: LogSegments.SegmentEnd) throws(EngineError) -> Bool {
    guard end.offset > Format.segmentHeaderBytes else { return end.offset <= limit }
    let trailer = try bytes(at: end.offset - Format.frameTrailerBytes, Format.frameTrailerBytes)
    return trailer?.baseAddress?.field64(0) == end.chain
  }
}

extension LogWalk {
  /// The next frame of a transaction.
  fileprivate mutating func nextTransaction() throws(EngineError) -> ScannedFrame? {
    while let frame = try next() {
      if frame.header.kind == Format.transactionKind { return frame }
    }
    return nil
  }
}

extension ScannedFrame {
  /// Whether another frame holds the same part of the same transaction, at another place.
  fileprivate func isCopied(by copy: ScannedFrame) -> Bool {
    guard header.transaction == copy.header.transaction, header.flags == copy.header.flags,
      header.time == copy.header.time, header.recordCount == copy.header.recordCount
    else { return false }
    var (mine, others) = (
      RecordIterator(payload, firstOffset: 0), RecordIterator(copy.payload, firstOffset: 0)
    )
    while let (record, _) = mine.next() {
      guard let (other, _) = others.next(), record.operation == other.operation,
        record.key.elementsEqual(other.key),
        record.value.elementsEqual(other.value)
      else { return false }
    }
    return true
  }
}
