import HeartwoodFiles
import Synchronization

/// The parts of a store that is open, and who may touch them.
///
/// - Readers use `generations`, `space` and the log's `table`, without locks.
/// - The holder of `writer` changes the log, the tree and what is published.
/// - The holder of `checkpoints` writes pages; it takes `writer` for moments only.
/// - Whoever waits in `commits` syncs and publishes.
/// - Order: `reclaimer`, `checkpoints`, `writer`, the lease's, those of `commits` and `syncs`. A thread that waits for the lease
///   holds none of them but the reclaimer's.
final class OpenStore: @unchecked Sendable {
  let path: String
  let options: EngineOptions
  let folder: StoreFolder
  let anchor: AnchorFile
  let log: Log
  let space: PageSpace
  let generations: Generations
  let tree: TreeWriter

  /// Nil where nobody else can write: the store is in memory, or open for reading only.
  let attachment: ProcessAttachment?
  /// What the processes tell one another.
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
  /// The last one whose frame is in the log, which the anchor need not name.
  var lastCheckpoint: NamedCheckpoint?
  /// Guarded by the writer lock, like what follows.
  var pendingReload = PendingReload.none

  /// Whether the store has used its reserve, and the disk had no room for another since. Changed by the process with the lease; read
  /// at each commit. Relaxed: it decides about room only.
  let isReserveSpent = Atomic(false)
  let numbers: SegmentNumbers
  let unrecoveredTransactions: Int
  let reclaimer = Reclaimer()
  /// Lets commits wait where they write faster than space comes back.
  let throttle = WriteThrottle()
  let observers = CommitObservers()

  // The writer's.
  /// `log.appendedBytes` when the newest checkpoint was begun.
  var bytesAtCheckpoint: Int
  /// After so many bytes of log the next is due: sooner where there is much to reclaim, and where a process with few addresses
  /// has little room left for pages that are not on disk.
  var checkpointInterval: Int {
    if space.arenaBytesInUse > space.arenaByteLimit / 2 { return options.checkpointBytes / 16 }
    let needsEarlyCheckpoint = reclaimer.needsEarlyCheckpoint.load(ordering: .relaxed)
    return needsEarlyCheckpoint ? options.checkpointBytes / 2 : options.checkpointBytes
  }
  var isCheckpointUnderWay = false
  /// `log.appendedBytes` when the store was last looked through for garbage while nobody wrote.
  var bytesAtSpaceScan = 0
  var isSpaceScanScheduled = false
  /// `log.appendedBytes` when the reserve was looked at the last time, but for checkpoints.
  var bytesAtReserve = 0
  /// Used again by the next, unless somebody has kept it.
  @exclusivity(unchecked) var lastTransaction: WriteTransaction?
  /// The next transaction lets go of the pages in memory that are on disk too.
  var evictsCleanPages = false

  /// What opening has found or made.
  struct Parts {
    var path: String
    var options: EngineOptions
    var fileSystem: any FileSystem
    var page: SharedHeader?
    /// The newest record that the log's end was taken from; 0 where it was not.
    var seenRecord: UInt64
    /// Whether nobody else is there.
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
    /// Bytes of log that were read behind the checkpoint.
    var replayedBytes: Int
    /// What `EngineStatistics.unrecoveredTransactions` tells.
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

  /// Throws where the store is open for reading only.
  func checkMayWrite() throws(EngineError) {
    guard options.access == .readOnly else { return }
    throw EngineError(.readOnly, "the store is open for reading only; open it for writing", file: path)
  }
}
