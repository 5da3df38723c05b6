import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

/// Keys that leaves hold in different ways: all of one length, shorter or longer than a head, or mixed.
enum ScannedKeys: CaseIterable {
  case twoBytes, sevenBytes, padded, random, long, mixed, kinds

  func key(_ random: inout SplitMix64) -> [UInt8] {
    switch self {
    case .twoBytes: random.bytes(2)
    case .sevenBytes: Array("key".utf8) + random.bytes(4)
    case .padded: KeyShape.paddedNumbers.key(&random)
    case .random: random.bytes(8)
    case .long: Array("a prefix ".utf8) + random.bytes(1) + Array("and the same head ".utf8) + random.bytes(2)
    case .mixed: KeyShape.randomLengths.key(&random)
    // As in a store of objects: a kind, a number, a large number that is small, and sometimes more.
    case .kinds:
      [UInt8(0x10 + random.below(3)), 0, UInt8(random.below(2)), 0, 0, 0, 0, 0, 0]
        + [UInt8(random.below(3)), UInt8(random.below(256))]
        + (random.below(2) == 0 ? [] : random.bytes(random.below(12)).map { $0 < 128 ? 0 : $0 })
    }
  }
}

@Suite struct StoreScanTests {
  @Test(arguments: ScannedKeys.allCases)
  func `scans find all entries of a range, whatever its keys, and those of the same transaction`(
    keys: ScannedKeys
  ) throws {
    for kind in [StoreKind.posixMapped, .memoryBuffered] {
      try kind.withPlace { fileSystem, path in
        let engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
        var random = SplitMix64(seed: 0x5CA9)
        var model: Model = [:]
        for round in 0..<4 {
          try engine.write { transaction in
            try Self.put(300, keys, &random, transaction, &model)
            try Self.expectScans(of: transaction, model, keys, &random)
          }
          try Self.expectScans(of: try engine.snapshot(), model, keys, &random)
          try Self.expectBeginnings(of: try engine.snapshot(), model, keys, &random)
          if round == 1 { try engine.checkpoint() }
        }
        try engine.close()
      }
    }
  }

  @Test(arguments: ScannedKeys.allCases)
  func `a leaf distinguishes the keys of its entries from all others`(keys: ScannedKeys) throws {
    var random = SplitMix64(seed: 0x1EAF)
    let harness = try TreeHarness()
    try harness.commit {
      for _ in 0..<60 { try harness.put(keys.key(&random), random.bytes(20)) }
    }
    let cursor = TreeCursor(harness.view)
    var stands = try cursor.moveToFirst()
    while stands {
      try Self.expectKnown(
        LeafEntries(cursor.leaf), (0..<cursor.leafCount).map { Array(cursor.key(inLeaf: $0)) })
      stands = try cursor.moveToNextLeaf()
    }
  }

  private static func expectKnown(_ leaf: LeafEntries, _ keys: [[UInt8]]) throws {
    func isKnown(_ key: [UInt8], at index: Int) -> Bool {
      key.withBytes { leaf.isKey(Bytes($0), of: index) }
    }
    for (index, key) in keys.enumerated() {
      for (other, otherKey) in keys.enumerated() {
        try #require(isKnown(otherKey, at: index) == (other == index), "\(otherKey) for \(key)")
      }
      for place in key.indices {
        var changed = key
        changed[place] ^= 1
        try #require(!isKnown(changed, at: index), "\(changed) for \(key)")
      }
      try #require(!isKnown(key + [0], at: index) && !isKnown(key.dropLast(), at: index), "\(key)")
    }
  }

  private static func put(
    _ count: Int, _ keys: ScannedKeys, _ random: inout SplitMix64, _ transaction: WriteTransaction,
    _ model: inout Model
  ) throws {
    for _ in 0..<count {
      let key = keys.key(&random)
      let value = random.bytes(random.below(4) == 0 ? random.below(17) : 17 + random.below(150))
      try transaction.put(key, value)
      model[key] = value
    }
  }

  private static func expectScans(
    of reader: any KeyValueReader, _ model: Model, _ keys: ScannedKeys, _ random: inout SplitMix64
  ) throws {
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for _ in 0..<6 {
      func bound() -> KeyRange.Bound? {
        let isThere = random.below(2) == 0
        let key = isThere ? sorted[random.below(sorted.count)].key : keys.key(&random)
        return random.below(4) == 0 ? nil : .init(key, isInclusive: random.below(2) == 0)
      }
      let range = KeyRange(lower: bound(), upper: bound())
      let expected = sorted.filter { range.holds($0.key) }
      try expectScan(of: reader, range, reversed: false, expected)
      try expectScan(of: reader, range, reversed: true, expected.reversed())
    }
  }

  /// Scans the keys that begin with a part of one, or with what none begins with.
  private static func expectBeginnings(
    of snapshot: Snapshot, _ model: Model, _ keys: ScannedKeys, _ random: inout SplitMix64
  ) throws {
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    var beginnings: [[UInt8]] = [[], [0xFF], [0xFF, 0xFF]]
    for _ in 0..<12 {
      let key = random.below(3) == 0 ? keys.key(&random) : sorted[random.below(sorted.count)].key
      beginnings += [Array(key.prefix(random.below(key.count + 1))), key, key.dropLast() + [0xFF]]
    }
    for beginning in beginnings {
      let expected = sorted.filter { $0.key.starts(with: beginning) }
      let most = random.below(2) == 0 ? Int.max : random.below(3)
      var found: [(key: [UInt8], value: [UInt8])] = []
      try beginning.withBytes { bytes in
        try snapshot.scan(beginningWith: bytes) { key, value in
          found.append((Array(key), Array(value)))
          return found.count < most
        }
      }
      let first = expected.prefix(max(1, most))
      try #require(found.map(\.key) == first.map(\.key), "\(beginning)")
      try #require(found.map(\.value) == first.map(\.value), "\(beginning)")
    }
  }

  private static func expectScan(
    of reader: any KeyValueReader, _ range: KeyRange, reversed: Bool,
    _ expected: [(key: [UInt8], value: [UInt8])]
  ) throws {
    var found: [(key: [UInt8], value: [UInt8])] = []
    try reader.scan(range, reversed: reversed) { key, value in
      found.append((Array(key), Array(value)))
      return true
    }
    try #require(found.map(\.key) == expected.map(\.key), "\(range), reversed: \(reversed)")
    try #require(found.map(\.value) == expected.map(\.value), "\(range), reversed: \(reversed)")
  }
}
