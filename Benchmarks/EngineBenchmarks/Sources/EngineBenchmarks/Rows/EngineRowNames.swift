extension EngineRow {
  /// The names of the rows.
  public enum Name {
    /// All records in the order of their keys, into a new store.
    public static let sortedLoad = "bulk load, sorted"
    /// The bytes on disk after that, and closing.
    public static let sortedSize = "size at rest, sorted load"
    /// All records in random order, into a new store.
    public static let randomLoad = "bulk load, random"
    /// The bytes on disk after that, and closing.
    public static let randomSize = "size at rest, random load"
    /// Opening a store that was closed, until a value is read.
    public static let openAfterClose = "open after clean close, and one read"
    /// Values of random keys, all in one snapshot; left out without snapshots.
    public static let reads = "random reads, one snapshot"
    /// Values of random keys, each of the newest state.
    public static let newestReads = "random reads, newest each time"
    /// As `reads`, of the store that was loaded in random order; left out without snapshots.
    public static let readsOfRandom = "random reads, randomly loaded"
    /// All records in order.
    public static let scan = "full scan (records/s)"
    /// A hundred records from random keys on.
    public static let ranges = "range scans of 100"
    /// As `scan`, of the store that was loaded in random order.
    public static let scanOfRandom = "full scan, randomly loaded"
    /// As `ranges`, of the store that was loaded in random order.
    public static let rangesOfRandom = "range scans, randomly loaded"
    /// How many keys lie between two random ones.
    public static let count = "count of a random range"
    /// The record that has so many before it.
    public static let entry = "entry at a random rank"
    /// New values for all keys of the store that was loaded in random order, in another random order.
    public static let overwriting = "overwriting all, 100 a commit, no sync"
    /// As `scan`, after `overwriting`.
    public static let scanOfOverwritten = "full scan, overwritten"
    /// As `ranges`, after `overwriting`.
    public static let rangesOfOverwritten = "range scans, overwritten"
    /// New values for random keys, a hundred in a commit.
    public static let updates = "random updates, 100 a commit, no sync"
    /// New values for random keys, each a commit.
    public static let singleUpdates = "random updates, 1 a commit, no sync"
    /// The same with commits that survive a power cut.
    public static let durableSingles = "durable commits of 1 put (commits/s)"
    /// As `updates`, with commits that survive a power cut.
    public static let durableHundreds = "durable commits of 100 puts (puts/s)"
    /// Durable commits of one put by eight threads, which may share a sync.
    public static let durableThreads = "durable commits by eight threads"
    /// `durableThreads` divided by `durableSingles`, each peer by itself.
    public static let durableThreadsRatio = "durable commits, eight threads to one"
    /// Reads of the newest state, of which a few keys are most, and every twentieth time an update.
    public static let zipfian = "95/5 zipfian reads and updates"
    /// Reads of the newest state by two threads, while a third commits; left out without snapshots.
    public static let readsBesideWriter = "two readers beside a writer: reads"
    /// The puts of that third thread; left out without snapshots.
    public static let writesBesideReaders = "two readers beside a writer: writes"
    /// Deletes of a tenth of all keys, a hundred in a commit.
    public static let deletes = "deletes, 100 a commit, no sync"
    /// Opening a copy of a store in use, until a value is read; left out where copies cannot be opened.
    public static let openAfterCrash = "open after a crash, and one read"
  }
}
