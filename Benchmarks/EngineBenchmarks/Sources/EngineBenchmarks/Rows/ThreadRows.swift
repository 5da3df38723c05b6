import BenchmarkHarness
import Synchronization

/// Rows in which several threads use one store, and the mixed one.
extension EngineRow {
  /// Each thread commits its share of the puts one by one.
  static var durableThreads: EngineRow {
    EngineRow(name: Name.durableThreads, changes: true) { session, work in
      let store = try session.store(.sorted)
      let stores = try (0..<EngineWork.threads).map { _ in try store.forAnotherThread() }
      for store in stores { try store.makeCommits(durable: true) }
      let seconds = try timed { try commitSingles(stores, work) }.seconds
      for store in stores {
        try store.makeCommits(durable: false)
        try store.close()
      }
      return PeerMeasurement(figure: Double(work.threadSingles.count) / seconds)
    }
  }

  private static func commitSingles(_ stores: [any EnginePeer], _ work: EngineWork) throws {
    let threads = Threads()
    for (number, store) in stores.enumerated() {
      let handed = Handed((store, work))
      threads.start {
        let (store, work) = handed.value
        for index in stride(from: number, to: work.threadSingles.count, by: EngineWork.threads) {
          let value = work.records.value(work.threadSingles.ranks[index], version: 33)
          try store.write { try $0.put(work.threadSingles[index], value) }
        }
      }
    }
    try threads.join()
  }

  static var durableThreadsRatio: EngineRow {
    EngineRow(name: Name.durableThreadsRatio, unit: .times) { session, _ in
      let (many, one) = (session.figures[Name.durableThreads], session.figures[Name.durableSingles])
      return PeerMeasurement(figure: (many ?? .nan) / (one ?? .nan))
    }
  }

  /// One operation in twenty is a put, a commit of its own; the others read the newest state.
  static var zipfian: EngineRow {
    EngineRow(name: Name.zipfian, changes: true) { session, work in
      let (store, keys) = (try session.warmStore(.sorted), work.zipfian)
      var digest = ReadDigest()
      let seconds = try timed {
        for index in 0..<keys.count {
          guard index % 20 == 7 else {
            try store.getNewest(keys[index], into: &digest)
            continue
          }
          let value = work.records.value(keys.ranks[index], version: 42 + index & 7)
          try store.write { try $0.put(keys[index], value) }
        }
      }.seconds
      return PeerMeasurement(figure: Double(keys.count) / seconds, digest: digest.value)
    }
  }

  /// Two threads that read the newest state and one that commits 100 puts at a time, all as fast as they can. In the
  /// end every key that was written gets one last value, so that all peers hold the same. Peers whose readers would see
  /// half of a commit only do the latter.
  static var readsBesideWriter: EngineRow {
    EngineRow(name: Name.readsBesideWriter, changes: true) { session, work in
      let store = try session.warmStore(.sorted)
      let rates =
        session.kind.type.hasSnapshots ? try besides(store, work) : (reads: Double.nan, writes: Double.nan)
      session.figures[Name.writesBesideReaders] = rates.writes
      try update(store, work, work.updates, perCommit: 100, version: 0)
      return PeerMeasurement(figure: rates.reads)
    }
  }

  static var writesBesideReaders: EngineRow {
    EngineRow(name: Name.writesBesideReaders) { session, _ in
      PeerMeasurement(figure: session.figures[Name.writesBesideReaders] ?? .nan)
    }
  }

  private static func besides(
    _ store: any EnginePeer, _ work: EngineWork
  ) throws -> (reads: Double, writes: Double) {
    let (race, threads) = (Race(seconds: max(work.least * 20, 0.1)), Threads())
    let readers = try (0..<2).map { _ in try store.forAnotherThread() }
    for (number, reader) in readers.enumerated() {
      let handed = Handed((reader, work))
      threads.start { try race.read(handed.value.0, handed.value.1.lookUps, from: number) }
    }
    let writer = Handed((store, work))
    threads.start { try race.write(writer.value.0, writer.value.1) }
    try threads.join()
    for reader in readers { try reader.close() }
    return race.rates
  }
}

/// Counts what readers and a writer reach in a given time. Each thread looks at the clock itself.
private final class Race: Sendable {
  private let seconds: Double
  private let sums = Mutex<(reads: Double, writes: Double)>((0, 0))

  init(seconds: Double) { self.seconds = seconds }

  var rates: (reads: Double, writes: Double) { sums.withLock { $0 } }

  func read(_ store: any EnginePeer, _ keys: KeyList, from number: Int) throws {
    var digest = ReadDigest()
    let rate = try rate(of: 100) { turn in
      for index in 0..<100 {
        try store.getNewest(keys[(number * 7919 + turn * 100 + index) % keys.count], into: &digest)
      }
    }
    sums.withLock { $0.reads += rate }
  }

  func write(_ store: any EnginePeer, _ work: EngineWork) throws {
    let keys = work.updates
    let rate = try rate(of: 100) { turn in
      try store.write { writer in
        for index in 0..<100 {
          let place = (turn * 100 + index) % keys.count
          try writer.put(keys[place], work.records.value(keys.ranks[place], version: 51 + turn & 7))
        }
      }
    }
    sums.withLock { $0.writes += rate }
  }

  private func rate(of size: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    let start = Stopwatch.seconds()
    var turns = 0
    var passed = 0.0
    while passed < seconds {
      try body(turns)
      turns += 1
      passed = Stopwatch.seconds() - start
    }
    return Double(turns * size) / passed
  }
}
