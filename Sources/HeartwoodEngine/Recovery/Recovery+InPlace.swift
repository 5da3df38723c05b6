import HeartwoodFiles

/// Recovery on a disk without room for a copy of the log's end.
///
/// The transactions that are not known to be durable are overwritten with the same bytes at the same offsets,
/// so that a crash leaves them unchanged, whichever sectors it keeps. The rewrite also covers a failed sync,
/// after which the system may show bytes that it never writes to disk. The log then continues in its last
/// segment.
extension Recovery {
  /// - Throws: `.noSpace` if the end of the log must be copied instead: it contains a checkpoint, whose pages
  ///   are not known to be durable, or it does not end in the last segment. Also if the file system needs
  ///   room to overwrite.
  func recoverInPlace(
    _ listing: LogFinder.Listing, _ contents: AnchorFile.Contents, _ checkpoint: NamedCheckpoint?,
    next: UInt32
  ) throws(EngineError) -> Log {
    let tail = scan.frames[scan.durableCount..<scan.validCount]
    guard let last = path.last, last.number == scan.validEnd.position.segment,
      tail.allSatisfy({ $0.header.kind == Format.transactionKind })
    else {
      throw EngineError(
        .noSpace, "the end of the log could not be copied: the disk is full; free space and try again",
        file: folder.path)
    }
    // 1. Rewrite the frames, and zeros after them, where a torn frame may be.
    let rewritten = path.drop { $0.number != scan.durableEnd.position.segment }
    for segment in rewritten { try rewrite(segment, isLast: segment === last) }
    // 2. Sync them before the anchor names them.
    do {
      for segment in rewritten { try segment.file.sync(.full) }
    } catch {
      throw EngineError.files(error, "the end of the log could not be synced")
    }
    // 3. Name the end of the log in the anchor. After a crash before this the next opening recovers again.
    let (number, end) = (last.number, scan.validEnd)
    try update(checkpoint) {
      $0.lastLogSegment = number
      $0.nextSegment = next
      $0.knownDurable = end
    }
    // 4. Unlink unreferenced files, unless a slot of the anchor is lost, which may have referred to them.
    if !contents.isIncomplete { unlinkOrphans(listing, earlier + path, checkpoint) }
    unlinkNewHolds(listing)
    return Log(
      folder: folder, identifier: contents.slot.identifier, options: options, path: earlier + path,
      last: last,
      end: end, filled: last.limit, ends: ends)
  }

  private func rewrite(_ segment: LogSegment, isLast: Bool) throws(EngineError) {
    let isFirst = segment.number == scan.durableEnd.position.segment
    let start = isFirst ? scan.durableEnd.position.offset : segment.header.firstPoint.position.offset
    let end = isLast ? scan.validEnd.position.offset : segment.limit
    let step = 1 << 20
    for offset in stride(from: start, to: end, by: step) {
      guard let bytes = try segment.bytes(at: offset, min(step, end - offset)) else {
        throw EngineError.damaged(
          "the end of the log is missing; restore the file", file: segment.path, offset: offset)
      }
      // A copy: the bytes may be mapped from the file that they are written to.
      try write(Array(bytes.buffer), to: segment, at: offset)
    }
    for offset in stride(from: end, to: segment.limit, by: step) {
      try write([UInt8](repeating: 0, count: min(step, segment.limit - offset)), to: segment, at: offset)
    }
  }

  private func write(_ bytes: [UInt8], to segment: LogSegment, at offset: Int) throws(EngineError) {
    do {
      try segment.file.write(all: bytes, at: offset)
    } catch {
      throw EngineError.files(error, "the end of the log could not be rewritten")
    }
    try segment.publish(bytes.count, at: offset)
  }
}
