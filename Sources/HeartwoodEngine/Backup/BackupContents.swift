/// The state of the store that a backup copies, fixed when the backup begins.
struct BackupContents {
  typealias LogPart = EarlierBackup.LogPart

  let identifier: StoreIdentifier
  /// Creation time of the store, in nanoseconds since 1970.
  let created: Int64
  /// The meaning of the keys and values.
  let content: StoreContent?
  /// The last checkpoint in the log; nil if there is none.
  let checkpoint: NamedCheckpoint?
  /// In the order of the log.
  let logs: [LogPart]
  /// The end of the log.
  let end: LogPoint
  /// The open files. They stay open until they are copied, even if they are reclaimed.
  let files: Files

  /// Segments by number.
  struct Files {
    let logs: [UInt32: LogSegment]
    let pages: [UInt32: PageSegment]
  }

  /// The page segments that the checkpoint names.
  var pages: [CheckpointRecord.Segment] { checkpoint?.pageSegments ?? [] }

  /// Whether all log segments exist that the checkpoint names. False if the last step of a compaction failed.
  var isComplete: Bool {
    let numbers = Set(logs.map(\.header.number))
    return checkpoint?.logSegments.allSatisfy { numbers.contains($0.number) } ?? true
  }

  /// The number after those of all segments. Segments that the store creates later have higher ones.
  var nextSegment: UInt32 {
    1 + max(logs.map(\.header.number).max() ?? 0, pages.map(\.number).max() ?? 0)
  }

  /// The anchor of the backup: clean, with the exact end of the log.
  func slot(sequence: UInt64) -> AnchorSlot {
    AnchorSlot(
      identifier: identifier, sequence: sequence, created: created, checkpoint: checkpoint?.position,
      checkpointChecksum: checkpoint?.checksum ?? 0, lastLogSegment: end.position.segment, knownDurable: end,
      nextSegment: nextSegment, isClean: true, content: content)
  }
}

extension OpenStore {
  /// The newest generation. Makes it durable first: if the store lost it, its history would differ from that
  /// of the backup.
  ///
  /// - Precondition: The caller holds `Reclaimer.lock`, if the store is open for writing.
  /// - Throws: `.stopped` if writes are disabled and a reload of the tree is pending.
  func backupContents() throws(EngineError) -> BackupContents {
    try checkpoints.withLock { () throws(EngineError) -> BackupContents in
      guard options.access == .readWrite, !status.isStopped else {
        guard !hasPendingReload else {
          throw EngineError(
            .stopped, "the store can't be copied since a sync failed; close it and open it again", file: path)
        }
        return try backupContents(upTo: log.published)
      }
      let failure = try checkpointBeforeBackup()
      let (contents, work) = try writer.withLock {
        () throws(EngineError) -> (BackupContents, SyncRequest) in
        try commits.drain()
        return (try backupContents(upTo: log.end), log.syncRequest())
      }
      guard contents.isComplete else {
        throw failure ?? .damaged("the log lacks a segment; run verify", file: path)
      }
      try prove(work)
      return contents
    }
  }

  /// Takes a checkpoint, so that opening the backup for writing need not recover it. Returns the error if the
  /// disk has no room for one.
  private func checkpointBeforeBackup() throws(EngineError) -> EngineError? {
    do {
      try takeCheckpoint()
      return nil
    } catch {
      // A store on a full disk can still be copied to another disk.
      guard error.code == .noSpace, !status.isStopped else { throw error }
      return error
    }
  }

  /// Makes the log durable up to the end of a backup, and records that in the anchor.
  private func prove(_ work: SyncRequest) throws(EngineError) {
    guard anchor.current.knownDurable.sequence < work.point.sequence else { return }
    try syncs.sync(work)
    log.synced.note(work)
    try updateAnchor { if $0.knownDurable.sequence < work.point.sequence { $0.knownDurable = work.point } }
  }

  private func backupContents(upTo end: LogPoint) throws(EngineError) -> BackupContents {
    var logs: [BackupContents.LogPart] = []
    for segment in log.segments {
      let isLast = segment.number == end.position.segment
      guard let partEnd = isLast ? LogSegments.SegmentEnd(end) : log.path.end(of: segment.number) else {
        throw EngineError.damaged("the end of the segment is not recorded; run verify", file: segment.path)
      }
      logs.append(BackupContents.LogPart(header: segment.header, end: partEnd))
      if isLast { break }
    }
    return BackupContents(
      identifier: log.identifier, created: anchor.current.created, content: anchor.content,
      checkpoint: lastCheckpoint, logs: logs, end: end, files: heldFiles)
  }

  private var heldFiles: BackupContents.Files {
    BackupContents.Files(
      logs: Dictionary(log.segments.map { ($0.number, $0) }) { first, _ in first },
      pages: Dictionary(pages.parts.map { ($0.segment.number, $0.segment) }) { first, _ in first })
  }
}
