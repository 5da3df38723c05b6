import Foundation
import GraphTestSupport
import Heartwood
import Synchronization
import Testing

@Suite struct `The log of fetches` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let told = Told()

  private final class Told: Sendable {
    private let fetches = Mutex<[ExecutedFetch]>([])

    func add(_ fetch: ExecutedFetch) { fetches.withLock { $0.append(fetch) } }

    func take() -> [ExecutedFetch] {
      fetches.withLock { fetches in
        defer { fetches = [] }
        return fetches
      }
    }
  }

  init() throws {
    let model = try ManagedObjectModel(types: libraryTypes)
    container = PersistentContainer(name: "Library", managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.fetchLog = { [told] in told.add($0) }
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.newBackgroundContext()
    let author = context.makeAuthor("Ada")
    for number in 0..<2000 {
      context.makeBook(
        "\(number)", "t\(number % 10)", year: Int64(1900 + number % 100), pages: Int64(number), by: author)
    }
    try context.save()
    _ = told.take()
  }

  private func expect(_ kind: ExecutedFetch.Kind, read: Int, returned: Int, _ text: String) throws {
    let fetches = told.take()
    try #require(fetches.count == 1, "\(fetches)")
    let fetch = fetches[0]
    #expect(fetch.kind == kind && fetch.entityName == "Book" && fetch.duration > .zero, "\(fetch)")
    #expect(fetch.rowsRead == read && fetch.rowsReturned == returned, "\(fetch)")
    #expect("\(fetch)".hasPrefix("\(kind.rawValue) of Book: ") && "\(fetch)".contains(text), "\(fetch)")
  }

  // DBG-01
  @Test func `each fetch is told with its plan, its rows and its time, and nothing else is`() async throws {
    #expect(try context.fetch(Book.self, where: { $0.pages == 7 }).count == 1)
    try expect(.fetch, read: 2000, returned: 1, "advice: an index on Book.pages")
    #expect(
      try context.fetch(Book.self, where: { $0.year == 1950 }, sort: [.ascending(\.pages)], limit: 5).count
        == 5)
    try expect(
      .fetch, read: 20, returned: 5, "index: Book.year == 1950; sort: pages ascending, keeping the first 5")
    #expect(try context.fetch(Book.self, where: { $0.isbn == "17" }).count == 1)
    try expect(.fetch, read: 1, returned: 1, "unique look-up: Book.isbn")
    #expect(try context.count(Book.self, where: { $0.year == 1950 }) == 20)
    try expect(.count, read: 0, returned: 20, "count: from the tree")
    #expect(try context.count(Book.self, where: { $0.pages < 10 }) == 10)
    try expect(.count, read: 2000, returned: 10, "count: row by row")
    #expect(try context.fetchIdentifiers(Book.self, where: { $0.year == 1950 }).count == 20)
    #expect(told.take().map(\.rowsReturned) == [20])
    #expect(
      try context.fetchRows(Book.self, columns: { ($0.title, $0.pages.sum()) }, where: { $0.year == 1950 })
        .count == 1)
    try expect(.rows, read: 20, returned: 1, "group: by")
    let found = try await context.fetchAsynchronously(FetchRequest<Book>(where: { $0.pages < 3 }))
    #expect(found.count == 3)
    try expect(.fetch, read: 2000, returned: 3, "filter: pages < 3")
    let child = ManagedObjectContext(.privateQueue, parent: context)
    #expect(try await child.perform { try child.count(Book.self, where: { $0.pages < 10 }) } == 10)
    try expect(.count, read: 2000, returned: 10, "count: row by row")
    _ = try context.plan(for: Book.self, where: { $0.pages == 7 })
    _ = try context.analyze(FetchRequest<Book>(where: { $0.pages == 7 }))
    #expect(told.take().isEmpty)
  }

  @Test func `a store whose description has no log writes none`() throws {
    let other = try makeLibrary().newBackgroundContext()
    other.makeBook("1", "t")
    try other.save()
    #expect(try other.fetch(Book.self, where: { $0.pages == 100 }).count == 1)
    #expect(told.take().isEmpty)
  }

  @Test func `a fetch that fails is told with its error`() throws {
    struct Wrong: Decodable { let title: Int }
    #expect(throws: (any Error).self) {
      try context.fetchRows(
        Book.self, as: Wrong.self, columns: { ["title": $0.title] }, where: { $0.year == 1950 })
    }
    let fetch = try #require(told.take().first)
    #expect(fetch.failure != nil && fetch.rowsRead > 0, "\(fetch)")
    #expect("\(fetch)".contains("index: Book.year == 1950") && "\(fetch)".contains("; failed: "), "\(fetch)")
  }
}
