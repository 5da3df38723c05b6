import Foundation
import Testing

@testable import Heartwood

@Suite struct UniquenessTests {
  private let world: StoreWorld
  private let store: LogStore
  private var country: EntityDescription { world.country }

  init() throws {
    world = StoreWorld()
    store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
  }

  private func insert(_ codes: String?...) throws -> [UInt64] {
    try store.save { transaction in
      try codes.map { code in
        let key = try transaction.newKeys(country, 1)
        try transaction.insert(country, key, row: row(1, code))
        return key
      }
    }
  }

  private func row(_ version: UInt32, _ code: String?) -> [UInt8] {
    country.row(version: version, ["code": code.map(Value.string) ?? .null])
  }

  private func setCode(_ transaction: any StoreTransaction, _ key: UInt64, _ code: String?) throws {
    let version = try transaction.row(country, key)?.version ?? 0
    let conflict = try transaction.update(
      country, key, expectedVersion: version, row: row(version + 1, code), changedSlots: [], changedToMany: []
    )
    #expect(conflict == nil)
  }

  private func violations(_ body: () throws -> Void) -> [ConstraintViolation] {
    do {
      try body()
      return []
    } catch {
      return (error as? ConstraintViolations)?.violations ?? []
    }
  }

  @Test func `two rows may exchange their unique values in one save`() throws {
    let keys = try insert("A", "B", "C")
    try store.save { transaction in
      try setCode(transaction, keys[0], "B")
      try setCode(transaction, keys[1], "C")
      try setCode(transaction, keys[2], "A")
    }
    #expect(try store.verify().findings == [])
  }

  @Test func `a value that a deleted row had is free in the same save`() throws {
    let keys = try insert("A")
    try store.save { transaction in
      let key = try transaction.newKeys(country, 1)
      try transaction.insert(country, key, row: row(1, "A"))
      _ = try transaction.delete(country, keys[0], expectedVersion: 1)
    }
    #expect(try store.verify().findings == [])
  }

  @Test func `a duplicate value is refused, the error names both rows and the store is unchanged`() throws {
    let keys = try insert("A", "B")
    let generation = store.newestGeneration
    let found = violations { _ = try insert("X", "B") }
    #expect(found.count == 1)
    #expect(found.first?.constraint == ["code"])
    #expect(found.first?.values == [.string("B")])
    #expect(found.first?.existingKey == keys[1])
    #expect(found.first?.newKey == keys[1] + 2)
    #expect(store.newestGeneration == generation)
  }

  @Test func `new rows with one value are refused, each against the first`() throws {
    let found = violations { _ = try insert("A", "A", "A") }
    #expect(found.map(\.newKey) == [2, 3])
    #expect(found.map(\.existingKey) == [1, 1])
  }

  @Test func `rows without a value are not compared`() throws {
    _ = try insert(nil, nil, "A")
    _ = try insert(nil)
    #expect(try store.verify().findings == [])
  }

  @Test func `texts are compared by canonical equivalence, long ones whole`() throws {
    let long = String(repeating: "x", count: 300)
    _ = try insert("\u{E9}", long + "a", long + "b")
    #expect(violations { _ = try insert("e\u{301}") }.count == 1)
    #expect(violations { _ = try insert(long + "a") }.count == 1)
    #expect(violations { _ = try insert(long + "c") }.isEmpty)
  }
}
