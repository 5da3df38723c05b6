import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct DictionaryTests {
  let context: ManagedObjectContext

  init() throws {
    context = try makeLibrary().viewContext
    let authors = ["Ada": "CH", "Bo": "SE"].map { context.makeAuthor($0.key, $0.value) }.sorted {
      $0.name < $1.name
    }
    for (number, pages) in [30, 10, 20, 20, 50].enumerated() {
      context.makeBook(
        "\(number)", number < 3 ? "A" : "B", pages: Int64(pages), price: 2.5, by: authors[number % 2])
    }
    try context.save()
  }

  private func request(_ columns: (any FetchableProperty)...) -> FetchRequest<Book> {
    let request = FetchRequest<Book>()
    request.propertiesToFetch = columns
    return request
  }

  // FET-15
  @Test func `dictionaries have the requested paths, with the types of their attributes`() throws {
    let request = request("isbn", "author.name", "pages", "author", "author.books.@count")
    request.sortDescriptors = [NamedSort("isbn")]
    let rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["isbn"] as? String } == ["0", "1", "2", "3", "4"])
    #expect(rows.map { $0["author.name"] as? String } == ["Ada", "Bo", "Ada", "Bo", "Ada"])
    #expect(rows.map { $0["pages"] as? Int64 } == [30, 10, 20, 20, 50])
    #expect(
      rows[0]["author"] as? ManagedObjectID
        == (try context.fetch(Author.self, where: { $0.name == "Ada" })[0].objectID))
    #expect(rows[0]["author.books.@count"] as? Int64 == 3)
  }

  @Test func `without properties to fetch all attributes and to-one relationships are columns`() throws {
    let row = try #require(try context.fetchDictionaries(FetchRequest<Book>()).first)
    #expect(Set(row.keys) == ["isbn", "title", "price", "pages", "isLent", "author"])
  }

  // FET-17
  @Test func `the sum of no values is a number of the attribute's type`() throws {
    let request = request(
      try ExpressionDescription(name: "prices", format: "@sum.price"),
      try ExpressionDescription(name: "pages", format: "@sum.pages"))
    request.predicate = try FormatPredicate("isbn == 'none'")
    request.propertiesToGroupBy = []
    let none = try context.fetchDictionaries(request)
    #expect(none.map { $0["prices"] as? Double } == [0] && none.map { $0["pages"] as? Int64 } == [0])
    let lonely = context.makeAuthor("Lonely")
    let books = FetchRequest<Author>()
    books.predicate = try FormatPredicate("SELF == %@", lonely.objectID)
    books.propertiesToFetch = [try ExpressionDescription(name: "prices", format: "books.@sum.price")]
    #expect(try context.fetchDictionaries(books).map { $0["prices"] as? Double } == [0])
  }

  // FET-17
  @Test func `groups have aggregates, are selected by having and ordered by a column's name`() throws {
    let request = request(
      "author.name", try ExpressionDescription(name: "total", format: "@sum.pages"),
      try ExpressionDescription(name: "value", format: "@avg.(price * pages)"),
      try ExpressionDescription(name: "books", format: "@count"))
    request.propertiesToGroupBy = ["author.name"]
    request.sortDescriptors = [NamedSort("total", ascending: false)]
    var rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["author.name"] as? String } == ["Ada", "Bo"])
    #expect(rows.map { $0["total"] as? Int64 } == [100, 30])
    #expect(rows.map { $0["books"] as? Int } == [3, 2])
    #expect(rows.map { $0["value"] as? Double } == [250.0 / 3, 37.5])
    request.havingPredicate = try FormatPredicate("total < 50 AND @count == 2 AND author.name BEGINSWITH 'B'")
    rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["author.name"] as? String } == ["Bo"])
  }

  @Test func `functions of Foundation over an attribute are aggregates of the group`() throws {
    let request = request(
      try ExpressionDescription(name: "total", format: "sum:(pages)"),
      try ExpressionDescription(name: "mean", format: "average(pages) + 1"),
      try ExpressionDescription(name: "loud", format: "uppercase:(author.name)"))
    request.sortDescriptors = [NamedSort("loud")]
    let rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["loud"] as? String } == ["ADA", "BO"])
    #expect(rows.map { $0["total"] as? Int64 } == [100, 30])
    #expect(rows.map { $0["mean"] as? Double } == [100.0 / 3 + 1, 16])
    let grouped = self.request("author.name")
    grouped.propertiesToGroupBy = ["author.name"]
    grouped.havingPredicate = try FormatPredicate("sum:(pages) > 50 AND max:(pages) > 10")
    #expect(try context.fetchDictionaries(grouped).map { $0["author.name"] as? String } == ["Ada"])
  }

  // FET-16
  @Test func `distinct dictionaries come once`() throws {
    let request = request("title", "author.country")
    request.sortDescriptors = [NamedSort("title"), NamedSort("author.country")]
    request.returnsDistinctResults = true
    let rows = try context.fetchDictionaries(request)
    #expect(rows.map { "\($0["title"] ?? "")\($0["author.country"] ?? "")" } == ["ACH", "ASE", "BCH", "BSE"])
  }

  // FET-13
  @Test func `dictionaries have unsaved changes, unless the request leaves them out`() throws {
    let book = try #require(try context.fetch(Book.self, where: { $0.isbn == "0" }).first)
    book.pages = 1000
    let request = request(try ExpressionDescription(name: "most", format: "@max.pages"))
    #expect(try context.fetchDictionaries(request).first?["most"] as? Int64 == 1000)
    request.includesPendingChanges = false
    #expect(try context.fetchDictionaries(request).first?["most"] as? Int64 == 50)
  }

  @Test func `limit, offset and predicate select dictionaries`() throws {
    let request = request("isbn")
    request.predicate = try FormatPredicate("pages >= 20")
    request.sortDescriptors = [NamedSort("pages"), NamedSort("isbn", ascending: false)]
    (request.fetchOffset, request.fetchLimit) = (1, 2)
    #expect(try context.fetchDictionaries(request).map { $0["isbn"] as? String } == ["2", "0"])
  }

  @Test(arguments: [
    ("title", "isbn", nil, "title has a value for each object"), ("subjects", nil, nil, "to-many"),
    ("colour", nil, nil, "has no property 'colour'"), ("@sum.title", nil, nil, "needs numbers"),
    ("@sum", nil, nil, "needs a value after it"), ("@percentile(2).pages", nil, nil, "from 0 to 1"),
    ("title", nil, "@count > 1", "propertiesToGroupBy is nil"), ("title ==", nil, nil, "column 9"),
    ("title", "title", "ANY subjects.label == 'x'", "destinations of a relationship"),
  ])
  func `what dictionaries cannot have is refused`(
    _ column: String, _ group: String?, _ having: String?, _ message: String
  ) throws {
    let request = request(column)
    request.propertiesToGroupBy = group.map { [$0] }
    request.havingPredicate = try having.map { try FormatPredicate($0) }
    let error = #expect(throws: HeartwoodError.self) { try context.fetchDictionaries(request) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    "@count", "@sum.pages", "@avg.(price * pages)", "@count DISTINCT.author.name", "@percentile(0.9).pages",
    "@max.pages FILTER (isLent == TRUE)", "@sum.pages / @count + 1",
  ])
  func `aggregates of groups are printed as they are read`(_ format: String) throws {
    let column = try ExpressionDescription(name: "x", format: format)
    #expect(column.expression.description == format)
  }
}
