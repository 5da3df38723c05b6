import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Expects each kind of plan to be chosen and to return the right objects.
@Suite struct `Plans` {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init() throws {
    container = try makeLibrary()
    context = container.newBackgroundContext()
    let authors = (0..<10).map { context.makeAuthor("A\($0)") }
    let subjects = (0..<5).map { context.makeSubject("S\($0)") }
    for number in 0..<200 {
      let book = context.makeBook(
        "\(number)", "title \(number % 50)", year: number % 20 == 0 ? nil : Int64(1900 + number % 20),
        pages: Int64(number), price: Double(number), by: authors[number % 10])
      if number % 40 == 0 { book.subjects = [subjects[number / 40]] }
    }
    try context.save()
  }

  private func steps(
    sort: [Sort<Book>] = [], limit: Int? = nil, offset: Int = 0,
    where condition: ((ObjectQuery<Book>) -> Condition)? = nil
  ) throws -> [String] {
    try context.plan(for: Book.self, where: condition, sort: sort, limit: limit, offset: offset).steps
  }

  private func isbns(
    sort: [Sort<Book>] = [], limit: Int? = nil, offset: Int = 0,
    where condition: ((ObjectQuery<Book>) -> Condition)? = nil
  ) throws -> [Int] {
    try context.fetch(Book.self, where: condition, sort: sort, limit: limit, offset: offset)
      .compactMap { Int($0.isbn) }
  }

  @Test func `without a condition all rows are scanned`() throws {
    #expect(try steps() == ["scan: Book"])
    #expect(try isbns() == Array(0..<200))
  }

  @Test func `a condition on a plain attribute is checked on every row`() throws {
    let plan = try steps { $0.pages > 197 }
    #expect(plan.count == 2)
    #expect(plan.first == "scan: Book")
    #expect(plan.last?.hasPrefix("filter: ") == true)
    #expect(try isbns { $0.pages > 197 } == [198, 199])
  }

  @Test func `an equality on an index is looked up`() throws {
    #expect(try steps { $0.title == "title 7" } == ["index: Book.title == \"title 7\""])
    #expect(try isbns { $0.title == "title 7" } == [7, 57, 107, 157])
  }

  @Test func `a missing value is found in the index`() throws {
    #expect(try steps { $0.year == nil } == ["index: Book.year == nil"])
    #expect(try isbns { $0.year == nil }.count == 10)
  }

  @Test func `an equality on a unique attribute is one look-up`() throws {
    #expect(try steps { $0.isbn == "42" } == ["unique look-up: Book.isbn == \"42\""])
    #expect(try isbns { $0.isbn == "42" } == [42])
    #expect(try isbns { $0.isbn == "no" } == [])
  }

  @Test func `a range is a part of the index`() throws {
    #expect(try steps { $0.price >= 10 && $0.price < 13 } == ["index: Book.price >= 10.0 AND price < 13.0"])
    #expect(try isbns { $0.price >= 10 && $0.price < 13 } == [10, 11, 12])
  }

  @Test func `a prefix is a part of the index`() throws {
    #expect(try steps { $0.title.hasPrefix("title 49") } == ["index: Book.title BEGINSWITH \"title 49\""])
    #expect(try isbns { $0.title.hasPrefix("title 49") } == [49, 99, 149, 199])
  }

