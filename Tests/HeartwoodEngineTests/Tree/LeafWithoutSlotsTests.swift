import HeartwoodFaults
import TestSupport
import Testing

@testable import HeartwoodEngine

/// Leaves whose keys all have one form, and changes that do not fit them.
@Suite("A leaf without slots") struct LeafWithoutSlotsTests {
  /// Kinds of entries that do not fit into such a leaf.
  enum Newcomer: String, CaseIterable {
    case shortValue, longKey, longestKey, shortKey, keyBeforeAll, keyBehindAll

    /// A change at the position of a key, and the entry that it puts there.
    func entry(at key: [UInt8]) -> (key: [UInt8], value: [UInt8]) {
      switch self {
      case .shortValue: (key, [1, 2, 3])
      case .longKey: (key + [0], LeafWithoutSlotsTests.value)
      case .longestKey: (key + [UInt8](repeating: 9, count: 1024 - key.count), LeafWithoutSlotsTests.value)
      case .shortKey: (Array(key.dropLast()), LeafWithoutSlotsTests.value)
      case .keyBeforeAll: ([0], LeafWithoutSlotsTests.value)
      case .keyBehindAll: ([UInt8](repeating: 0xFF, count: 1000), [1])
      }
    }
  }

  /// Too long to be stored in a leaf.
  private static let value = [UInt8](repeating: 7, count: 17)

  private static func key(_ number: Int, prefixBytes: Int) -> [UInt8] {
    [UInt8](repeating: 5, count: prefixBytes)
      + withUnsafeBytes(of: UInt32(number * 3 + 1).bigEndian) { Array($0) }
  }

  private static func filled(_ count: Int, prefixBytes: Int) throws -> TreeHarness {
    let harness = try TreeHarness()
    try harness.commit {
      for number in 0..<count { try harness.put(key(number, prefixBytes: prefixBytes), value) }
    }
    return harness
  }

  /// How many keys one leaf holds.
  private static func capacity(prefixBytes: Int) throws -> Int {
    let harness = try TreeHarness()
    try harness.commit {
      while harness.writer.root.level == 0 {
        try harness.put(key(harness.model.count, prefixBytes: prefixBytes), value)
      }
    }
    return harness.model.count - 1
  }

  @Test(arguments: Newcomer.allCases, [0, 1000])
  func `a full leaf without slots accepts any entry at any place`(newcomer: Newcomer, prefixBytes: Int) throws
  {
    var random = SplitMix64(seed: 3)
    let capacity = try Self.capacity(prefixBytes: prefixBytes)
    #expect(capacity * 16 + prefixBytes > 3800)
    let between = stride(from: 5, to: capacity - 2, by: 211).sampled(every: 64)
    for place in [0, 1, capacity - 2, capacity - 1] + Array(between) {
      let harness = try Self.filled(capacity, prefixBytes: prefixBytes)
      let (key, value) = newcomer.entry(at: Self.key(place, prefixBytes: prefixBytes))
      try harness.commit { try harness.put(key, value) }
      try TreeHarness.expectEqual(
        harness.view, harness.model, &random, "\(newcomer) at \(place) of \(capacity)")
      try harness.commit { try harness.delete(key) }
      try TreeHarness.expectEqual(harness.view, harness.model, &random, "\(newcomer) at \(place), taken away")
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `a leaf gains and loses its slots as keys of one length and others come and go`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let harness = try TreeHarness()
    for round in 0..<24 {
      let (start, odd) = (random.below(2000), [0, 0, 3, 40][random.below(4)])
      let isInOrder = random.below(2) == 0
      try harness.commit {
        for step in 0..<random.below(400) {
          let number = isInOrder ? start + step : random.below(2000)
          let key = Self.key(number, prefixBytes: 12)
          switch random.below(100) {
          case ..<odd: try harness.put(key + random.bytes(random.below(20)), random.bytes(random.below(30)))
          case ..<(round % 4 == 3 ? 90 : 20): try harness.delete(harness.anyKey(&random) ?? key)
          default: try harness.put(key, Self.value)
          }
        }
        if random.below(5) == 0 { try harness.compactLeaf(at: Self.key(start, prefixBytes: 12)) }
      }
      try TreeHarness.expectEqual(harness.view, harness.model, &random, "seed \(seed), round \(round)")
    }
  }
}
