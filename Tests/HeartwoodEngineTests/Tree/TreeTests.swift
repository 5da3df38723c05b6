import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

@Suite struct TreeTests {
  @Test(arguments: KeyShape.allCases)
  func `random changes keep the tree equal to a dictionary, and old generations unchanged`(
    _ shape: KeyShape
  ) throws {
    var random = SplitMix64(seed: 0x7265_6521)
    let harness = try TreeHarness()
    var held: [(pin: Generations.Pin, model: [[UInt8]: [UInt8]])] = []
    for round in 0..<60 {
      let note = "seed 0x72656521, \(shape), round \(round)"
      try harness.commit { try Self.change(harness, shape, &random, deleting: round % 3 == 2) }
      if round % 5 == 0 { try TreeHarness.expectEqual(harness.view, harness.model, &random, note) }
      if round % 7 == 0 { held.append((harness.generations.pin(), harness.model)) }
      if held.count > 3 {
        let (pin, model) = held.remove(at: random.below(held.count))
        try TreeHarness.expectEqual(
          TreeView(space: harness.space, root: pin.root), model, &random, "\(note), held")
        pin.release()
      }
    }
    for (pin, _) in held { pin.release() }
    try harness.commit { try harness.deleteRange(.all) }
    #expect(harness.view.root == .empty)
    try harness.commit {}
    #expect(harness.space.arenaBytesInUse == 0)
  }

