/// One row of the engine's table.
struct EngineRow {
  let name: String
  var unit = Unit.operationsPerSecond
  /// The store that it works on.
  var load = Load.sorted
  var isDurable = false
  /// Whether it changes the store: then the digest compared is that of all records afterwards.
  var changes = false
  /// Whether later rows need what it does, so that it runs even where it was not asked for.
  var isNeeded = false
  let run: (EngineSession, EngineWork) throws -> Measurement

  func measure(_ session: EngineSession, _ work: EngineWork) throws -> Measurement {
    if isDurable { try session.store(load).makeCommits(durable: true) }
    var measurement = try run(session, work)
    if isDurable { try session.store(load).makeCommits(durable: false) }
    guard changes else { return measurement }
    let store = try session.store(load)
    try store.settle()
    measurement.digest = try Self.digestOfAll(store)
    return measurement
  }

  private static func digestOfAll(_ store: any EnginePeer) throws -> UInt64 {
    var digest = ReadDigest()
    try store.read { try $0.scanWholly(into: &digest) }
    return digest.value
  }
}

extension EngineRow {
  /// A row that reads, repeated until its time can be measured.
  static func reading(
    _ name: String, _ load: Load = .sorted,
    _ body: @escaping (any EnginePeer, EngineWork, inout ReadDigest) throws -> Int
  ) -> EngineRow {
    EngineRow(name: name, load: load) { session, work in
      let store = try session.store(load)
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

  /// A row that puts new values for `keys`, `perCommit` in each commit.
  static func updating(
    _ name: String, durable: Bool = false, perCommit: Int, version: Int, countsCommits: Bool = false,
    _ keys: @escaping (EngineWork) -> KeyList
  ) -> EngineRow {
    EngineRow(name: name, isDurable: durable, changes: true) { session, work in
      let (store, keys) = (try session.store(.sorted), keys(work))
      let seconds = try timed {
        try inCommits(store, of: perCommit, count: keys.count) { writer, index in
          try writer.put(keys[index], work.records.value(keys.ranks[index], version: version + index & 7))
        }
      }.seconds
      let operations = countsCommits ? (keys.count + perCommit - 1) / perCommit : keys.count
      return Measurement(figure: Double(operations) / seconds)
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
}
