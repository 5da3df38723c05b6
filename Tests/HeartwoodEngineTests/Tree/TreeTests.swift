import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

@Suite struct TreeTests {
  @Test(arguments: KeyShape.allCases)
  func `Random changes leave the tree as a dictionary says, old generations as they were`(
    _ shape: KeyShape
  ) throws {
    var random = SplitMix64(seed: 0x7265_6521)
    let rig = try TreeRig()
    var held: [(pin: Generations.Pin, model: [[UInt8]: [UInt8]])] = []
    for round in 0..<60 {
      let note = "seed 0x72656521, \(shape), round \(round)"
      try rig.commit { try Self.change(rig, shape, &random, deleting: round % 3 == 2) }
      if round % 5 == 0 { try TreeRig.expectEqual(rig.view, rig.model, &random, note) }
      if round % 7 == 0 { held.append((rig.generations.pin(), rig.model)) }
      if held.count > 3 {
        let (pin, model) = held.remove(at: random.below(held.count))
        try TreeRig.expectEqual(TreeView(space: rig.space, root: pin.root), model, &random, "\(note), held")
        pin.letGo()
      }
    }
    for (pin, _) in held { pin.letGo() }
    try rig.commit { try rig.deleteRange(.all) }
    #expect(rig.view.root == .empty)
    try rig.commit {}
    #expect(rig.space.arenaBytesInUse == 0)
  }

