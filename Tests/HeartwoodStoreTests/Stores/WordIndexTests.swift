import Foundation
import GraphTestSupport
import HeartwoodEngine
import Testing

@testable import Heartwood

/// The entries of full-text indexes in a store.
@Suite struct `Entries of full-text indexes` {
  private let store: LogStore
  private let index: StoreIndex
  private let note: EntityDescription

  init() throws {
    store = try LogStore.open(
      at: URL(filePath: "/dev/null"), model: NoteStores.model(hasIndex: true),
      options: LogStoreOptions(durability: .deferred))
    index = try #require(store.schema.indexes.first { $0.kind == .words })
    note = try #require(store.schema.model.entitiesByName["Note"])
    for (key, text) in [(UInt64(1), "Oak, elm and oak"), (2, "elm"), (3, nil), (4, "")] {
      try store.save { transaction in
        _ = try transaction.newKeys(note, 1)
        let body = text.map { Value.string($0) } ?? .null
        try transaction.insert(
          note, key, row: note.row(version: 1, ["body": body, "number": .int(Int64(key))]))
      }
    }
  }

  private func entries() throws -> [String] {
    var entries: [String] = []
    try store.engine.snapshot().scan(.prefix(KeySpace.head(KeySpace.index, index.number))) { key, _ in
      let word = String(
        decoding: key[(IndexKey.headSize + 1)..<(key.count - IndexKey.keySize - 2)], as: UTF8.self)
      entries.append("\(word) \(try KeySpace.lastNumber(key))")
      return true
    }
    return entries
  }

  @Test func `a row has an entry for each of its different words`() throws {
    #expect(try entries() == ["and 1", "elm 1", "elm 2", "oak 1"])
    #expect(try store.view().indexCount(index, IndexRange(equal: [.string("elm")])) == 2)
    #expect(try store.view().indexCount(index, IndexRange(prefix: "e")) == 2)
    #expect(try store.verify().findings == [])
  }

  @Test func `a change adds and removes the words that differ, and a deletion all`() throws {
    try store.save { transaction in
      _ = try transaction.update(
        note, 1, expectedVersion: 1, row: note.row(version: 2, ["body": .string("elm, ash")]),
        changedSlots: [],
        changedToMany: [])
      _ = try transaction.delete(note, 2, expectedVersion: 1)
    }
    #expect(try entries() == ["ash 1", "elm 1"])
    #expect(try store.verify().findings == [])
  }

  @Test func `a missing word and one that no row has are found by verification`() throws {
    var key: [UInt8] = []
    IndexKey.append(index, Array("oak".utf8)[...], 1, to: &key)
    try store.engine.write { transaction in _ = try transaction.delete(key) }
    #expect(try store.verify().findings.joined().contains("missing in the index words"))
    var stray: [UInt8] = []
    IndexKey.append(index, Array("fir".utf8)[...], 2, to: &stray)
    try store.engine.write { transaction in
      try transaction.put(key, [])
      try transaction.put(stray, [])
    }
    #expect(
      try store.verify().findings.joined().contains("has an entry for Note 2 that its row does not have"))
  }

  @Test func `a store with a full-text index has a format that earlier versions refuse`() throws {
    let record = store.schema.record.encoded()
    #expect(record.first == 3)
    #expect(try record.withUnsafeBytes { try SchemaRecord(decoding: $0) } == store.schema.record)
    let plain = try SchemaRecord(numbering: NoteStores.model(hasIndex: false)).encoded()
    #expect(plain.first == 1)
    for byte in [0, 7] as [UInt8] {
      #expect(throws: HeartwoodError.self) {
        try ([byte] + record.dropFirst()).withUnsafeBytes { try SchemaRecord(decoding: $0) }
      }
    }
  }

  @Test func `an index that its kind cannot be is damage`() throws {
    let model = NoteStores.model(hasIndex: true)
    try model.freeze()
    let record = try SchemaRecord(numbering: model)
    for (kind, properties) in [
      (.words, []), (.words, ["kind"]), (.words, ["body", "body"]), (.ranges, ["kind"]),
      (.ranges, ["kind", "body"]),
      (.ordered, []),
    ] as [(StoreIndex.Kind, [String])] {
      var damaged = record
      damaged.indexes[0].kind = kind
      damaged.indexes[0].properties = properties
      #expect(throws: HeartwoodError.self) { try StoreSchema(model, damaged) }
    }
    var possible = record
    (possible.indexes[0].kind, possible.indexes[0].properties) = (.ranges, ["kind", "number"])
    #expect(throws: Never.self) { try StoreSchema(model, possible) }
  }

  @Test func `a stored model has its full-text indexes`() throws {
    let model = NoteStores.model(hasIndex: true)
    try model.freeze()
    let read = try model.encoded().withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    #expect(read.entitiesByName["Note"]?.indexes.map(\.collationType) == [.binary, .words])
    #expect(try read.encoded() == model.encoded())
  }
}
