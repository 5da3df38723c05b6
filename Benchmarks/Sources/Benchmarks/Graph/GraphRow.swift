import BenchmarkHarness

/// One row of the graph's table.
struct GraphRow {
  let name: String
  /// How many times faster than hand-written SQLite it is to be.
  let goal: Double
  /// How many objects it is about, for its figure.
  let operations: (GraphWork) -> Int
  /// Whether it changes the store: then the digest compared is that of all objects afterwards.
  var changes = false
  /// Whether later rows need what it does.
  var isNeeded = false
  /// Done before, not timed.
  var prepare: (any GraphPeer) throws -> Void = { _ in }
  let run: (any GraphPeer, GraphWork) throws -> UInt64?

  func measure(_ peer: any GraphPeer, _ work: GraphWork) throws -> PeerMeasurement {
    try prepare(peer)
    let (seconds, digest) =
      changes
      ? try timed { try run(peer, work) } : try timedRepeatedly(least: work.least) { try run(peer, work) }
    return PeerMeasurement(
      figure: Double(operations(work)) / seconds, digest: changes ? try peer.digestOfAll() : digest)
  }

  static var insert: GraphRow {
    GraphRow(
      name: "insert in one save", goal: 1.5, operations: { $0.people.persons.count }, changes: true,
      isNeeded: true
    ) { peer, work in
      try peer.insert(work.people)
      return nil
    }
  }

  static var fetches: [GraphRow] { wholeFetches + queries + walks }

  private static var wholeFetches: [GraphRow] {
    [
      GraphRow(
        name: "fetch all, touch two properties", goal: 1.5, operations: { $0.people.persons.count }
      ) { peer, _ in
        try peer.touchAll()
      },
      GraphRow(name: "indexed look-ups", goal: 1, operations: { $0.emails.count }) { peer, work in
        try peer.lookUp(work.emails)
      },
    ]
  }

  private static var queries: [GraphRow] {
    [
      GraphRow(name: "age range by name, limit 100 (queries/s)", goal: 1, operations: { $0.ages.count }) {
        peer, work in
        try peer.agedByName(work.ages)
      },
      GraphRow(name: "age range by unindexed score (queries/s)", goal: 1, operations: { $0.ages.count }) {
        peer, work in
        try peer.agedByScore(work.ages)
      },
      GraphRow(name: "by an index and a score, limit 20 (queries/s)", goal: 1, operations: { $0.days.count })
      {
        peer, work in
        try peer.joinedSince(work.days)
      },
    ]
  }

  private static var walks: [GraphRow] {
    [
      GraphRow(name: "walk every to-many", goal: 1.5, operations: { $0.people.persons.count }) { peer, _ in
        try peer.walkCompanies()
      },
      GraphRow(
        name: "load by identifier", goal: 2, operations: { $0.loads.count },
        prepare: { try $0.noteIdentifiers() }
      ) { peer, work in
        try peer.load(work.loads)
      },
    ]
  }

  static var changes: [GraphRow] {
    [
      GraphRow(
        name: "update a tenth", goal: 1.5, operations: { $0.people.persons.count / 10 }, changes: true
      ) { peer, _ in
        try peer.raiseScores(team: 3)
        return nil
      },
      GraphRow(
        name: "durable saves of 100", goal: 1.5, operations: { $0.people.late.count }, changes: true
      ) { peer, work in
        try peer.insertLate(work.people)
        return nil
      },
      GraphRow(
        name: "cascade delete of a tenth", goal: 2, operations: { $0.people.persons.count / 10 },
        changes: true
      ) { peer, work in
        try peer.deleteCompanies(work.deletedCompanies)
        return nil
      },
    ]
  }
}
