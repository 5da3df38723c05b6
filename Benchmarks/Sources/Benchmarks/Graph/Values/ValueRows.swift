import BenchmarkHarness

/// The rows about values, batches and first pages.
extension GraphRow {
  static var batchInsert: GraphRow {
    changing("batch insert", goal: 2, { $0.people.persons.count }, isNeeded: true) { peer, work in
      try peer.batchInsert(work.people)
    }
  }

  static var values: [GraphRow] {
    [
      reading("average of each group", goal: 1.5) { try $0.averages() },
      reading("stream two properties", goal: 1) { try $0.streamTwo() },
      reading("join, group and order", goal: 1) { try $0.agesByCity() },
      reading("running sums", goal: 1) { try $0.runningAges() },
      reading("first page of fifty by name (pages/s)", goal: 1, { _ in 1 }) { try $0.firstPage() },
      reading("least and greatest of an index (queries/s)", goal: 1, { _ in 1 }) { try $0.ends() },
    ]
  }

  static var batches: [GraphRow] {
    [
      changing("batch update of a tenth", goal: 2, { $0.people.persons.count / 10 }) { peer, _ in
        try peer.batchRaise(team: 3)
      },
      changing("batch delete of a tenth", goal: 2, { $0.people.persons.count / 10 }) { peer, _ in
        try peer.batchDelete(team: 4)
      },
    ]
  }

  private static func reading(
    _ name: String, goal: Double, _ operations: @escaping (GraphWork) -> Int = { $0.people.persons.count },
    _ run: @escaping (any ValuePeer) throws -> UInt64
  ) -> GraphRow {
    GraphRow(name: name, goal: goal, operations: operations) { peer, _ in try run(value(peer)) }
  }

  private static func changing(
    _ name: String, goal: Double, _ operations: @escaping (GraphWork) -> Int, isNeeded: Bool = false,
    _ run: @escaping (any ValuePeer, GraphWork) throws -> Void
  ) -> GraphRow {
    GraphRow(name: name, goal: goal, operations: operations, changes: true, isNeeded: isNeeded) {
      peer, work in
      try run(value(peer), work)
      return nil
    }
  }

  private static func value(_ peer: any GraphPeer) throws -> any ValuePeer {
    guard let peer = peer as? any ValuePeer else { throw BenchmarkError("\(peer) computes no values") }
    return peer
  }
}