  @Test(arguments: [true, false])
  func `A branch foresees where in a leaf a key is, of decimal digits or of bytes spread evenly`(
    isDecimal: Bool
  ) throws {
    var random = SplitMix64(seed: 0x666f_7265)
    let rig = try TreeRig()
    let keys = (0..<5_000).map { number -> [UInt8] in
      let (high, low) = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15, random.next())
      return isDecimal
        ? Array("key \(10_000 + number * 7)".utf8)
        : withUnsafeBytes(of: (high.bigEndian, low)) { Array($0) }
    }
    try rig.commit { for key in keys.shuffled(using: &random) { try rig.put(key, [1]) } }
    let root = try rig.space.page(rig.view.root)
    try #require(root.level == 1)
    var (near, foreseen) = (0, 0)
    for bytes in keys {
      try bytes.withBytes { bytes in
        let key = SearchKey(bytes)
        let index = root.childIndex(key)
        let leaf = try rig.space.child(index, of: root)
        guard let guess = root.foresee(leaf, below: index, for: key) else { return }
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
    _ rig: TreeRig, _ shape: KeyShape, _ random: inout SplitMix64, deleting: Bool
  ) throws {
    for _ in 0..<random.below(120) {
      let key = shape.key(&random)
      if random.below(20) == 0 { try rig.pack(at: key) }
      if deleting || random.below(5) == 0 {
        try rig.delete(rig.anyKey(&random) ?? key)
      } else {
        let bytes = random.below(3) == 0 ? random.below(17) : 20
        try rig.put(key, (0..<bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      }
    }
    if random.below(4) == 0 {
      let start = shape.key(&random).prefix(1000)
      for number in 0..<random.below(200) {
        try rig.put(start + [UInt8(number)], [UInt8](repeating: 9, count: random.below(30)))
      }
    }
    if random.below(4) == 0 {
      let ends = [shape.key(&random), shape.key(&random)].sorted { $0.lexicographicallyPrecedes($1) }
      let isWide = random.below(10) == 0
      let upper = isWide ? ends[1] : ends[0] + [UInt8(random.below(256))]
      try rig.deleteRange(
        KeyRange(
          lower: .init(ends[0], isInclusive: random.below(2) == 0),
          upper: .init(upper, isInclusive: random.below(2) == 0)))
    }
  }

  @Test(arguments: [1, 3, 50, 99, 100])
  func `A range that ends anywhere in a leaf of the same generation leaves the rest of it`(
    count: Int
  ) throws {
    var random = SplitMix64(seed: 1)
    let rig = try TreeRig()
    let keys = (0..<100).map { number in Array("key \(1000 + number)".utf8) }
    try rig.commit {
      for key in keys { try rig.put(key, key) }
      try rig.deleteRange(KeyRange(from: nil, to: keys[count - 1] + [0]))
    }
    try TreeRig.expectEqual(rig.view, rig.model, &random, "\(count) of \(keys.count)")
    #expect(rig.model.count == keys.count - count)
  }

  @Test func `A generation that is rolled back leaves nothing behind`() throws {
    var random = SplitMix64(seed: 2)
    let rig = try TreeRig()
    try rig.commit { for _ in 0..<3000 { try rig.put(KeyShape.paddedNumbers.key(&random), [1]) } }
    let bytes = rig.space.arenaBytesInUse
    let model = rig.model
    rig.writer.begin(generation: 2, from: rig.generations.tip.root)
    for _ in 0..<3000 { try rig.put(KeyShape.text.key(&random), [2, 3]) }
    try rig.deleteRange(KeyRange(from: nil, to: Array("0000000000010000".utf8)))
    rig.writer.rollback()
    #expect(rig.space.arenaBytesInUse == bytes)
    try TreeRig.expectEqual(rig.view, model, &random, "after rolling back")
  }

  @Test func `Keys loaded in order fill their pages`() throws {
    let rig = try TreeRig()
    try rig.commit {
      for number in 0..<20_000 {
        let key = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
        try rig.put(key, [UInt8](repeating: 7, count: 20))
      }
    }
    // 16 bytes an entry without slots and a page's header; a little for the branches.
    #expect(rig.space.arenaBytesInUse < 20_000 * 16 * 108 / 100)
  }

  @Test func `Keys that come in order between others fill their pages`() throws {
    let rig = try TreeRig()
    // Three runs at once, as the rows, the entries and the links of new objects are.
    for batch in 0..<20 {
      try rig.commit {
        for space in [3, 1, 2] as [UInt64] {
          for number in 0..<500 {
            let key = [space, UInt64(batch * 500 + number)].flatMap {
              withUnsafeBytes(of: $0.bigEndian, Array.init)
            }
            try rig.put(key, [UInt8](repeating: 7, count: 20))
          }
        }
      }
    }
    #expect(rig.view.count == 30_000)
    let bytes = Double(rig.space.arenaBytesInUse)
    // 20 bytes an entry and its part of a page's header; the rest for the pages where a batch ended.
    #expect(bytes < 30_000 * 20 * 1.2, "\(bytes / 600_000)")
  }

  /// In small commits, so that neighbours are pages of older generations, and in one.
  @Test(arguments: [(100, true), (100, false), (30_000, true)])
  func `Keys in random order leave leaves more than four fifths full`(perCommit: Int, isDecimal: Bool) throws
  {
    var random = SplitMix64(seed: 7)
    let rig = try TreeRig()
    let keys = (0..<30_000).map { number in
      isDecimal
        ? Array("key \(100_000 + number)".utf8)
        : (0..<16).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    let shuffled = keys.shuffled(using: &random)
    for start in stride(from: 0, to: keys.count, by: perCommit) {
      try rig.commit {
        for key in shuffled[start..<start + perCommit] { try rig.put(key, [UInt8](repeating: 7, count: 20)) }
      }
    }
    try rig.commit {}
    try TreeRig.expectEqual(rig.view, rig.model, &random, "\(perCommit) a commit")
    // Of the keys that are not decimal, seven or eight bytes lie in the heap.
    let used = keys.count * (isDecimal ? Page.slotlessEntryBytes : Page.leafEntryBytes + 8)
    #expect(used * 100 > rig.space.arenaBytesInUse * 80, "\(rig.space.arenaBytesInUse) for \(used)")
  }

  @Test func `Leaves that deletes have left half empty are filled from the right`() throws {
    var random = SplitMix64(seed: 6)
    let rig = try TreeRig()
    for _ in 0..<20 {
      try rig.commit {
        for _ in 0..<1000 {
          try rig.put(KeyShape.paddedNumbers.key(&random), [UInt8](repeating: 7, count: 20))
        }
      }
    }
    try rig.commit { for _ in 0..<5000 { try rig.delete(KeyShape.paddedNumbers.key(&random)) } }
    try rig.commit {}
    let before = rig.space.arenaBytesInUse
    // Some keys of each leaf.
    let keys = rig.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let some = stride(from: 0, to: keys.count, by: 20).map { keys[$0] }
    try rig.commit { for key in some { try rig.pack(at: key) } }
    try rig.commit {}
    let packed = rig.space.arenaBytesInUse
    #expect(packed * 100 < before * 85, "\(before) became \(packed)")
    try TreeRig.expectEqual(rig.view, rig.model, &random, "packed")
    try rig.commit { for key in some { try rig.pack(at: key) } }
    try rig.commit {}
    #expect(rig.space.arenaBytesInUse == packed, "nothing is left to be filled")
  }

  @Test func `A count of a range and a rank are those of the sorted keys`() throws {
    var random = SplitMix64(seed: 5)
    let rig = try TreeRig()
    try rig.commit { for _ in 0..<4000 { try rig.put(KeyShape.text.key(&random), []) } }
    for _ in 0..<200 {
      let ends = [KeyShape.text.key(&random), KeyShape.text.key(&random)]
      let range = KeyRange(
        lower: random.below(5) == 0 ? nil : .init(ends[0], isInclusive: random.below(2) == 0),
        upper: random.below(5) == 0 ? nil : .init(ends[1], isInclusive: random.below(2) == 0))
      #expect(try rig.view.count(in: range) == UInt64(rig.model.keys.count { range.holds($0) }))
    }
  }

  @Test func `A cursor seeks the first key at or behind another, and the last before it`() throws {
    var random = SplitMix64(seed: 6)
    let rig = try TreeRig()
    try rig.commit { for _ in 0..<3000 { try rig.put(KeyShape.randomLengths.key(&random), [1]) } }
    let keys = rig.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    let cursor = TreeCursor(rig.view)
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

  @Test func `A long pin keeps its own pages and nothing that came after`() throws {
    var random = SplitMix64(seed: 9)
    let rig = try TreeRig()
    try rig.commit { for _ in 0..<5000 { try rig.put(KeyShape.paddedNumbers.key(&random), [1]) } }
    let pin = rig.generations.pin()
    let bytes = rig.space.arenaBytesInUse
    let keys = rig.model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for _ in 0..<400 {
      try rig.commit { for _ in 0..<10 { try rig.put(keys[random.below(keys.count)], [2]) } }
    }
    // Twice the pages, and one commit's copies that nobody has taken back yet.
    #expect(rig.space.arenaBytesInUse <= bytes * 2 + 13 * 4096)
    pin.letGo()
  }
}
