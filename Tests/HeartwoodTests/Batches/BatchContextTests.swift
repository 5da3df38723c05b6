import Foundation
import GraphTestSupport
import Heartwood
import Synchronization
import TestSupport
import Testing

/// The effects of batches that contexts, histories and other users of the store see.
@Suite struct `Batches and contexts` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try batchContainer()
    context = container.newBackgroundContext()
    try context.insertBatch(Shop.self, [["code": "A"]])
    try context.insertBatch(Ware.self, (1...5).map { ["number": $0, "shop": "A"] })
  }

  private func update(_ name: String, where format: String) throws -> BatchUpdateRequest {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.predicate = try FormatPredicate(format)
    request.propertiesToUpdate = ["name": name]
    request.resultType = .objectIDs
    return request
  }

  private func delete(where format: String) throws -> BatchDeleteRequest {
    let fetch = FetchRequest<Ware>()
    fetch.predicate = try FormatPredicate(format)
    let request = BatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .objectIDs
    return request
  }

  // BAT-12, BAT-16, T64
  @Test func `each batch is one transaction with the context's author and name, and tombstones`() throws {
    context.transactionAuthor = "Ada"
    context.name = "import"
    let before = container.currentHistoryToken
    try context.insertBatch(Ware.self, [["number": 6], ["number": 7]])
    try context.execute(update("x", where: "number > 5"))
    try context.execute(delete(where: "number > 4"))
    let history = try container.history(after: before)
    #expect(
      history.map { $0.changes?.map(\.changeType) } == [
        [.insert, .insert], [.update, .update], [.delete, .delete, .delete, .update],
      ])
    #expect(history.allSatisfy { $0.author == "Ada" && $0.contextName == "import" })
    #expect(history[1].changes?.first?.updatedProperties?.map(\.name) == ["name"])
    #expect(history[2].changes?.last?.updatedProperties?.map(\.name) == ["wares"])
    let tombstones = history[2].changes?.compactMap(\.tombstone) ?? []
    #expect(tombstones.map { $0["number"] as? Int64 } == [5, 6, 7])
    #expect(tombstones.allSatisfy { $0["name"] == nil })
  }

  // BAT-10
  @Test func `registered objects keep their values until the result is merged`() throws {
    let wares = try context.fetch(Ware.self, sort: [.ascending(\.number)])
    #expect(wares[0].name == "nameless" && wares[4].name == "nameless")
    let updated = try context.execute(update("x", where: "number == 1"))
    let deleted = try context.execute(delete(where: "number == 5"))
    #expect(wares[0].name == "nameless" && !wares[4].isDeleted)
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: ["updated_objectIDs": updated.objectIDs], into: [context])
    context.merge(updated.changes)
    context.merge(deleted.changes)
    #expect(wares[0].name == "x")
    #expect(wares[4].isDeleted)
  }

  @Test func `chosen contexts have the changes when the call returns`() throws {
    let other = container.newBackgroundContext()
    let shop = try #require(try other.shop("A"))
    let wares = try other.fetch(Ware.self, sort: [.ascending(\.number)])
    wares[1].stock = 9
    #expect(wares[1].name == "nameless" && shop.wares.count == 5)
    try context.execute(update("x", where: "number == 2"), mergingInto: [other, context])
    #expect(wares[1].name == "x" && wares[1].stock == 9)
    try context.execute(delete(where: "number == 3"), mergingInto: [other])
    #expect(shop.wares.count == 4 && wares[2].isDeleted)
    try context.execute(
      BatchInsertRequest(Ware.self, objects: [["number": 8, "shop": "A"]]), mergingInto: [other])
    #expect(shop.wares.count == 5)
    try other.save()
    #expect(try context.ware(2)?.stock == 9)
  }

  // BAT-14
  @Test func `a save of an object that a batch has changed or deleted meets a conflict`() throws {
    let other = container.newBackgroundContext()
    let wares = try other.fetch(Ware.self, sort: [.ascending(\.number)])
    for ware in wares { ware.stock = 1 }
    try context.execute(update("x", where: "number <= 2"))
    try context.execute(delete(where: "number == 3"))
    let error = heartwoodError { try other.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(Set(error?.objectIDs ?? []) == Set(wares.prefix(3).map(\.objectID)))
    other.mergePolicy = .mergeByPropertyObjectTrump
    try other.save()
    context.reset()
    #expect(try context.ware(1)?.name == "x" && context.ware(1)?.stock == 1)
    try expectSound(container)
  }

  // BAT-13, T70
  @Test func `a pinned context stays at its generation`() throws {
    try context.setQueryGenerationFrom(.current)
    #expect(try context.count(for: FetchRequest<Ware>()) == 5)
    try context.execute(update("x", where: "number == 1"))
    try context.execute(delete(where: "number == 2"))
    try context.insertBatch(Ware.self, [["number": 9]])
    #expect(try context.count(for: FetchRequest<Ware>()) == 5)
    #expect(try context.ware(1)?.name == "nameless")
    try context.setQueryGenerationFrom(nil)
    #expect(try context.count(for: FetchRequest<Ware>(where: { $0.name == "x" })) == 1)
  }

  // BAT-04, BAT-11, T72
  @Test func `no life-cycle methods are called, and no context posts a save`() throws {
    let posted = Mutexed(0)
    let observers = [
      Notification.Name.managedObjectContextWillSave, .managedObjectContextDidSave,
      .managedObjectContextDidSaveObjectIDs, .managedObjectContextObjectsDidChange,
    ].map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
        posted.value.withLock { $0 += 1 }
      }
    }
    defer { observers.forEach(NotificationCenter.default.removeObserver) }
    try context.insertBatch(Witness.self, [["note": "a"], ["note": "b"]])
    let request = BatchUpdateRequest(Witness.self)
    request.propertiesToUpdate = ["note": "c"]
    try context.execute(request)
    try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Witness>()))
    #expect(Witness.calls.withLock { $0 } == 0)
    #expect(posted.value.withLock { $0 } == 0)
  }

  // BAT-11
  @Test func `a remote change is posted for a batch`() async throws {
    let container = PersistentContainer(
      name: "Shops", managedObjectModel: try ManagedObjectModel(types: batchTypes))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.postsRemoteChangeNotifications = true
    container.persistentStoreDescriptions = [description]
    try await container.loadPersistentStores()
    let (changes, news) = AsyncStream.makeStream(of: Void.self)
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
    ) { _ in news.yield() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let context = container.newBackgroundContext()
    try await context.perform { _ = try context.insertBatch(Shop.self, [["code": "A"]]) }
    for await _ in changes { break }
    #expect(try container.history().count == 1)
  }

  // BAT-02
  @Test func `a request runs in the stores that it names, and not in one that is read-only`() throws {
    let other = try batchContainer()
    let request = try update("x", where: "number == 1")
    request.affectedStores = other.persistentStoreCoordinator.persistentStores
    #expect(heartwoodError { try context.execute(request) }?.code == .persistentStoreUnsupportedRequestType)
    request.affectedStores = container.persistentStoreCoordinator.persistentStores
    #expect(request.requestType.rawValue == 6)
    #expect(try context.execute(request).count == 1)
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "shops.heartwood")
    try batchContainer(at: url).close()
    let description = PersistentStoreDescription(url: url)
    description.isReadOnly = true
    let reading = PersistentContainer(
      name: "Shops", managedObjectModel: try ManagedObjectModel(types: batchTypes))
    try reading.persistentStoreCoordinator.addPersistentStore(with: description)
    let error = heartwoodError { try reading.newBackgroundContext().insertBatch(Shop.self, [["code": "A"]]) }
    #expect(error?.code == .persistentStoreSave)
    #expect(heartwoodError { try ManagedObjectContext(.privateQueue).insertBatch(Shop.self, []) } != nil)
    try reading.close()
  }

  // BAT-16
  @Test func `another coordinator sees a batch as a whole or not at all`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "shops.heartwood")
    let (writing, reading) = (try batchContainer(at: url), try batchContainer(at: url))
    let reader = reading.newBackgroundContext()
    var number = 0
    let request = BatchInsertRequest(entityName: "Ware") { (row: inout [String: Any]) -> Bool in
      if number % 1000 == 0 { #expect((try? reader.count(for: FetchRequest<Ware>())) == 0) }
      number += 1
      row["number"] = number
      return number > 3000
    }
    try writing.newBackgroundContext().execute(request)
    #expect(try reader.count(for: FetchRequest<Ware>()) == 3000)
    try reading.close()
    try writing.close()
  }

  @Test func `rows of an asynchronous sequence are one transaction`() async throws {
    struct Row: Encodable, Sendable {
      var number: Int
      var shop = "A"
    }
    let rows = AsyncStream<Row> { continuation in
      for number in 10..<1010 { continuation.yield(Row(number: number)) }
      continuation.finish()
    }
    let before = container.currentHistoryToken
    let result = try await context.executeBatchInsert(of: rows, entityName: "Ware", resultType: .count)
    #expect(result.count == 1000)
    #expect(try container.history(after: before).count == 1)
    let count = try await context.perform { [context] in try context.shop("A")?.wares.count }
    #expect(count == 1005)
  }

  // PSC-15
  @Test func `a coordinator executes batches with a context of its own`() throws {
    let coordinator = container.persistentStoreCoordinator
    #expect(try coordinator.execute(update("x", where: "number == 1"), with: context).count == 1)
    #expect(try coordinator.execute(delete(where: "number == 1"), with: context).count == 1)
    let insert = BatchInsertRequest(Ware.self, objects: [["number": 1]])
    #expect(try coordinator.execute(insert, with: context).result as? Bool == true)
    let foreign = try batchContainer().newBackgroundContext()
    #expect(heartwoodError { try coordinator.execute(insert, with: foreign) } != nil)
  }
}

private final class Mutexed<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
}
