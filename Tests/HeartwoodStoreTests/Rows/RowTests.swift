import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Rows` {
  let city: EntityDescription
  let country: EntityDescription
  let layout: RowLayout

  init() throws {
    let model = try ManagedObjectModel(types: declaredTypes)
    city = try #require(model.entitiesByName["City"])
    country = try #require(model.entitiesByName["Country"])
    layout = city.layout
  }

  @Test func `written rows are read back, for random values of every type`() throws {
    var random = Randomness(seed: 0x5EED_0001)
    for _ in 0..<300 {
      let values = random.values(of: city, country: country)
      let row = row(values, version: 7)
      try row.withUnsafeBytes { bytes in
        let view = try RowView(validating: bytes, layout: layout)
        #expect(view.version == 7)
        #expect(view.entityNumber == city.number)
        for slot in city.slots {
          #expect(view.value(layout.columns[slot], layout: layout, store: .none) == values[slot])
        }
      }
    }
  }

  @Test func `columns copied from another row are the same, whatever columns surround them`() throws {
    var random = Randomness(seed: 0x5EED_0002)
    for _ in 0..<100 {
      let first = random.values(of: city, country: country)
      let second = random.values(of: city, country: country)
      let copied = city.slots.map { _ in random.chance(2) }
      let source = row(first, version: 1)
      let mixed = try source.withUnsafeBytes { bytes in
        let view = try RowView(validating: bytes, layout: layout)
        var builder = RowBuilder(layout)
        for slot in city.slots {
          if copied[slot] { builder.copy(from: view, slot) } else { builder.set(slot, second[slot]) }
        }
        return builder.finish(version: 2)
      }
      #expect(mixed == row(city.slots.map { copied[$0] ? first[$0] : second[$0] }, version: 2))
    }
  }

  @Test func `a damaged row is refused, or every column of it can be read`() throws {
    var random = Randomness(seed: 0x5EED_0003)
    let sound = row(random.values(of: city, country: country), version: 3)
    var refused = 0
    for index in sound.indices {
      for bit in 0..<8 {
        var damaged = sound
        damaged[index] ^= 1 << UInt8(bit)
        if !readsWhole(damaged) { refused += 1 }
      }
    }
    #expect(refused > 100)
    for length in 0..<sound.count { #expect(!readsWhole(Array(sound.prefix(length)))) }
    #expect(!readsWhole(sound + [0]))
  }

  @Test func `a row of another entity is refused, and one of a subentity is found by its number`() throws {
    let bytes = RowBuilder(country.layout).finish(version: 1)
    bytes.withUnsafeBytes { bytes in
      #expect(throws: HeartwoodError.self) { try RowView(validating: bytes, layout: layout) }
      #expect(throws: HeartwoodError.self) { try RowView(validating: bytes, below: city) }
      #expect((try? RowView(validating: bytes, below: country.rootEntity))?.entityNumber == country.number)
    }
  }

  private func row(_ values: [Value], version: UInt32) -> [UInt8] {
    var writer = RowWriter(layout, version: version)
    for column in layout.columns { writer.write(values[Int(column.slot)], column) }
    return writer.row
  }

  private func readsWhole(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard let view = try? RowView(validating: bytes, layout: layout) else { return false }
      for column in layout.columns { _ = view.value(column, layout: layout, store: .none).description }
      return true
    }
  }
}
