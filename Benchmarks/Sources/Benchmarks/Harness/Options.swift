import BenchmarkHarness
import EngineBenchmarks

/// The options of the command line.
@dynamicMemberLookup
struct Options {
  enum Part: String, CaseIterable {
    case engine, graph, published, values, access, live, plans, lean, growth, space, migration, files, search,
      time
    /// One peer's turn of `growth`, which runs it in a process of its own.
    case turn
    /// One peer's row of `migration`, in a process of its own.
    case migrationTurn
    /// The process of `time` that merges what the other one saves.
    case mergeTurn
  }

  var parts: [Part] = []
  /// The options that every part has.
  var common = BenchmarkOptions()
  var objects: Int?
  /// Which round's work a turn does.
  var turn = 0
  /// Where a file for `heartwood import` is written.
  var importFile: String?

  subscript<Value>(dynamicMember option: KeyPath<BenchmarkOptions, Value>) -> Value {
    common[keyPath: option]
  }

  static let usage = """
    usage: heartwood-benchmarks [engine] [graph] [published] [values] [access] [live] [plans] [lean]
                                [growth] [space] [migration] [files] [search] [time] [options]

      engine          keys and values beside SQLite, LMDB, RocksDB and LevelDB, and WiredTiger,
                      Kyoto Cabinet, Tkrzw and libmdbx where they are installed
      graph           objects beside GRDB's records and hand-written SQLite
      published       users, students and orders of two published benchmarks, beside GRDB's
                      records and hand-written SQLite
      values          groups, joins, windows, first pages and batches beside GRDB tuned and
                      hand-written SQLite
      access          nanoseconds of an access to a property, typed and by name
      live            microseconds to notify a live result of one change
      plans           microseconds of fetches that indexes serve, and of choosing a plan
      lean            memory of a pass over many objects, in batches
      growth          keys and values in small and large stores, the memory they
                      take, and what an old reader costs
      space           room that overwritten records take, and commits beside giving it back
      migration       a million rows and a changed model, beside SQLite's ALTER TABLE and
                      copied table, and beside a copy of the store's bytes
      files           stores of one file beside property lists and JSON made by Codable, and
                      reading a model of Xcode
      time            what a store's past costs: history, differences, past states, and copies
                      of each commit
      search          indexes of words and of places beside SQLite's FTS5 and R*Tree
                      (engine, graph and published where none is named)

      --records N,M   records of the engine's rows (1000000), and of growth's
                      (10000,100000,1000000)
      --keys SHAPE    decimal, or random (decimal)
      --objects N     objects of the rows of graph, published, values (100000; live: 10000; lean and
                      migration: 1000000)
      --rounds N      rounds, of which the median counts (5, and 3 for rows that
                      take a peer more than ten seconds; growth, migration: 3)
    \(BenchmarkOptions.usageOfEveryPart)
      --svg FILE      the engine's ratios as a chart
      --import-file F only writes a file for heartwood import: 66,000 objects,
                      374,000 links, 30 MB
    """

  init(_ arguments: some Sequence<String>) throws {
    var words = CommandWords(arguments)
    while let word = words.next() {
      if let part = Part(rawValue: word) {
        parts.append(part)
      } else {
        try take(word, &words)
      }
    }
    if parts.isEmpty { parts = [.engine, .graph, .published] }
  }

  private mutating func take(_ word: String, _ words: inout CommandWords) throws {
    switch word {
    case "--objects": objects = try words.number(for: word)
    case "--turn": turn = try words.number(for: word) - 1
    case "--import-file": importFile = try words.text(for: word)
    default:
      guard try common.take(word, &words) else {
        throw BenchmarkError("unknown argument '\(word)'\n\n\(Self.usage)")
      }
    }
  }

  func includes(row: String) -> Bool { common.includes(row: row) }
  func includes(peer: String) -> Bool { common.includes(peer: peer) }
}
