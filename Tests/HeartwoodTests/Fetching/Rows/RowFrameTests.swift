import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Frames of windows, aggregates over windows and values of other fetches, held against the same computed in Swift.
@Suite struct RowFrameTests {
  let context: ManagedObjectContext
  /// In the order of the windows.
  let books: [Book]

  init() throws {
    let context = try makeLibrary().viewContext
    self.context = context
    var random = SplitMix64(seed: 17)
    let authors = (0..<4).map { context.makeAuthor("Author \($0)") }
    for number in 0..<60 {
      context.makeBook(
        "\(number)", "T", year: random.below(4) == 0 ? nil : Int64(random.below(9)),
        pages: Int64(random.below(20)), price: Double(random.below(400)) / 8, by: authors[random.below(4)])
      if number == 40 { try context.save() }
    }
    books = try context.fetch(Book.self).sorted { ($0.pages, $0.isbn) < ($1.pages, $1.isbn) }
  }

  @Test func `an aggregate over a frame is that of its rows`() throws {
    let frames: [(RowFrame, ClosedRange<Int>)] = [
      (.rows(preceding: 2), -2...0), (.rows(preceding: 1, following: 3), -1...3), (.rows(2...5), 2...5),
      (.rows(-7 ... -3), -7 ... -3), (.rows(...0), -99...0), (.rows(...(-2)), -99 ... -2),
      (.rows(1...), 1...99), (.rows(.max...), 99...99), (.partition, -99...99),
      (.rows(.min ... .max), -99...99),
    ]
    for (frame, distances) in frames {
      func over<Value>(_ book: ObjectQuery<Book>, _ value: ValueQuery<Value>) -> ValueQuery<Value> {
        value.over(
          partitionedBy: book.author, orderedBy: .ascending(book.pages), .ascending(book.isbn), frame: frame)
      }
      let rows = try context.fetchRows(
        Book.self,
        columns: {
          (
            $0.isbn, over($0, $0.year.sum()), over($0, $0.price.min()), over($0, $0.year.max()),
            over($0, RowFunction.count()), over($0, $0.year.count()), over($0, $0.price.average()),
            over($0, $0.pages.standardDeviation()),
            $0.year.first(
              partitionedBy: $0.author, orderedBy: .ascending($0.pages), .ascending($0.isbn), frame: frame),
            $0.year.last(
              partitionedBy: $0.author, orderedBy: .ascending($0.pages), .ascending($0.isbn), frame: frame)
          )
        })
      #expect(rows.count == books.count)
      for row in rows {
        let book = try #require(books.first { $0.isbn == row.0 })
        let partition = books.filter { $0.author == book.author }
        let place = try #require(partition.firstIndex(of: book))
        let inFrame = partition.enumerated().filter { distances.contains($0.offset - place) }.map(\.element)
        let years = inFrame.compactMap(\.year)
        #expect(row.1 == years.reduce(0, +), "\(frame)")
        #expect(row.2 == inFrame.map(\.price).min(), "\(frame)")
        #expect(row.3 == years.max(), "\(frame)")
        #expect(row.4 == inFrame.count, "\(frame)")
        #expect(row.5 == years.count, "\(frame)")
        #expect(row.8 == inFrame.first?.year, "\(frame)")
        #expect(row.9 == inFrame.last?.year, "\(frame)")
        guard !inFrame.isEmpty else {
          #expect(row.6 == nil && row.7 == nil)
          continue
        }
        let count = Double(inFrame.count)
        #expect(abs((row.6 ?? .nan) - inFrame.map(\.price).reduce(0, +) / count) < 1e-9, "\(frame)")
        let mean = inFrame.map { Double($0.pages) }.reduce(0, +) / count
        let variance =
          inFrame.map { (Double($0.pages) - mean) * (Double($0.pages) - mean) }.reduce(0, +) / count
        #expect(abs((row.7 ?? .nan) - variance.squareRoot()) < 1e-9, "\(frame)")
      }
    }
  }

