import HeartwoodFiles

/// Copies one state of a store to another folder, file by file: segments are only ever appended to, so that what an
/// earlier backup has of them stays right, and ends where its own anchor says.
///
/// A crash before the end of step 5 leaves what was there: nothing, or the earlier backup.
struct Backup {
  let store: OpenStore
  let contents: BackupContents
  let target: BackupTarget

  func run() throws(EngineError) -> BackupReport {
    // 1. What is in the folder is of this store and of its past, or there is nothing.
    let earlier = try findEarlier()
    try UnfinishedCopy.clear(target.folder, keeping: earlier)
    var report = BackupReport(generation: Generation(rawValue: contents.end.generation))
    do throws(EngineError) {
      report.reusedBytes = try copy(beside: earlier)
    } catch {
      // Room is given back, as far as that works; else by the next backup to this folder.
      try? UnfinishedCopy.clear(target.folder, keeping: earlier)
      throw error
    }
    // 5. The mark becomes the anchor. Where this fails, either anchor may be there, with all that it needs.
    let sequence = earlier.map { $0.slot.sequence &+ 2 } ?? AnchorSlot.firstSequence
    try target.replaceAnchor(contents.slot(sequence: sequence))
    // 6. What only the earlier backup needed goes.
    report.removedFiles = removeUnneeded(earlier)
    report.copiedBytes = target.copiedBytes + Int64(2 * Format.anchorBlockBytes)
    report.files = contents.logs.count + contents.pages.count + 1
    return report
  }

  /// Returns how many bytes were there already.
  private func copy(beside earlier: EarlierBackup?) throws(EngineError) -> Int64 {
    var reused: Int64 = 0
    // 2. The mark says that what follows is not finished.
    try target.mark()
    // 3. Pages and log.
    for part in contents.pages {
      try store.status.checkOpen()
      reused += try PageSegmentCopy(self, part, earlier: earlier?.pages[part.number]).run()
    }
    for part in contents.logs {
      try store.status.checkOpen()
      reused += try LogSegmentCopy(self, part, earlier: earlier).run()
    }
    // 4. The names are durable too, like the bytes.
    try target.syncDirectory()
    return reused
  }

  /// A file of the store, opened once more; where another process has given it back, the one that is held.
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
  /// Writes the newest generation to another folder.
  func backup(to path: String, _ fileSystem: any FileSystem) throws(EngineError) -> BackupReport {
    // Asked here so that a backup inside a write is an error and not a wait for itself.
    try writer.withLock { () throws(EngineError) in try status.checkOpen() }
    guard options.access == .readWrite else { return try backupOfReopened(to: path, fileSystem) }
    // Nothing is given back meanwhile here; what other processes give back, the contents hold.
    return try reclaimer.lock.withLock { () throws(EngineError) in
      let target = try BackupTarget(path, fileSystem)
      defer { target.close() }
      // A store that has stopped is copied as it can be read.
      let contents =
        try status.isStopped
        ? backupContents() : withLease { () throws(EngineError) in try backupContents() }
      return try Backup(store: self, contents: contents, target: target).run()
    }
  }

  /// Opens the store once more and copies what that opening has found. The tree of a store that is open for reading only may be
  /// of an older checkpoint than the log that it has read.
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
      "the store could not be read for its backup: other processes write it all the time; try again")
  }
}
