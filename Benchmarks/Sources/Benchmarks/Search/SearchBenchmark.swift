import BenchmarkHarness

/// Full-text and range indexes beside SQLite's FTS5 and R*Tree: inserts with each of them, and queries.
struct SearchBenchmark {
  let options: Options
  private var rounds: Int { options.rounds ?? 5 }

  func run() throws -> ResultTable {
    let texts = SearchTexts(objects: options.objects ?? 100_000)
    var table = ResultTable(
      title: "Search: \(texts.items.count) titles of twelve words at places, operations per second, "
        + "median of \(rounds) rounds",
      peers: ["Heartwood", "SQLite"], comparesWithLast: true)
    for round in 0..<rounds {
      progress("round \(round + 1) of \(rounds)")
      let queries = SearchQueries(round: round)
      try measure(Stores(SearchIndexes(), options), texts, "insert without an index", [], round, &table)
      try measure(
        Stores(SearchIndexes(words: true), options), texts, "insert with an index of words", words(queries),
        round, &table)
      try measure(
        Stores(SearchIndexes(boxes: true), options), texts, "insert with an index of places",
        boxes(queries), round, &table)
    }
    return table
  }

  private struct Stores {
    let scratches: [Scratch]
    let peers: [any SearchPeer]

    init(_ indexes: SearchIndexes, _ options: Options) throws {
      scratches = try ["Heartwood", "SQLite"].map { try Scratch(in: options.directory, named: $0) }
      peers = [
        try HeartwoodSearchPeer(scratches[0].path, indexes), try SQLiteSearchPeer(scratches[1].path, indexes),
      ]
    }
  }

  private struct Row {
    let name: String
    let operations: Int
    let run: (any SearchPeer) throws -> UInt64
  }

  private func measure(
    _ stores: Stores, _ texts: SearchTexts, _ insert: String, _ rows: [Row], _ round: Int,
    _ table: inout ResultTable
  ) throws {
    let turns = [round % 2, 1 - round % 2]
    for turn in turns {
      let seconds = try timed { try stores.peers[turn].insert(texts) }.seconds
      table.add(
        Double(texts.items.count) / seconds, row: insert, unit: .operationsPerSecond, peer: turn)
    }
    for row in rows where options.includes(row: row.name) {
      var agreement = Agreement(on: row.name)
      for turn in turns {
        let peer = stores.peers[turn]
        _ = try row.run(peer)
        let (seconds, digest) = try timedRepeatedly(least: options.least) { try row.run(peer) }
        try agreement.add(digest, of: peer.name)
        table.add(
          Double(row.operations) / seconds, row: row.name, unit: .operationsPerSecond, peer: turn)
      }
    }
    for peer in stores.peers { try peer.close() }
    for (turn, scratch) in stores.scratches.enumerated() {
      table.add(
        Double(try scratch.occupiedBytes()), row: "\(insert): size on disk", unit: .bytes, peer: turn)
    }
  }

  private func words(_ queries: SearchQueries) -> [Row] {
    let both = zip(queries.usual, queries.frequent).map { "\($0) \($1)" }
    let phrases = zip(queries.frequent, queries.frequent.reversed()).map { "\"\($0) \($1)\"" }
    return [
      Row(name: "titles with a rare word", operations: queries.rare.count) { try $0.titles(queries.rare) },
      Row(name: "titles with a usual word", operations: queries.usual.count) { try $0.titles(queries.usual) },
      Row(name: "count of a frequent word", operations: queries.frequent.count) {
        try $0.count(queries.frequent)
      },
      Row(name: "count of a usual and a frequent word", operations: both.count) { try $0.count(both) },
      Row(name: "count of a beginning", operations: queries.usual.count) {
        try $0.count(queries.usual.map { $0.prefix(4) + "*" })
      },
      Row(name: "count of a phrase of two frequent words", operations: phrases.count) {
        try $0.count(phrases)
      },
      Row(name: "ten most relevant of a usual word", operations: queries.usual.count) {
        try $0.best(queries.usual)
      },
      Row(name: "ten most relevant of a frequent word", operations: queries.frequent.count) {
        try $0.best(queries.frequent)
      },
    ]
  }

  private func boxes(_ queries: SearchQueries) -> [Row] {
    [
      Row(name: "numbers in a square of a ten-thousandth of the map", operations: queries.small.count) {
        try $0.inside(queries.small, side: SearchQueries.smallSide)
      },
      Row(name: "numbers in a square of a hundredth of the map", operations: queries.large.count) {
        try $0.inside(queries.large, side: SearchQueries.largeSide)
      },
    ]
  }
}
