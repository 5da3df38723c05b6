import HeartwoodFiles

/// When a commit is safe against a power cut.
public enum Durability: Hashable, Sendable {
  /// Before it returns.
  case full
  /// At the next checkpoint, full commit or close; no clock makes it so before. After a power cut the newest transactions
  /// may be missing, always whole ones and never with a hole. A killed process loses nothing.
  case deferred
  /// Whenever the system happens to write it; for scratch data. A store opened so does no syncs at all, and after a power cut
  /// it may be refused; opening it with syncs makes everything in it durable first, or fails. For a single transaction
  /// it is the same as `deferred`.
  case none
}

/// How a store is opened.
public struct EngineOptions: Sendable {
  /// What may be done with the store.
  public enum Access: Hashable, Sendable {
    /// Reading and writing.
    case readWrite
    /// Reading; nothing is written to the folder, not even to recover. While a writer is there, its newest generation is
    /// seen. After an unclean end the last commits are left out until somebody opens the store for writing, full ones too:
    /// that a commit was synced is told by what is written behind it. `EngineStatistics.unrecoveredTransactions` says how many.
    case readOnly
  }

  /// How the store's files are read, and small commits that are not synced written.
  public enum Reading: Hashable, Sendable {
    /// Through memory maps, where the file system can map. Commits that are not synced, of up to 16 KiB, are written through one
    /// where bytes are known to be written over in place, so that room which was there can't be missing (ext4 and tmpfs).
    case mapped
    /// Through reads and writes, so that a failing disk is an error and does not end the process. What was read of a file stays
    /// in memory as long as the file is part of the store. Only the page that processes share is mapped all the same.
    case buffered
  }

  /// What is allowed to a store that somebody else may have made.
  public struct UntrustedLimits: Hashable, Sendable {
    /// The most bytes that its files may have together, holes in them included. Memory for a few times as many may be
    /// used, and the time that it takes to read them all.
    public var fileBytes: Int64
    /// The most files in its folder.
    public var files: Int
    /// The most branches above a leaf of its tree.
    public var treeLevels: Int

    /// 1 GiB in 4096 files, and a tree with room for more than that.
    public init(fileBytes: Int64 = 1 << 30, files: Int = 4096, treeLevels: Int = 12) {
      self.fileBytes = fileBytes
      self.files = files
      self.treeLevels = treeLevels
    }
  }

  /// When the space of overwritten and deleted values is given back.
  public enum Reclamation: Hashable, Sendable {
    /// In the background, a part with each checkpoint, so that the files stay below a small multiple of what
    /// lives; and by `Engine.reclaim()`, down to little more than that.
    case automatic
    /// By `Engine.reclaim()` only, so that past generations stay until then.
    case onDemand
  }

  /// Who else may have the store open for writing.
  public enum Sharing: Hashable, Sendable {
    /// Other processes, and other engines of this one. One of them writes at a time: the lock is kept from transaction to
    /// transaction as long as nobody else is there, and let go of after each where somebody is.
    case processes
    /// Nobody.
    case exclusive
  }

  /// Reading and writing, or reading only.
  public var access: Access
  /// Who else may have the store open for writing. Opening it for reading only keeps no lock in any case.
  public var sharing: Sharing
  /// Whether an engine of this process that has the store open already is used; package-wide, as tests let engines stand for
  /// processes.
  package var sharesInProcess = true
  /// How long opening, and writing, wait while somebody else has the store to themselves, in seconds: `.locked` is thrown
  /// then. At least 0, which is not to wait.
  public var busyTimeout: Double
  /// For how long nothing has to be written that others may lead, in seconds; nil for letting go after every write.
  package var idleSeconds: Double? = 0.03
  /// Set for a store that came from somewhere else. It is then opened for reading only, and read without maps, whatever the
  /// other options say; its size is looked at before anything else, and all of it is verified before it is opened: what
  /// passes the limits is refused as `.tooLarge`, with any finding as `.damaged`, and where somebody has it open for writing as
  /// `.locked`. Nobody may change its files while it is open. Nil for a store of one's own.
  public var untrusted: UntrustedLimits?
  /// What the keys and values mean that are written through this engine; nil for nothing in particular. A new store is
  /// marked with it. A store with another mark is refused for writing, as `.otherContent`; one without a mark is not.
  public var content: StoreContent?
  /// Whether a store that is marked to hold something else is opened for writing all the same. The mark stays.
  public var acceptsOtherContent = false
  /// Whether a missing store is created. Never with read-only access.
  public var createsStore: Bool
  /// Through maps or through reads.
  public var reading: Reading
  /// For transactions that do not say.
  public var durability: Durability
  /// The log goes on in a new segment when one has this many bytes; 64 KiB to 1 GiB, and the nearer of them for what is beyond.
  public var segmentBytes: Int { didSet { segmentBytes = Self.allowed(segment: segmentBytes) } }
  /// A checkpoint is due when this many bytes of log have been written since the last; at least 64 KiB, also for what is less.
  public var checkpointBytes: Int { didSet { checkpointBytes = Self.allowed(checkpoint: checkpointBytes) } }
  /// When the space of overwritten and deleted values is given back.
  public var reclamation: Reclamation
  /// So much is left where it is, whatever its share.
  package var toleratedGarbage = 16 << 20
  /// A frame that holds so much is ended, and the transaction goes on in the next.
  package var frameBytes = Format.frameBytes
  /// So many small files are left as they are.
  package var toleratedSmallFiles = 32
  /// Above this the tree in memory is given back, and read from disk, at the next checkpoint.
  package var arenaBytes = 256 << 20
  /// Runs checkpoints and lays zeros ahead of the log.
  public var worker: any BackgroundWorker
  /// Gives transactions their times.
  public var clock: any WallClock
  /// Gives stores their identifiers and segments their salts.
  public var entropy: any Entropy

  /// The usual choices.
  public init(
    access: Access = .readWrite, createsStore: Bool = true, sharing: Sharing = .processes,
    busyTimeout: Double = 5, reading: Reading = .mapped, durability: Durability = .full,
    segmentBytes: Int = 64 << 20, checkpointBytes: Int = 64 << 20,
    reclamation: Reclamation = .automatic, untrusted: UntrustedLimits? = nil,
    worker: any BackgroundWorker = QueueWorker(), clock: any WallClock = SystemClock(),
    entropy: any Entropy = SystemEntropy()
  ) {
    self.access = access
    self.createsStore = createsStore
    self.sharing = sharing
    self.busyTimeout = busyTimeout
    self.reading = reading
    self.durability = durability
    self.segmentBytes = Self.allowed(segment: segmentBytes)
    self.checkpointBytes = Self.allowed(checkpoint: checkpointBytes)
    self.reclamation = reclamation
    self.untrusted = untrusted
    self.worker = worker
    self.clock = clock
    self.entropy = entropy
  }

  private static func allowed(segment bytes: Int) -> Int { min(max(bytes, 64 << 10), 1 << 30) }
  private static func allowed(checkpoint bytes: Int) -> Int { max(bytes, 64 << 10) }
}
