import BenchmarkHarness

struct GraphPeerKind {
  let name: String
  let type: any GraphPeer.Type

  /// The first is compared with the last.
  static var all: [GraphPeerKind] {
    [
      GraphPeerKind(name: "Heartwood", type: HeartwoodGraphPeer.self),
      GraphPeerKind(name: "GRDB", type: GRDBPeer.self),
      GraphPeerKind(name: "GRDB tuned", type: GRDBTunedPeer.self),
      GraphPeerKind(name: "SQLite", type: SQLiteGraphPeer.self),
    ]
  }
}

/// Runs the graph's rows, the peers in turn.
struct GraphBenchmark {
  let options: Options
  var suite = GraphSuite.objects
  private var rounds: Int { options.rounds ?? 5 }

  private var objects: Int { options.objects ?? 100_000 }

  func run() throws -> ResultTable {
    let kinds = suite.peers.filter { options.includes(peer: $0.name) }
    let people = People(objects: objects)
    var table = ResultTable(title: title(of: people), peers: kinds.map(\.name), comparesWithLast: true)
    for round in 0..<rounds {
      let work = GraphWork(people, round: round, least: options.least)
      var run = try GraphRound(
        number: round, rounds: rounds, suite: suite, kinds: kinds, work: work, options: options)
      try run.measureAll(into: &table)
    }
    return table
  }

  private func title(of people: People) -> String {
    "\(suite.title): \(objects) persons of \(people.companies.count) companies, objects per second, median of "
      + "\(rounds) " + (rounds == 1 ? "round" : "rounds")
  }
}

/// The rows that are measured in one run.
enum GraphSuite: String {
  /// Objects that are fetched, walked and changed.
  case objects = "Graph"
  /// Values that the store computes, and batches.
  case values = "Values and batches"

  var title: String { rawValue }

  var peers: [GraphPeerKind] {
    GraphPeerKind.all.filter { self == .objects || $0.type is any ValuePeer.Type }
  }

  var insert: GraphRow { self == .objects ? GraphRow.insert : GraphRow.batchInsert }

  var others: [GraphRow] {
    self == .objects ? GraphRow.fetches + GraphRow.changes : GraphRow.values + GraphRow.batches
  }
}

/// All rows once, in stores of their own.
private struct GraphRound {
  let number: Int
  let rounds: Int
  let suite: GraphSuite
  let kinds: [GraphPeerKind]
  let work: GraphWork
  let options: Options
  private let scratches: [Scratch]
  private var peers: [any GraphPeer]

  init(
    number: Int, rounds: Int, suite: GraphSuite, kinds: [GraphPeerKind], work: GraphWork, options: Options
  ) throws {
    (self.number, self.rounds, self.suite, self.kinds) = (number, rounds, suite, kinds)
    (self.work, self.options) = (work, options)
    scratches = try kinds.map { try Scratch(in: options.directory, named: $0.name) }
    peers = try zip(kinds, scratches).map { try $0.type.init(directory: $1.path) }
  }

  mutating func measureAll(into table: inout ResultTable) throws {
    try measure([suite.insert], into: &table)
    try close("size on disk after the insert and closing", into: &table)
    peers = try zip(kinds, scratches).map { try $0.type.init(directory: $1.path) }
    // Caches are warm in the rows that read.
    for peer in peers { _ = try peer.digestOfAll() }
    try measure(suite.others, into: &table)
    try close("size on disk after all rows and closing", into: &table)
  }

  private func measure(_ rows: [GraphRow], into table: inout ResultTable) throws {
    for row in rows where row.isNeeded || options.includes(row: row.name) {
      progress("round \(number + 1) of \(rounds): \(row.name)")
      var agreement = Agreement(on: row.name)
      for turn in peers.indices {
        // Another one begins in each round.
        let peer = (turn + number) % peers.count
        let measurement = try row.measure(peers[peer], work)
        try agreement.add(measurement.digest, of: kinds[peer].name)
        guard options.includes(row: row.name) else { continue }
        table.add(
          measurement.figure, row: row.name, unit: .operationsPerSecond, peer: peer, goal: .ratio(row.goal))
      }
    }
  }

  private mutating func close(_ row: String, into table: inout ResultTable) throws {
    for peer in peers { try peer.close() }
    peers = []
    guard options.includes(row: row) else { return }
    for (peer, scratch) in scratches.enumerated() {
      table.add(
        Double(try scratch.occupiedBytes()), row: row, unit: .bytes, peer: peer, goal: .ratio(1 / 1.5))
    }
  }
}
