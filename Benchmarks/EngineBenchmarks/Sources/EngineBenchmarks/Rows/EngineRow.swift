import BenchmarkHarness

/// One row of the engine's table.
public struct EngineRow {
  /// The name in the table.
  public let name: String
  /// The unit of the figure.
  public var unit = RowUnit.operationsPerSecond
  /// The store that it works on.
  public var load = Load.sorted
  /// Whether commits are durable while it runs.
  public var isDurable = false
  /// Whether it changes the store: then what is compared takes in all records afterwards.
  public var changes = false
  /// Whether later rows need what it does, so that it runs even where it was not asked for.
  public var isNeeded = false
  /// Whether peers are left out whose open stores cannot be copied.
  public var needsCopies = false
  /// Whether peers without snapshots are left out.
  public var needsSnapshots = false
  /// Does it once, and says its figure.
  public let run: (EngineSession, EngineWork) throws -> PeerMeasurement

  /// A row.
  /// - Parameters:
  ///   - name: The name in the table.
  ///   - unit: The unit of the figure.
  ///   - load: The store that it works on.
  ///   - isDurable: Whether commits are durable while it runs.
  ///   - changes: Whether it changes the store.
  ///   - isNeeded: Whether later rows need what it does.
  ///   - needsCopies: Whether peers are left out whose open stores cannot be copied.
  ///   - needsSnapshots: Whether peers without snapshots are left out.
  ///   - run: Does it once, and says its figure.
  public init(
    name: String, unit: RowUnit = .operationsPerSecond, load: Load = .sorted, isDurable: Bool = false,
    changes: Bool = false, isNeeded: Bool = false, needsCopies: Bool = false, needsSnapshots: Bool = false,
    run: @escaping (EngineSession, EngineWork) throws -> PeerMeasurement
  ) {
    self.name = name
    self.unit = unit
    self.load = load
    self.isDurable = isDurable
    self.changes = changes
    self.isNeeded = isNeeded
    self.needsCopies = needsCopies
    self.needsSnapshots = needsSnapshots
    self.run = run
  }

  /// Whether a peer has it.
  public func concerns(_ kind: EnginePeerKind) -> Bool {
    (!needsCopies || kind.type.opensCopies) && (!needsSnapshots || kind.type.hasSnapshots)
  }

  /// Runs it on one peer, and digests every record where it changes them.
  /// - Throws: `BenchmarkError`, or the error of the peer.
  public func measure(_ session: EngineSession, _ work: EngineWork) throws -> PeerMeasurement {
    if isDurable { try session.store(load).makeCommits(durable: true) }
    var measurement = try run(session, work)
    if isDurable { try session.store(load).makeCommits(durable: false) }
    session.figures[name] = measurement.figure
    guard changes else { return measurement }
    let store = try session.store(load)
    try store.settle()
    measurement.digest = try digestOfAll(store) ^ (measurement.digest ?? 0)
    return measurement
  }
}

extension EngineRow {
  /// A row that reads, repeated until its time can be measured. Everything has been read once before.
  static func reading(
    _ name: String, _ load: Load = .sorted,
    _ body: @escaping (any EnginePeer, EngineWork, inout ReadDigest) throws -> Int
  ) -> EngineRow {
    EngineRow(name: name, load: load) { session, work in
      let store = try session.warmStore(load)
      let (seconds, (operations, digest)) = try timedRepeatedly(least: work.least) {
        var digest = ReadDigest()
        return (try body(store, work, &digest), digest.value)
      }
      return PeerMeasurement(figure: Double(operations) / seconds, digest: digest)
    }
  }

  /// A row that reads one snapshot.
  static func readingSnapshot(
    _ name: String, _ load: Load = .sorted,
    _ body: @escaping (any PeerReader, EngineWork, inout ReadDigest) throws -> Int
  ) -> EngineRow {
    reading(name, load) { store, work, digest in
      var operations = 0
      try store.read { operations = try body($0, work, &digest) }
      return operations
    }
  }

  /// A row that asks one question of a snapshot again and again: all peers the same few where it is compared, and
  /// those that need not scan for the answer as many as there are records where it is timed.
  static func asking(
    _ name: String, _ ask: @escaping (any PeerReader, EngineWork, Int, inout ReadDigest) throws -> Void
  ) -> EngineRow {
    EngineRow(name: name, unit: .microseconds) { session, work in
      let store = try session.warmStore(.sorted)
      func askAll(_ count: Int) throws -> UInt64 {
        var digest = ReadDigest()
        try store.read { reader in
          for index in 0..<count { try ask(reader, work, index, &digest) }
        }
        return digest.value
      }
      let few = min(EngineWork.scannedQuestions, work.records.count)
      let (seconds, digest) = try timed { try askAll(few) }
      guard session.kind.type.knowsRanks else {
        return PeerMeasurement(figure: seconds / Double(few) * 1e6, digest: digest)
      }
      let many = try timedRepeatedly(least: work.least) { try askAll(work.records.count) }
      return PeerMeasurement(figure: many.seconds / Double(work.records.count) * 1e6, digest: digest)
    }
  }

  /// A row that puts new values for `keys`, `perCommit` in each commit.
  static func updating(
    _ name: String, _ load: Load = .sorted, durable: Bool = false, perCommit: Int, version: Int,
    _ keys: @escaping (EngineWork) -> KeyList
  ) -> EngineRow {
    EngineRow(name: name, load: load, isDurable: durable, changes: true) { session, work in
      let (store, keys) = (try session.store(load), keys(work))
      let seconds = try timed {
        try update(store, work, keys, perCommit: perCommit, version: version)
      }.seconds
      return PeerMeasurement(figure: Double(keys.count) / seconds)
    }
  }

  /// Puts new values for `keys`, `perCommit` in each commit.
  /// - Parameter version: Which values: rows have versions of their own, from this one to the seventh after it.
  /// - Throws: The error of the peer.
  public static func update(
    _ store: any EnginePeer, _ work: EngineWork, _ keys: KeyList, perCommit: Int, version: Int
  ) throws {
    try inCommits(store, of: perCommit, count: keys.count) { writer, index in
      try writer.put(keys[index], work.records.value(keys.ranks[index], version: version + index & 7))
    }
  }

  /// Does `body` for each number below `count`, `size` of them in each commit.
  static func inCommits(
    _ store: any EnginePeer, of size: Int, count: Int, _ body: (any PeerWriter, Int) throws -> Void
  ) throws {
    var next = 0
    while next < count {
      let end = min(next + size, count)
      try store.write { writer in
        for index in next..<end { try body(writer, index) }
      }
      next = end
    }
  }

  /// A row that loads everything.
  public static func loading(_ name: String, _ load: Load) -> EngineRow {
    EngineRow(name: name, load: load, changes: true, isNeeded: true) { session, work in
      let store = try session.store(load)
      let (records, order) = (work.records, work.shuffled)
      let seconds = try timed {
        try store.load { writer in
          for index in 0..<records.count {
            if load == .shuffled {
              try writer.put(order[index], records.value(order.ranks[index], version: 0))
            } else {
              try writer.append(records.key(index), records.value(index, version: 0))
            }
          }
        }
      }.seconds
      return PeerMeasurement(figure: Double(records.count) / seconds)
    }
  }

  /// A row that closes a store and weighs it.
  public static func sizeAtRest(_ name: String, _ load: Load) -> EngineRow {
    EngineRow(name: name, unit: .bytes, load: load, isNeeded: true) { session, _ in
      try session.close(load)
      return PeerMeasurement(figure: Double(try session.occupiedBytes(load)))
    }
  }
}
