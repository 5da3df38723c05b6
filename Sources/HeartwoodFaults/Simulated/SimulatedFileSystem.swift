import HeartwoodFiles

/// A disk in memory that knows what a power cut would leave of it.
///
/// Bytes become durable by the sync of their file, names by the sync of their directory, new directories
/// at once; what else a sync does is up to the ``CrashModel``. `crashImages` tells, at any moment and while
/// the file system goes on being used, what may be found after a crash: any of the changes since the last
/// syncs, in any combination that the personality allows, and parts of writes.
///
/// It cannot map, so that whoever stands above reads through buffers. It has a root directory and no
/// links; relative paths begin at the root. There is no chance in it: the same calls and the same seed
/// give the same images.
public final class SimulatedFileSystem: FileSystem {
  /// The seed of everything here that looks random.
  public let seed: UInt64
  /// A clock for whatever is tested on this disk.
  public let clock: SimulatedClock
  /// Random numbers for whatever is tested on this disk, made from the seed.
  public let entropy: SeededEntropy
  private let disk: SimulatedDisk
  private let mainProcess: SimulatedProcess

  /// An empty disk.
  ///
  /// - Parameters:
  ///   - seed: Decides what foreign bytes, random images and `entropy` are.
  ///   - personality: Decides what a sync makes durable and which images a crash may leave.
  ///   - spaceLimit: The most bytes that all files together may have, or nil.
  public convenience init(
    seed: UInt64 = 0, crashModel: CrashModel = .posix, spaceLimit: Int64? = nil
  ) {
    self.init(DiskState(), seed: seed, crashModel)
    self.spaceLimit = spaceLimit
  }

  /// A disk that holds `state`, all of it durable.
  init(_ state: DiskState, seed: UInt64, _ crashModel: CrashModel) {
    self.seed = seed
    clock = SimulatedClock()
    entropy = SeededEntropy(seed: seed)
    disk = SimulatedDisk(state, seed: seed, crashModel)
    mainProcess = SimulatedProcess(name: "main", disk: disk)
  }

  /// What the disk promises.
  public var crashModel: CrashModel { disk.crashModel }

  /// Opens a directory that exists.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try mainProcess.openDirectory(path)
  }

  /// Makes one directory, durable at once together with all other names in its parent.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try mainProcess.createDirectory(path)
  }

  // MARK: Processes

  /// Another process on the same disk, with its own open files and locks. Whatever is reached through
  /// this object itself belongs to a process of its own, which is never killed.
  public func process(named name: String) -> SimulatedProcess { SimulatedProcess(name: name, disk: disk) }

  /// How many files all processes together have open.
  public var openFileCount: Int { disk.with { $0.handles.openCount } }

  /// How many open files hold a lock.
  public var lockCount: Int { disk.with { $0.handles.lockCount } }

  // MARK: Misbehavior

  /// What the syncs of files and directories do from now on.
  public var syncBehavior: SyncBehavior {
    get { disk.with { $0.syncBehavior } }
    set { disk.with { $0.syncBehavior = newValue } }
  }

  /// The most bytes that all files together may have, or nil; the gaps in files count as bytes, and an
  /// unlinked file counts as long as it is open. A write takes as many bytes as fit; where none do, the
  /// error has the code `noSpace` and is marked as injected.
  public var spaceLimit: Int64? {
    get { disk.with { $0.spaceLimit } }
    set { disk.with { $0.spaceLimit = newValue } }
  }

  /// How many bytes all files together have.
  public var usedBytes: Int64 { disk.with { $0.usedBytes } }

  // MARK: Crashes

  /// What a crash at this moment may leave, each image once, made when it is asked for.
  ///
  /// The number of images grows with the number of changes not yet synced; the time for each of them
  /// with the size of the files those changes touch.
  public func crashImages(_ limits: CrashImageLimits = CrashImageLimits()) -> CrashImages {
    disk.crashImages(limits)
  }

  /// Another disk with everything that is read here now, all of it durable.
  func published() -> SimulatedFileSystem {
    SimulatedFileSystem(disk.with { $0.cached }, seed: seed, crashModel)
  }

  /// How many changes a crash at this moment may take away.
  public var unsyncedChangeCount: Int { disk.with { $0.pending.count } }

  /// A number for all names and bytes as they are read now, durable or not: the same for the same names
  /// and bytes, in every run on every platform.
  public var digest: UInt64 { disk.with { $0.cached }.digest }
}
