import BenchmarkHarness

/// Runs the published workloads, the peers in turn. All of them sync every commit.
struct PublishedBenchmark {
  let options: Options

  private struct Row {
    let name: String
    /// How many objects it is about, for its figure.
    let operations: Int
    var changes = false
    let run: (any PublishedPeer) throws -> UInt64?
  }

  func run() throws -> ResultTable {
    let kinds = PublishedPeerKind.all.filter { options.includes(peer: $0.name) }
    let data = PublishedData(objects: options.objects ?? 100_000)
    let rounds = options.rounds ?? 3
    var table = ResultTable(title: title(data, rounds), peers: kinds.map(\.name), comparesWithLast: true)
    for round in 0..<rounds {
      let scratches = try kinds.map { try Scratch(in: options.directory, named: $0.name) }
      // The folders go with these objects.
      try withExtendedLifetime(scratches) {
        let peers = try zip(kinds, scratches).map { try $0.type.init(directory: $1.path) }
        for peer in peers { try peer.insert(data.orders) }
        for row in rows(data) {
          progress("round \(round + 1) of \(rounds): \(row.name)")
          try measure(row, round, kinds, peers, into: &table)
        }
        for peer in peers { try peer.close() }
      }
    }
    return table
  }

  private func title(_ data: PublishedData, _ rounds: Int) -> String {
    "Published workloads: \(data.users.count) users, \(data.students) students in \(data.objectsOfSchools) objects, "
      + "\(data.orders.count) orders; per second, median of \(rounds) " + (rounds == 1 ? "round" : "rounds")
  }

  private func rows(_ data: PublishedData) -> [Row] {
    [
      Row(name: "load orders", operations: data.orders.count) { try $0.loadOrders() },
      Row(name: "make and write users", operations: data.users.count, changes: true) { peer in
        try peer.insert(data.users)
        return nil
      },
      Row(name: "users of a first name, by age (queries/s)", operations: 1) { peer in
        try peer.users(named: PublishedData.askedName)
      },
      Row(name: "rename these users (saves/s)", operations: 1, changes: true) { peer in
        try peer.rename(PublishedData.askedName, to: PublishedData.newName)
        return nil
      },
      Row(name: "make and write students and grades", operations: data.objectsOfSchools, changes: true) {
        peer in
        try peer.insert(data.schools)
        return nil
      },
      Row(name: "students with a subject and a grade (queries/s)", operations: 1) { peer in
        try peer.students(in: PublishedData.askedSubject, with: PublishedData.askedGrade)
      },
    ]
  }

  private func measure(
    _ row: Row, _ round: Int, _ kinds: [PublishedPeerKind], _ peers: [any PublishedPeer],
    into table: inout ResultTable
  ) throws {
    // Rows that write are run anyway, as later ones read what they have written.
    guard row.changes || options.includes(row: row.name) else { return }
    var agreement = Agreement(on: row.name)
    for turn in peers.indices {
      // Another one begins in each round.
      let peer = (turn + round) % peers.count
      let (seconds, digest) =
        row.changes
        ? try timed { try row.run(peers[peer]) }
        : try timedRepeatedly(least: options.least) { try row.run(peers[peer]) }
      try agreement.add(row.changes ? try peers[peer].digestOfAll() : digest, of: kinds[peer].name)
      guard options.includes(row: row.name) else { continue }
      table.add(Double(row.operations) / seconds, row: row.name, unit: .operationsPerSecond, peer: peer)
    }
  }
}
