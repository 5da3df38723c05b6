/// What the holder of the writer lock changes: the log, the tree, the tip of the generations, and the work that is due.
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
  var unlinked = UnlinkedSegments()
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
    throttle: WriteThrottle, replayedBytes: Int
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

/// Segments that are unlinked but stay open, because pinned generations may need them.
struct UnlinkedSegments {
  /// The segments of each compaction, and the first generation that does not need them.
  private var waiting: [(segments: VictimSegments, generation: UInt64)] = []

  /// Adds segments that generations before `generation` may need.
  mutating func add(_ segments: VictimSegments, generation: UInt64) {
    if !segments.isEmpty { waiting.append((segments, generation)) }
  }

  /// Removes the segments that no pinned generation needs; returns their owners.
  mutating func release(from space: PageSpace, _ generations: Generations) -> [AnyObject] {
    var released: [AnyObject?] = []
    while let first = waiting.first, !Self.isNeeded(first.generation, generations) {
      waiting.removeFirst()
      released += first.segments.logs.map { space.values.remove($0) }
      released += first.segments.pages.map { space.removeSegment($0) }
    }
    return released.compactMap { $0 }
  }

  /// Whether an older generation than this one is pinned.
  private static func isNeeded(_ generation: UInt64, _ generations: Generations) -> Bool {
    return generations.oldestPinned.map { $0 < generation } ?? false
  }
}
