import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct WindowTests {
  let context: ManagedObjectContext

  init() throws {
    context = try makeLibrary().viewContext
    let authors = ["Ada", "Bo"].map { context.makeAuthor($0) }
    for (number, pages) in [30, 10, 20, 20, 50].enumerated() {
      context.makeBook(
        "\(number)", "T", year: Int64(2000 + number), pages: Int64(pages), by: authors[number % 2])
    }
    try context.save()
  }

  @Test func `ranks count equal rows, dense ranks do not, and row numbers are all different`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.pages, RowFunction.rank(orderedBy: .ascending($0.pages)),
          RowFunction.denseRank(orderedBy: .ascending($0.pages)),
          RowFunction.number(orderedBy: .ascending($0.pages)),
          RowFunction.tile(of: 2, orderedBy: .ascending($0.pages))
        )
      }, sort: { [.ascending($0.pages)] })
    #expect(rows.map(\.0) == [10, 20, 20, 30, 50])
    #expect(rows.map(\.1) == [1, 2, 2, 4, 5])
    #expect(rows.map(\.2) == [1, 2, 2, 3, 4])
    #expect(rows.map(\.3) == [1, 2, 3, 4, 5])
    #expect(rows.map(\.4) == [1, 1, 1, 2, 2])
  }

  @Test func `a sum over a window with an order is a running sum, without one that of the partition`() throws
  {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.year, $0.pages.sum().over(partitionedBy: $0.author, orderedBy: .ascending($0.year)),
          $0.pages.sum().over(partitionedBy: $0.author), $0.pages.max().over(),
          RowFunction.count().over(orderedBy: .ascending($0.pages))
        )
      }, sort: { [.ascending($0.year)] })
    #expect(rows.map(\.0) == [2000, 2001, 2002, 2003, 2004])
    #expect(rows.map(\.1) == [30, 10, 50, 30, 100])
    #expect(rows.map(\.2) == [100, 30, 100, 30, 100])
    #expect(rows.map(\.3) == [50, 50, 50, 50, 50])
    #expect(rows.map(\.4) == [4, 1, 3, 3, 5])
  }

  @Test func `values of earlier and later rows of the partition can be columns`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.pages.lag(partitionedBy: $0.author.name, orderedBy: .ascending($0.year)),
          $0.pages.lead(2, orderedBy: .ascending($0.year)),
          $0.pages - $0.pages.first(orderedBy: .ascending($0.year)),
          $0.pages.last(orderedBy: .ascending($0.year))
        )
      }, sort: { [.ascending($0.year)] })
    #expect(rows.map(\.0) == [nil, nil, 30, 10, 20])
    #expect(rows.map(\.1) == [20, 20, 50, nil, nil])
    #expect(rows.map(\.2) == [0, -20, -10, -10, 20])
    #expect(rows.map(\.3) == [50, 50, 50, 50, 50])
  }

  @Test func `windows go over groups, and their values order the rows`() throws {
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.author.name, $0.pages.sum(), RowFunction.rank(orderedBy: .descending($0.pages.sum())),
          $0.pages.sum().sum().over()
        )
      }, sort: { [.ascending(RowFunction.rank(orderedBy: .descending($0.pages.sum())))] })
    #expect(rows.map(\.0) == ["Ada", "Bo"])
    #expect(rows.map(\.1) == [100, 30])
    #expect(rows.map(\.2) == [1, 2])
    #expect(rows.map(\.3) == [130, 130])
  }

  @Test func `having selects rows by windows, after groups`() throws {
    let longest = try context.fetchRows(
      Book.self, columns: { ($0.author.name, $0.pages) },
      having: { RowFunction.rank(partitionedBy: $0.author, orderedBy: .descending($0.pages)) == 1 },
      sort: { [.ascending($0.author.name)] })
    #expect(longest.map(\.0) == ["Ada", "Bo"])
    #expect(longest.map(\.1) == [50, 20])

    // The first condition is about groups: the window goes over those that satisfy it.
    let groups = try context.fetchRows(
      Book.self, columns: { ($0.author.name, $0.pages.sum()) },
      having: {
        $0.pages.sum() < 100 && RowFunction.number(orderedBy: .descending($0.pages.sum())) == 1
      })
    #expect(groups.map(\.0) == ["Bo"])

    let request = FetchRequest<Book>()
    request.propertiesToFetch = [
      "pages",
      ExpressionDescription(name: "place", of: Book.self) {
        RowFunction.number(orderedBy: .descending($0.pages))
      },
    ]
    request.propertiesToGroupBy = ["pages"]
    request.havingPredicate = try FormatPredicate("place == 2 AND @count == 1")
    #expect(try context.fetchDictionaries(request).map { $0["pages"] as? Int64 } == [30])
  }

  private static let texts = [
    "ROW_NUMBER() OVER ()", "RANK() OVER (PARTITION BY author.name, year ORDER BY pages DESC, title)",
    "DENSE_RANK() OVER (ORDER BY title[cd] DESC, author.name[n], pages + 1)",
    "NTILE(4) OVER (ORDER BY pages)",
    "LAG(pages, 1) OVER (ORDER BY year)", "LEAD(pages * 2, 3) OVER (PARTITION BY author ORDER BY year)",
    "FIRST_VALUE(pages) OVER (ORDER BY year ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "LAST_VALUE(title) OVER (ORDER BY year ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
    "AVG(pages) OVER (ORDER BY year ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "COUNT() OVER (PARTITION BY author.name)", "STDDEV(pages) OVER ()", "SUM(@sum.pages) OVER ()",
    "pages - LAG(pages, 1) OVER (ORDER BY year)", "(RANK() OVER (ORDER BY pages) - 1) / COUNT() OVER ()",
    "@sum.(pages - LAG(pages, 1) OVER (ORDER BY year))",
  ]

  @Test(arguments: texts) func `windows are printed as they are read from text`(_ text: String) throws {
    #expect(try ConditionExpression(format: text).description == text)
  }

  @Test(arguments: [
    (
      "@sum.pages over (order by year asc rows 2 preceding)",
      "SUM(pages) OVER (ORDER BY year ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
    ),
    ("@count OVER ()", "COUNT() OVER ()"), ("lag(pages) OVER ()", "LAG(pages, 1) OVER ()"),
    (
      "LAG(pages, -2) OVER (ORDER BY {title, isbn}[1])",
      "LEAD(pages, 2) OVER (ORDER BY objectFrom:withIndex:({title, isbn}, 1))"
    ),
    ("LEAD(pages, -9223372036854775808) OVER ()", "LAG(pages, 9223372036854775807) OVER ()"),
  ])
  func `windows can be written in other ways`(_ text: String, _ printed: String) throws {
    #expect(try ConditionExpression(format: text).description == printed)
  }

  @Test func `a window from text has the values of the typed one`() throws {
    let typed = try context.fetchRows(
      Book.self,
      columns: {
        (
          RowFunction.rank(partitionedBy: $0.author, orderedBy: .descending($0.pages)),
          RowFunction.tile(of: 2, orderedBy: .ascending($0.pages)),
          $0.pages.lead(2, orderedBy: .ascending($0.year)),
          $0.pages.sum().over(orderedBy: .ascending($0.year), frame: .rows(preceding: 1))
        )
      }, sort: { [.ascending($0.year)] })
    let request = FetchRequest<Book>()
    request.propertiesToFetch = try [
      "RANK() OVER (PARTITION BY author ORDER BY pages DESC)", "NTILE(2) OVER (ORDER BY pages)",
      "LEAD(pages, 2) OVER (ORDER BY year)", "SUM(pages) OVER (ORDER BY year ROWS 1 PRECEDING)",
    ].enumerated().map { try ExpressionDescription(name: "\($0)", format: $1) }
    request.sortDescriptors = [NamedSort("year")]
    let rows = try context.fetchDictionaries(request)
    #expect(rows.map { $0["0"] as? Int64 } == typed.map { $0.0.map(Int64.init) })
    #expect(rows.map { $0["1"] as? Int64 } == typed.map { $0.1.map(Int64.init) })
    #expect(rows.map { $0["2"] as? Int64 } == typed.map(\.2))
    #expect(rows.map { $0["3"] as? Int64 } == typed.map(\.3))

    request.propertiesToFetch = ["isbn"]
    request.havingPredicate = try FormatPredicate(
      "RANK() OVER (PARTITION BY author ORDER BY pages DESC) == 1")
    #expect(try context.fetchDictionaries(request).map { $0["isbn"] as? String } == ["3", "4"])
  }

  @Test(arguments: [
    ("RANK()", "there should be OVER (…) after RANK instead of the end"),
    (
      "RANK(pages) OVER ()",
      "at column 1: these arguments of 'RANK' do not fit: it is written as RANK() OVER (…)"
    ),
    ("NTILE(0) OVER ()", "these arguments of 'NTILE' do not fit: it is written as NTILE(4) OVER (…)"),
    ("LAG(pages, title) OVER ()", "it is written as LAG(value, 1) OVER (…)"),
    ("lowercase(title) OVER ()", "'lowercase' is no function of a window"),
    ("SUM() OVER ()", "'SUM' is no function of a window"),
    ("@sum.pages FILTER (pages > 1) OVER ()", "only an aggregate without a filter"),
    ("@count DISTINCT.title OVER ()", "cannot be taken over a window"),
    ("SUM(pages) OVER (ORDER pages)", "there should be BY after ORDER instead of 'pages'"),
    ("SUM(pages) OVER (pages)", "there should be PARTITION BY, ORDER BY, ROWS or ')' in OVER"),
    ("SUM(pages) OVER pages", "there should be '(' after OVER"),
    ("SUM(pages) OVER (ORDER BY title[x])", "there should be a number from 0"),
    ("SUM(pages) OVER (ORDER BY year ROWS many)", "there should be a number of rows"),
    ("SUM(pages) OVER (ORDER BY year ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW)", "ends before it begins"),
    (
      "SUM(pages) OVER (ORDER BY year ROWS BETWEEN UNBOUNDED FOLLOWING AND UNBOUNDED FOLLOWING)",
      "ends before"
    ),
    ("title OVER ()", "instead of 'OVER'"),
  ])
  func `wrong text of a window is refused with its place`(_ text: String, _ message: String) {
    let error = #expect(throws: HeartwoodError.self) { try ConditionExpression(format: text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `no window selects objects`() throws {
    let request = FetchRequest<Book>()
    request.predicate = try FormatPredicate("RANK() OVER (ORDER BY pages) == 1")
    let error = #expect(throws: HeartwoodError.self) { try context.fetch(request) }
    #expect(error?.message.contains("is computed from several rows") == true)
  }

  @Test func `what a window cannot be is refused`() throws {
    #expect(throws: HeartwoodError.self) {
      try context.fetchRows(Book.self, columns: { $0.pages.over() })
    }
    #expect(throws: HeartwoodError.self) {
      try context.fetchRows(Book.self, columns: { $0.pages.mode().over(orderedBy: .ascending($0.year)) })
    }
    #expect(throws: HeartwoodError.self) {
      try context.fetch(Book.self, where: { RowFunction.rank(orderedBy: .ascending($0.pages)) == 1 })
    }
  }
}
