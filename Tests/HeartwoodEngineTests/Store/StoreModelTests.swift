import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Applies random operations to a store and to a dictionary, which have to stay equal.
@Suite struct StoreModelTests {
  @Test(arguments: StoreKind.allCases)
  func `a store equals a dictionary after any operations and reopenings`(
    kind: StoreKind
  ) throws {
    try kind.withPlace { fileSystem, path in
      var run = try RandomRun(kind, fileSystem, path, seed: 20_261_121)
      for step in 0..<(LongRun.isWanted ? 5000 : 400) { try run.step(step) }
      try run.finish()
    }
  }
}

/// One run of random operations.
private struct RandomRun {
  let kind: StoreKind
  let fileSystem: any FileSystem
  let path: String
  var random: SplitMix64
  var engine: Engine
  var model: Model = [:]
  /// Every generation's contents.
  var past: [UInt64: Model] = [0: [:]]
  var held: [(snapshot: Snapshot, model: Model)] = []
  let seed: UInt64

  init(_ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String, seed: UInt64) throws {
    self.kind = kind
    self.fileSystem = fileSystem
    self.path = path
    self.seed = seed
    random = SplitMix64(seed: seed)
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
  }

  mutating func step(_ number: Int) throws {
    switch random.below(40) {
    case 0: try reopen()
    case 1: try engine.checkpoint()
    case 2: try rollBack()
    case 3: held.append((try engine.snapshot(), model))
    case 4: try lookAtPast()
    case 5: try checkRanges()
    case 6, 7: held = held.count > 3 ? [] : held
    default: try change()
    }
    if number % 100 == 0 {
      try engine.read { try $0.expect(model, "seed \(seed), step \(number)") }
    }
  }

  mutating func finish() throws {
    for (snapshot, model) in held { try snapshot.expect(model, "seed \(seed), held") }
    held = []
    try reopen()
    try engine.read { try $0.expect(model, "seed \(seed), at the end") }
    let report = try engine.verify()
    #expect(report.findings == [])
    #expect(report.keys == UInt64(model.count))
    #expect(try engine.generations().map(\.generation.rawValue) == Array(past.keys.sorted().dropFirst()))
    try engine.close()
  }

  private mutating func key() -> [UInt8] {
    switch random.below(4) {
    case 0: [UInt8]("key/\(random.below(300))".utf8)
    case 1: random.bytes(1 + random.below(12))
    case 2: [UInt8](repeating: UInt8(random.below(3)), count: 1 + random.below(300))
    default: [UInt8]("person/".utf8) + random.bytes(8)
    }
  }

  private mutating func value() -> [UInt8] {
    switch random.below(20) {
    case 0: random.bytes(random.below(20_000))
    case 1...5: random.bytes(random.below(17))
    case 6...11: random.compressibleBytes(random.below(random.below(8) == 0 ? 9000 : 400))
    default: random.bytes(random.below(400))
    }
  }

  private mutating func change() throws {
    var next = model
    let durability: Durability = random.below(2) == 0 ? .full : .deferred
    let before = engine.newestGeneration.rawValue
    var hasChanged = false
    try engine.write(durability: durability) { transaction in
      for _ in 0..<(1 + random.below(12)) {
        hasChanged = try changeOnce(transaction, &next) || hasChanged
      }
      #expect(transaction.count == UInt64(next.count))
    }
    #expect(engine.newestGeneration.rawValue == before + (hasChanged ? 1 : 0))
    model = next
    past[engine.newestGeneration.rawValue] = model
    // Not an arbitrary key of the model, whose order differs in each run.
    for key in [[UInt8]("key/\(random.below(300))".utf8), key()] {
      #expect(try engine.get(key) == model[key], "seed \(seed)")
    }
  }

  /// Returns whether anything was changed.
  private mutating func changeOnce(_ transaction: WriteTransaction, _ next: inout Model) throws -> Bool {
    switch random.below(12) {
    case 0...2:
      let known = random.below(4) == 0 ? key() : [UInt8]("key/\(random.below(300))".utf8)
      let wasThere = next.removeValue(forKey: known) != nil
      #expect(try transaction.delete(known) == wasThere)
      return wasThere
    case 3 where random.below(4) == 0:
      let range = KeyRange.prefix([UInt8]("key/\(random.below(10))".utf8))
      let doomed = next.keys.filter { range.contains($0) }
      for key in doomed { next[key] = nil }
      #expect(try transaction.deleteRange(range) == UInt64(doomed.count))
      return !doomed.isEmpty
    default:
      let (key, value) = (key(), value())
      try transaction.put(key, value)
      next[key] = value
      #expect(try transaction.get(key) == value)
      return true
    }
  }

  private mutating func rollBack() throws {
    struct Refusal: Error {}
    let before = engine.newestGeneration
    #expect(throws: Refusal.self) {
      try engine.write { transaction in
        for _ in 0..<20 { try transaction.put(key(), value()) }
        _ = try transaction.deleteRange(.all)
        throw Refusal()
      }
    }
    #expect(engine.newestGeneration == before)
  }

  private mutating func reopen() throws {
    try engine.close()
    for (snapshot, model) in held.suffix(1) { try snapshot.expect(model, "seed \(seed), after closing") }
    held = []
    engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
  }

  private mutating func lookAtPast() throws {
    let generation = UInt64(random.below(Int(engine.newestGeneration.rawValue) + 1))
    let snapshot = try engine.snapshot(at: Generation(rawValue: generation))
    #expect(snapshot.generation.rawValue == generation)
    try snapshot.expect(past[generation] ?? [:], "seed \(seed), generation \(generation)")
  }

  private mutating func checkRanges() throws {
    let snapshot = try engine.snapshot()
    let sorted = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for _ in 0..<3 {
      let (one, other) = (key(), key())
      let range = KeyRange(
        lower: random.below(4) == 0 ? nil : .init(one, isInclusive: random.below(2) == 0),
        upper: random.below(4) == 0 ? nil : .init(other, isInclusive: random.below(2) == 0))
      let expected = sorted.filter { range.contains($0) }
      var found: [[UInt8]] = []
      try snapshot.scan(range) { key, value in
        found.append(Array(key))
        return true
      }
      #expect(found == expected)
      found = []
      try snapshot.scan(range, reversed: true) { key, value in
        found.append(Array(key))
        return true
      }
      #expect(found == expected.reversed())
      #expect(try snapshot.count(in: range) == UInt64(expected.count))
      #expect(try snapshot.rank(of: one) == UInt64(sorted.count { $0.lexicographicallyPrecedes(one) }))
    }
    if !sorted.isEmpty {
      let rank = random.below(sorted.count)
      #expect(try snapshot.entry(at: UInt64(rank))?.key == sorted[rank])
    }
  }
}

extension KeyRange {
  fileprivate func contains(_ key: [UInt8]) -> Bool {
    if let lower {
      if key.lexicographicallyPrecedes(lower.key) || (!lower.isInclusive && key == lower.key) { return false }
    }
    if let upper {
      if upper.key.lexicographicallyPrecedes(key) || (!upper.isInclusive && key == upper.key) { return false }
    }
    return true
  }
}
