import HeartwoodFiles

/// When a commit is safe against a power cut.
public enum Durability: Hashable, Sendable {
  /// Before the commit returns.
  case full
  /// At the next checkpoint, full commit or close, without a time limit. After a power cut the newest
  /// transactions may be missing: always whole ones, and never one before a transaction that is there. A
  /// killed process loses nothing.
  case deferred
  /// Whenever the system writes it, for scratch data. A store opened so does no syncs at all, and after a
  /// power cut it may be refused. Opening it with syncs first makes everything in it durable, or fails. For a
  /// single transaction, the same as `deferred`.
  case none
}

/// Options for opening a store.
public struct EngineOptions: Sendable {
  /// The allowed operations.
  public enum Access: Hashable, Sendable {
    /// Reading and writing.
    case readWrite
    /// Reading. Nothing is written to the folder, not even to recover. While a writer is running, its newest
    /// generation is visible. After an unclean end, every whole transaction in the log is visible, as the next
    /// opening for writing finds it. The log is synced before; if that fails, only what is proven to be on the
    /// disk is visible, and `EngineStatistics.unrecoveredTransactions` is the number of the others.
    case readOnly
  }

  /// How the store's files are read, and small unsynced commits written.
  public enum Reading: Hashable, Sendable {
    /// Through memory maps, if the file system can map. Unsynced commits of up to 16 KiB are written through
    /// a map on file systems that overwrite in place (ext4 and tmpfs), so that the write cannot fail for lack
    /// of space.
    case mapped
    /// By read and write calls, so that a failing disk causes an error instead of ending the process. Bytes
    /// read from a file stay in memory as long as the file is part of the store. Only the header that
    /// processes share is mapped nevertheless.
    case buffered
  }

  /// Limits for a store that comes from an untrusted source.
  public struct UntrustedLimits: Hashable, Sendable {
    /// The greatest total size of its files in bytes, including holes. Opening may use a few times as much
    /// memory, and the time to read them all.
    public var fileBytes: Int64
    /// The greatest number of files in its folder.
    public var files: Int
    /// The greatest number of branch levels above a leaf of its tree.
    public var treeLevels: Int

    /// Creates limits; by default 1 GiB, 4096 files, and more tree levels than such a store needs.
    public init(fileBytes: Int64 = 1 << 30, files: Int = 4096, treeLevels: Int = 12) {
      self.fileBytes = fileBytes
      self.files = files
      self.treeLevels = treeLevels
    }
  }

  /// When the space of overwritten and deleted values is reclaimed.
  public enum Reclamation: Hashable, Sendable {
    /// In the background, a part with each checkpoint, so that the files stay below a small multiple of the
    /// live bytes; when a small store is closed; and by `Engine.reclaim()`, down to little more than the live bytes.
    case automatic
    /// By `Engine.reclaim()` only, so that past generations stay available until then.
    case onDemand
  }

  /// Which values are compressed when they are written.
  public enum Compression: Hashable, Sendable {
    /// None.
    case none
    /// Values of at least this many bytes (raised to 32) and at most 1 MiB, by LZ4, if that makes them shorter by an
    /// eighth.
    ///
    /// Reading such a value decompresses it into memory, where it stays while bytes of it may be used: see
    /// ``Snapshot/forgetDecompressedValues()``. Values that are there already are compressed when compaction moves
    /// them. Versions that know format 1 only refuse the store.
    case values(ofAtLeast: Int)
  }

  /// Which others may have the store open for writing.
  public enum Sharing: Hashable, Sendable {
    /// Other processes, and other engines of this process. One of them writes at a time. The writer keeps the
    /// lock from transaction to transaction while it is alone, and releases it after each one while others
    /// have the store open.
    case processes
    /// No others.
    case exclusive
  }

  /// Reading and writing, or reading only.
  public var access: Access
  /// Which others may have the store open for writing. Read-only access takes no lock.
  public var sharing: Sharing
  /// Whether an engine of this process shares the open store with others. Tests turn it off to let engines
  /// stand for processes.
  package var sharesInProcess = true
  /// Seconds that opening and writing wait while another process or engine holds the store; then `.locked` is
  /// thrown. At least 0, which means not to wait.
  public var busyTimeout: Double
  /// Idle seconds after which the writer lease is released; nil releases it after every write.
  package var idleSeconds: Double? = 0.03
  /// Limits for a store from an untrusted source; nil for a trusted one.
  ///
  /// Forces read-only access without maps. Opening checks the limits first and then verifies everything: it
  /// throws `.tooLarge` if a limit is exceeded, `.damaged` if verification finds anything, and `.locked` if
  /// the store is open for writing. No other process may change the files while the store is open.
  public var untrusted: UntrustedLimits?
  /// The identifier of a new store; nil to make one.
  package var newIdentifier: StoreIdentifier?
  /// The meaning of the keys and values written through this engine; nil for no particular meaning. A new
  /// store is marked with it. Opening a store with another mark for writing throws `.otherContent`; a store
  /// without a mark is accepted.
  public var content: StoreContent?
  /// Whether a store with another mark is opened for writing nevertheless. Its mark stays.
  public var acceptsOtherContent = false
  /// Whether a missing store is created. Ignored with read-only access.
  public var createsStore: Bool
  /// Through maps or by read calls.
  public var reading: Reading
  /// The durability of transactions that do not specify one.
  public var durability: Durability
  /// The log continues in a new segment when one reaches this many bytes; clamped to 64 KiB ... 1 GiB.
  public var segmentBytes: Int { didSet { segmentBytes = Self.allowed(segment: segmentBytes) } }
  /// A checkpoint is due after this many bytes of log since the last one; raised to at least 64 KiB.
  public var checkpointBytes: Int { didSet { checkpointBytes = Self.allowed(checkpoint: checkpointBytes) } }
  /// When the space of overwritten and deleted values is reclaimed.
  public var reclamation: Reclamation
  /// Which values are compressed when they are written. A store without compressed values gets them only if no other process
  /// has it open at the opening. All versions that read compressed values read them whatever this option says.
  public var compression: Compression = .none
  /// Bytes of garbage that are never reclaimed in the background, whatever their share; an eighth of it in a store that is idle
  /// or closed.
  package var toleratedGarbage = 16 << 20
  /// A frame with this many bytes is full, and the transaction continues in the next one.
  package var frameBytes = Format.frameBytes
  /// Number of small files that are not merged.
  package var toleratedSmallFiles = 32
  /// Above this many bytes of tree in memory, the next checkpoint evicts pages, which are then read from
  /// disk.
  package var arenaBytes = 256 << 20
  /// Runs checkpoints and preallocation.
  public var worker: any BackgroundWorker
  /// Provides the commit times of transactions.
  public var clock: any WallClock
  /// Provides identifiers of stores and salts of segments.
  public var entropy: any Entropy
  /// Gets what the store does, for logs, counters and spans; nil, the default, for nothing, which costs one branch a write.
  ///
  /// It is called after the operation, on the thread that has done it, with no lock of the store held. It may read and write, which it is told
  /// of too, and must not close the store. Engines of this process that share an open store tell the events of all of them to the first one's.
  public var events: (@Sendable (EngineEvent) -> Void)?

  /// Creates options with the usual defaults.
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

  /// The same, of a store that is opened once more for the work of an open one, which is told already.
  var unobserved: EngineOptions {
    var options = self
    options.events = nil
    return options
  }

  private static func allowed(segment bytes: Int) -> Int { min(max(bytes, 64 << 10), 1 << 30) }
  private static func allowed(checkpoint bytes: Int) -> Int { max(bytes, 64 << 10) }
}
