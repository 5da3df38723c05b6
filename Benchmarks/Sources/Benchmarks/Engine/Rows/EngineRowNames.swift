extension EngineRow {
  /// The names of the rows.
  enum Name {
    static let sortedLoad = "bulk load, sorted"
    static let sortedSize = "size at rest, sorted load"
    static let randomLoad = "bulk load, random"
    static let randomSize = "size at rest, random load"
    static let openAfterClose = "open after clean close, and one read"
    static let reads = "random reads, one snapshot"
    static let newestReads = "random reads, newest each time"
    static let readsOfRandom = "random reads, randomly loaded"
    static let scan = "full scan (records/s)"
    static let ranges = "range scans of 100"
    static let scanOfRandom = "full scan, randomly loaded"
    static let rangesOfRandom = "range scans, randomly loaded"
    static let count = "count of a random range"
    static let entry = "entry at a random rank"
    static let overwriting = "overwriting all, 100 a commit, no sync"
    static let scanOfOverwritten = "full scan, overwritten"
    static let rangesOfOverwritten = "range scans, overwritten"
    static let updates = "random updates, 100 a commit, no sync"
    static let singleUpdates = "random updates, 1 a commit, no sync"
    static let durableSingles = "durable commits of 1 put (commits/s)"
    static let durableHundreds = "durable commits of 100 puts (puts/s)"
    static let durableThreads = "durable commits by eight threads"
    static let durableThreadsRatio = "durable commits, eight threads to one"
    static let zipfian = "95/5 zipfian reads and updates"
    static let readsBesideWriter = "two readers beside a writer: reads"
    static let writesBesideReaders = "two readers beside a writer: writes"
    static let deletes = "deletes, 100 a commit, no sync"
    static let openAfterCrash = "open after a crash, and one read"
  }

  /// The goals of the rows.
  static let goals: [String: Goal] = [
    Name.sortedLoad: .ratio(2.0), Name.randomLoad: .ratio(3.0),
    Name.sortedSize: .ratio(1 / 1.25), Name.randomSize: .ratio(1 / 1.25),
    Name.openAfterClose: .atMost(0.2), Name.openAfterCrash: .atMost(300),
    Name.reads: .ratio(1.7), Name.newestReads: .ratio(1.7), Name.readsOfRandom: .ratio(1.6),
    Name.scan: .ratio(1.8), Name.ranges: .ratio(1.5),
    Name.scanOfRandom: .ratio(1.4), Name.rangesOfRandom: .ratio(1.6),
    Name.scanOfOverwritten: .ratio(1.4), Name.rangesOfOverwritten: .ratio(1.6),
    Name.count: .atMost(1), Name.entry: .atMost(1),
    Name.updates: .ratio(1.5), Name.singleUpdates: .ratio(1.8),
    Name.durableSingles: .ratio(1.45), Name.durableHundreds: .ratio(1.7),
    Name.durableThreadsRatio: .atLeast(4), Name.zipfian: .ratio(2.5),
    Name.readsBesideWriter: .ratio(1.4), Name.writesBesideReaders: .ratio(1.5),
  ]
}
