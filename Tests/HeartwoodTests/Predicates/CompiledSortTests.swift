import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct CompiledSortTests {
  let world: PredicateWorld

  init() throws { world = try .sample() }

  private func sorted(_ sorts: [NamedSort]) throws -> [UInt64] {
    let sort = try CompiledSort(sorts, entity: world.city)
    return try world.keys(world.city).sorted { left, right in
      guard let leftRow = try world.row(world.city, left), let rightRow = try world.row(world.city, right)
      else { return false }
      let order = try sort.compare(leftRow, left, rightRow, right, in: world)
      return order == 0 ? left < right : order < 0
    }
  }

  @Test func `objects come in the order of their values, missing ones first`() throws {
    #expect(try sorted([NamedSort("population")]) == [4, 2, 3, 1])
    #expect(try sorted([NamedSort("population", ascending: false)]) == [1, 3, 2, 4])
    #expect(try sorted([NamedSort("name")]) == [4, 3, 2, 1])
    #expect(
      try sorted([NamedSort("name", ascending: false, options: [.diacriticInsensitive])]) == [1, 2, 3, 4])
    #expect(try sorted([NamedSort("area"), NamedSort("population")]) == [4, 2, 3, 1])
    #expect(
      try sorted([NamedSort("country.code"), NamedSort("population", ascending: false)]) == [4, 3, 1, 2])
    #expect(try sorted([NamedSort("country.area", ascending: false), NamedSort("name")]) == [2, 1, 3, 4])
    #expect(try sorted([NamedSort("isOld")]) == [3, 4, 2, 1])
    #expect(try sorted([NamedSort("objectID", ascending: false)]) == [4, 3, 2, 1])
  }

  @Test func `sort keys report which of them an index may serve`() throws {
    let sort = try CompiledSort(
      [
        NamedSort("name"), NamedSort("name", ascending: false, options: .caseInsensitive),
        NamedSort("country.code"),
      ],
      entity: world.city)
    #expect(sort.keys.map(\.slot) == [world.city.slot(named: "name"), nil, nil])
    #expect(sort.keys.map(\.ascending) == [true, false, true])
    #expect(sort.readsOtherRows)
    #expect(sort.text == "name ascending, name[c] descending, country.code ascending")
  }

  @Test func `invalid sorts are refused`() {
    for (name, part) in [
      ("nam", "the sort is wrong: City has no property 'nam'"), ("country", "sort by an attribute behind it"),
      ("name.x", "is an attribute"), ("country.cities", "sort by an attribute"),
      ("", "City has no property ''"),
    ] {
      expectRefusal(part) { try CompiledSort([NamedSort(name)], entity: world.city) }
    }
    expectRefusal("[c] is for texts") {
      try CompiledSort([NamedSort("population", options: .caseInsensitive)], entity: world.city)
    }
  }
}
