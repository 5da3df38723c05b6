/// Checks that an earlier backup was made from the store's own history.
extension EarlierBackup {
  /// Checks that this backup was made from the store's own history.
  ///
  /// - Throws: `.exists` if the backup is newer than the store, or was made from a different history.
  func requireOrigin(_ contents: BackupContents, _ folder: StoreFolder) throws(EngineError) {
    guard slot.knownDurable.sequence <= contents.end.sequence,
      slot.knownDurable.generation <= contents.end.generation
    else {
      throw EngineError(
        .exists,
        "the backup in the folder, of generation \(slot.knownDurable.generation), is newer than the store, which is at "
          + "\(contents.end.generation); name another folder", file: folder.path)
    }
    // If the store no longer has the backup's last segment, each of its segments that existed when the backup
    // was made must also be in the backup.
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

  /// Whether the store continued the backup's last segment, or branched from a point followed only by
  /// checkpoint frames (recovery copies transactions only, if the newer anchor slot is lost).
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

  /// Whether a recovery of the store has copied the transactions at the end of this backup. After a writer is
  /// killed, recovery copies transactions that are not known to be durable to a new segment, and the log
  /// branches before them.
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
      "the folder holds a backup that was written to, or one of a different history of this store; name another folder",
      file: folder.path)
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
  /// Whether another frame contains the same part of the same transaction at another position.
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
        record.storedValue.elementsEqual(other.storedValue)
      else { return false }
    }
    return true
  }
}
