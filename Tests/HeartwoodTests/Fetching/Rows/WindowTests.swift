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
