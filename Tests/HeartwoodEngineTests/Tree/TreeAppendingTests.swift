import HeartwoodFaults
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Keys in ascending order, which are appended to the tree without a search.
@Suite struct TreeAppendingTests {
  @Test(arguments: KeyShape.allCases)
  func `ascending runs between other changes keep the tree equal to a dictionary, and old trees unchanged`(
    _ shape: KeyShape
  ) throws {
    var random = SplitMix64(seed: 0x6170_7065)
    let harness = try TreeHarness()
    var held: [(pin: Generations.Pin, model: [[UInt8]: [UInt8]])] = []
    for round in 0..<(LongRun.isWanted ? 200 : 12) {
      let note = "seed 0x61707065, \(shape), round \(round)"
      if round % 6 == 5 { try Self.rollBack(harness, shape, &random) }
      try harness.commit {
        for _ in 0..<(1 + random.below(3)) { try Self.change(harness, shape, &random, note) }
      }
      if round % 5 == 0 { try TreeHarness.expectEqual(harness.view, harness.model, &random, note) }
      if round % 5 == 0 { held.append((harness.generations.pin(), harness.model)) }
      if held.count > 2 {
        let (pin, model) = held.remove(at: random.below(held.count))
        try TreeHarness.expectEqual(
          TreeView(space: harness.space, root: pin.root), model, &random, "\(note), held")
        pin.release()
      }
    }
    for (pin, model) in held {
      try TreeHarness.expectEqual(
        TreeView(space: harness.space, root: pin.root), model, &random, "\(shape), held")
      pin.release()
    }
    try harness.commit { try harness.deleteRange(.all) }
    try harness.commit {}
    #expect(harness.space.arenaBytesInUse == 0)
  }

  /// Mixes ascending runs with other changes, and reads the unfinished generation at random moments.
  private static func change(
    _ harness: TreeHarness, _ shape: KeyShape, _ random: inout SplitMix64, _ note: String
  ) throws {
    // One run in three begins after all keys. The others begin anywhere and end before the next old key.
    let isBehind = random.below(3) == 0
    let start = isBehind ? harness.model.keys.max { $0.lexicographicallyPrecedes($1) } ?? [] : []
    let keys = Set((0..<random.below(LongRun.isWanted ? 300 : 150)).map { _ in shape.key(&random) })
      .map { isBehind ? Array(start.prefix(4)) + [0xFF] + $0.prefix(1000) : $0 }
      .sorted { $0.lexicographicallyPrecedes($1) }
    for key in keys {
      try harness.put(key, random.bytes(random.below(4) == 0 ? random.below(17) : 20))
      switch random.below(80) {
      case 0: try harness.delete(harness.anyKey(&random) ?? key)
      case 1: try harness.delete(key)
      case 2: try harness.put(harness.anyKey(&random) ?? key, random.bytes(20))
      case 3: try harness.compactLeaf(at: key)
      case 4: try harness.deleteRange(KeyRange(from: key, to: key + [random.bytes(1)[0]]))
      case 5: try look(at: harness, key, note)
      default: break
      }
    }
    if random.below(8) == 0 {
      try TreeHarness.expectEqual(harness.writer.view, harness.model, &random, "\(note), inside")
    }
  }

  private static func look(at harness: TreeHarness, _ key: [UInt8], _ note: String) throws {
    let view = harness.writer.view
    try #require(view.count == UInt64(harness.model.count), "\(note): count")
    let value = harness.model[key]
    try #require(try key.withBytes { TreeHarness.same(try view.find($0), value) }, "\(note): find")
    let rank = harness.model.keys.count { $0.lexicographicallyPrecedes(key) }
    try #require(try key.withBytes { try view.rank(of: $0) } == UInt64(rank), "\(note): rank")
  }

  private static func rollBack(_ harness: TreeHarness, _ shape: KeyShape, _ random: inout SplitMix64) throws {
    let (root, model) = (harness.view.root, harness.model)
    harness.writer.begin(generation: harness.generation + 1)
    for number in 0..<random.below(600) {
      let key = [0xFE] + shape.key(&random).prefix(900) + [UInt8(number / 250), UInt8(number % 250)]
      try key.withBytes { key in
        _ = try [1, 2].withBytes { try harness.writer.put(key, .inline($0)) }
      }
    }
    harness.writer.rollback()
    #expect(harness.view.root == root)
    try TreeHarness.expectEqual(harness.view, model, &random, "\(shape), given up")
  }

  @Test(arguments: [0, 9, 16, 17], [2, 8, 16, 33, 1024])
  func `a tree that grows at its end is valid after every key, with leaves of any size`(
    valueBytes: Int, keyBytes: Int
  ) throws {
    let harness = try TreeHarness()
    var findings: [String] = []
    try harness.commit {
      for number in 0..<(keyBytes > 500 ? 30 : 420) {
        var key = [UInt8](repeating: 7, count: keyBytes)
        key[0] = UInt8(number / 40)
        // Large keys share either all but their ends with the keys before them, or almost nothing.
        key[number % 40 < 20 ? keyBytes - 1 : 1] = UInt8(8 + number % 40)
        try harness.put(key, [UInt8](repeating: UInt8(number & 0xFF), count: valueBytes))
        if keyBytes < 500 && number % 31 != 0 && !(180...230).contains(number) { continue }
        _ = try TreeInspector.inspect(harness.writer.view, report: { findings.append($0) }) { _, _ in }
        try #require(findings.isEmpty, "\(number): \(findings)")
      }
    }
    var random = SplitMix64(seed: 3)
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "\(keyBytes), \(valueBytes)")
  }

  @Test func `keys in groups with common prefixes fill their pages`() throws {
    let harness = try TreeHarness()
    try harness.commit {
      for group in 0..<8 {
        for number in 0..<500 {
          let group = String(1000 + group), number = String(10_000 + number)
          let key = Array("a group of keys, namely the one with the number \(group), holds \(number)".utf8)
          try harness.put(key, [UInt8](repeating: 7, count: 20))
        }
      }
    }
    #expect(harness.space.arenaBytesInUse < 4000 * 20 * 12 / 10, "\(harness.space.arenaBytesInUse)")
    var random = SplitMix64(seed: 4)
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "groups")
  }

  @Test func `a page to which one transaction has appended is copied by the next`() throws {
    var random = SplitMix64(seed: 8)
    let harness = try TreeHarness()
    func append(_ numbers: Range<Int>) throws {
      for number in numbers { try harness.put(Array("key \(10_000 + number)".utf8), [1, 2, 3]) }
    }
    try harness.commit { try append(0..<50) }
    let pin = harness.generations.pin()
    let model = harness.model
    try harness.commit { try append(50..<60) }
    try harness.commit { try append(60..<2000) }
    try TreeHarness.expectEqual(TreeView(space: harness.space, root: pin.root), model, &random, "held")
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "newest")
    pin.release()
  }
}
