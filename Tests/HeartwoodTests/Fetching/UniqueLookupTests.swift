import GraphTestSupport
import Heartwood
import Testing

/// Looks objects up by a unique attribute, which needs no plan.
@Suite struct `Unique look-ups` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
  }

  private func titles(_ isbn: String, limit: Int? = 1) throws -> [String] {
    try context.fetch(Book.self, where: { $0.isbn == isbn }, limit: limit).map(\.title)
  }

  @Test func `long values that begin alike find their own objects`() throws {
    let beginning = String(repeating: "x", count: 300)
    for end in ["a", "b", "c"] { context.makeBook(beginning + end, end) }
    try context.save()
    #expect(try titles(beginning + "b") == ["b"])
    #expect(try titles(beginning + "c", limit: nil) == ["c"])
    #expect(try titles(beginning) == [])
    #expect(try titles(beginning + "d") == [])
  }

  @Test func `an object of another entity is not found`() throws {
    context.makeBook("1", "a book")
    let comic = Comic(context: context)
    comic.isbn = "2"
    try context.save()
    #expect(try context.fetch(Comic.self, where: { $0.isbn == "1" }).isEmpty)
    #expect(try context.fetch(Comic.self, where: { $0.isbn == "2" }).count == 1)
    #expect(try context.fetch(Book.self, where: { $0.isbn == "2" }).first is Comic)
    let request = FetchRequest<Book>(where: { $0.isbn == "2" })
    request.includesSubentities = false
    #expect(try context.fetch(request).isEmpty)
  }

  @Test func `unsaved changes are seen, or left out if the request says so`() throws {
    let book = context.makeBook("1", "saved")
    try context.save()
    book.isbn = "2"
    #expect(try titles("2") == ["saved"])
    #expect(try titles("1") == [])
    let request = FetchRequest<Book>(where: { $0.isbn == "1" })
    request.includesPendingChanges = false
    #expect(try context.fetch(request).count == 1)
  }

  @Test func `a child finds what its parent has not saved`() throws {
    context.makeBook("1", "unsaved")
    let child = ManagedObjectContext(.privateQueue, parent: context)
    #expect(try child.performAndWait { try child.fetch(Book.self, where: { $0.isbn == "1" }).count } == 1)
  }

  @Test func `canonically equivalent texts are the same`() throws {
    context.makeBook("caf\u{E9}", "composed")
    try context.save()
    #expect(try titles("cafe\u{301}") == ["composed"])
  }
}
