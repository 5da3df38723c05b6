import HeartwoodFiles
import Synchronization

/// The parts of an open store.
///
/// - Readers use `generations`, `space` and the log's `table` without locks.
/// - The holder of `writer` changes the log, the tree and the published state.
/// - The holder of `checkpoints` writes pages; it acquires `writer` for short steps only.
/// - Threads that wait in `commits` sync the log and publish transactions.
/// - Lock order: `reclaimer.lock`, `checkpoints`, `writer`, then one of the locks of `lease`, `commits` and
///   `syncs`. A thread that waits for the lease holds none of these except `reclaimer.lock`.
final class OpenStore: @unchecked Sendable {
  let path: String
  let options: EngineOptions
  let folder: StoreFolder
  let anchor: AnchorFile
  let log: Log
  let space: PageSpace
  let generations: Generations
  let tree: TreeWriter

  /// Nil if no other process can write: the store is in memory, or open for reading only.
  let attachment: ProcessAttachment?
  /// The shared header, in which processes publish records; nil if the store is in memory or untrusted, or
  /// has none and is open for reading only.
  let page: SharedHeader?
  let lease: WriterLease
  let fileSystem: any FileSystem

  let status: StoreStatus
  let writer = WriterLock()
  let syncs: LogSyncs
  let commits: CommitQueue

  /// Guards `pages`, `newestCheckpoint` and `lastCheckpoint`.
  let checkpoints = Lock()
  let pages: PageAppender
  var newestCheckpoint: NamedCheckpoint?
  /// The last checkpoint whose frame is in the log. The anchor need not name it yet.
  var lastCheckpoint: NamedCheckpoint?
  /// Guarded by the writer lock.
  var pendingReload = PendingReload.none

  /// Whether the reserve is used up and the disk has had no room for another since. Changed by the process
  /// that holds the lease; read by each commit. Relaxed, because only the use of room depends on it.
  let isReserveSpent = Atomic(false)
  let numbers: SegmentNumbers
  let unrecoveredTransactions: Int
  let reclaimer = Reclaimer()
  /// Delays commits that append faster than space is reclaimed.
  let throttle = WriteThrottle()
  let observers = CommitObservers()

  /// `log.appendedBytes` when the newest checkpoint began. Guarded by the writer lock, like the variables
  /// below.
  var bytesAtCheckpoint: Int
  /// Bytes of log after which the next checkpoint is due. Smaller if there is much to reclaim, or if more
  /// than half of the address space for pages in memory is used.
  var checkpointInterval: Int {
    if space.arenaBytesInUse > space.arenaByteLimit / 2 { return options.checkpointBytes / 16 }
    let needsEarlyCheckpoint = reclaimer.needsEarlyCheckpoint.load(ordering: .relaxed)
    return needsEarlyCheckpoint ? options.checkpointBytes / 2 : options.checkpointBytes
  }
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
    path = parts.path
    options = parts.options
    fileSystem = parts.fileSystem
    page = parts.page
    lease = WriterLease(
      isHeld: parts.holdsLease, parts.folder.attachment, parts.page, seenRecord: parts.seenRecord)
    status = StoreStatus()
    syncs = LogSyncs(status, isOff: parts.options.durability == .none)
    commits = CommitQueue(log: parts.log, generations: parts.generations, syncs: syncs, status: status)
    folder = parts.folder
    attachment = parts.folder.attachment
    anchor = parts.anchor
    log = parts.log
    space = parts.space
    generations = parts.generations
    tree = parts.tree
    pages = parts.pages
    newestCheckpoint = parts.checkpoint
    lastCheckpoint = parts.checkpoint
    numbers = parts.numbers
    unrecoveredTransactions = parts.unrecoveredTransactions
    bytesAtCheckpoint = -parts.replayedBytes
  }

  var logFinder: LogFinder { LogFinder(folder: folder, identifier: log.identifier, options: options) }

  /// - Throws: `.readOnly` if the store is open for reading only.
  func checkMayWrite() throws(EngineError) {
    guard options.access == .readOnly else { return }
    throw EngineError(.readOnly, "the store is open for reading only; open it for writing", file: path)
  }
}
