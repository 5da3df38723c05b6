import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

/// Fetches of rows as values, held against the same computed in Swift.
@Suite struct RowFetchTests {
  let context: ManagedObjectContext
  let books: [Book]
  let authors: [Author]

  init() throws {
    let context = try makeLibrary().viewContext
    self.context = context
    var random = SplitMix64(seed: 5)
    let authors = (0..<5).map { context.makeAuthor("Name \($0)", $0 % 2 == 0 ? "Country \($0)" : nil) }
    let subjects = (0..<6).map { context.makeSubject("Name \($0)") }
    for number in 0..<30 {
      let book = context.makeBook(
        "\(number)", "Name \(random.below(8))", year: Int64(random.below(5)), pages: Int64(random.below(9)),
        by: authors[random.below(5)])
      book.subjects = Set(subjects.filter { _ in random.below(2) == 0 })
      if number == 20 { try context.save() }
    }
    self.authors = authors
    books = try context.fetch(Book.self)
  }

  private var titles: RowFetch<(String?, Int64?)> { RowFetch(Book.self, columns: { ($0.title, $0.pages) }) }
  private var names: RowFetch<(String?, Int64?)> {
    RowFetch(Author.self, columns: { ($0.name, $0.books.sum { $0.pages }) }, where: { $0.country != nil })
  }

  private var titleRows: [Pair] { books.map { Pair($0.title, $0.pages) } }
  private var nameRows: [Pair] {
    authors.filter { $0.country != nil }.map { Pair($0.name, $0.books.reduce(0) { $0 + $1.pages }) }
  }

  @Test func `a fetch as a value has the rows of the same fetch`() throws {
    let rows = try context.fetchRows(titles)
    #expect(Set(rows.map(Pair.init)) == Set(titleRows) && rows.count == books.count)
    var first: [String?] = []
    try context.enumerateRows(titles.limited(to: 2, offset: 3)) { title, _ in
      first.append(title)
      return true
    }
    #expect(first == rows[3..<5].map(\.0))
    #expect(try context.fetchRows(titles.limited(to: 0)).isEmpty)
    #expect(throws: HeartwoodError.self) { try context.fetchRows(titles.limited(to: -1)) }
    #expect(throws: HeartwoodError.self) { try context.fetchRows(titles.sorted(by: .ascending(column: 2))) }
  }

  @Test func `a union has the rows of both fetches once, or all`() throws {
    let all = try context.fetchRows(titles.union(names, keepingDuplicates: true)).map(Pair.init)
    #expect(all.sorted() == (titleRows + nameRows).sorted())
    let once = try context.fetchRows(titles.union(names)).map(Pair.init)
    #expect(once.sorted() == Set(titleRows + nameRows).sorted())
    // Left to right, as in SQL.
    let three = try context.fetchRows(
      titles.union(titles, keepingDuplicates: true).union(names)
    ).map(Pair.init)
    #expect(three.sorted() == once.sorted())
    let doubled = try context.fetchRows(titles.union(names).union(names, keepingDuplicates: true)).map(
      Pair.init)
    #expect(doubled.sorted() == (once + nameRows).sorted())
  }

