import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

/// Aggregates over the relationships of an object that many fetched objects lead to.
@Suite struct SharedAggregateTests {
  let context: ManagedObjectContext

  init() throws {
    context = try makeLibrary().viewContext
    let authors = ["Ada", "Bo"].map { context.makeAuthor($0) }
    for number in 0..<40 {
      context.makeBook(
        "\(number)", "T", year: Int64(2000 + number % 3), pages: Int64(number * 7 % 40),
        by: authors[number % 2])
    }
    try context.save()
  }

  /// The books with more pages than their author's average, by a loop.
  private func longBooks() throws -> Set<Book> {
    let books = try context.fetch(Book.self)
    return Set(
      books.filter { book in
        let pages = (book.author?.books ?? []).map { Double($0.pages) }
        return Double(book.pages) > pages.reduce(0, +) / Double(pages.count)
      })
  }

  private func fetchedLongBooks() throws -> Set<Book> {
    Set(try context.fetch(Book.self, where: { $0.pages > $0.author.books.average { $0.pages } }))
  }

  @Test func `each fetch sees the changes since the last one, saved or not`() throws {
    #expect(try fetchedLongBooks() == longBooks())
    for book in try context.fetch(Book.self, where: { $0.year == 2000 }) { book.pages += 100 }
    #expect(try fetchedLongBooks() == longBooks())
    try context.save()
    #expect(try fetchedLongBooks() == longBooks())
  }

  @Test func `conditions inside that depend on the fetched object are evaluated for each`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: { book in
        (book.isbn, book.author.books.count(where: { $0.year == book.year && $0.pages > book.pages }))
      })
    let books = try context.fetch(Book.self)
    for (isbn, longer) in rows {
      let book = try #require(books.first { $0.isbn == isbn })
      let others = (book.author?.books ?? []).filter { $0.year == book.year && $0.pages > book.pages }
      #expect(longer == others.count)
    }
    #expect(Set(rows.map(\.1)).count > 2)
  }
}
