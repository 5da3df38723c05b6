import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

/// Kinds of keys that trees find hard in different ways.
enum KeyShape: String, CaseIterable {
  case paddedNumbers, commonPrefix, randomLengths, zerosAndOnes, text, longPrefixes, sharedHeads

  func key(_ random: inout SplitMix64) -> [UInt8] {
    switch self {
    case .paddedNumbers:
      let digits = String(random.below(20_000))
      return Array((String(repeating: "0", count: 16 - digits.count) + digits).utf8)
    case .commonPrefix:
      return Array("entity/7/attribute/\(random.below(5_000))".utf8)
    case .randomLengths:
      let count = 1 + random.below(random.below(4) == 0 ? 1024 : 40)
      return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    case .zerosAndOnes:
      return (0..<(1 + random.below(14))).map { _ in random.below(2) == 0 ? 0 : 0xFF }
    case .text:
      let words = ["ant", "bear", "cat", "doe", "eel", "fox", "gnu", "hen"]
      return Array(
        (0..<(1 + random.below(6))).map { _ in words[random.below(8)] }.joined(separator: " ").utf8)
    case .longPrefixes:
      let prefix = [UInt8](repeating: UInt8(random.below(3)), count: 300 * random.below(4))
      return prefix + Array(String(random.below(400)).utf8)
    case .sharedHeads:
      return Array("sameheadsamehead".utf8) + Array(String(random.below(3_000)).utf8) + [
        UInt8(random.below(2))
      ]
    }
  }
}

/// A tree with its writer, and a plain model of its expected contents.
final class TreeHarness {
  let space: PageSpace
  let generations: Generations
  let writer: TreeWriter
  var model: [[UInt8]: [UInt8]] = [:]
  /// The model's keys and some deleted ones, in an order that is the same in each run.
  private var known: [[UInt8]] = []
  private(set) var generation: UInt64 = 0

  init() throws {
    space = try PageSpace()
    generations = Generations(space: space, generation: 0, root: .empty)
    writer = TreeWriter(space: space, generations: generations)
  }

  var view: TreeView { TreeView(space: space, root: writer.tip.root) }

  /// Changes tree and model. After `body` the tree must equal the model.
  func commit(_ body: () throws -> Void) throws {
    generation += 1
    writer.begin(generation: generation)
    try body()
    generations.publish(generation, writer.commit())
  }

  func put(_ key: [UInt8], _ value: [UInt8]) throws {
    let existed = try key.withBytes { key in
      try value.withBytes { value in try writer.put(key, Self.entry(value)) }
    }
    let isKnown = model.updateValue(value, forKey: key) != nil
    if !isKnown { known.append(key) }
    #expect(existed == isKnown)
  }

  /// One of the keys, or nil if there are none.
  func anyKey(_ random: inout SplitMix64) -> [UInt8]? {
    while !known.isEmpty {
      let index = random.below(known.count)
      if model[known[index]] != nil { return known[index] }
      known.swapAt(index, known.count - 1)
      known.removeLast()
    }
    return nil
  }

  func delete(_ key: [UInt8]) throws {
    let existed = try key.withBytes { try writer.delete($0) }
    #expect(existed == (model.removeValue(forKey: key) != nil))
  }

  /// Fills the leaf where a key is or would be, which has no visible effect.
  func compactLeaf(at key: [UInt8]) throws { try key.withBytes { try writer.compactLeaf(at: $0) } }

  func deleteRange(_ range: KeyRange) throws {
    let doomed = model.keys.filter { range.holds($0) }
    #expect(try writer.deleteRange(range) == UInt64(doomed.count))
    for key in doomed { model[key] = nil }
  }

  /// Values of up to 16 bytes are stored in the page. Longer ones are represented by a position made of their bytes.
  static func entry(_ value: UnsafeRawBufferPointer) -> TreeEntry {
    if value.count <= TreeEntry.inlineLimit { return .inline(value) }
    let position = value.loadUnaligned(fromByteOffset: 0, as: UInt64.self) & ~(1 << 63)
    return .position(ValueReference(rawValue: position))
  }

  static func same(_ entry: TreeEntry?, _ value: [UInt8]?) -> Bool {
    switch (entry, value) {
    case (nil, nil): return true
    case (.inline(let bytes)?, let value?): return bytes.elementsEqual(value)
    case (.position(let place)?, let value?) where value.count > TreeEntry.inlineLimit:
      return value.withBytes { $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self) & ~(1 << 63) }
        == place.rawValue
    default: return false
    }
  }

  /// Expects every result of a view to match the model.
  static func expectEqual(
    _ view: TreeView, _ model: [[UInt8]: [UInt8]], _ random: inout SplitMix64, _ note: String
  ) throws {
    let keys = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    try #require(view.count == UInt64(keys.count), "\(note)")
    var findings: [String] = []
    var visited = 0
    _ = try TreeInspector.inspect(view, report: { findings.append($0) }) { _, _ in visited += 1 }
    try #require(findings.isEmpty, "\(note): \(findings.prefix(3))")
    try #require(visited == keys.count, "\(note)")
    try expectOrder(view, keys, model, note)
    for _ in 0..<min(50, keys.count) {
      let rank = random.below(keys.count)
      let key = keys[rank]
      let found = try key.withBytes { key in same(try view.find(key), model[Array(key)]) }
      try #require(found, "\(note): find")
      try #require(try key.withBytes { try view.rank(of: $0) } == UInt64(rank), "\(note): rank")
      let cursor = TreeCursor(view)
      try #require(try cursor.seek(rank: UInt64(rank)) && Array(cursor.key) == key, "\(note): seek to a rank")
    }
  }

  private static func expectOrder(
    _ view: TreeView, _ keys: [[UInt8]], _ model: [[UInt8]: [UInt8]], _ note: String
  ) throws {
    let cursor = TreeCursor(view)
    var stands = try cursor.moveToFirst()
    for key in keys {
      try #require(stands && Array(cursor.key) == key && same(cursor.entry, model[key]), "\(note): forward")
      stands = try cursor.next()
    }
    try #require(!stands, "\(note): behind the last")
    stands = try cursor.moveToLast()
    for key in keys.reversed() {
      try #require(stands && Array(cursor.key) == key, "\(note): backward")
      stands = try cursor.previous()
    }
    try #require(!stands, "\(note): before the first")
  }
}

extension KeyRange {
  func holds(_ key: [UInt8]) -> Bool {
    if let lower {
      if key.lexicographicallyPrecedes(lower.key) || (key == lower.key && !lower.isInclusive) { return false }
    }
    if let upper {
      if upper.key.lexicographicallyPrecedes(key) || (key == upper.key && !upper.isInclusive) { return false }
    }
    return true
  }
}
