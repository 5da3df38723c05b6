/// What a backup is to hold: one state of the store, fixed when the backup begins.
struct BackupContents {
  /// A segment of the log.
  struct LogPart {
    let header: SegmentHeader
    let end: LogSegments.SegmentEnd
  }

  let identifier: StoreIdentifier
  /// When the store was made.
  let created: Int64
  /// What the keys and values mean.
  let content: StoreContent?
  /// The last one in the log: opening begins with none before it.
  let checkpoint: NamedCheckpoint?
  /// In the log's order.
  let logs: [LogPart]
  /// Where the log ends.
  let end: LogPoint
  /// The files, open for as long as they are to be copied, whoever gives them back.
  let files: Files

  /// By number.
  struct Files {
    let logs: [UInt32: LogSegment]
    let pages: [UInt32: PageSegment]
  }

  /// The segments of pages, as the checkpoint names them.
  var pages: [CheckpointRecord.Segment] { checkpoint?.pageSegments ?? [] }

  /// Whether all segments are there that the checkpoint needs. Not after giving space back has failed in its last step.
  var isComplete: Bool {
    let numbers = Set(logs.map(\.header.number))
    return checkpoint?.logSegments.allSatisfy { numbers.contains($0.number) } ?? true
  }

  /// The number behind those of all segments: what the store begins later has a higher one.
  var nextSegment: UInt32 {
    1 + max(logs.map(\.header.number).max() ?? 0, pages.map(\.number).max() ?? 0)
  }

  /// The anchor of the backup: closed, and ending exactly where it ends.
  func slot(sequence: UInt64) -> AnchorSlot {
    AnchorSlot(
      identifier: identifier, sequence: sequence, created: created, checkpoint: checkpoint?.position,
      checkpointChecksum: checkpoint?.checksum ?? 0, lastLogSegment: end.position.segment, knownDurable: end,
      nextSegment: nextSegment, isClean: true, content: content)
  }
}

extension OpenStore {
  /// The newest generation, which this store will not lose any more: else it could come to go another way than its
  /// backup. Under the reclaimer's lock.
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

  /// With it, whoever opens the backup for writing finds nothing to do. Returns why there is none.
  private func checkpointBeforeBackup() throws(EngineError) -> EngineError? {
    do {
      try takeCheckpoint()
      return nil
    } catch {
      // A store on a full disk can still be copied to another.
      guard error.code == .noSpace, !status.isStopped else { throw error }
      return error
    }
  }

  /// Makes the log durable up to the end of a backup, and lets the anchor say so.
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
        throw EngineError.damaged("nothing says where the segment ends; run verify", file: segment.path)
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
