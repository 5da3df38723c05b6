import HeartwoodFiles

/// Backs up a store to another folder: fixes the state to copy, then copies it.
struct BackupOperation {
  let store: OpenStore

  /// Copies the newest generation to another folder.
  ///
  /// - Throws: `.exists` if the folder contains another store, a modified or a newer backup; `.damaged` if
  ///   the store is damaged; `.locked` if the folder is in use, or another process writes the store for all
  ///   of `busyTimeout`.
  func run(to path: String, _ fileSystem: any FileSystem) throws(EngineError) -> BackupReport {
    // Throws if the thread is inside a write, which would otherwise wait for itself.
    try store.writer.withLock { (_) throws(EngineError) in try store.status.checkOpen() }
    guard store.options.access == .readWrite else { return try backupOfReopened(to: path, fileSystem) }
    // This process reclaims nothing meanwhile. Files that other processes reclaim are held open by the
    // contents.
    return try store.reclamation.withLock { (_) throws(EngineError) in
      let target = try BackupTarget(path, fileSystem)
      defer { target.close() }
      // A store with writes disabled is copied in its readable state.
      let contents =
        try store.status.isStopped
        ? contents() : Coordinator(store).withLease { () throws(EngineError) in try self.contents() }
      return try Backup(store: store, contents: contents, target: target).run()
    }
  }

  /// Opens the store again and copies the state that this opening finds. The tree of a store that is open for
  /// reading only may be based on an older checkpoint than the log that it has read.
  private func backupOfReopened(
    to path: String, _ fileSystem: any FileSystem
  ) throws(EngineError) -> BackupReport {
    let target = try BackupTarget(path, fileSystem)
    defer { target.close() }
    var backoff = Backoff(seconds: store.options.busyTimeout)
    repeat {
      let reopened = try Opening(store.path, store.options.unobserved, store.fileSystem).run()
      defer { try? Closing(store: reopened).run() }
      guard reopened.identifier == store.identifier else { throw StoreFolder.replaced(store.path) }
      try Refresh(reopened).ifStale()
      guard try !reopened.writer.withLock({ $0.hasPendingReload }),
        reopened.generations.newest >= store.generations.newest
      else { continue }
      let contents = try BackupOperation(store: reopened).contents()
      if contents.isComplete { return try Backup(store: reopened, contents: contents, target: target).run() }
    } while backoff.wait()
    throw ProcessAttachment.busy(
      store.path,
      "the store could not be backed up because other processes kept writing it; try again")
  }

  /// The newest generation. Makes it durable first: if the store lost it, its history would differ from that
  /// of the backup.
  ///
  /// - Precondition: The caller holds the reclaim lock, if the store is open for writing.
  /// - Throws: `.stopped` if writes are disabled and a reload of the tree is pending.
  private func contents() throws(EngineError) -> BackupContents {
    try store.checkpoints.withLock { (checkpoints) throws(EngineError) -> BackupContents in
      guard store.options.access == .readWrite, !store.status.isStopped else {
        guard try !store.writer.withLock({ $0.hasPendingReload }) else {
          throw EngineError(
            .stopped, "the store can't be copied since a sync failed; close it and open it again",
            file: store.path)
        }
        return try contents(checkpoints, upTo: store.logSegments.published)
      }
      let failure = try checkpointBeforeBackup(checkpoints)
      let (contents, work) = try store.writer.withLock {
        (writer) throws(EngineError) -> (BackupContents, SyncRequest) in
        try writer.drain()
        return (try self.contents(checkpoints, upTo: writer.log.end), writer.log.syncRequest())
      }
      guard contents.isComplete else {
        throw failure ?? .damaged("the log lacks a segment; run verify", file: store.path)
      }
      try prove(work)
      return contents
    }
  }

  /// Takes a checkpoint, so that opening the backup for writing need not recover it. Returns the error if the
  /// disk has no room for one.
  private func checkpointBeforeBackup(_ checkpoints: CheckpointState) throws(EngineError) -> EngineError? {
    do {
      try Checkpoint(store, checkpoints).run()
      return nil
    } catch {
      // A store on a full disk can still be copied to another disk.
      guard error.code == .noSpace, !store.status.isStopped else { throw error }
      return error
    }
  }

  /// Makes the log durable up to the end of a backup, and records that in the anchor.
  private func prove(_ work: SyncRequest) throws(EngineError) {
    guard store.anchor.file.current.knownDurable.sequence < work.point.sequence else { return }
    try store.syncs.sync(work)
    store.synced.note(work)
    try store.anchor.update {
      if $0.knownDurable.sequence < work.point.sequence { $0.knownDurable = work.point }
    }
  }

  /// The state up to `end`, at which a transaction or a checkpoint is published.
  func contents(
    _ checkpoints: CheckpointState, upTo end: LogPoint
  ) throws(EngineError) -> BackupContents {
    let segments = store.logSegments.segments
    var logs: [BackupContents.LogPart] = []
    for segment in segments {
      let isLast = segment.number == end.position.segment
      guard let partEnd = isLast ? LogSegments.SegmentEnd(end) : store.logSegments.end(of: segment.number)
      else {
        throw EngineError.damaged("the end of the segment is not recorded; run verify", file: segment.path)
      }
      logs.append(BackupContents.LogPart(header: segment.header, end: partEnd))
      if isLast { break }
    }
    return BackupContents(
      identifier: store.identifier, created: store.anchor.file.current.created,
      content: store.anchor.file.content, features: store.anchor.file.current.features,
      checkpoint: checkpoints.last, logs: logs, end: end,
      files: BackupContents.Files(
        logs: Dictionary(segments.map { ($0.number, $0) }) { first, _ in first },
        pages: Dictionary(checkpoints.pages.parts.map { ($0.segment.number, $0.segment) }) { first, _ in first
        }))
  }
}
