import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Fetches in batches` {
  private struct World {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let view: CountingView

    /// Books with titles in the reverse order of their keys.
    init(_ count: Int = 100) throws {
      container = try makeLibrary()
      let writer = container.newBackgroundContext()
      for number in 0..<count {
        writer.makeBook(
          "\(number)", "t\(String(format: "%04d", count - number))", pages: Int64(number),
          by: number < 10 ? nil : writer.makeAuthor("\(number)"))
      }
      try writer.save()
      context = container.newBackgroundContext()
      view = try CountingView.pin(context)
    }

    func request(_ size: Int) -> FetchRequest<Book> {
      let request = FetchRequest<Book>()
      request.fetchBatchSize = size
      return request
    }
  }

  // FET-18
  @Test func `a batch size gives faults without rows, and the first use of one loads its batch`() throws {
    let world = try World()
    let books = try world.context.fetch(world.request(20))
    #expect(books.count == 100 && books.allSatisfy { $0.isFault && !$0.hasRow })
    let reads = world.view.all
    #expect(books[25].pages == 25)
    #expect(books.indices.filter { books[$0].hasRow } == Array(20..<40))
    #expect(books.filter { !$0.isFault }.count == 1)
    #expect(books[20..<40].map(\.pages) == Array(20..<40))
    #expect(world.view.all - reads == 2, "the fault's own row, and one pass for the batch")
    #expect(books.map(\.pages) == Array(0..<100))
    #expect(world.view.all - reads == 10)
    #expect(!world.context.hasChanges)
  }

  // FET-18
  @Test func `batches follow the order of the result, not that of the keys`() throws {
    let world = try World()
    let request = world.request(10)
    request.sortDescriptors = [Sort<Book>.ascending(\.title)]
    request.predicate = Where<Book> { $0.pages % 2 == 0 }
    let books = try world.context.fetch(request)
    #expect(books.count == 50)
    #expect(books[0].pages == 98)
    #expect(books.indices.filter { books[$0].hasRow } == Array(0..<10))
    #expect(books.map(\.pages) == stride(from: 98, through: 0, by: -2).map { Int64($0) })
  }

  // FET-18, FET-12
  @Test func `unsaved changes are in their places in batches, also in those of a child`() throws {
    let world = try World(30)
    world.context.view.pinned = nil
    let changed = try #require(try world.context.fetch(Book.self, where: { $0.pages == 3 }).first)
    changed.pages = 1000
    world.context.makeBook("new", "z", pages: 31)
    world.context.delete(try #require(try world.context.fetch(Book.self, where: { $0.pages == 5 }).first))
    let child = ManagedObjectContext(.privateQueue, parent: world.context)
    let local = try #require(try child.fetch(Book.self, where: { $0.pages == 7 }).first)
    local.pages = 2000
    let request = world.request(4)
    request.sortDescriptors = [Sort<Book>.ascending(\.pages)]
    let expected = (0..<30).filter { ![3, 5].contains($0) } + [31, 1000]
    #expect(try world.context.fetch(request).map(\.pages) == expected.map { Int64($0) })
    let childs = expected.filter { $0 != 7 } + [2000]
    #expect(try child.fetch(request).map(\.pages) == childs.map { Int64($0) })
  }

  // FET-18
  @Test func `a row of a batch that was changed or deleted meanwhile shows what is newest`() throws {
    let world = try World(20)
    world.context.view.pinned = nil
    let books = try world.context.fetch(world.request(10))
    #expect(books[0].pages == 0 && books[1].hasRow)
    let other = world.container.newBackgroundContext()
    other.object(with: books[1].objectID, as: Book.self).pages = 500
    other.object(with: books[15].objectID, as: Book.self).pages = 600
    other.delete(other.object(with: books[16].objectID))
    try other.save()
    #expect(books[1].pages == 500 && books[14].pages == 14 && books[15].pages == 600)
    #expect(books[16].pages == 0 && books[16].isDeleted)
  }

  // FET-18
  @Test func `a result in batches makes objects as they are met, and keeps two batches`() throws {
    let world = try World(1000)
    let request = world.request(50)
    request.sortDescriptors = [Sort<Book>.ascending(\.title)]
    request.relationshipKeyPathsForPrefetching = ["author"]
    let books = try world.context.fetchInBatches(request)
    #expect(books.count == 1000 && world.context.registeredObjects.count <= 1)
    #expect(books[120].pages == 879)
    #expect(world.context.registeredObjects.filter { $0 is Book }.count <= 51)
    let reads = world.view.all
    #expect(books[100..<150].map(\.pages) == (850..<900).reversed().map { Int64($0) })
    #expect(books[149].author?.name == "850")
    #expect(world.view.all == reads)
    #expect(books.map(\.pages) == (0..<1000).reversed().map { Int64($0) })
    world.context.sweep()
    #expect(world.context.registeredObjects.count <= 200)
    #expect(books.objectIDs == (try world.context.fetchIdentifiers(request)))
  }

  // FET-18, FET-12
  @Test func `a result in batches has unsaved objects, and those that are saved or deleted meanwhile`() throws
  {
    let world = try World(10)
    world.context.view.pinned = nil
    let added = world.context.makeBook("new", "n", pages: 50)
    let request = world.request(4)
    request.sortDescriptors = [Sort<Book>.ascending(\.pages)]
    let books = try world.context.fetchInBatches(request)
    #expect(books.last === added && books.count == 11)
    try world.context.save()
    #expect(books.last === added && !books.objectIDs[10].isTemporaryID)
    let other = world.container.newBackgroundContext()
    other.delete(other.object(with: books.objectIDs[5]))
    try other.save()
    #expect(books.map(\.pages) == [0, 1, 2, 3, 4, 0, 6, 7, 8, 9, 50] && books[5].isDeleted)
    #expect(try world.context.fetchInBatches(FetchRequest<Comic>()).isEmpty)
    let wrong = FetchRequest<Author>(entityName: "Book")
    #expect(
      heartwoodError { _ = try world.context.fetchInBatches(wrong) }?.message.contains("not Author") == true)
  }

  // FET-11, FET-18
  @Test func `objects that are wanted realised are realised batch by batch`() throws {
    let world = try World(20)
    let request = world.request(5)
    request.returnsObjectsAsFaults = false
    let books = try world.context.fetch(request)
    #expect(books[7].pages == 7)
    #expect(books.indices.filter { !books[$0].isFault } == Array(5..<10))
  }

  // FET-10
  @Test func `without property values a fetch reads no row that only objects need`() throws {
    let world = try World(40)
    let request = FetchRequest<Author>()
    request.includesPropertyValues = false
    let authors = try world.context.fetch(request)
    #expect(authors.count == 30 && authors.allSatisfy { !$0.hasRow })
    #expect(world.view.rows == 0)
    #expect(authors.map(\.name) == (10..<40).map(String.init))
  }

  // FRC-18
  @Test func `a controller with a batch size loads rows when objects are read`() throws {
    let world = try World(60)
    let request = world.request(10)
    request.sortDescriptors = [Sort<Book>.ascending(\.pages)]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: world.context)
    try controller.performFetch()
    let books = try #require(controller.fetchedObjects)
    #expect(books.count == 60 && books.allSatisfy { !$0.hasRow })
    #expect(books[35].pages == 35)
    #expect(books.indices.filter { books[$0].hasRow } == Array(30..<40))
  }

  @Test func `batches of results that were released are forgotten`() throws {
    let world = try World(2000)
    for _ in 0..<3 { _ = try world.context.fetch(world.request(10)) }
    world.context.sweep()
    #expect(world.context.fetchBatches.isEmpty)
  }

  // FET-43
  @Test(arguments: [UInt64(1), 2, 3])
  func `batches show what a fetch without them shows`(seed: UInt64) throws {
    var random = Randomness(seed: seed)
    let container = try makeLibrary()
    let writer = container.newBackgroundContext()
    let parent = container.newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: parent)
    for round in 0..<12 {
      for number in 0..<random.below(40) {
        let isbn = "\(round)-\(number)"
        writer.makeBook(isbn, "t\(number % 7)", pages: Int64(random.below(50)))
      }
      for book in try writer.fetch(Book.self) where random.chance(9) {
        if random.chance(2) { writer.delete(book) } else { book.pages += 1 }
      }
      try writer.save()
      for context in [parent, child] {
        context.refreshAllObjects()
        for book in try context.fetch(Book.self) where random.chance(9) {
          if random.chance(3) { context.delete(book) } else { book.pages += 100 }
        }
        context.makeBook("\(round) \(context === child)", "t3", pages: Int64(random.below(50)))
        let request = FetchRequest<Book>()
        request.sortDescriptors = [Sort<Book>.ascending(\.title), Sort<Book>.descending(\.isbn)]
        request.fetchOffset = random.below(5)
        request.fetchLimit = random.below(60)
        let plain = try context.fetch(request).map { [$0.isbn, "\($0.pages)"] }
        request.fetchBatchSize = 1 + random.below(19)
        #expect(try context.fetch(request).map { [$0.isbn, "\($0.pages)"] } == plain)
      }
      child.rollback()
      parent.rollback()
    }
  }
}