  @Test func `a frame without an order is refused`() throws {
    #expect(throws: HeartwoodError.self) {
      try context.fetchRows(Book.self, columns: { $0.pages.sum().over(frame: .rows(preceding: 2)) })
    }
  }

  @Test func `groups aggregate values of windows`() throws {
    // The days between the books of an author, on average.
    let rows = try context.fetchRows(
      Book.self,
      columns: {
        let step =
          $0.pages
          - $0.pages.lag(partitionedBy: $0.author, orderedBy: .ascending($0.pages), .ascending($0.isbn))
        return ($0.author.name, step.max(), step.average(), RowFunction.count(where: step > 1))
      }, sort: { [.ascending($0.author.name)] })
    let names = Set(books.map { $0.author?.name }).sorted { $0 ?? "" < $1 ?? "" }
    #expect(rows.map(\.0) == names)
    for row in rows {
      let pages = books.filter { $0.author?.name == row.0 }.map(\.pages)
      let steps = zip(pages.dropFirst(), pages).map { $0 - $1 }
      #expect(row.1 == steps.max())
      #expect(row.2 == Double(steps.reduce(0, +)) / Double(steps.count))
      #expect(row.3 == steps.filter { $0 > 1 }.count)
    }
    // Groups may be formed by a window: the best places of each part.
    let parts = try context.fetchRows(
      Book.self,
      columns: { ($0.pages.sum(), RowFunction.count()) },
      groupedBy: { [RowFunction.tile(of: 3, orderedBy: .ascending($0.pages), .ascending($0.isbn))] })
    #expect(parts.compactMap(\.1) == [20, 20, 20])
    #expect(
      Set(parts.compactMap(\.0))
        == Set([0..<20, 20..<40, 40..<60].map { books[$0].map(\.pages).reduce(0, +) }))
  }

  @Test func `the value of another fetch selects objects, rows and groups`() throws {
    let average = Double(books.map(\.pages).reduce(0, +)) / Double(books.count)
    let long = try context.fetch(
      Book.self, where: { $0.pages > RowFunction.value(of: Book.self) { $0.pages.average() } })
    #expect(Set(long) == Set(books.filter { Double($0.pages) > average }))

    let groups = try context.fetchRows(
      Book.self, columns: { ($0.author.name, $0.pages.average()) },
      having: { $0.pages.average() >= RowFunction.value(of: Book.self) { $0.pages.average() } })
    let expected = Dictionary(grouping: books) { $0.author?.name }.mapValues {
      Double($0.map(\.pages).reduce(0, +)) / Double($0.count)
    }.filter { $0.value >= average }
    #expect(Set(groups.map(\.0)) == Set(expected.keys))

    let shares = try context.fetchRows(
      Book.self,
      columns: {
        (
          $0.isbn,
          $0.pages * 100
            / RowFunction.value(of: Book.self, where: { $0.year != nil }) { $0.pages.sum() }
        )
      }, where: { $0.year != nil })
    let sum = books.filter { $0.year != nil }.map(\.pages).reduce(0, +)
    for share in shares {
      #expect(share.1 == books.first { $0.isbn == share.0 }.map { $0.pages * 100 / sum })
    }
  }

  @Test func `the value of another fetch is that of one row`() throws {
    #expect(throws: HeartwoodError.self) {
      try context.fetch(Book.self, where: { $0.pages > RowFunction.value(of: Book.self) { $0.pages } })
    }
    let none = try context.fetch(
      Book.self,
      where: { $0.pages > RowFunction.value(of: Book.self, where: { $0.isbn == "none" }) { $0.pages } })
    #expect(none.isEmpty)
    let count = try context.count(
      Book.self,
      where: { $0.pages > RowFunction.value(of: Book.self, where: { $0.isbn == "7" }) { $0.pages } })
    let seventh = try #require(books.first { $0.isbn == "7" })
    #expect(count == books.filter { $0.pages > seventh.pages }.count)
  }

  @Test func `a batch refuses the value of another fetch, and says so`() throws {
    try context.save()
    let update = BatchUpdateRequest(Book.self)
    update.set(\Book.isLent, to: true)
    update.predicate = Where<Book> { $0.pages > RowFunction.value(of: Book.self) { $0.pages.average() } }
    let error = #expect(throws: HeartwoodError.self) { try context.execute(update) }
    #expect(error?.message.contains("value of another fetch") == true)
  }

  @Test func `the length of data is a value of rows and conditions`() throws {
    let container = try PersistentContainer(
      name: "Files", types: [Attachment.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.viewContext
    for count in [0, 1, 5, 100_000] {
      let file = Attachment(context: context)
      (file.name, file.content) = ("\(count)", Data(count: count))
      if count == 5 { try context.save() }
    }
    Attachment(context: context).name = "none"
    for _ in 0..<2 {
      let rows = try context.fetchRows(
        Attachment.self, columns: { ($0.name, $0.content.count) }, sort: { [.ascending($0.name)] })
      #expect(rows.map(\.0) == ["0", "1", "100000", "5", "none"])
      #expect(rows.map(\.1) == [0, 1, 100_000, 5, nil])
      #expect(try context.count(Attachment.self, where: { $0.content.count > 1 }) == 2)
      let request = FetchRequest<Attachment>()
      request.predicate = try FormatPredicate("length:(content) BETWEEN {1, 99}")
      #expect(Set(try context.fetch(request).map(\.name)) == ["1", "5"])
      try context.save()
    }
  }
}

private final class Attachment: ManagedObject {
  @Attribute var name = ""
  @Attribute(.allowsExternalStorage) var content: Data?
}
