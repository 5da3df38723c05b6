import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// The other examples of the article are those of other articles, too.
@Suite struct `Examples of the article on following a store` {
  @Test func `a program goes from one position of the history to the next`() async throws {
    func changes(
      in container: PersistentContainer, after token: inout PersistentHistoryToken?
    ) throws -> [ManagedObjectID] {
      let transactions = try container.history(after: token)
      token = transactions.last?.token ?? token
      return transactions.filter { $0.author != "uploader" }.flatMap { $0.changes ?? [] }
        .map(\.changedObjectID)
    }
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    let ada = context.makeAuthor("Ada")
    try context.save()
    var position: PersistentHistoryToken?
    #expect(try changes(in: container, after: &position) == [ada.objectID])
    #expect(try changes(in: container, after: &position) == [])
    context.transactionAuthor = "uploader"
    ada.country = "GB"
    try context.save()
    #expect(try changes(in: container, after: &position) == [])
    let token = try #require(position)
    _ = try context.execute(.deleteHistory(before: token))
    #expect(try changes(in: container, after: &position) == [])
  }

  @Test func `a consumer counts what is inserted, and its position is in the store`() async throws {
    final class Tally: ManagedObject {
      @Attribute var insertions: Int64 = 0
    }
    final class Note: ManagedObject {
      @Attribute var text = ""
    }
    let folder = try TemporaryFolder()
    let url = folder.store
    let description = PersistentStoreDescription(url: url)
    description.historyRetention = HistoryRetention(age: 7 * 86_400)
    let container = PersistentContainer(
      name: "Notes", managedObjectModel: try ManagedObjectModel(types: [Tally.self, Note.self]))
    container.persistentStoreDescriptions = [description]
    try await container.loadPersistentStores()
    let context = container.newBackgroundContext()
    for _ in 0..<3 { _ = Note(context: context) }
    try context.save()

    let counter = try container.historyConsumer("counter", startingAt: .oldest)
    try counter.consume { context, batch in
      let known = try context.fetch(Tally.self, limit: 1).first
      let tally = known ?? Tally(context: context)
      tally.insertions += Int64(batch.changes.count { $0.changeType == .insert })
    }
    #expect(try context.fetch(Tally.self).map(\.insertions) == [3])

    _ = Note(context: context)
    try context.save()
    do {
      let batch = try counter.nextBatch(limit: 100)
      try context.complete(batch)
      try context.save()
      #expect(batch.changes.count == 1)
    }
    _ = Note(context: context)
    try context.save()
    for try await batch in counter.batches() {
      print(batch.transactions.count)
      #expect(batch.transactions.count == 1)
      break
    }
    try container.close()
  }

  @Test func `merges are a sequence`() async throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    await context.perform { context.automaticallyMergesChangesFromParent = true }
    let merges = context.merges
    let other = container.newBackgroundContext()
    try await other.perform {
      _ = other.makeAuthor("Ada")
      try other.save()
    }
    for await change in merges {
      print(change.insertedObjectIDs.count, change.updatedObjectIDs.count)
      #expect(change.insertedObjectIDs.count == 1)
      break
    }
  }
}