  @Test func `the rows of a union have an order and a window of their own`() throws {
    let fetch = titles.limited(to: 5).union(names).sorted(
      by: .descending(column: 1), .ascending(column: 0, .caseInsensitive))
    let own = try context.fetchRows(titles.limited(to: 5)).map(Pair.init)
    let expected = Set(own + nameRows).sorted { left, right in
      left.number != right.number ? left.number ?? -1 > right.number ?? -1 : left < right
    }
    #expect(try context.fetchRows(fetch).map(Pair.init) == expected)
    #expect(try context.fetchRows(fetch.limited(to: 3, offset: 2)).map(Pair.init) == Array(expected[2..<5]))
    // A window of a window, and an order of a window.
    let inner = fetch.limited(to: 4).limited(to: 2, offset: 1)
    #expect(try context.fetchRows(inner).map(Pair.init) == Array(expected[1..<3]))
    let again = fetch.limited(to: 4).sorted(by: .ascending(column: 0))
    #expect(
      try context.fetchRows(again).map(\.0) == expected[..<4].map(\.text).sorted { $0 ?? "" < $1 ?? "" })
  }

  @Test func `whole numbers and fractions of a column are equal in a union`() throws {
    let counts: RowFetch<Double?> = RowFetch(Book.self, columns: { $0.price }, where: { $0.isbn == "1" })
    let literal: RowFetch<Double?> = RowFetch(
      Book.self, columns: { $0.price.max() }, where: { $0.isbn == "2" })
    #expect(try context.fetchRows(counts.union(literal)) == [10])
  }

  @Test func `a fetch joins a relationship with itself`() throws {
    let rows = try context.fetchRows(
      Author.self, joining: { $0.books }, { author, _ in author.books },
      columns: { author, first, second in (author.name, first.isbn, second.isbn) },
      where: { author, first, second in
        first.isbn < second.isbn && first.pages == second.pages && author.country != nil
      })
    var expected: Set<[String?]> = []
    for author in authors where author.country != nil {
      for first in author.books {
        for second in author.books where first.isbn < second.isbn && first.pages == second.pages {
          expected.insert([author.name, first.isbn, second.isbn])
        }
      }
    }
    #expect(
      !expected.isEmpty && Set(rows.map { [$0.0, $0.1, $0.2] }) == expected && rows.count == expected.count)
  }

  @Test func `a fetch joins the destinations of destinations, and groups them`() throws {
    let rows = try context.fetchRows(
      Author.self, joining: { $0.books }, { _, book in book.subjects },
      columns: { author, book, subject in (author.name, subject.label, RowFunction.count(), book.pages.sum())
      },
      sort: { author, _, subject in [.ascending(author.name), .ascending(subject.label)] })
    var expected: [[String?]: (Int, Int64)] = [:]
    for book in books {
      for subject in book.subjects {
        let (count, pages) = expected[[book.author?.name, subject.label]] ?? (0, 0)
        expected[[book.author?.name, subject.label]] = (count + 1, pages + book.pages)
      }
    }
    #expect(rows.count == expected.count)
    for row in rows {
      #expect(row.2 == expected[[row.0, row.1]]?.0 && row.3 == expected[[row.0, row.1]]?.1)
    }
  }

  private func years() -> RowFetch<(Int64?, Int?)> {
    RowFetch(Book.self, columns: { ($0.year, RowFunction.count()) }, sort: { [.ascending($0.year)] })
  }

  @Test func `live rows are those of a fetch after each change of what it reads`() async throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    var live = context.liveRows(years()).makeAsyncIterator()
    #expect(try await live.next()?.isEmpty == true)
    await context.perform {
      for number in 0..<3 { context.makeBook("\(number)", "T", year: number == 2 ? 8 : 7) }
    }
    let second = try #require(try await live.next())
    #expect(second.map(\.0) == [7, 8] && second.map(\.1) == [2, 1])
    // A change that is not read, and one that leaves the rows as they are, is no element.
    try await context.perform {
      _ = context.makeAuthor("Ada")
      try context.save()
    }
    try await context.perform {
      try context.fetch(Book.self).first?.pages += 1
      try context.save()
    }
    try await context.perform {
      for book in try context.fetch(Book.self, where: { $0.isbn == "2" }) { context.delete(book) }
      try context.save()
    }
    let third = try #require(try await live.next())
    #expect(third.map(\.0) == [7] && third.map(\.1) == [2])
    await context.perform {
      context.makeBook("9", "T", year: 9)
      context.processPendingChanges()
      context.reset()
    }
    await context.perform { _ = context.makeBook("5", "T", year: 5) }
    while let rows = try await live.next() {
      if rows.map(\.0) == [5, 7] { break }
    }
  }

  @Test func `live rows of a container follow what others save, over relationships, too`() async throws {
    let container = try makeLibrary()
    let fetch = RowFetch(Book.self, columns: { ($0.author.name, RowFunction.count()) })
      .union(RowFetch(Subject.self, columns: { ($0.label, $0.books.count) }))
    var live = container.liveRows(fetch).makeAsyncIterator()
    #expect(try await live.next()?.isEmpty == true)
    let other = container.newBackgroundContext()
    try await other.perform {
      let book = other.makeBook("1", "T", by: other.makeAuthor("Ada"))
      book.subjects = [other.makeSubject("Trees")]
      try other.save()
    }
    let second = try #require(try await live.next())
    #expect(second.map(\.0) == ["Ada", "Trees"] && second.map(\.1) == [1, 1])
    try await other.perform {
      for author in try other.fetch(Author.self) { author.name = "Ida" }
      try other.save()
    }
    let third = try #require(try await live.next())
    #expect(third.map(\.0) == ["Ida", "Trees"])
  }

  @Test func `live objects follow the value of another fetch in their condition`() throws {
    let request = FetchRequest<Book>(
      where: { $0.pages > RowFunction.value(of: Book.self) { $0.pages.average() } },
      sort: [.ascending(\.isbn)])
    let live = try LiveObjects(request, in: context)
    func expected() -> [Book] {
      let average = Double(books.map(\.pages).reduce(0, +)) / Double(books.count)
      return books.filter { Double($0.pages) > average }.sorted { $0.isbn < $1.isbn }
    }
    #expect(live.objects == expected())
    books[0].pages = 1000
    context.processPendingChanges()
    #expect(live.objects == expected() && live.objects == [books[0]])
  }

  @Test func `live rows of a fetch that does not fit the model throw`() async throws {
    let fetch = RowFetch(Person.self, columns: { $0.name })
    var live = try makeLibrary().liveRows(fetch).makeAsyncIterator()
    await #expect(throws: HeartwoodError.self) { try await live.next() }
  }

  @Test func `a request takes its order and window in its initialiser`() throws {
    let request = FetchRequest<Book>(
      where: { $0.pages > 2 }, sort: [.ascending(\.isbn)], limit: 4, offset: 2)
    let expected = books.filter { $0.pages > 2 }.sorted { $0.isbn < $1.isbn }
    #expect(try context.fetch(request) == Array(expected[2..<6]))
    let all = FetchRequest<Book>(sort: [.descending(\.isbn)], limit: 1)
    #expect(try context.fetch(all) == [books.max { $0.isbn < $1.isbn }])
  }
}

private struct Pair: Hashable, Comparable {
  var text: String?
  var number: Int64?

  init(_ text: String?, _ number: Int64?) { (self.text, self.number) = (text, number) }
  init(_ row: (String?, Int64?)) { self.init(row.0, row.1) }

  static func < (left: Pair, right: Pair) -> Bool {
    (left.text ?? "", left.number ?? -1) < (right.text ?? "", right.number ?? -1)
  }
}
