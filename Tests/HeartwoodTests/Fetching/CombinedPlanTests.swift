import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Unions and intersections of accesses, and what plans say about rows.
@Suite struct `Combined plans` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
    let authors = (0..<10).map { context.makeAuthor("A\($0)") }
    for number in 0..<1200 {
      context.makeBook(
        "\(number)", "title \(number % 40)", year: Int64(1900 + number % 30), pages: Int64(number),
        price: Double(number), by: authors[number % 10])
    }
    try context.save()
  }

  private func request(
    sort: [Sort<Book>] = [], limit: Int = 0, _ condition: (ObjectQuery<Book>) -> Condition
  ) -> FetchRequest<Book> {
    let request = FetchRequest<Book>()
    request.predicate = condition(ObjectQuery<Book>())
    request.sortDescriptors = sort
    request.fetchLimit = limit
    return request
  }

  private func isbns(_ request: FetchRequest<Book>) throws -> [Int] {
    try context.fetch(request).compactMap { Int($0.isbn) }
  }

  @Test func `conditions on two indexes are an intersection of both, without a filter`() throws {
    let asked = request { $0.title == "title 7" && $0.year == 1907 }
    #expect(
      try context.plan(for: asked).steps == [
        "intersection: (index: Book.title == \"title 7\") AND (index: Book.year == 1907)"
      ])
    #expect(try isbns(asked) == Array(stride(from: 7, to: 1200, by: 120)))
    #expect(try context.plan(forCounting: asked).steps.last == "count: by their keys")
    #expect(try context.count(for: asked) == 10)
  }

  @Test func `an intersection has no access that saves less than it costs`() throws {
    let wide = request { $0.title == "title 7" && $0.price >= 3 }
    #expect(try context.plan(for: wide).steps.first == "index: Book.title == \"title 7\"")
    #expect(try isbns(wide) == Array(stride(from: 7, to: 1200, by: 40)))
    let filtered = request { $0.title == "title 7" && $0.year == 1907 && $0.pages > 600 }
    let steps = try context.plan(for: filtered).steps
    #expect(steps.first?.hasPrefix("intersection: ") == true)
    #expect(steps.last?.hasPrefix("filter: ") == true)
    #expect(try isbns(filtered) == Array(stride(from: 607, to: 1200, by: 120)))
  }

  @Test func `conditions joined by OR are a union of accesses, each row once`() throws {
    let asked = request { $0.title == "title 7" || $0.year == 1907 || $0.isbn == "7" }
    let expected = (0..<1200).filter { $0 % 40 == 7 || $0 % 30 == 7 || $0 == 7 }
    #expect(
      try context.plan(for: asked).steps == [
        "union: (index: Book.title == \"title 7\") OR (index: Book.year == 1907) OR (unique look-up: Book.isbn == \"7\")"
      ])
    #expect(try isbns(asked) == expected)
    #expect(try context.count(for: asked) == expected.count)
    let twice = request { $0.title == "title 7" || $0.year == 1907 }
    #expect(try context.plan(forCounting: twice).steps.last == "count: by their keys")
    #expect(try context.count(for: twice) == expected.count)
  }

  @Test func `lists of values of different indexes are a union, too`() throws {
    let asked = request { ["title 1", "title 2"].contains($0.title) || [1901, 1902].contains($0.year) }
    #expect(try context.plan(for: asked).steps.first?.hasPrefix("union: ") == true)
    #expect(try isbns(asked) == (0..<1200).filter { [1, 2].contains($0 % 40) || [1, 2].contains($0 % 30) })
  }

  @Test func `the parts of an OR may be conditions joined by AND, and about related objects`() throws {
    let asked = request {
      $0.title == "title 7" && $0.pages < 100 || $0.author.name == "A3" && $0.year == 1903
    }
    #expect(try context.plan(for: asked).steps.first?.hasPrefix("union: ") == true)
    #expect(
      try isbns(asked) == (0..<1200).filter { $0 % 40 == 7 && $0 < 100 || $0 % 10 == 3 && $0 % 30 == 3 })
    let any = FetchRequest<Author>(where: { $0.books.contains { $0.title == "title 7" && $0.pages > 1180 } })
    #expect(try context.fetch(any).isEmpty)
    let one = FetchRequest<Author>(where: { $0.books.contains { $0.title == "title 7" && $0.pages > 1160 } })
    #expect(try context.fetch(one).map(\.name) == ["A7"])
  }

  @Test func `an OR with a part that no index serves is a filter`() throws {
    let asked = request { $0.title == "title 7" || $0.pages == 3 }
    #expect(try context.plan(for: asked).steps.first == "scan: Book")
    #expect(try isbns(asked) == (0..<1200).filter { $0 % 40 == 7 || $0 == 3 })
  }

  @Test func `unsaved changes are merged into unions and intersections, and counted`() throws {
    let both = request { $0.title == "title 7" && $0.year == 1907 }
    let either = request { $0.title == "title 7" || $0.year == 1907 }
    let (before, beforeEither) = (try context.count(for: both), try context.count(for: either))
    let added = context.makeBook("new", "title 7", year: 1907)
    try #require(try context.fetch(Book.self, where: { $0.isbn == "7" }).first).title = "other"
    context.delete(try #require(try context.fetch(Book.self, where: { $0.isbn == "127" }).first))
    #expect(try context.count(for: both) == before + 1 - 2)
    #expect(try context.count(for: either) == beforeEither + 1 - 1)
    #expect(try context.fetch(both).contains(added))
    #expect(try context.fetch(either).count == beforeEither)
  }

  @Test func `a union is sorted, and only the window is kept`() throws {
    let asked = request(sort: [.descending(\.pages)], limit: 3) { $0.title == "title 7" || $0.year == 1907 }
    #expect(try isbns(asked) == [1177, 1167, 1147])
  }

  @Test func `a plan has expected numbers of rows, exact where the tree has counted them`() throws {
    let indexed = try context.plan(for: request { $0.title == "title 7" })
    #expect(indexed.details.first?.expectedRows == 30 && indexed.details.first?.isExact == true)
    #expect(indexed.description == "index: Book.title == \"title 7\" (30 rows expected)")
    let scanned = try context.plan(for: request { $0.pages < 600 })
    #expect(scanned.details.map(\.expectedRows) == [1200, 600])
    #expect(scanned.details.map(\.isExact) == [true, false])
  }

  @Test func `an analysis has the real numbers of rows of each step, and times`() throws {
    let asked = request(sort: [.descending(\.pages)], limit: 5) { $0.title == "title 7" && $0.pages >= 600 }
    let plan = try context.analyze(asked)
    #expect(plan.details.map(\.rows) == [30, 15, nil, 5])
    #expect(plan.details.allSatisfy { $0.duration.map { $0 > .zero } ?? true })
    #expect(plan.details[0].duration != nil && plan.details[1].duration != nil)
    #expect(plan.details[2].duration != nil)
  }

  @Test func `an analysis of an order from an index shows that only the window is read`() throws {
    let walk = try context.analyze(
      request(sort: [.ascending(\.title), .descending(\.pages)], limit: 6) { $0.price >= 0 })
    #expect(walk.steps.first?.hasPrefix("index: Book.title") == true)
    #expect((walk.details.first?.rows).map { $0 <= 31 } == true)
  }

  @Test func `typed rows have a plan`() throws {
    let most = try context.planForRows(Book.self, columns: { ($0.price.max(), $0.price.min()) })
    #expect(
      most.steps == [
        "ends: last of Book.price != nil, first of Book.price != nil", "group: all rows are one",
      ])
    let rows = try context.planForRows(
      Book.self, columns: { $0.title }, where: { $0.title > "title 8" }, limit: 3)
    #expect(rows.steps.first == "index: Book.title > \"title 8\", without rows")
    let range = try context.fetchRows(Book.self, columns: { ($0.price.max(), $0.price.min()) })
    #expect(range.count == 1 && range[0].0 == 1199 && range[0].1 == 0)
  }

  @Test func `a fetch that reads many more rows than it returns names the index that would help`() throws {
    func advice(_ request: FetchRequest<Book>) throws -> String? {
      try context.plan(for: request).steps.last { $0.hasPrefix("advice: ") }
    }
    #expect(
      try advice(request { $0.pages == 7 })
        == "advice: an index on Book.pages would spare reading most of the rows")
    #expect(try context.analyze(request { $0.pages == 7 }).steps.last == advice(request { $0.pages == 7 }))
    #expect(
      try advice(request(sort: [.ascending(\.pages)], limit: 3) { $0.isLent == false })
        == "advice: an index on Book.(isLent, pages) would spare reading most of the rows")
    #expect(
      try advice(request { $0.pages == 7 || $0.title == "x" && $0.pages == 8 })?.contains("Book.pages")
        == true)
    #expect(try advice(request { $0.author.country == "FR" })?.contains("Author.country") == true)
    #expect(try advice(request { $0.pages >= 0 }) == nil)
    #expect(try advice(request { $0.title.hasSuffix("77") }) == nil)
  }
}
