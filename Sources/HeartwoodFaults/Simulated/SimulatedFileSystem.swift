import HeartwoodFiles

/// A file system in memory that knows which data survive a power loss.
///
/// The sync of a file makes its bytes durable, the sync of a directory its names; a new directory is durable
/// immediately. The ``CrashModel`` determines the further effects of a sync. `crashImages` returns the
/// possible states after a crash at any moment, while the file system continues to be used: any combination
/// of the changes since the last syncs that the crash model allows, including parts of writes.
///
/// It does not support memory maps, so callers read through buffers. It has a root directory and no links;
/// relative paths start at the root. It is deterministic: the same calls and the same seed give the same
/// images.
public final class SimulatedFileSystem: FileSystem {
  /// The seed of all pseudorandom decisions.
  public let seed: UInt64
  /// A clock for the code under test.
  public let clock: SimulatedClock
  /// Random numbers for the code under test, derived from the seed.
  public let entropy: SeededEntropy
  private let disk: SimulatedDisk
  private let mainProcess: SimulatedProcess

  /// Creates an empty disk.
  ///
  /// - Parameters:
  ///   - seed: Determines the foreign bytes, the random images and `entropy`.
  ///   - crashModel: Determines what a sync makes durable and which images a crash can leave.
  ///   - spaceLimit: The maximum total size of all files in bytes, or nil for no limit.
  public convenience init(
    seed: UInt64 = 0, crashModel: CrashModel = .posix, spaceLimit: Int64? = nil
  ) {
    self.init(DiskState(), seed: seed, crashModel)
    self.spaceLimit = spaceLimit
  }

  /// Creates a disk that holds `state`. All of it is durable.
  init(_ state: DiskState, seed: UInt64, _ crashModel: CrashModel) {
    self.seed = seed
    clock = SimulatedClock()
    entropy = SeededEntropy(seed: seed)
    disk = SimulatedDisk(state, seed: seed, crashModel)
    mainProcess = SimulatedProcess(name: "main", disk: disk)
  }

  /// The guarantees of the disk.
  public var crashModel: CrashModel { disk.crashModel }

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try mainProcess.openDirectory(path)
  }

  /// Creates one directory. It is durable immediately, together with all other names in its parent.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try mainProcess.createDirectory(path)
  }

  /// Exchanges two directories with one parent. It is durable immediately, together with all other names in the parent.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try mainProcess.exchangeDirectories(path, other)
  }

  // MARK: Processes

  /// Creates another process on the same disk, with its own open files and locks. Calls on this object itself
  /// belong to a separate process that is never killed.
  public func process(named name: String) -> SimulatedProcess { SimulatedProcess(name: name, disk: disk) }

  /// The number of open files of all processes.
  public var openFileCount: Int { disk.with { $0.handles.openCount } }

  /// The number of open files that hold a lock.
  public var lockCount: Int { disk.with { $0.handles.lockCount } }

  // MARK: Injected misbehavior

  /// The behavior of later file and directory syncs.
  public var syncBehavior: SyncBehavior {
    get { disk.with { $0.syncBehavior } }
    set { disk.with { $0.syncBehavior = newValue } }
  }

  /// The maximum total size of all files in bytes, or nil for no limit. Gaps in files count, and an unlinked
  /// file counts while it is open. A write is shortened to the bytes that fit; if none fit, it throws an
  /// error with the code `noSpace` that is marked as injected.
  public var spaceLimit: Int64? {
    get { disk.with { $0.spaceLimit } }
    set { disk.with { $0.spaceLimit = newValue } }
  }

  /// The total size of all files in bytes.
  public var usedBytes: Int64 { disk.with { $0.usedBytes } }

  // MARK: Crashes

  /// The images that a crash at this moment can leave, each once and built on demand.
  ///
  /// The number of images grows with the number of unsynced changes; the time for each grows with the size of
  /// the files that these changes modify.
  public func crashImages(_ limits: CrashImageLimits = CrashImageLimits()) -> CrashImages {
    disk.crashImages(limits)
  }

  /// Creates another disk with the current contents, all of them durable.
  func published() -> SimulatedFileSystem {
    SimulatedFileSystem(disk.with { $0.cached }, seed: seed, crashModel)
  }

  /// The number of changes that a crash at this moment can lose.
  public var unsyncedChangeCount: Int { disk.with { $0.pending.count } }

  /// A hash of all current names and bytes, durable or not, that is the same in every run on every platform.
  public var digest: UInt64 { disk.with { $0.cached }.digest }
}