  @Test(arguments: [true, false])
  func `a branch predicts the place of a key in a leaf, for decimal digits and evenly spread bytes`(
    isDecimal: Bool
  ) throws {
    var random = SplitMix64(seed: 0x666f_7265)
    let harness = try TreeHarness()
    let keys = (0..<5_000).map { number -> [UInt8] in
      let (high, low) = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15, random.next())
      return isDecimal
        ? Array("key \(10_000 + number * 7)".utf8)
        : withUnsafeBytes(of: (high.bigEndian, low)) { Array($0) }
    }
    try harness.commit { for key in keys.shuffled(using: &random) { try harness.put(key, [1]) } }
    let root = try harness.space.page(harness.view.root)
    try #require(root.level == 1)
    var (near, foreseen) = (0, 0)
    for bytes in keys {
      try bytes.withBytes { bytes in
        let key = SearchKey(bytes)
        let index = root.childIndex(key)
        let leaf = try harness.space.child(index, of: root)
        guard let guess = root.predictIndex(leaf, below: index, for: key) else { return }
        let found = leaf.search(key, near: guess)
        #expect(found == leaf.search(key) && found.isFound)
        foreseen += 1
        near += abs(found.index - guess) <= 16 ? 1 : 0
      }
    }
    #expect(foreseen > 4_700, "all but those below the last entry")
    #expect(near * 10 > foreseen * 9, "\(near) of \(foreseen)")
  }

  private static func change(
    _ harness: TreeHarness, _ shape: KeyShape, _ random: inout SplitMix64, deleting: Bool
  ) throws {
    for _ in 0..<random.below(120) {
      let key = shape.key(&random)
      if random.below(20) == 0 { try harness.compactLeaf(at: key) }
      if deleting || random.below(5) == 0 {
        try harness.delete(harness.anyKey(&random) ?? key)
      } else {
        let bytes = random.below(3) == 0 ? random.below(17) : 20
        try harness.put(key, (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      }
    }
    if random.below(4) == 0 {
      let start = shape.key(&random).prefix(1000)
      for number in 0..<random.below(200) {
        try harness.put(start + [UInt8(number)], [UInt8](repeating: 9, count: random.below(30)))
      }
    }
    if random.below(4) == 0 {
      let ends = [shape.key(&random), shape.key(&random)].sorted { $0.lexicographicallyPrecedes($1) }
      let isWide = random.below(10) == 0
      let upper = isWide ? ends[1] : ends[0] + [UInt8(random.below(256))]
      try harness.deleteRange(
        KeyRange(
          lower: .init(ends[0], isInclusive: random.below(2) == 0),
          upper: .init(upper, isInclusive: random.below(2) == 0)))
    }
  }

  @Test(arguments: [1, 3, 50, 99, 100])
  func `a range that ends inside a leaf of the same generation keeps the rest of the leaf`(
    count: Int
  ) throws {
    var random = SplitMix64(seed: 1)
    let harness = try TreeHarness()
    let keys = (0..<100).map { number in Array("key \(1000 + number)".utf8) }
    try harness.commit {
      for key in keys { try harness.put(key, key) }
      try harness.deleteRange(KeyRange(from: nil, to: keys[count - 1] + [0]))
    }
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "\(count) of \(keys.count)")
    #expect(harness.model.count == keys.count - count)
  }

  @Test func `a generation that is rolled back leaves no data`() throws {
    var random = SplitMix64(seed: 2)
    let harness = try TreeHarness()
    try harness.commit { for _ in 0..<3000 { try harness.put(KeyShape.paddedNumbers.key(&random), [1]) } }
    let bytes = harness.space.arenaBytesInUse
    let model = harness.model
    harness.writer.begin(generation: 2)
    for _ in 0..<3000 { try harness.put(KeyShape.text.key(&random), [2, 3]) }
    try harness.deleteRange(KeyRange(from: nil, to: Array("0000000000010000".utf8)))
    harness.writer.rollback()
    #expect(harness.space.arenaBytesInUse == bytes)
    try TreeHarness.expectEqual(harness.view, model, &random, "after rolling back")
  }

  @Test func `keys loaded in order fill their pages`() throws {
    let harness = try TreeHarness()
    try harness.commit {
      for number in 0..<20_000 {
        let key = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
        try harness.put(key, [UInt8](repeating: 7, count: 20))
      }
    }
    // 16 bytes an entry without slots and a page's header; a little for the branches.
    #expect(harness.space.arenaBytesInUse < 20_000 * 16 * 108 / 100)
  }

  @Test func `keys that come in order between others fill their pages`() throws {
    let harness = try TreeHarness()
    // Three runs at once, as the rows, the entries and the links of new objects are.
    for batch in 0..<20 {
      try harness.commit {
        for space in [3, 1, 2] as [UInt64] {
          for number in 0..<500 {
            let key = [space, UInt64(batch * 500 + number)].flatMap {
              withUnsafeBytes(of: $0.bigEndian, Array.init)
            }
            try harness.put(key, [UInt8](repeating: 7, count: 20))
          }
        }
      }
    }
    #expect(harness.view.count == 30_000)
    let bytes = Double(harness.space.arenaBytesInUse)
    // 20 bytes an entry and its part of a page's header; the rest for the pages where a batch ended.
    #expect(bytes < 30_000 * 20 * 1.2, "\(bytes / 600_000)")
  }

  /// In small commits, so that neighbours are pages of older generations, and in a single commit.
  @Test(arguments: [(100, true), (100, false), (30_000, true)])
  func `keys in random order fill leaves to more than four fifths`(perCommit: Int, isDecimal: Bool) throws {
    var random = SplitMix64(seed: 7)
    let harness = try TreeHarness()
    let keys = (0..<30_000).map { number in
      isDecimal
        ? Array("key \(100_000 + number)".utf8)
        : (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    let shuffled = keys.shuffled(using: &random)
    for start in stride(from: 0, to: keys.count, by: perCommit) {
      try harness.commit {
        for key in shuffled[start..<start + perCommit] {
          try harness.put(key, [UInt8](repeating: 7, count: 20))
        }
      }
    }
    try harness.commit {}
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "\(perCommit) a commit")
    // Keys that are not decimal have seven or eight bytes in the heap.
    let used = keys.count * (isDecimal ? Page.slotlessEntryBytes : Page.leafEntryBytes + 8)
    #expect(used * 100 > harness.space.arenaBytesInUse * 80, "\(harness.space.arenaBytesInUse) for \(used)")
  }

  @Test func `leaves that deletes have left half empty are filled from the right`() throws {
    var random = SplitMix64(seed: 6)
    let harness = try TreeHarness()
    for _ in 0..<20 {
      try harness.commit {
        for _ in 0..<1000 {
          try harness.put(KeyShape.paddedNumbers.key(&random), [UInt8](repeating: 7, count: 20))
        }
      }
    }
    try harness.commit { for _ in 0..<5000 { try harness.delete(KeyShape.paddedNumbers.key(&random)) } }
    try harness.commit {}
    let before = harness.space.arenaBytesInUse
    // Some keys of each leaf.
    let keys = harness.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let some = stride(from: 0, to: keys.count, by: 20).map { keys[$0] }
    try harness.commit { for key in some { try harness.compactLeaf(at: key) } }
    try harness.commit {}
    let packed = harness.space.arenaBytesInUse
    #expect(packed * 100 < before * 85, "\(before) became \(packed)")
    try TreeHarness.expectEqual(harness.view, harness.model, &random, "packed")
    try harness.commit { for key in some { try harness.compactLeaf(at: key) } }
    try harness.commit {}
    #expect(harness.space.arenaBytesInUse == packed, "nothing is left to be filled")
  }

  @Test func `a count of a range and a rank match the sorted keys`() throws {
    var random = SplitMix64(seed: 5)
    let harness = try TreeHarness()
    try harness.commit { for _ in 0..<4000 { try harness.put(KeyShape.text.key(&random), []) } }
    for _ in 0..<200 {
      let ends = [KeyShape.text.key(&random), KeyShape.text.key(&random)]
      let range = KeyRange(
        lower: random.below(5) == 0 ? nil : .init(ends[0], isInclusive: random.below(2) == 0),
        upper: random.below(5) == 0 ? nil : .init(ends[1], isInclusive: random.below(2) == 0))
      #expect(try harness.view.count(in: range) == UInt64(harness.model.keys.count { range.holds($0) }))
    }
  }

  @Test func `a cursor seeks the first key at or after another, and the last before it`() throws {
    var random = SplitMix64(seed: 6)
    let harness = try TreeHarness()
    try harness.commit { for _ in 0..<3000 { try harness.put(KeyShape.randomLengths.key(&random), [1]) } }
    let keys = harness.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let cursor = TreeCursor(harness.view)
    for _ in 0..<500 {
      let key = random.below(2) == 0 ? keys[random.below(keys.count)] : KeyShape.randomLengths.key(&random)
      let after = keys.first { !$0.lexicographicallyPrecedes(key) }
      let before = keys.last { $0.lexicographicallyPrecedes(key) }
      #expect(try key.withBytes { try cursor.seek($0) } == (after != nil))
      if let after { #expect(Array(cursor.key) == after) }
      #expect(try key.withBytes { try cursor.seekBefore($0) } == (before != nil))
      if let before { #expect(Array(cursor.key) == before) }
    }
  }

  @Test func `a long-held pin keeps its own pages and no later ones`() throws {
    var random = SplitMix64(seed: 9)
    let harness = try TreeHarness()
    try harness.commit { for _ in 0..<5000 { try harness.put(KeyShape.paddedNumbers.key(&random), [1]) } }
    let pin = harness.generations.pin()
    let bytes = harness.space.arenaBytesInUse
    let keys = harness.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for _ in 0..<400 {
      try harness.commit { for _ in 0..<10 { try harness.put(keys[random.below(keys.count)], [2]) } }
    }
    // Twice the pages, and the copies of one commit that are not reclaimed yet.
    #expect(harness.space.arenaBytesInUse <= bytes * 2 + 13 * 4096)
    pin.release()
  }
}
