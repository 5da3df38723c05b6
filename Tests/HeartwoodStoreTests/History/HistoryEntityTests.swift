import Foundation
import GraphTestSupport
import HeartwoodBytes
import Testing

@testable import Heartwood

@Suite struct `Entities of the history` {
  // HIS-10, HIS-11
  @Test func `transactions and changes have entities, and are chosen by fetch requests of them`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    for author in ["Ada", "Eve"] {
      context.transactionAuthor = author
      _ = context.makePerson(author)
      if author == "Eve" { _ = context.makeCompany("C") }
      try context.save()
    }
    #expect(PersistentHistoryTransaction.entityDescription(with: context)?.attributesByName["author"] != nil)
    #expect(PersistentHistoryChange.entityDescription(with: context)?.attributesByName["changeType"] != nil)
    let transactions = PersistentHistoryTransaction.fetchRequest
    transactions.predicate = try FormatPredicate("author == 'Eve'")
    let byAuthor = try context.execute(.fetchHistory(withFetchRequest: transactions))
    #expect(byAuthor.transactions.map(\.author) == ["Eve"])
    let changes = PersistentHistoryChange.fetchRequest
    changes.predicate = try FormatPredicate("entityName == 'Company'")
    #expect(try context.execute(.fetchHistory(withFetchRequest: changes)).changes.count == 1)
    #expect(throws: HeartwoodError.self) {
      try PersistentHistoryChangeRequest.fetchHistory(withFetchRequest: FetchRequest(entityName: "Person"))
    }
  }

  // HIS-21
  @Test func `a record of a former model leaves out entities and properties that are gone`() throws {
    let former = model(["a", "x"], withZoo: true)
    let record = try SchemaRecord(numbering: former)
    let schema = try StoreSchema(former, record)
    let kept = try #require(former.entitiesByName["Kept"])
    let zoo = try #require(former.entitiesByName["Zoo"])
    let changes = [
      HistoryChange(kind: .insert, entity: zoo, key: 1),
      HistoryChange(
        kind: .update, entity: zoo, key: 1, updatedSlots: [0],
        keptUpdates: [.init(slot: 0, former: .string("y"), value: .string("z"))],
        links: [.init(slot: 0, target: 7, isAdded: true)]),
      HistoryChange(
        kind: .update, entity: kept, key: 2, updatedSlots: [0, 1],
        keptUpdates: [0, 1].map { .init(slot: $0, former: .null, value: .int(Int64($0))) },
        links: [0, 1].map { .init(slot: $0, target: UInt64($0) + 300, isAdded: $0 == 1) }),
      HistoryChange(kind: .delete, entity: zoo, key: 1, tombstone: [(0, .string("z"))]),
      HistoryChange(kind: .delete, entity: kept, key: 2, tombstone: [(0, .string("a")), (1, .string("x"))]),
    ]
    let bytes = HistoryCoding.encode(
      HistoryRecord(
        number: 2, previous: 1, nanoseconds: 5, author: "Ada", contextName: nil, changes: changes),
      schema)

    let newer = model(["x"], withZoo: false)
    try newer.freeze()
    var numbered = record
    numbered.entities = record.entities.filter { $0.name == "Kept" }
    numbered.entities[0].properties.removeAll { $0.name == "a" }
    let decoded = try bytes.withUnsafeBytes {
      try HistoryCoding.decode($0, number: 2, StoreSchema(newer, numbered))
    }
    #expect(decoded.author == "Ada" && decoded.changes.map(\.key) == [2, 2])
    #expect(decoded.changes[0].kind == .update && decoded.changes[0].updatedSlots == [0])
    #expect(decoded.changes[0].keptUpdates.map(\.value) == [.int(1)])
    #expect(decoded.changes[0].links.map(\.target) == [301] && decoded.changes[0].links[0].isAdded)
    #expect(decoded.changes[1].kind == .delete && decoded.changes[1].tombstone.map(\.slot) == [0])
    #expect(decoded.changes[1].tombstone.map(\.value) == [.string("x")])
  }

  private func model(_ names: [String], withZoo: Bool) -> ManagedObjectModel {
    let kept = EntityDescription(
      name: "Kept", properties: names.map { AttributeDescription(name: $0, type: .string) })
    let zoo = EntityDescription(name: "Zoo", properties: [AttributeDescription(name: "z", type: .string)])
    return ManagedObjectModel(entities: withZoo ? [kept, zoo] : [kept])
  }
}
