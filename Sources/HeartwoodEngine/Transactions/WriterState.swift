/// The state that the holder of the writer lock changes: the log, the tree, the tip of the generations, and the work that is
/// due.
///
/// Reached only in the closures of `WriterLock`, so a function with a parameter of this type runs with the writer lock held.
/// Not `Sendable`: the compiler refuses to hand it to another thread.
final class WriterState {
  /// Proves to parts that other threads reach too that this one holds the lock.
  let held: WriterHeld
  let options: EngineOptions
  let folder: StoreFolder
  let log: Log
  let tree: TreeWriter
  let generations: Generations
  let numbers: SegmentNumbers
  let anchor: AnchorWriter
  let status: StoreStatus
  let syncs: LogSyncs
  let commits: CommitQueue
  let reserve: DiskReserve
  let throttle: WriteThrottle
  /// Nil if values are stored as they are.
  let compressor: ValueCompressor?

  /// The reload that the next transaction must begin with.
  var pendingReload = PendingReload.none
  /// Whether the anchor does not name the last checkpoint in the log, whose pages another process would overwrite.
  var hasUnnamedCheckpoint = false
  /// `log.appendedBytes` when the newest checkpoint began.
  var bytesAtCheckpoint: Int
  var isCheckpointUnderWay = false
  /// `log.appendedBytes` at the last space scan of an idle store.
  var bytesAtSpaceScan = 0
  var isSpaceScanScheduled = false
  /// `log.appendedBytes` at the last check of the reserve outside checkpoints.
  var bytesAtReserve = 0
  /// Reused for the next transaction if nothing else references it.
  @exclusivity(unchecked) var lastTransaction: WriteTransaction?
  /// Whether the next transaction evicts the pages in memory that are also on disk.
  var evictsCleanPages = false
  /// Segments that compactions have unlinked and that older generations may need.
  var unlinked: UnlinkedSegments
  /// Number of writes while other processes were attached.
  var sharedWrites = 0
  /// Number of reloads of the tree from a checkpoint of another process.
  var reloads = 0

  /// - Parameter replayedBytes: Bytes of log read after the checkpoint.
  init(
    _ held: WriterHeld, options: EngineOptions, folder: StoreFolder, log: Log, tree: TreeWriter,
    generations: Generations,
    numbers: SegmentNumbers, anchor: AnchorWriter, syncs: LogSyncs, commits: CommitQueue,
    reserve: DiskReserve,
    throttle: WriteThrottle, unlinked: UnlinkedTotals, replayedBytes: Int
  ) {
    self.held = held
    self.options = options
    self.folder = folder
    self.log = log
    self.tree = tree
    self.generations = generations
    self.numbers = numbers
    self.anchor = anchor
    status = anchor.status
    self.syncs = syncs
    self.commits = commits
    self.reserve = reserve
    self.throttle = throttle
    compressor = anchor.file.current.features.contains(.compressedValues) ? options.compressor : nil
    self.unlinked = UnlinkedSegments(totals: unlinked)
    bytesAtCheckpoint = -replayedBytes
  }

  /// Whether the tree is based on an older checkpoint than the newest one in the log.
  var hasPendingReload: Bool {
    if case .none = pendingReload { false } else { true }
  }

  /// Publishes all commits so far, and returns the request that syncs them.
  func drainedRequest() throws(EngineError) -> SyncRequest {
    try drain()
    return log.syncRequest()
  }

  /// Waits until all commits so far are published.
  ///
  /// - Throws: As `CommitQueue.waitForEarlier`.
  func drain() throws(EngineError) { try commits.drain(upTo: tree.tip.generation, held) }
}
