import Foundation
import GraphTestSupport
import Heartwood
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
