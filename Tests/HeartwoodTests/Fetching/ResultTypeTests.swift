import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Result types of fetch requests` {
  private func makeContext() throws -> ManagedObjectContext {
    let context = try makeLibrary().newBackgroundContext()
    for number in 0..<5 { context.makeBook("\(number)", "Title \(number)", pages: Int64(number)) }
    try context.save()
    return context
  }

  // FET-01, FET-08
  @Test func `a request of each type returns objects, identifiers, dictionaries or a number`() throws {
    let context = try makeContext()
    context.makeBook("5", "unsaved", pages: 5)
    func fill<Result>(_ request: FetchRequest<Result>) throws -> FetchRequest<Result> {
      request.predicate = try FormatPredicate("pages > 2")
      request.sortDescriptors = [NamedSort("pages", ascending: false)]
      request.propertiesToFetch = ["isbn"]
      return request
    }
    let objects = try context.fetch(fill(FetchRequest<Book>(entityName: "Book")))
    #expect(objects.map(\.isbn) == ["5", "4", "3"])
    let identifiers: [ManagedObjectID] = try context.fetch(fill(FetchRequest(entityName: "Book")))
    #expect(identifiers == objects.map(\.objectID))
    let dictionaries: [[String: Any]] = try context.fetch(fill(FetchRequest(entityName: "Book")))
    #expect(dictionaries.map { $0 as? [String: String] } == ["5", "4", "3"].map { ["isbn": $0] })
    let counts: [Int] = try context.fetch(fill(FetchRequest(entityName: "Book")))
    #expect(counts == [3])
    #expect(try context.count(for: fill(FetchRequest<ManagedObjectID>(entityName: "Book"))) == 3)
    let requests = (
      try fill(FetchRequest<ManagedObjectID>(entityName: "Book")),
      try fill(FetchRequest<[String: Any]>(entityName: "Book")),
      try fill(FetchRequest<Int>(entityName: "Book"))
    )
    let executed = try context.performAndWait {
      (try requests.0.execute(), try requests.1.execute(), try requests.2.execute())
    }
    #expect(executed.0 == identifiers && executed.1.count == 3 && executed.2 == [3])
    #expect([0, 1, 2, 4].map { FetchRequestResultType(rawValue: $0) }.allSatisfy { $0 != nil })
  }

  @Test func `a request deletes what it is about, whatever it would return`() throws {
    let context = try makeContext()
    let request = FetchRequest<ManagedObjectID>(entityName: "Book")
    request.predicate = try FormatPredicate("pages > 2")
    let removal = BatchDeleteRequest(fetchRequest: request)
    removal.resultType = .count
    #expect(try context.execute(removal).count == 2)
    #expect(try context.count(for: FetchRequest<Book>()) == 3)
  }

  @Test func `a result type that the request cannot return is refused, with the request that can`() throws {
    let context = try makeContext()
    let request = FetchRequest<Book>(entityName: "Book")
    request.resultType = .managedObjectIDResultType
    #expect(
      heartwoodMessage { _ = try context.fetch(request) }?.contains("FetchRequest<ManagedObjectID>") == true)
    request.sortDescriptors = [NamedSort("isbn")]
    for use: () throws -> Void in [
      { _ = try context.fetchInBatches(request) }, { try context.enumerate(request) { _ in } },
      { _ = try context.execute(AsynchronousFetchRequest(fetchRequest: request)) },
      { try FetchedResultsController(fetchRequest: request, managedObjectContext: context).performFetch() },
    ] { #expect(heartwoodMessage(use)?.contains("FetchRequest<ManagedObjectID>") == true) }
    request.resultType = .managedObjectResultType
    #expect(try context.fetch(request).count == 5)
    let identifiers = FetchRequest<ManagedObjectID>(entityName: "Book")
    identifiers.resultType = .dictionaryResultType
    #expect(
      heartwoodMessage { _ = try context.fetch(identifiers) }?.contains("FetchRequest<[String: Any]>") == true
    )
    #expect(identifiers.copy().resultType == .dictionaryResultType)
  }

  // FET-02
  @Test func `a request finds its entity by name when it is executed, and knows it afterwards`() throws {
    let context = try makeContext()
    let request = FetchRequest<ManagedObject>(entityName: "Book")
    #expect(request.entity == nil)
    #expect(try context.fetch(request).count == 5)
    #expect(request.entity?.name == "Book")
    #expect(request.copy().entity === request.entity)
    request.entityName = "Author"
    #expect(request.entity == nil)
    request.entity = Book.entity()
    #expect(request.entityName == "Book")
    #expect(try context.fetch(request).count == 5)
    #expect(try makeContext().fetch(request).count == 5)
    #expect(heartwoodMessage { _ = try context.fetch(FetchRequest<Int>()) }?.contains("entityName") == true)
    #expect(
      heartwoodMessage { _ = try context.fetch(FetchRequest<Int>(entityName: "Buch")) }?.contains("Buch")
        == true)
  }
}
