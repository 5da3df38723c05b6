import BenchmarkHarness
import EngineBenchmarks

extension EngineRow {
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
