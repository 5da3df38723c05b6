import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Batch deletes` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try batchContainer()
    context = container.newBackgroundContext()
    try context.insertBatch(Tag.self, [["word": "red"], ["word": "old"]])
    try context.insertBatch(Shop.self, [["code": "A"], ["code": "B"]])
    try context.insertBatch(
      Ware.self,
      (1...20).map { number in
        [
          "number": number, "shop": number <= 5 ? "A" : "B", "shelf": number % 2 == 0 ? "A" : "B",
          "tags": ["red"],
        ]
      })
  }

  private func delete<Object: ManagedObject>(_ fetch: FetchRequest<Object>) throws -> BatchDeleteResult {
    let request = BatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeObjectIDs
    defer { context.reset() }
    return try context.execute(request)
  }

  // BAT-07
  @Test func `what a fetch finds is deleted, with its predicate, order, limit and offset`() throws {
    #expect(try delete(FetchRequest<Ware>(where: { $0.number > 15 })).count == 5)
    let fetch = FetchRequest<Ware>()
    fetch.sortDescriptors = [Sort<Ware>.descending(\.number)]
    (fetch.fetchOffset, fetch.fetchLimit) = (2, 3)
    #expect(try delete(fetch).objectIDs.count == 3)
    #expect(
      try context.fetch(Ware.self, sort: [.ascending(\.number)]).map(\.number) == Array(1...10) + [14, 15])
    try expectSound(container)
  }

  // BAT-07
  @Test func `identifiers of one family are deleted, and those that are gone ignored`() throws {
    let ids = try context.fetch(Ware.self, where: { $0.number < 4 }).map(\.objectID)
    let request = BatchDeleteRequest(objectIDs: ids)
    request.resultType = .count
    #expect(try context.execute(request).result as? Int == 3)
    #expect(try context.execute(request).result as? Int == 0)
    let shop = try #require(try context.shop("A")?.objectID)
    #expect(heartwoodError { try context.execute(BatchDeleteRequest(objectIDs: ids + [shop])) } != nil)
    let unsaved = Ware(context: context).objectID
    #expect(heartwoodError { try context.execute(BatchDeleteRequest(objectIDs: [unsaved])) } != nil)
    #expect(try context.execute(BatchDeleteRequest(objectIDs: [])).result as? Bool == true)
  }

  // BAT-07, REL-15
  @Test func `the rules nullify and cascade are applied in the store`() throws {
    try context.insertBatch(Keeper.self, [["name": "Ada", "shop": "A"]])
    let result = try delete(FetchRequest<Shop>(where: { $0.code == "A" }))
    #expect(result.count == 7)
    #expect(try context.count(for: FetchRequest<Keeper>()) == 0)
    let wares = try context.fetch(Ware.self, sort: [.ascending(\.number)])
    #expect(wares.map(\.number) == Array(6...20))
    #expect(wares.filter { $0.shelf == nil }.map(\.number) == [6, 8, 10, 12, 14, 16, 18, 20])
    #expect(try context.shop("B")?.shelf.map(\.number) == [7, 9, 11, 13, 15, 17, 19])
    #expect(try context.fetch(Tag.self).first { $0.word == "red" }?.wares.count == 15)
    #expect(result.changes.deletedObjectIDs.count == 7)
    #expect(result.changes.updatedObjectIDs.count == 10)
    try expectSound(container)
  }

  // BAT-07
  @Test func `the rule deny fails the request, unless the destinations are deleted too`() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.insertBatch(Ware.self, [["number": 2, "whole": 1], ["number": 3, "whole": 1]])
    let error = heartwoodError { _ = try delete(FetchRequest<Ware>(where: { $0.number <= 2 })) }
    #expect(error?.code == .validationRelationshipDeniedDelete && error?.property == "parts")
    #expect(try context.count(for: FetchRequest<Ware>()) == 20)
    #expect(try delete(FetchRequest<Ware>(where: { $0.number <= 3 })).count == 3)
    try expectSound(container)
  }

  @Test func `everything of an entity is deleted, large data and links too`() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.insertBatch(
      Ware.self, (1...20).map { ["number": $0, "image": Data(count: 50_000), "tags": ["old"]] })
    #expect(try delete(FetchRequest<Ware>()).count == 20)
    #expect(try context.fetch(Tag.self).allSatisfy { $0.wares.isEmpty })
    try expectSound(container)
  }
}
