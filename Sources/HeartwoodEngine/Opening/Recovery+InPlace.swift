import HeartwoodFiles

/// Recovery on a disk without room for a copy of the log's end.
///
/// The transactions that nothing proves to be durable are written over themselves: the same bytes at the same offsets, so that a crash leaves
/// what was there, whichever sectors it keeps. After a failed sync the system may show bytes that it would never write; these are
/// written, too, by that. The log then continues in its last segment.
extension Recovery {
  /// - Throws: `.noSpace` where the end of the log has to be copied after all: it holds a checkpoint, whose pages nothing proves to be
  ///   durable, or it does not end in the last segment; or where the file system needs room to overwrite.
  func recoverInPlace(
    _ listing: LogFinder.Listing, _ contents: AnchorFile.Contents, _ checkpoint: NamedCheckpoint?,
    next: UInt32
  ) throws(EngineError) -> Log {
    let tail = scan.frames[scan.durableCount..<scan.validCount]
    guard let last = path.last, last.number == scan.validEnd.position.segment,
      tail.allSatisfy({ $0.header.kind == Format.transactionKind })
    else {
      throw EngineError(
        .noSpace, "the end of the log could not be copied: the disk is full", file: folder.path)
    }
    // 1. The frames are written again, and zeros after them: a torn frame is there.
    let rewritten = path.drop { $0.number != scan.durableEnd.position.segment }
    for segment in rewritten { try rewrite(segment, isLast: segment === last) }
    // 2. They are durable before the anchor says so.
    do {
      for segment in rewritten { try segment.file.sync(.full) }
    } catch {
      throw EngineError.files(error, "the end of the log could not be synced")
    }
    // 3. The anchor names the end of the log. A crash before this means that recovery was not done.
    let (number, end) = (last.number, scan.validEnd)
    try update(checkpoint) {
      $0.lastLogSegment = number
      $0.nextSegment = next
      $0.knownDurable = end
    }
    // 4. Files that nothing refers to are unlinked, unless a slot of the anchor is lost, which may have referred to them.
    if !contents.isIncomplete { unlinkOrphans(listing, earlier + path, checkpoint) }
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
      guard let bytes = try segment.bytes(at: offset, min(step, end - offset)) else { return }
      // A copy: the bytes may be mapped from the file that they are written to.
      try write(Array(bytes), to: segment, at: offset)
    }
    for offset in stride(from: end, to: segment.limit, by: step) {
      try write([UInt8](repeating: 0, count: min(step, segment.limit - offset)), to: segment, at: offset)
    }
  }

  private func write(_ bytes: [UInt8], to segment: LogSegment, at offset: Int) throws(EngineError) {
    do {
      try segment.file.write(all: bytes, at: offset)
    } catch {
      throw EngineError.files(error, "the end of the log could not be written again")
    }
    try segment.publish(bytes.count, at: offset)
  }
}
