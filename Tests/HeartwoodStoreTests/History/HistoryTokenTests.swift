import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Tokens of histories and generations` {
  private func open(_ folder: URL) throws -> PersistentContainer {
    try PersistentContainer(name: "Companies", types: companyTypes, at: folder)
  }

  private func save(_ names: [String], _ container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    for name in names {
      _ = context.makePerson(name)
      try context.save()
    }
  }

  // HIS-15, HIS-08: a restored copy
  @Test func `a history token of a past that a restored copy does not have is refused`() throws {
    let folder = try TemporaryFolder()
    let copy = folder.url.appending(path: "Copy")
    let original = try open(folder.store)
    try save(["Ada"], original)
    try original.persistentStoreCoordinator.backup(to: copy)
    let common = try #require(original.currentHistoryToken)
    try save(["Bea"], original)
    let newer = try #require(original.currentHistoryToken)
    let listed = try #require(try original.history().last).token
    try original.close()

    let restored = try open(copy)
    try save(["Cleo", "Dora"], restored)
    #expect(try restored.history(after: common).count == 2)
    for token in [newer, listed] {
      let error = heartwoodError { _ = try restored.history(after: token) }
      #expect(error?.code == .persistentHistoryTokenExpired)
    }
    try restored.close()
  }

  // HIS-08
  @Test func `a history token of an earlier version can still be read`() throws {
    let container = try makeContainer()
    try save(["Ada"], container)
    let token = try #require(container.currentHistoryToken)
    let text = #"{"storeID": "\#(token.storeID)", "transactionNumber": \#(token.transactionNumber)}"#
    let old = try JSONDecoder().decode(PersistentHistoryToken.self, from: Data(text.utf8))
    #expect(old == token)
    try save(["Bea"], container)
    #expect(try container.history(after: old).count == 1)
    let copy = try JSONDecoder().decode(PersistentHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(try container.history(after: copy).count == 1)
  }

  // QGN-03, QGN-12: tokens name their store
  @Test func `a generation token of another store is refused, and the context stays as it was`() throws {
    let (one, other) = (try makeContainer(), try makeContainer())
    try save(["Ada"], one)
    try save(["Bea", "Cleo"], other)
    let token = try one.persistentStoreCoordinator.newestQueryGenerationToken()
    let context = other.newBackgroundContext()
    try context.setQueryGenerationFrom(.current)
    #expect(try context.count(Person.self) == 2)
    let error = heartwoodError { try context.setQueryGenerationFrom(token) }
    #expect(error?.code == .persistentStoreOperation)
    try save(["Dora"], other)
    #expect(try context.count(Person.self) == 2)
    #expect(
      context.queryGenerationToken?.storeID == other.persistentStoreCoordinator.persistentStores[0].identifier
    )
    let old = try JSONDecoder().decode(
      QueryGenerationToken.self, from: Data(#"{"generation": \#(token.generation ?? 0)}"#.utf8))
    try context.setQueryGenerationFrom(old)
    #expect(try context.count(Person.self) == 1)
  }

  // PSC-16
  @Test func `the current history token of no particular stores is that of all`() throws {
    let container = try makeContainer()
    let coordinator = container.persistentStoreCoordinator
    #expect(coordinator.currentPersistentHistoryToken(fromStores: []) == container.currentHistoryToken)
    #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == container.currentHistoryToken)
    let foreign = try makeContainer().persistentStoreCoordinator.persistentStores
    #expect(coordinator.currentPersistentHistoryToken(fromStores: foreign) == nil)
  }

  // HIS-03, HIS-05
  @Test func `a transaction names its program, and a change its transaction`() throws {
    let container = try makeContainer()
    try save(["Ada", "Bea"], container)
    let context = container.newBackgroundContext()
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.resultType = .changesOnly
    request.transactionPredicate = try FormatPredicate(
      "processID == %@", ProcessInfo.processInfo.processName)
    let changes = try context.execute(request).changes
    #expect(changes.count == 2)
    #expect(
      changes.map(\.transaction.transactionNumber) == (try container.history()).map(\.transactionNumber))
    #expect(changes.allSatisfy { $0.transaction.changes == nil })
    request.transactionPredicate = try FormatPredicate("processID == 'another'")
    #expect(try context.execute(request).changes.isEmpty)
  }

  // HIS-10
  @Test func `changes can be chosen by the property that they updated`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    person.age = 7
    try context.save()
    person.name = "Eve"
    try context.save()
    let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    request.changePredicate = try FormatPredicate("updatedPropertyNames CONTAINS ',age,'")
    #expect(try context.execute(request).transactions.count == 1)
  }
}
