/// One row of the engine's table.
struct EngineRow {
  let name: String
  var unit = Unit.operationsPerSecond
  /// The store that it works on.
  var load = Load.sorted
  var isDurable = false
  /// Whether it changes the store: then what is compared takes in all records afterwards.
  var changes = false
  /// Whether later rows need what it does, so that it runs even where it was not asked for.
  var isNeeded = false
  /// Whether only Heartwood has it.
  var isOurs = false
  /// Whether peers without snapshots are left out.
  var needsSnapshots = false
  let run: (EngineSession, EngineWork) throws -> Measurement

  func concerns(_ kind: EnginePeerKind) -> Bool {
    (!isOurs || kind.name == EnginePeerKind.ours) && (!needsSnapshots || kind.type.hasSnapshots)
  }

  func measure(_ session: EngineSession, _ work: EngineWork) throws -> Measurement {
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
      return Measurement(figure: Double(operations) / seconds, digest: digest)
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
        return Measurement(figure: seconds / Double(few) * 1e6, digest: digest)
      }
      let many = try timedRepeatedly(least: work.least) { try askAll(work.records.count) }
      return Measurement(figure: many.seconds / Double(work.records.count) * 1e6, digest: digest)
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
      return Measurement(figure: Double(keys.count) / seconds)
    }
  }

  static func update(
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
  static func loading(_ name: String, _ load: Load) -> EngineRow {
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
      return Measurement(figure: Double(records.count) / seconds)
    }
  }

  /// A row that closes a store and weighs it.
  static func sizeAtRest(_ name: String, _ load: Load) -> EngineRow {
    EngineRow(name: name, unit: .bytes, load: load, isNeeded: true) { session, _ in
      try session.close(load)
      return Measurement(figure: Double(try session.occupiedBytes(load)))
    }
  }
}
