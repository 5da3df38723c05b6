import Foundation
import GraphTestSupport
import HeartwoodBytes
import Testing

@testable import Heartwood

@Suite struct StoreHistoryTests {
  private func records(_ store: LogStore, after number: UInt64 = 0) throws -> [HistoryRecord] {
    var records: [HistoryRecord] = []
    try store.newestView().history(after: number) {
      records.append($0)
      return true
    }
    return records
  }

  @Test func `replaying the history from nothing yields the current rows`() throws {
    try StorePlace.disk.use { url in
      let world = StoreWorld()
      var script = StoreWorkload(world, seed: 21)
      var store = try LogStore.open(at: url, model: world.model, options: .quick)
      for _ in 0..<40 { try script.save(to: store) }
      try store.close()
      store = try LogStore.open(at: url, model: world.model, options: .quick)
      let newest = try store.view()
      var rows: [StoreModel.Place: [String: Value]] = [:]
      for record in try records(store) {
        let view = try store.view(at: record.number)
        for change in record.changes { try replay(change, view, newest, store.identity, &rows) }
      }
      #expect(rows == script.mirror.rows.mapValues(\.values))
      try store.close()
    }
  }

  /// Reads from each generation only the changes that its history names.
  private func replay(
    _ change: HistoryChange, _ view: any StoreView, _ newest: any StoreView, _ store: StoreIdentity,
    _ rows: inout [StoreModel.Place: [String: Value]]
  ) throws {
    let root = change.entity.rootEntity
    let place = StoreModel.Place(root: root.displayName, key: change.key)
    switch change.kind {
    case .delete:
      let before = try #require(rows[place])
      rows[place] = nil
      for (slot, value) in change.tombstone {
        #expect(value == before[change.entity.property(at: slot).name] ?? .null)
      }
    case .insert:
      #expect(rows[place] == nil)
      // A row that this transaction deletes is checked with its delete.
      let row = try view.row(root, change.key)
      rows[place] = row.map { change.entity.values($0, store) } ?? [:]
    case .update:
      guard let row = try view.row(root, change.key) else { return }
      let values = change.entity.values(row, store)
      #expect(rows[place] != nil)
      for slot in change.updatedSlots where change.entity.layout.columns[slot].kind != .toMany {
        let name = change.entity.property(at: slot).name
        rows[place]?[name] = values[name]
      }
    }
  }

  @Test func `a record holds the author, the time and the changes of a save`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    let country = world.country
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    let info = TransactionInfo(author: "importer", contextName: "background", date: date)
    let (key, first) = try store.save(info) { transaction in
      let key = try transaction.newKeys(country, 1)
      let values: [String: Value] = [
        "code": .string("FR"), "population": .int(67), "name": .string("France"),
      ]
      try transaction.insert(country, key, row: country.row(version: 1, values))
      return key
    }
    let slots = [country.slot(named: "name"), country.slot(named: "sights")].compactMap { $0 }
    let (_, second) = try store.save(TransactionInfo(date: date)) { transaction in
      _ = try transaction.update(
        country, key, expectedVersion: 1,
        row: country.row(version: 2, ["code": .string("FR"), "population": .int(68)]),
        changedSlots: [slots[0]], changedToMany: [slots[1]])
    }
    let (_, third) = try store.save(TransactionInfo(date: date)) { transaction in
      _ = try transaction.delete(country, key, expectedVersion: 2)
    }
    let records = try records(store)
    #expect(records.map(\.number) == [first, second, third])
    #expect(records.map(\.previous) == [0, first, second])
    #expect(records[0].author == "importer")
    #expect(records[0].contextName == "background")
    #expect(records[0].nanoseconds == 1_700_000_000_250_000_000)
    #expect(records[1].author == nil)
    #expect(records.flatMap(\.changes).map(\.kind) == [.insert, .update, .delete])
    #expect(records.flatMap(\.changes).allSatisfy { $0.entity === country && $0.key == key })
    #expect(records[1].changes[0].updatedSlots == slots.sorted())
    let tombstone = records[2].changes[0].tombstone.map { (country.property(at: $0.slot).name, $0.value) }
    #expect(Dictionary(uniqueKeysWithValues: tombstone) == ["code": .string("FR"), "population": .int(68)])
    #expect(try self.records(store, after: first).map(\.number) == [second, third])
    #expect(try self.records(store, after: .max).isEmpty)
  }

  @Test func `every kind of value is read back from a tombstone`() throws {
    let values: [Value] = [
      .null, .int(.min), .int(.max), .double(-0.5), .decimal(Decimal(string: "-12.345") ?? 0), .bool(true),
      .string("é\u{0}"), .date(1e9), .data(Data([0, 255])), .uuid(UUID()), .url("https://example.org/"),
    ]
    var writer = ByteWriter()
    for value in values { ValueCoding.append(value, to: &writer) }
    let bytes = writer.withUnsafeBytes { Array($0) }
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      for value in values { #expect((try? ValueCoding.read(&reader)) == value) }
      #expect(reader.remaining == 0)
    }
  }

  @Test func `a record with any byte changed or missing is an error or another record, never a crash`() throws
  {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: 8)
    for _ in 0..<20 { try script.save(to: store) }
    let record = try #require(try records(store).max { $0.changes.count < $1.changes.count })
    let bytes = HistoryCoding.encode(record, store.schema)
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 0xA5
      _ = damaged.withUnsafeBytes { try? HistoryCoding.decode($0, number: 1, store.schema) }
      _ = bytes[..<index].withUnsafeBytes { short in
        #expect(throws: HeartwoodError.self) { try HistoryCoding.decode(short, number: 1, store.schema) }
      }
    }
  }
}
