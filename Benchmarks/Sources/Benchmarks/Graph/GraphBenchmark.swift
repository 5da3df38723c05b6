struct GraphPeerKind {
  let name: String
  let type: any GraphPeer.Type

  /// The first is compared with the others.
  static var all: [GraphPeerKind] {
    [
      GraphPeerKind(name: "Heartwood", type: HeartwoodGraphPeer.self),
      GraphPeerKind(name: "GRDB", type: GRDBPeer.self),
    ]
  }
}

/// Runs the graph's rows, the peers in turn.
struct GraphBenchmark {
  let options: Options
  private var rounds: Int { options.rounds ?? 5 }

  private var objects: Int { options.objects ?? 100_000 }

  func run() throws -> ResultTable {
    let kinds = GraphPeerKind.all.filter { options.includes(peer: $0.name) }
    let library = Library(objects: objects)
    var table = ResultTable(title: title(of: library), peers: kinds.map(\.name))
    for round in 0..<rounds {
      try run(round, kinds, GraphWork(library, round: round, least: options.least), into: &table)
    }
    return table
  }

  private func title(of library: Library) -> String {
    "Graph: \(objects) books of \(library.publishers.count) publishers, objects per second, median of "
      + "\(rounds) " + (rounds == 1 ? "round" : "rounds")
  }

  private func run(
    _ round: Int, _ kinds: [GraphPeerKind], _ work: GraphWork, into table: inout ResultTable
  ) throws {
    let scratches = try kinds.map { try Scratch(in: options.directory, named: $0.name) }
    let peers = try zip(kinds, scratches).map { try $0.type.init(directory: $1.path) }
    for row in GraphRow.all where row.isNeeded || options.includes(row: row.name) {
      progress("round \(round + 1) of \(rounds): \(row.name)")
      var agreement = Agreement(on: row.name)
      for turn in peers.indices {
        // Another one begins in each round.
        let peer = (turn + round) % peers.count
        let measurement = try row.measure(peers[peer], work)
        try agreement.add(measurement.digest, of: kinds[peer].name)
        guard options.includes(row: row.name) else { continue }
        table.add(measurement.figure, row: row.name, unit: .operationsPerSecond, peer: peer)
      }
    }
    try withExtendedLifetime(scratches) {
      for peer in peers { try peer.close() }
    }
  }
}
