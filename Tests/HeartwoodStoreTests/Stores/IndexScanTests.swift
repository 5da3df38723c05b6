import Foundation
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Compares index scans with the rows, filtered and sorted.
@Suite struct IndexScanTests {
  private struct Entry {
    let key: UInt64
    let values: [Value]
  }

  /// The expected entries of an index, in its order.
  private func expected(_ index: StoreIndex, _ mirror: StoreModel, _ world: StoreWorld) -> [Entry] {
    let entries = mirror.rows.compactMap { place, row -> Entry? in
      guard let entity = world.model.entitiesByName[row.entity], entity.isKindOf(entity: index.entity) else {
        return nil
      }
      let values = index.propertyNames.map { row.values[$0] ?? .null }
      return index.isUnique && values.contains(where: \.isNull) ? nil : Entry(key: place.key, values: values)
    }
    return entries.sorted { left, right in
      for (a, b) in zip(left.values, right.values) {
        let order = Value.compare(a, b) ?? 0
        if order != 0 { return order < 0 }
      }
      return left.key < right.key
    }
  }

  private func matches(_ values: [Value], _ range: IndexRange) -> Bool {
    guard zip(values, range.equal).allSatisfy({ $0 == $1 }) else { return false }
    guard range.equal.count < values.count, range.leavesOutNull else { return true }
    let value = values[range.equal.count]
    if value.isNull { return false }
    if let bound = range.lower, let order = Value.compare(value, bound.value) {
      guard bound.isInclusive ? order >= 0 : order > 0 else { return false }
    }
    if let bound = range.upper, let order = Value.compare(value, bound.value) {
      guard bound.isInclusive ? order <= 0 : order < 0 else { return false }
    }
    if let prefix = range.prefix, case .string(let text) = value {
      return text.precomposedStringWithCanonicalMapping.unicodeScalars
        .starts(with: prefix.precomposedStringWithCanonicalMapping.unicodeScalars)
    }
    return true
  }

  /// Ranges around values that occur.
  private func ranges(
    _ index: StoreIndex, _ entries: [Entry], _ random: inout SplitMix64
  ) -> [IndexRange] {
    var ranges = [IndexRange.all]
    for _ in 0..<12 {
      guard let entry = entries.randomElement(using: &random),
        let other = entries.randomElement(using: &random)
      else { continue }
      let count = Int.random(in: 0...index.slots.count, using: &random)
      var range = IndexRange(equal: Array(entry.values.prefix(count)))
      ranges.append(range)
      guard count < index.slots.count else { continue }
      if !other.values[count].isNull, Bool.random(using: &random) {
        range.lower = IndexBound(value: other.values[count], isInclusive: Bool.random(using: &random))
      }
      if !entry.values[count].isNull, Bool.random(using: &random) {
        range.upper = IndexBound(value: entry.values[count], isInclusive: Bool.random(using: &random))
      }
      ranges.append(range)
      if case .string(let text) = other.values[count] {
        let length = Int.random(in: 0...text.unicodeScalars.count, using: &random)
        let prefix = String(String.UnicodeScalarView(text.unicodeScalars.prefix(length)))
        ranges.append(IndexRange(equal: Array(entry.values.prefix(count)), prefix: prefix))
      }
    }
    return ranges
  }

  @Test(arguments: [11, 12] as [UInt64])
  func `an index scan gives what filtering and sorting the rows gives`(seed: UInt64) throws {
    print("seed \(seed)")
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: seed)
    for _ in 0..<60 { try script.save(to: store) }
    let view = try store.view()
    for index in store.schema.indexes {
      let entries = expected(index, script.mirror, world)
      for range in ranges(index, entries, &script.random) {
        let expected = entries.filter { matches($0.values, range) }.map(\.key)
        for reversed in [false, true] {
          let found = try scan(view, index, range, reversed: reversed)
          // A scan with a long bound may return other entries near it. The caller checks the rows.
          let filtered = found.filter { key in
            entries.contains { $0.key == key && matches($0.values, range) }
          }
          #expect(filtered == (reversed ? expected.reversed() : expected), "\(index.name): \(range)")
          if let count = try view.indexCount(index, range) {
            #expect(count == expected.count, "\(index.name): \(range)")
            #expect(found.count == expected.count)
          }
        }
      }
    }
  }

  private func scan(
    _ view: any StoreView, _ index: StoreIndex, _ range: IndexRange, reversed: Bool
  ) throws -> [UInt64] {
    var keys: [UInt64] = []
    try view.scanIndex(index, range, reversed: reversed) {
      keys.append($0)
      return true
    }
    return keys
  }

  @Test func `a scan stops on request, in the middle of long values too`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    let beginning = String(repeating: "long ", count: 60)
    try store.save { transaction in
      for number in 0..<20 {
        let key = try transaction.newKeys(world.country, 1)
        let motto = number % 2 == 0 ? beginning + "\((number * 7) % 20)" : "short \(number)"
        try transaction.insert(
          world.country, key, row: world.country.row(version: 1, ["motto": .string(motto)]))
      }
    }
    let view = try store.view()
    let index = try #require(store.indexes(of: world.country).first { $0.name == "byMotto" })
    let all = try scan(view, index, .all, reversed: false)
    for limit in 1...20 {
      var keys: [UInt64] = []
      try view.scanIndex(index, .all, reversed: false) {
        keys.append($0)
        return keys.count < limit
      }
      #expect(keys == Array(all.prefix(limit)))
    }
  }

  @Test func `entries have the same bytes when made from a row and from its values`() throws {
    let world = StoreWorld()
    try world.model.freeze()
    var script = StoreWorkload(world, seed: 3)
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    for _ in 0..<30 { try script.save(to: store) }
    try store.view().scanRows(of: world.country, from: nil, reversed: false) { found in
      let row = found.row
      for column in world.country.layout.columns where column.kind != .toMany {
        var fromRow: [UInt8] = []
        var fromValue: [UInt8] = []
        row.appendOrderedKey(column, to: &fromRow)
        row.value(column).appendOrderedKey(to: &fromValue)
        #expect(fromRow == fromValue)
      }
      return true
    }
  }
}
