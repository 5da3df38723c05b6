import Foundation
import GraphTestSupport
import HeartwoodEngine
import Testing

@testable import Heartwood

/// Damage that the engine cannot detect, as every byte is as it was written.
@Suite struct StoreVerifierTests {
  private let world: StoreWorld
  private let store: LogStore
  private let script: StoreWorkload

  init() throws {
    world = StoreWorld()
    store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: 31)
    for _ in 0..<50 { try script.save(to: store) }
    self.script = script
  }

  private func findings(_ damage: (WriteTransaction) throws -> Void) throws -> String {
    try #require(try store.verify().findings == [])
    try store.engine.write(damage)
    return try store.verify().findings.joined(separator: "\n")
  }

  /// Keys of one kind and number.
  private func keys(_ kind: UInt8, _ number: UInt16) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try store.engine.snapshot().scan(.prefix(KeySpace.head(kind, number))) { key, _ in
      keys.append(Array(key))
      return true
    }
    return keys
  }

  private func index(_ name: String) throws -> StoreIndex {
    try #require(store.schema.indexes.first { $0.name == name })
  }

  @Test(arguments: ["byName", "byMotto", "code", "byHeight", "byCountry"])
  func `a missing entry of an index is found`(name: String) throws {
    let index = try index(name)
    let key = try #require(try keys(KeySpace.index, index.number).first)
    #expect(try findings { try $0.delete(key) }.contains("missing in the index \(name)"))
  }

  @Test func `an entry that no row has is found`() throws {
    let index = try index("byName")
    let stray = KeySpace.head(KeySpace.index, index.number) + [1, 65, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 1]
    #expect(try findings { try $0.put(stray, []) }.contains("that its row does not have"))
  }

  @Test func `two rows with a value that must be unique are found`() throws {
    let keys = script.mirror.keys(world.country)
    let row = try #require(try store.view().row(world.country, keys[0])).bytes
    let found = try findings { transaction in
      // The second row becomes the first, with its entries.
      let second = try RowView(
        validating: #require(try transaction.pointer(of: KeySpace.rowKey(world.country.number, keys[1]))),
        layout: world.country.layout)
      let indexes = store.indexes(of: world.country)
      let old = indexes.compactMap { IndexKey.entry($0, second, keys[1]) }
      let new = try indexes.compactMap {
        IndexKey.entry($0, try RowView(validating: row, layout: world.country.layout), keys[1])
      }
      for key in old { try transaction.delete(key) }
      for key in new { try transaction.put(key, []) }
      try transaction.put(KeySpace.rowKey(world.country.number, keys[1]), Array(row))
    }
    #expect(found.contains("must be unique"))
  }

  @Test func `a missing row is found by its references`() throws {
    let cities = world.country.relationship("cities")
    let country = try #require(
      script.mirror.keys(world.country).first { !script.mirror.destinations(cities, of: $0).isEmpty })
    let found = try findings { try $0.delete(KeySpace.rowKey(world.country.number, country)) }
    #expect(found.contains("country is Country \(country), which does not exist"))
  }

  @Test func `a row with invalid bytes is found`() throws {
    let key = try #require(script.mirror.keys(world.tour).first)
    let found = try findings { try $0.put(KeySpace.rowKey(world.tour.number, key), [1, 2, 3]) }
    #expect(found.contains("Tour \(key): a row is damaged"))
  }

  @Test func `a missing link back of a to-one value is found, and a link that no value implies`() throws {
    let number = store.schema.number(of: world.country.relationship("cities"))
    let link = try #require(try keys(KeySpace.link, number).first)
    #expect(try findings { try $0.delete(link) }.contains("which has no link back"))
    try store.engine.write { try $0.put(link, []) }
    let stray = KeySpace.entry(KeySpace.link, number, 1, 999)
    #expect(try findings { try $0.put(stray, []) }.contains("has 999, whose country is another"))
  }

  @Test(arguments: ["twins", "tours"])
  func `a many-to-many link in one direction only is found`(name: String) throws {
    let number = store.schema.number(of: world.city.relationship(name))
    let link = try #require(try keys(KeySpace.link, number).first { $0[10] != $0[18] })
    #expect(try findings { try $0.delete(link) }.contains("there does not have it"))
  }

  @Test func `a place in an order without its rank is found, and a rank without its place`() throws {
    let number = store.schema.number(of: world.tour.relationship("stops"))
    let rank = try #require(try keys(KeySpace.rank, number).first)
    let place = try #require(try keys(KeySpace.order, number).first)
    let bytes = try #require(try store.engine.snapshot().get(rank))
    #expect(try findings { try $0.delete(rank) }.contains("is not where the order has it"))
    try store.engine.write { try $0.put(rank, bytes) }
    #expect(try findings { try $0.delete(place) }.contains("has a rank, but no place"))
  }

  @Test func `an order that lacks a row is found`() throws {
    let legs = world.tour.relationship("legs")
    let number = store.schema.number(of: legs)
    let place = try #require(try keys(KeySpace.order, number).first)
    let rank = try #require(try keys(KeySpace.rank, number).first)
    let found = try findings { transaction in
      try transaction.delete(place)
      try transaction.delete(rank)
    }
    #expect(found.contains("whose tour it is") || found.contains("order"))
  }

  @Test func `a gap in the history is found, and a record that cannot be read`() throws {
    var numbers: [UInt64] = []
    try store.newestView().history(after: 0) {
      numbers.append($0.number)
      return true
    }
    let missing = KeySpace.historyKey(numbers[3])
    let bytes = try #require(try store.engine.snapshot().get(missing))
    #expect(try findings { try $0.delete(missing) }.contains("but says that it follows \(numbers[3])"))
    try store.engine.write { try $0.put(missing, bytes) }
    #expect(try findings { try $0.put(missing, [9]) }.contains("its format is not known"))
  }

  @Test func `keys that belong to no row or record are found`() throws {
    for stray in [[0x77], [KeySpace.index, 9, 9, 1], KeySpace.rowKey(999, 1), [KeySpace.link]] as [[UInt8]] {
      #expect(try findings { try $0.put(stray, []) }.contains("is not one that a store writes"))
      try store.engine.write { _ = try $0.delete(stray) }
    }
  }

  @Test func `a key that was never assigned is found`() throws {
    let key = KeySpace.counterKey(world.country.number)
    #expect(try findings { try $0.put(key, KeySpace.value(1)) }.contains("was not given out"))
  }

  @Test func `references may dangle where the rule is to do nothing, or no inverse exists`() throws {
    let country = try #require(script.mirror.keys(world.country).first)
    try store.save { try $0.link(world.country.relationship("sights"), country, 12345) }
    #expect(try store.verify().findings == [])
  }
}

extension WriteTransaction {
  fileprivate func pointer(of key: [UInt8]) throws -> UnsafeRawBufferPointer? {
    let stays = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 1)
    defer { stays.deallocate() }
    stays.copyBytes(from: key)
    return try pointer(of: UnsafeRawBufferPointer(stays))
  }
}
