import HeartwoodFiles

/// Copies one state of a store to another folder, file by file. Segments are append-only, so the files of an
/// earlier backup stay valid and are only extended; that backup ends where its own anchor says.
///
/// A crash before the end of step 5 leaves the previous contents: none, or the earlier backup.
struct Backup {
  let store: OpenStore
  let contents: BackupContents
  let target: BackupTarget

  func run() throws(EngineError) -> BackupReport {
    // 1. Check that the folder is empty, or contains a backup of this store's own history.
    let earlier = try findEarlier()
    try UnfinishedCopy.clear(target.folder, keeping: earlier)
    var report = BackupReport(generation: Generation(rawValue: contents.end.generation))
    do throws(EngineError) {
      report.reusedBytes = try copy(beside: earlier)
    } catch {
      // Frees the space if possible; otherwise the next backup to this folder does.
      try? UnfinishedCopy.clear(target.folder, keeping: earlier)
      throw error
    }
    // 5. The mark becomes the anchor. After a failure either anchor may be in place, with all its files.
    let sequence = earlier.map { $0.slot.sequence &+ 2 } ?? AnchorSlot.firstSequence
    try target.replaceAnchor(contents.slot(sequence: sequence))
    // 6. Remove the files that only the earlier backup needs.
    report.removedFiles = removeUnneeded(earlier)
    report.copiedBytes = target.copiedBytes + Int64(2 * Format.anchorBlockBytes)
    report.files = contents.logs.count + contents.pages.count + 1
    return report
  }

  /// Returns the bytes that were already in the folder.
  private func copy(beside earlier: EarlierBackup?) throws(EngineError) -> Int64 {
    var reused: Int64 = 0
    // 2. Mark the folder as containing an unfinished backup.
    try target.mark()
    // 3. Copy pages and log.
    for part in contents.pages {
      try store.status.checkOpen()
      reused += try PageSegmentCopy(self, part, earlier: earlier?.pages[part.number]).run()
    }
    for part in contents.logs {
      try store.status.checkOpen()
      reused += try LogSegmentCopy(self, part, earlier: earlier).run()
    }
    // 4. Make the file names durable.
    try target.syncDirectory()
    return reused
  }

  /// Opens a file of the store again; if another process has reclaimed it, returns the open segment.
  func source<Segment>(
    _ name: String, held: Segment?, _ open: () throws(EngineError) -> Segment
  ) throws(EngineError) -> Segment {
    do throws(EngineError) {
      return try open()
    } catch {
      guard let held, try !store.folder.entries().contains(name) else { throw error }
      return held
    }
  }

  private func findEarlier() throws(EngineError) -> EarlierBackup? {
    guard let earlier = try target.earlier(of: contents.identifier) else { return nil }
    try earlier.requireOrigin(contents, target.folder)
    for part in contents.logs { try LogSegmentCopy(self, part, earlier: earlier).requireOrigin() }
    return earlier
  }

  private func removeUnneeded(_ earlier: EarlierBackup?) -> Int {
    guard let earlier else { return 0 }
    let logs = Set(contents.logs.map(\.header.number))
    let pages = Set(contents.pages.map(\.number))
    let names =
      earlier.logs.keys.filter { !logs.contains($0) }.map(SegmentName.log)
      + earlier.pages.keys.filter { !pages.contains($0) }.map(SegmentName.pages)
    target.folder.unlink(names.sorted())
    return names.count
  }
}
