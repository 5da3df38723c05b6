import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

/// Typed rows, held against the same computed in Swift from the objects.
@Suite struct TypedRowTests {
  let context: ManagedObjectContext
  let books: [Book]

  /// Random books of a few authors, some saved, some changed, deleted or inserted since.
  init() throws {
    let context = try makeLibrary().viewContext
    var random = SplitMix64(seed: 26)
    let authors = (0..<7).map { context.makeAuthor("Author \($0)", $0 % 3 == 0 ? nil : "Country \($0 % 3)") }
    let subjects = (0..<5).map { context.makeSubject("Subject \($0)") }
    func makeBooks(_ numbers: Range<Int>) {
      for number in numbers {
        let book = context.makeBook(
          "\(number)", "Title \(random.below(20))",
          year: random.below(5) == 0 ? nil : Int64(1990 + random.below(8)),
          pages: Int64(random.below(400)), price: Double(random.below(60)) / 4,
          by: random.below(9) == 0 ? nil : authors[random.below(7)])
        book.isLent = random.below(2) == 0
        book.subjects = Set(subjects.filter { _ in random.below(3) == 0 })
      }
    }
    makeBooks(0..<200)
    try context.save()
    for book in try context.fetch(Book.self) {
      switch random.below(6) {
      case 0: context.delete(book)
      case 1: book.pages += 1
      case 2: book.author = authors[random.below(7)]
      default: break
      }
    }
    makeBooks(200..<230)
    self.context = context
    books = try context.fetch(Book.self)
  }

  private func grouped<Key: Hashable>(_ key: (Book) -> Key) -> [Key: [Book]] {
    Dictionary(grouping: books, by: key)
  }

