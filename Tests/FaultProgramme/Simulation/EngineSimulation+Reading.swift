import HeartwoodEngine
import HeartwoodFaults

extension EngineSimulation {
  /// Checks that these keys have the values in `rows`.
  func expect(_ keys: [String], of reader: some KeyValueReader, _ rows: Rows) throws {
    for key in keys {
      let value = try reader.get(key)
      try require(
        value == rows[key],
        "\(key) is \(value.map { "\($0.count) bytes, \($0.prefix(9))" } ?? "missing"), not "
          + (rows[key].map { "\($0.count) bytes, \($0.prefix(9))" } ?? "missing"))
    }
    try require(Int(reader.count) == rows.count, "\(reader.count) keys, not \(rows.count)")
  }

  func getSome() throws {
    guard let engine else { return }
    let keys = (0...random.below(5)).map { _ in random.drawKey() }
    try tolerate("get \(keys.map(\.short))") { try expect(keys, of: try engine.snapshot(), ledger.rows) }
  }

  func scan() throws {
    guard let engine else { return }
    let range = random.drawRange()
    let isReversed = random.below(2) == 0
    try tolerate("scan \(range.words)\(isReversed ? " backwards" : "")") {
      try Self.expect(range, isReversed, of: try engine.snapshot(), ledger.rows)
    }
  }

  private static func expect(
    _ range: KeyRange, _ isReversed: Bool, of reader: some KeyValueReader, _ rows: Rows
  ) throws {
    var wanted = rows.sortedKeys(in: range)
    if isReversed { wanted.reverse() }
    var rest = wanted[...]
    try reader.scan(range, reversed: isReversed) { key, value in
      let expected = rest.popFirst()
      try require(
        expected.map { $0.utf8.elementsEqual(key) && rows[$0]?.elementsEqual(value) == true } ?? false,
        "the scan of \(range.words) has \(String(decoding: key, as: UTF8.self)) of \(value.count) bytes, "
          + "not \(expected ?? "nothing")")
      return true
    }
    try require(rest.isEmpty, "the scan of \(range.words) ends before \(rest.first ?? "")")
  }

  func countAndRank() throws {
    guard let engine else { return }
    let (range, key) = (random.drawRange(), random.drawKey())
    let keys = ledger.rows.sortedKeys(in: .all)
    let place = random.below(keys.count + 1)
    try tolerate("count \(range.words), rank of \(key.short), entry \(place)") {
      let snapshot = try engine.snapshot()
      let count = Int(try snapshot.count(in: range))
      try require(
        count == keys.count(where: range.contains), "\(count) keys in \(range.words)")
      let rank = Int(try snapshot.rank(of: Array(key.utf8)))
      try require(
        rank == keys.count { $0.utf8.lexicographicallyPrecedes(key.utf8) }, "\(key) has the rank \(rank)")
      let entry = try snapshot.entry(at: UInt64(place))
      let expected = place < keys.count ? keys[place] : nil
      try require(
        entry?.key == expected.map { Array($0.utf8) } && entry?.value == expected.flatMap { ledger.rows[$0] },
        "entry \(place) is not \(expected ?? "missing")")
    }
  }

  // MARK: Snapshots

  func hold() throws {
    guard let engine else { return }
    if held.count > 5 || (!held.isEmpty && random.below(4) == 0) {
      held.remove(at: random.below(held.count))
      return trace.note("let go")
    }
    try tolerate("hold generation \(ledger.newest)") { held.append((try engine.snapshot(), ledger.rows)) }
  }

  func lookAtHeld() throws {
    guard !held.isEmpty else { return }
    let (snapshot, rows) = random.pick(held)
    if random.below(3) == 0 {
      try tolerate("all of held \(snapshot.generation)") { try Self.expectAll(of: snapshot, rows) }
    } else {
      let keys = (0...random.below(5)).map { _ in random.drawKey() }
      try tolerate("\(keys.map(\.short)) of held \(snapshot.generation)") {
        try expect(keys, of: snapshot, rows)
      }
    }
  }

  func lookAtPast() throws {
    guard let engine else { return }
    let number = random.below(ledger.newest + 1)
    try tolerate("generation \(number) of \(ledger.newest)") {
      guard let snapshot = try snapshot(of: engine, at: number) else { return }
      try Self.expectAll(of: snapshot, ledger.generations[number])
    }
    guard random.below(3) == 0 else { return }
    try tolerate("list of generations") {
      let numbers = try engine.generations().map { Int($0.generation.rawValue) }
      let first = hasReclaimed ? numbers.first ?? ledger.newest + 1 : 1
      try require(
        numbers == Array(first..<(ledger.newest + 1)),
        "at \(ledger.newest) it lists \(numbers.count) generations from \(first) on")
    }
  }

  /// Returns nil if the generation was reclaimed.
  private func snapshot(of engine: Engine, at number: Int) throws -> Snapshot? {
    do {
      return try engine.snapshot(at: Generation(rawValue: UInt64(number)))
    } catch {
      guard hasReclaimed, error.code == .generationUnavailable else { throw error }
      trace.note("reclaimed")
      return nil
    }
  }

  func compareAll() throws {
    guard let engine else { return }
    try tolerate("all") { try Self.expectAll(of: try engine.snapshot(), ledger.rows) }
  }

  static func expectAll(of snapshot: Snapshot, _ rows: Rows) throws {
    try require(try Session.rows(of: snapshot) == rows, "generation \(snapshot.generation) has other rows")
  }

  /// The findings of the verification, except for the unused slot of the anchor after a failed write to it.
  func findings(of engine: Engine) throws -> [String] {
    try engine.verify().findings.filter {
      !(machine.hasFailed && $0.hasPrefix("one of the anchor's two slots"))
    }
  }

  func verify() throws {
    guard let engine else { return }
    try tolerate("verify") {
      let findings = try findings(of: engine)
      try require(findings.isEmpty || machine.syncsHaveReverted, "not sound: \(findings)")
    }
  }
}

extension Rows {
  func sortedKeys(in range: KeyRange) -> [String] {
    keys.filter(range.contains).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
