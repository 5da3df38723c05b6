import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Fetch requests` {
  // T49
  @Test func `subentities are included unless the request says otherwise`() throws {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "a")
    Comic(context: context).isbn = "2"
    try context.save()
    Comic(context: context).isbn = "3"
    let request = FetchRequest<Book>()
    #expect(try context.count(for: request) == 3)
    #expect(try context.fetch(request).filter { $0 is Comic }.count == 2)
    request.includesSubentities = false
    #expect(try context.fetch(request).map(\.isbn) == ["1"])
    #expect(try context.count(for: request) == 1)
    #expect(try context.fetch(Comic.self).count == 2)
    #expect(try context.fetchIdentifiers(Comic.self).allSatisfy { $0.entity.name == "Comic" })
  }

  @Test func `an object keeps its values unless the request refreshes it`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    let book = context.makeBook("1", "old", pages: 1)
    try context.save()
    let other = container.newBackgroundContext()
    let twin = try #require(try other.fetch(Book.self).first)
    #expect(twin.title == "old")
    book.title = "new"
    try context.save()
    #expect(try other.fetch(Book.self, where: { $0.title == "new" }).first === twin)
    #expect(twin.title == "old")
    let request = FetchRequest<Book>()
    request.shouldRefreshRefetchedObjects = true
    #expect(try other.fetch(request).first === twin)
    #expect(twin.title == "new")
  }

  @Test func `objects are realised where the request excludes faults`() throws {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    context.reset()
    let request = FetchRequest<Book>()
    request.returnsObjectsAsFaults = false
    #expect(try context.fetch(request).first?.isFault == false)
  }

  @Test func `batches are enumerated one after another and show one state`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    for number in 0..<25 { context.makeBook("\(number)", "t", pages: Int64(number)) }
    try context.save()
    let other = container.newBackgroundContext()
    var sizes: [Int] = []
    var isbns: [String] = []
    try other.enumerate(FetchRequest<Book>(), batchSize: 10) { batch in
      sizes.append(batch.count)
      isbns += batch.map(\.isbn)
      context.makeBook("later \(sizes.count)", "t")
      try context.save()
    }
    #expect(sizes == [10, 10, 5])
    #expect(isbns == (0..<25).map(String.init))
  }

  @Test func `an error in a batch ends the enumeration and is thrown`() throws {
    struct Stop: Error {}
    let context = try makeLibrary().newBackgroundContext()
    for number in 0..<5 { context.makeBook("\(number)", "t") }
    try context.save()
    var count = 0
    #expect(throws: Stop.self) {
      try context.enumerate(FetchRequest<Book>(), batchSize: 2) { _ in
        count += 1
        throw Stop()
      }
    }
    #expect(count == 1)
  }

  @Test func `a class outside the model is refused by name`() throws {
    final class Stranger: ManagedObject {}
    let context = try makeLibrary().newBackgroundContext()
    let error = #expect(throws: HeartwoodError.self) { try context.fetch(Stranger.self) }
    #expect(error?.message.contains("Stranger") == true)
    #expect(error?.message.contains("Book") == true)
  }

  @Test func `a fetch by a context without a store is an error`() {
    let context = ManagedObjectContext(.privateQueue)
    let error = #expect(throws: HeartwoodError.self) { try context.fetch(Book.self) }
    #expect(error?.code == .persistentStoreOperation)
  }

  @Test func `a limit of zero returns no objects`() throws {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "a")
    #expect(try context.fetch(Book.self, limit: 0) == [])
    #expect(try context.fetchIdentifiers(Book.self, limit: 0) == [])
  }

  @Test func `pinned contexts fetch and count their own generation`() throws {
    let container = try makeLibrary()
    let writer = container.newBackgroundContext()
    writer.makeBook("1", "a")
    try writer.save()
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(.current)
    #expect(try reader.count(Book.self) == 1)
    writer.makeBook("2", "b")
    try writer.save()
    #expect(try reader.count(Book.self) == 1)
    #expect(try reader.fetch(Book.self, where: { $0.title == "b" }).isEmpty)
    let token = try #require(reader.queryGenerationToken)
    let twin = container.newBackgroundContext()
    try twin.setQueryGenerationFrom(token)
    #expect(try twin.count(Book.self) == 1)
    try reader.setQueryGenerationFrom(nil)
    #expect(try reader.count(Book.self) == 2)
  }
}