  @Test func `a list of values is so many look-ups`() throws {
    #expect(
      try steps { ["title 3", "title 1", "title 1"].contains($0.title) } == ["index: Book.title IN 2 values"])
    #expect(
      try Set(isbns { ["title 3", "title 1"].contains($0.title) }) == [1, 51, 101, 151, 3, 53, 103, 153])
  }

  @Test func `an empty list needs no row`() throws {
    let none: [String] = []
    #expect(try steps { none.contains($0.title) } == ["nothing: the condition is never true"])
    #expect(try isbns { none.contains($0.title) } == [])
    #expect(try context.count(Book.self) { none.contains($0.title) } == 0)
  }

  @Test func `the rows of a to-one relationship are found from the other side`() throws {
    let author = try #require(try context.fetch(Author.self, where: { $0.name == "A3" }).first)
    #expect(try steps { $0.author == author } == ["related: Author.books of 1 object, by author"])
    #expect(try isbns { $0.author == author } == Array(stride(from: 3, to: 200, by: 10)))
  }

  @Test func `the rows of a to-many relationship are found from the other side`() throws {
    let subject = try #require(try context.fetch(Subject.self, where: { $0.label == "S2" }).first)
    #expect(
      try steps { $0.subjects.contains(subject) }.first == "related: Subject.books of 1 object, by subjects")
    #expect(try isbns { $0.subjects.contains(subject) } == [80])
  }

  @Test func `a condition on any destination goes by way of the destinations`() throws {
    let plan = try steps { $0.subjects.contains { $0.label == "S2" } }
    #expect(
      plan.first == "related: Subject.books of 1 object, by subjects from (index: Subject.label == \"S2\")")
    #expect(try isbns { $0.subjects.contains { $0.label == "S2" } } == [80])
    let book = try #require(try context.fetch(Book.self, where: { $0.isbn == "80" }).first)
    book.subjects = Set(try context.fetch(Subject.self, where: { $0.label < "S3" }))
    try context.save()
    #expect(try isbns { $0.subjects.contains { $0.label < "S3" } }.sorted() == [0, 40, 80])
    let both = FetchRequest<Author>(where: { $0.books.contains { $0.isbn == "12" } })
    #expect(try context.plan(for: both).steps == ["identifiers: 1 of Author"])
    #expect(try context.fetch(both).map(\.name) == ["A2"])
  }

  @Test func `a condition on a related object goes by way of that object`() throws {
    let plan = try steps { $0.author.name == "A7" }
    #expect(
      plan.first
        == "related: Author.books of 1 object, by author from (unique look-up: Author.name == \"A7\")")
    #expect(try isbns { $0.author.name == "A7" }.count == 20)
  }

  @Test func `an unsaved change of a related object rules out the plan through that object`() throws {
    let author = try #require(try context.fetch(Author.self, where: { $0.name == "A3" }).first)
    author.name = "A77"
    #expect(try steps { $0.author.name == "A77" }.first == "scan: Book")
    #expect(try isbns { $0.author.name == "A77" }.count == 20)
    #expect(try isbns { $0.author.name == "A3" } == [])
  }

  @Test func `the first rows of an order come from the index`() throws {
    #expect(
      try steps(sort: [.descending(\.price)], limit: 3)
        == ["index: Book.price, backwards", "order: price descending, from the index", "limit: 3"])
    #expect(try isbns(sort: [.descending(\.price)], limit: 3) == [199, 198, 197])
    #expect(try isbns(sort: [.ascending(\.price)], limit: 3, offset: 100) == [100, 101, 102])
  }

  @Test func `an index gives the first keys of an order, and only rows that are equal in them are sorted`()
    throws
  {
    let order: [Sort<Book>] = [.ascending(\.title), .descending(\.pages)]
    #expect(
      try steps(sort: order, limit: 6) == [
        "index: Book.title", "order: title ascending, pages descending, the first key from the index",
        "limit: 6",
      ])
    #expect(try isbns(sort: order, limit: 6) == [150, 100, 50, 0, 151, 101])
    #expect(try isbns(sort: order, limit: 3, offset: 5) == [101, 51, 1])
    #expect(
      try isbns(sort: [.descending(\.title), .ascending(\.pages)], limit: 5) == [9, 59, 109, 159, 8])
    #expect(try isbns(sort: order, limit: 3, where: { $0.pages > 1 && $0.pages < 120 }) == [100, 50, 101])
  }

  @Test func `unsaved changes are at their places in an order that an index gives in part`() throws {
    let order: [Sort<Book>] = [.ascending(\.title), .descending(\.pages)]
    try #require(try context.fetch(Book.self, where: { $0.isbn == "100" }).first).pages = 10
    context.makeBook("1000", "title 0", year: nil, pages: 120, price: 0)
    context.delete(try #require(try context.fetch(Book.self, where: { $0.isbn == "151" }).first))
    #expect(try steps(sort: order, limit: 6).contains { $0.hasPrefix("merge: ") })
    #expect(try isbns(sort: order, limit: 6) == [150, 1000, 50, 100, 0, 101])
  }

  @Test func `an order of few different values is not taken from an index`() throws {
    let order: [Sort<Book>] = [.ascending(\.year), .ascending(\.pages)]
    for book in try context.fetch(Book.self) { book.year = 1900 }
    try context.save()
    #expect(try steps(sort: order, limit: 3).first == "scan: Book")
    #expect(try isbns(sort: order, limit: 3) == [0, 1, 2])
  }

  @Test func `an order without an index keeps only what the window needs`() throws {
    let plan = try steps(sort: [.descending(\.pages)], limit: 3, offset: 2)
    #expect(plan.first == "scan: Book")
    #expect(plan.contains("sort: pages descending, keeping the first 5"))
    #expect(try isbns(sort: [.descending(\.pages)], limit: 3, offset: 2) == [197, 196, 195])
  }

  @Test func `an offset in creation order is found by rank`() throws {
    #expect(
      try steps(limit: 2, offset: 150) == ["scan: Book", "offset: 150, by rank in the tree", "limit: 2"])
    #expect(try isbns(limit: 2, offset: 150) == [150, 151])
    #expect(try isbns(limit: 2, offset: 500) == [])
  }

  @Test func `an offset in the order of an index, or in a range of it, is found by rank`() throws {
    let order: [Sort<Book>] = [.ascending(\.price)]
    for offset in [1, 5, 77, 150, 198, 199, 200, 500] {
      let expected = Array((0..<200).dropFirst(offset).prefix(2))
      #expect(try isbns(sort: order, limit: 2, offset: offset) == expected)
      let last = Array((0..<200).reversed().dropFirst(offset).prefix(2))
      #expect(try isbns(sort: [.descending(\.price)], limit: 2, offset: offset) == last)
      let range = Array((20..<180).dropFirst(offset).prefix(3))
      let found = try isbns(sort: order, limit: 3, offset: offset) { $0.price >= 20 && $0.price < 180 }
      #expect(found == range)
    }
    #expect(
      try steps(sort: order, limit: 2, offset: 150) == [
        "index: Book.price", "order: price ascending, from the index", "offset: 150, by rank in the tree",
        "limit: 2",
      ])
    let request = FetchRequest<Book>()
    request.sortDescriptors = order
    (request.fetchLimit, request.fetchOffset) = (2, 150)
    #expect(try context.analyze(request).details.first?.rows == 2)
  }

  @Test func `an offset among texts that an index cuts is found in their whole order`() throws {
    let beginning = String(repeating: "b", count: 2_000)
    for number in 0..<60 { context.makeBook("L\(number)", "\(beginning)\(number % 20)") }
    try context.save()
    for order in [Sort<Book>.ascending(\.title), .descending(\.title)] {
      let all = try context.fetch(Book.self, sort: [order])
      for offset in stride(from: 0, through: 260, by: 7) {
        let page = try context.fetch(Book.self, sort: [order], limit: 5, offset: offset)
        #expect(page == Array(all.dropFirst(offset).prefix(5)), "offset \(offset)")
      }
    }
  }

  @Test func `the cheaper of two indexes is taken`() throws {
    let plan = try steps { $0.price > 5 && $0.title == "title 8" }
    #expect(plan.first == "index: Book.title == \"title 8\"")
    #expect(try isbns { $0.price > 5 && $0.title == "title 8" } == [8, 58, 108, 158])
  }

  @Test func `counts come from the tree where no filter is left`() throws {
    let all = FetchRequest<Book>()
    #expect(try context.plan(forCounting: all).steps == ["scan: Book", "count: from the tree"])
    #expect(try context.count(for: all) == 200)
    let titled = FetchRequest<Book>()
    titled.predicate = ObjectQuery<Book>().title == "title 7"
    #expect(try context.plan(forCounting: titled).steps.last == "count: from the tree")
    #expect(try context.count(for: titled) == 4)
    let thick = FetchRequest<Book>()
    thick.predicate = ObjectQuery<Book>().pages > 100
    #expect(try context.plan(forCounting: thick).steps.last == "count: row by row")
    #expect(try context.count(for: thick) == 99)
  }

  @Test func `a count corrects the tree by unsaved changes`() throws {
    try #require(try context.fetch(Book.self, where: { $0.isbn == "7" }).first).title = "other"
    context.makeBook("new", "title 7")
    context.makeBook("newer", "title 7")
    context.delete(try #require(try context.fetch(Book.self, where: { $0.isbn == "57" }).first))
    #expect(try context.count(Book.self, where: { $0.title == "title 7" }) == 4)
    #expect(try context.count(Book.self) == 201)
  }
}
