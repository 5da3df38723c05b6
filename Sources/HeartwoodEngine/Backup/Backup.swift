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

extension OpenStore {
  /// Copies the newest generation to another folder.
  ///
  /// - Throws: `.exists` if the folder contains another store, a modified or a newer backup; `.damaged` if
  ///   the store is damaged; `.locked` if the folder is in use, or another process writes the store for all
  ///   of `busyTimeout`.
  func backup(to path: String, _ fileSystem: any FileSystem) throws(EngineError) -> BackupReport {
    // Throws if the thread is inside a write, which would otherwise wait for itself.
    try writer.withLock { () throws(EngineError) in try status.checkOpen() }
    guard options.access == .readWrite else { return try backupOfReopened(to: path, fileSystem) }
    // This process reclaims nothing meanwhile. Files that other processes reclaim are held open by the
    // contents.
    return try reclaimer.lock.withLock { () throws(EngineError) in
      let target = try BackupTarget(path, fileSystem)
      defer { target.close() }
      // A store with writes disabled is copied in its readable state.
      let contents =
        try status.isStopped
        ? backupContents() : withLease { () throws(EngineError) in try backupContents() }
      return try Backup(store: self, contents: contents, target: target).run()
    }
  }

  /// Opens the store again and copies the state that this opening finds. The tree of a store that is open for
  /// reading only may be based on an older checkpoint than the log that it has read.
  private func backupOfReopened(
    to path: String, _ fileSystem: any FileSystem
  ) throws(EngineError) -> BackupReport {
    let target = try BackupTarget(path, fileSystem)
    defer { target.close() }
    var backoff = Backoff(seconds: options.busyTimeout)
    repeat {
      let reopened = try Opening(self.path, options, self.fileSystem).run()
      defer { try? reopened.close() }
      guard reopened.log.identifier == log.identifier else { throw StoreFolder.replaced(self.path) }
      try reopened.refreshIfStale()
      guard !reopened.hasPendingReload, reopened.generations.newest >= generations.newest else { continue }
      let contents = try reopened.backupContents()
      if contents.isComplete { return try Backup(store: reopened, contents: contents, target: target).run() }
    } while backoff.wait()
    throw ProcessAttachment.busy(
      self.path,
      "the store could not be backed up because other processes kept writing it; try again")
  }
}
