import HeartwoodFiles

/// An open store: wires its parts, and is what operations on it get.
///
/// - Readers use `generations`, `space` and `logSegments` without a lock.
/// - `writer`, `checkpoints` and `reclamation` are locks, and the only way to the states that they guard.
/// - Threads that wait in `commits` sync the log and publish transactions.
/// - Lock order: `reclamation`, `checkpoints`, `writer`, then one of the locks of `lease`, `commits` and
///   `syncs`. A thread that waits for the lease holds none of these except `reclamation`.
final class OpenStore: Sendable {
  let path: String
  let options: EngineOptions
  let fileSystem: any FileSystem
  let folder: StoreFolder
  let identifier: StoreIdentifier
  let status = StoreStatus()
  let anchor: AnchorWriter

  // The parts that readers use.
  let space: PageSpace
  let generations: Generations
  /// The segments of the log, and its published end.
  let logSegments: LogSegments
  /// The durable part of the log.
  let synced: DurableState
  let lastReplay = LastReplay()
  let unrecoveredTransactions: Int
  /// Whether the program is told what the store does.
  let isObserved: Bool

  // The parts that several processes use.

  /// Nil if no other process can write: the store is in memory, or open for reading only.
  let attachment: ProcessAttachment?
  /// The shared header, in which processes publish records; nil if the store is in memory or untrusted, or
  /// has none and is open for reading only.
  let page: SharedHeader?
  let lease: WriterLease
  let records: RecordPublisher

  // The parts that writers use.
  let numbers: SegmentNumbers
  let syncs: LogSyncs
  let commits: CommitQueue
  let reserve: DiskReserve
  /// Delays commits that append faster than space is reclaimed.
  let throttle = WriteThrottle()
  /// The totals of the unlinked segments that held snapshots keep.
  let unlinked = UnlinkedTotals()
  let writer: WriterLock<WriterState>
  let checkpoints: StateLock<CheckpointState>
  let reclamation = StateLock(ReclaimState())

  /// The parts that an opening found or created.
  struct Parts {
    var path: String
    var options: EngineOptions
    var fileSystem: any FileSystem
    var page: SharedHeader?
    /// Counter of the newest record from which the end of the log was taken; 0 if there was none.
    var seenRecord: UInt64
    /// Whether no other process can write.
    var holdsLease: Bool
    var folder: StoreFolder
    var anchor: AnchorFile
    var log: Log
    var space: PageSpace
    var generations: Generations
    var tree: TreeWriter
    var pages: PageAppender
    var checkpoint: NamedCheckpoint?
    var numbers: SegmentNumbers
    /// Bytes of log read after the checkpoint.
    var replayedBytes: Int
    /// The value of `EngineStatistics.unrecoveredTransactions`.
    var unrecoveredTransactions: Int
  }

  init(_ parts: Parts) {
    let syncs = parts.options.durability != .none
    path = parts.path
    options = parts.options
    fileSystem = parts.fileSystem
    folder = parts.folder
    identifier = parts.log.identifier
    space = parts.space
    generations = parts.generations
    logSegments = parts.log.path
    synced = parts.log.synced
    unrecoveredTransactions = parts.unrecoveredTransactions
    isObserved = parts.options.events != nil
    attachment = parts.folder.attachment
    page = parts.page
    numbers = parts.numbers
    lease = WriterLease(
      isHeld: parts.holdsLease, parts.folder.attachment, parts.page, seenRecord: parts.seenRecord)
    records = RecordPublisher(lease, parts.folder.attachment, parts.log, parts.numbers, syncs: syncs)
    anchor = AnchorWriter(file: parts.anchor, status: status, records: records)
    let place = StorePlace(parts.folder, parts.anchor, parts.log.path, lease)
    self.syncs = LogSyncs(status, isOff: !syncs, place)
    commits = CommitQueue(log: parts.log, generations: parts.generations, syncs: self.syncs, status: status)
    reserve = DiskReserve(parts.folder)
    writer = WriterLock { [anchor, syncs = self.syncs, commits, reserve, throttle, unlinked] in
      WriterState(
        $0, options: parts.options, folder: parts.folder, log: parts.log, tree: parts.tree,
        generations: parts.generations, numbers: parts.numbers, anchor: anchor, syncs: syncs,
        commits: commits, reserve: reserve, throttle: throttle, unlinked: unlinked,
        replayedBytes: parts.replayedBytes)
    }
    checkpoints = StateLock(CheckpointState(parts.pages, parts.checkpoint, place))
  }

  var logFinder: LogFinder { LogFinder(folder: folder, identifier: identifier, options: options) }

  /// Whether other processes or engines may write the store.
  var hasOthers: Bool {
    page != nil && (options.access == .readOnly || options.sharing == .processes)
  }

  /// Tells the program of an event, once this thread holds no lock.
  func tell(_ event: EngineEvent) {
    if let hear = options.events { LateCalls.leave { hear(event) } }
  }

  /// Runs `body` in the background after a time, unless the store is released before.
  func submit(afterSeconds seconds: Double, _ body: @escaping @Sendable (OpenStore) -> Void) {
    // Through an unowned reference, as the compiler otherwise warns at callers that hold the store in a value: it takes their
    // reference for the last one.
    let store = UnownedReference(self).object
    options.worker.submit(afterSeconds: seconds) { [weak store] in
      if let store { body(store) }
    }
  }

  /// - Throws: `.readOnly` if the store is open for reading only.
  func checkMayWrite() throws(EngineError) {
    guard options.access == .readOnly else { return }
    throw EngineError(.readOnly, "the store is open for reading only; open it for writing", file: path)
  }
}
