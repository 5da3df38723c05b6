/// The options of the command line.
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
  /// How many records the rows of keys and values have, one after the other; empty for what is usual.
  var recordCounts: [Int] = []
  var objects: Int?
  var keys = KeyShape.decimal
  var rounds: Int?
  /// Which round's work a turn does.
  var turn = 0
  /// Seconds that rows that read go on for at least: short for a table, long for a profile.
  var least = 0.05
  var markdown = false
  var svg: String?
  /// Where a file for `heartwood import` is written.
  var importFile: String?
  var directory = "/var/tmp"
  var rows: String?
  var peers: [String] = []
  var help = false

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
      --rows TEXT     only rows whose name contains TEXT, or one of several: A|B
      --peers A,B     only these peers, the first compared with the others
      --directory D   where the stores are made (/var/tmp)
      --least S       seconds that a row that reads is repeated for (0.05)
      --cpu           count processor time, not the clock: for a machine that is busy
      --markdown      the tables as Markdown
      --svg FILE      the engine's ratios as a chart
      --import-file F only writes a file for heartwood import: 66,000 objects,
                      374,000 links, 30 MB
    """

  init(_ arguments: some Sequence<String>) throws {
    var remaining = Array(arguments)[...]
    while let word = remaining.popFirst() {
      if let part = Part(rawValue: word) {
        parts.append(part)
      } else {
        try take(word, &remaining)
      }
    }
    if parts.isEmpty { parts = [.engine, .graph, .published] }
  }

  private mutating func take(_ word: String, _ remaining: inout ArraySlice<String>) throws {
    switch word {
    case "--records": recordCounts = try Self.numbers(word, &remaining)
    case "--objects": objects = try Self.number(word, &remaining)
    case "--rounds": rounds = try Self.number(word, &remaining)
    case "--turn": turn = try Self.number(word, &remaining) - 1
    case "--import-file": importFile = try Self.text(word, &remaining)
    case "--svg": svg = try Self.text(word, &remaining)
    case "--rows": rows = try Self.text(word, &remaining)
    case "--peers": peers = try Self.text(word, &remaining).split(separator: ",").map(String.init)
    case "--directory": directory = try Self.text(word, &remaining)
    case "--keys": keys = try Self.shape(word, &remaining)
    case "--least": least = try Self.seconds(word, &remaining)
    case "--markdown": markdown = true
    case "--cpu": break  // Stopwatch looks for it
    case "--help", "-h": help = true
    default: throw BenchmarkError("unknown argument '\(word)'\n\n\(Self.usage)")
    }
  }

  private static func text(_ word: String, _ remaining: inout ArraySlice<String>) throws -> String {
    guard let text = remaining.popFirst() else { throw BenchmarkError("\(word) needs a value") }
    return text
  }

  private static func shape(_ word: String, _ remaining: inout ArraySlice<String>) throws -> KeyShape {
    let text = try text(word, &remaining)
    guard let shape = KeyShape(rawValue: text) else {
      throw BenchmarkError("\(word) is decimal or random, not '\(text)'")
    }
    return shape
  }

  private static func seconds(_ word: String, _ remaining: inout ArraySlice<String>) throws -> Double {
    let text = try text(word, &remaining)
    guard let seconds = Double(text), seconds >= 0 else {
      throw BenchmarkError("\(word) needs a number of seconds, not '\(text)'")
    }
    return seconds
  }

  private static func number(_ word: String, _ remaining: inout ArraySlice<String>) throws -> Int {
    let text = try text(word, &remaining)
    guard let number = Int(text), number > 0 else {
      throw BenchmarkError("\(word) needs a positive number, not '\(text)'")
    }
    return number
  }

  private static func numbers(_ word: String, _ remaining: inout ArraySlice<String>) throws -> [Int] {
    try text(word, &remaining).split(separator: ",").map { text in
      var one = [String(text)][...]
      return try number(word, &one)
    }
  }

  func includes(row: String) -> Bool {
    guard let rows else { return true }
    return rows.split(separator: "|").contains { row.contains($0) }
  }

  func includes(peer: String) -> Bool {
    peers.isEmpty || peers.contains { $0.lowercased() == peer.lowercased() }
  }
}