  @Test func `columns are attributes, expressions and objects, in the order of the fetch`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: { ($0.isbn, $0.author.name, $0.pages * 2, $0.isLent, $0.author, $0.subjects.count) },
      where: { $0.pages > 100 }, sort: { [.descending($0.pages), .ascending($0.isbn)] })
    let expected = books.filter { $0.pages > 100 }.sorted {
      $0.pages != $1.pages ? $0.pages > $1.pages : $0.isbn < $1.isbn
    }
    #expect(rows.map(\.0) == expected.map(\.isbn))
    #expect(rows.map(\.1) == expected.map { $0.author?.name })
    #expect(rows.map(\.2) == expected.map { $0.pages * 2 })
    #expect(rows.map(\.3) == expected.map(\.isLent))
    #expect(rows.map(\.4) == expected.map { $0.author?.objectID })
    #expect(rows.map(\.5) == expected.map(\.subjects.count))
  }

  @Test func `a condition is a Boolean column, and a key of groups`() throws {
    let rows = try context.fetchRows(
      Book.self, columns: { ($0.pages > 200 && $0.author != nil, RowFunction.count()) })
    for row in rows {
      #expect(row.1 == books.filter { ($0.pages > 200 && $0.author != nil) == row.0 }.count)
    }
    #expect(rows.count == 2)
  }

  @Test func `limit and offset apply to rows`() throws {
    let all = try context.fetchRows(Book.self, columns: { $0.isbn }, sort: { [.ascending($0.isbn)] })
    let some = try context.fetchRows(
      Book.self, columns: { $0.isbn }, sort: { [.ascending($0.isbn)] }, limit: 10, offset: 5)
    #expect(some == Array(all[5..<15]))
    let groups = try context.fetchRows(
      Book.self, columns: { ($0.year, RowFunction.count()) }, sort: { [.descending($0.year)] }, limit: 2,
      offset: 1)
    #expect(groups.map(\.0) == [1996, 1995])
    #expect(try context.fetchRows(Book.self, columns: { $0.isbn }, limit: 0).isEmpty)
  }

  @Test func `aggregates are those of each group`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.year, RowFunction.count(), $0.pages.sum(), $0.pages.average(), $0.price.min(), $0.price.max(),
          $0.author.name.count(distinct: true)
        )
      }, sort: { [.ascending($0.year)] })
    let expected = grouped(\.year)
    #expect(rows.count == expected.count)
    #expect(rows.map(\.0) == expected.keys.sorted { ($0 ?? 0) < ($1 ?? 0) })
    for row in rows {
      let group = expected[row.0] ?? []
      let sum = group.reduce(0) { $0 + $1.pages }
      #expect(row.1 == group.count)
      #expect(row.2 == sum)
      #expect(row.3 == Double(sum) / Double(group.count))
      #expect(row.4 == group.map(\.price).min())
      #expect(row.5 == group.map(\.price).max())
      #expect(row.6 == Set(group.compactMap { $0.author?.name }).count)
    }
  }

  @Test func `no percentile and no distance of rows is too large`() throws {
    let rows = try context.fetchRows(
      Book.self, columns: { ($0.price.percentile(.nan), $0.price.percentile(7)) })
    #expect(rows.map(\.0) == [nil] && rows[0].1 != nil)
    let far = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.isbn.lag(.min, orderedBy: .ascending($0.isbn)),
          $0.isbn.lead(.min, orderedBy: .ascending($0.isbn)),
          $0.isbn.lag(.max, orderedBy: .ascending($0.isbn))
        )
      })
    #expect(far.allSatisfy { $0.0 == nil && $0.1 == nil && $0.2 == nil })
  }

  @Test func `median, percentile, mode and standard deviation are those of each group`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.isLent, $0.pages.median(), $0.price.percentile(0.9), $0.pages.mode(),
          $0.pages.standardDeviation()
        )
      })
    #expect(rows.count == 2)
    for row in rows {
      let group = books.filter { $0.isLent == row.0 }
      let pages = group.map { Double($0.pages) }.sorted()
      #expect(row.1 == Self.percentile(pages, 0.5))
      #expect(abs((row.2 ?? 0) - Self.percentile(group.map(\.price).sorted(), 0.9)) < 1e-9)
      let counts = Dictionary(grouping: group, by: \.pages).mapValues(\.count)
      #expect(row.3 == counts.filter { $0.value == counts.values.max() }.keys.min())
      let mean = pages.reduce(0, +) / Double(pages.count)
      let variance = pages.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(pages.count)
      #expect(abs((row.4 ?? 0) - variance.squareRoot()) < 1e-9)
    }
  }

  private static func percentile(_ sorted: [Double], _ fraction: Double) -> Double {
    let place = Double(sorted.count - 1) * fraction
    let below = Int(place)
    guard below + 1 < sorted.count else { return sorted[below] }
    return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - Double(below))
  }

  @Test func `an aggregate may count only rows that satisfy a condition`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (RowFunction.count(where: $0.isLent), $0.pages.sum(where: $0.price > 10 && $0.author.country != nil))
      })
    #expect(rows.count == 1)
    #expect(rows[0].0 == books.filter(\.isLent).count)
    #expect(
      rows[0].1 == books.filter { $0.price > 10 && $0.author?.country != nil }.reduce(0) { $0 + $1.pages })
  }

  @Test func `groups are selected and ordered by aggregates that need not be columns`() throws {
    let rows = try context.fetchRows(
      Book.self, columns: { $0.author.name }, groupedBy: { [$0.author.name] },
      having: { RowFunction.count() > 20 && $0.pages.sum() > 0 },
      sort: { [.descending($0.pages.sum()), .ascending($0.author.name)] })
    func sum(_ books: [Book]) -> Int64 { books.reduce(0) { $0 + $1.pages } }
    let expected = grouped { $0.author?.name }.filter { $0.value.count > 20 }.sorted {
      sum($0.value) != sum($1.value) ? sum($0.value) > sum($1.value) : ($0.key ?? "") < ($1.key ?? "")
    }
    #expect(!expected.isEmpty)
    #expect(rows == expected.map(\.key))
  }

  @Test func `columns of groups may be computed from aggregates and keys`() throws {
    let rows = try context.fetchRows(
      Book.self, columns: { ($0.year, $0.year + RowFunction.count64() * 2) }, where: { $0.year != nil })
    let expected = grouped(\.year)
    for row in rows { #expect(row.1 == (row.0 ?? 0) + Int64(expected[row.0]?.count ?? 0) * 2) }
  }

  @Test func `without objects there is one group if there are no keys, and none otherwise`() throws {
    let all = try context.fetchRows(
      Book.self, columns: { (RowFunction.count(), $0.pages.sum(), $0.pages.max()) }, where: { $0.pages < 0 })
    #expect(all.count == 1)
    #expect(all[0] == (0, 0, nil))
    let keyed = try context.fetchRows(
      Book.self, columns: { ($0.year, RowFunction.count()) }, where: { $0.pages < 0 })
    #expect(keyed.isEmpty)
  }

  @Test func `distinct rows come once`() throws {
    let rows = try context.fetchRows(
      Book.self, columns: { $0.title }, sort: { [.descending($0.title)] }, distinct: true, limit: 5)
    #expect(rows == Array(Set(books.map(\.title)).sorted(by: >).prefix(5)))
  }

  @Test func `each destination of a joined relationship makes a row`() throws {
    let rows = try context.fetchRows(
      Book.self, joining: { $0.subjects },
      columns: { book, subject in (subject.label, RowFunction.count(), book.pages.sum()) },
      where: { book, subject in book.pages > 50 && subject.label != "Subject 0" },
      sort: { _, subject in [.ascending(subject.label)] })
    #expect(rows.map(\.0) == (1...4).map { "Subject \($0)" })
    for row in rows {
      let group = books.filter { $0.pages > 50 && $0.subjects.contains { $0.label == row.0 } }
      #expect(row.1 == group.count)
      #expect(row.2 == group.reduce(0) { $0 + $1.pages })
    }
    let pairs = try context.fetchRows(Book.self, joining: { $0.subjects }, columns: { ($0, $1.label) })
    #expect(pairs.count == books.reduce(0) { $0 + $1.subjects.count })
  }

  @Test func `no objects are made`() throws {
    try context.save()
    context.reset()
    let rows = try context.fetchRows(Book.self, columns: { ($0.author.name, $0.pages.sum()) })
    #expect(rows.count == 8)
    #expect(context.registeredObjects.isEmpty)
  }

  struct Total: Decodable, Equatable {
    var author: String?
    var count: Int
    var pages: Double
    var newest: Int64?
  }

  @Test func `rows are decoded as structs by the names of their columns`() throws {
    let totals = try context.fetchRows(
      Book.self, as: Total.self,
      columns: {
        [
          "author": $0.author.name, "count": RowFunction.count(), "pages": $0.pages.sum(),
          "newest": $0.year.max(),
        ]
      }, sort: { [.ascending($0.author.name)] })
    let expected = grouped { $0.author?.name }.map { name, group in
      Total(
        author: name, count: group.count, pages: Double(group.reduce(0) { $0 + $1.pages }),
        newest: group.compactMap(\.year).max())
    }
    #expect(totals == expected.sorted { ($0.author ?? "") < ($1.author ?? "") })
    #expect(throws: DecodingError.self) {
      try context.fetchRows(Book.self, as: Total.self, columns: { ["author": $0.author.name] })
    }
  }

  @Test func `a value of each object that is no key of the groups is refused`() throws {
    let error = #expect(throws: HeartwoodError.self) {
      try context.fetchRows(Book.self, columns: { ($0.title, RowFunction.count()) }, groupedBy: { [$0.year] })
    }
    #expect(error?.message.contains("title has a value for each object") == true)
    let aggregate = #expect(throws: HeartwoodError.self) {
      try context.fetch(Book.self, where: { $0.pages.sum() > 5 })
    }
    #expect(aggregate?.message.contains("computed from several rows") == true)
  }
}

extension RowFunction {
  fileprivate static func count64() -> ValueQuery<Int64> { ValueQuery<Int64>(count()._expression) }
}
