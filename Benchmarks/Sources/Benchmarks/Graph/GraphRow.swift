/// One row of the graph's table.
struct GraphRow {
  let name: String
  /// How many objects it is about, for its figure.
  let operations: (GraphWork) -> Int
  /// Whether it changes the store: then the digest compared is that of all objects afterwards.
  var changes = false
  /// Whether later rows need what it does.
  var isNeeded = false
  /// Done before, not timed.
  var prepare: (any GraphPeer) throws -> Void = { _ in }
  let run: (any GraphPeer, GraphWork) throws -> UInt64?

  func measure(_ peer: any GraphPeer, _ work: GraphWork) throws -> Measurement {
    try prepare(peer)
    let (seconds, digest) =
      changes
      ? try timed { try run(peer, work) } : try timedRepeatedly(least: work.least) { try run(peer, work) }
    return Measurement(
      figure: Double(operations(work)) / seconds, digest: changes ? try peer.digestOfAll() : digest)
  }

  static var all: [GraphRow] { [insert] + fetches + [update, cascade] }

  private static var insert: GraphRow {
    GraphRow(
      name: "insert in one save", operations: { $0.library.books.count }, changes: true, isNeeded: true
    ) { peer, work in
      try peer.insert(work.library)
      return nil
    }
  }

  private static var fetches: [GraphRow] {
    [
      GraphRow(name: "fetch all, touch two properties", operations: { $0.library.books.count }) { peer, _ in
        try peer.touchAll()
      },
      GraphRow(name: "equality look-ups through an index", operations: { $0.isbns.count }) { peer, work in
        try peer.lookUp(work.isbns)
      },
      GraphRow(name: "filtered, sorted, limit 100 (queries/s)", operations: { _ in 1 }) { peer, _ in
        try peer.dearestByTitle()
      },
      GraphRow(name: "the same by an index, limit 20 (queries/s)", operations: { $0.days.count }) {
        peer, work in
        try peer.publishedSince(work.days)
      },
      GraphRow(name: "walk every to-many", operations: { $0.library.books.count }) { peer, _ in
        try peer.walkPublishers()
      },
      GraphRow(
        name: "load by identifier", operations: { $0.loads.count }, prepare: { try $0.noteIdentifiers() }
      ) { peer, work in
        try peer.load(work.loads)
      },
    ]
  }

  private static var update: GraphRow {
    GraphRow(name: "update a tenth", operations: { $0.library.books.count / 10 }, changes: true) { peer, _ in
      try peer.raisePrices(shelf: 3)
      return nil
    }
  }

  private static var cascade: GraphRow {
    GraphRow(
      name: "cascade delete of a tenth", operations: { $0.library.books.count / 10 }, changes: true
    ) { peer, work in
      try peer.deletePublishers(work.deletedPublishers)
      return nil
    }
  }
}
