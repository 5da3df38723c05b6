import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Predicates of Foundation's macro` {
  private let context: ManagedObjectContext

  init() throws {
    context = try makeLibrary().newBackgroundContext()
    let author = Author(context: context)
    author.name = "Ada"
    let subject = Subject(context: context)
    subject.label = "Trees"
    context.makeBook("1", "Oaks", year: 1971, pages: 100, price: 9.5, by: author).subjects = [subject]
    context.makeBook("22", "Elms", pages: 301, price: 20, by: author)
    context.makeBook("333", "Firs", year: 1988, pages: 50, price: 30)
    try context.save()
  }

  private func isbns(_ predicate: Predicate<Book>) throws -> [String] {
    let request = FetchRequest<Book>()
    request.predicate = predicate
    request.sortDescriptors = [SortDescriptor(\Book.isbn)]
    return try context.fetch(request).map(\.isbn)
  }

  // FET-40.
  @Test func `comparisons and connectives are translated`() throws {
    let least: Int64 = 100
    #expect(try isbns(#Predicate { $0.title == "Oaks" }) == ["1"])
    #expect(try isbns(#Predicate { $0.pages >= least && $0.price < 15 }) == ["1"])
    #expect(try isbns(#Predicate { $0.pages > least || $0.title != "Oaks" }) == ["22", "333"])
    #expect(try isbns(#Predicate { !($0.pages > least) }) == ["1", "333"])
    #expect(try isbns(#Predicate { $0.year == nil }) == ["22"])
    #expect(try isbns(#Predicate { !$0.isLent }) == ["1", "22", "333"])
    #expect(try isbns(#Predicate { $0.pages * 2 == 200 }) == ["1"])
    #expect(try isbns(#Predicate { $0.pages % 2 == 1 }) == ["22"])
    #expect(try isbns(#Predicate { ($0.year ?? 2000) > 1980 }) == ["22", "333"])
    #expect(try isbns(#Predicate { ($0.isLent ? 1 : $0.pages) == 50 }) == ["333"])
  }

  // FET-40.
  @Test func `texts, lists and ranges are translated`() throws {
    let titles = ["Elms", "Firs"]
    #expect(try isbns(#Predicate { $0.title.contains("a") }) == ["1"])
    #expect(try isbns(#Predicate { $0.title.starts(with: "E") }) == ["22"])
    #expect(try isbns(#Predicate { $0.isbn.count == 3 && !$0.title.isEmpty }) == ["333"])
    #expect(try isbns(#Predicate { titles.contains($0.title) }) == ["22", "333"])
    #expect(try isbns(#Predicate { (50...100).contains($0.pages) }) == ["1", "333"])
    #expect(try isbns(#Predicate { (50..<100).contains($0.pages) }) == ["333"])
    #expect(try isbns(#Predicate { $0.title.contains(/[OF]./) }) == ["1", "333"])
    let (many, few): (PartialRangeFrom<Int64>, PartialRangeUpTo<Int64>) = (100..., ..<100)
    let shelves = ["Oaks": 1, "Firs": 2]
    #expect(try isbns(#Predicate { many.contains($0.pages) }) == ["1", "22"])
    #expect(try isbns(#Predicate { few.contains($0.pages) }) == ["333"])
    #expect(try isbns(#Predicate { shelves[$0.title] == 2 }) == ["333"])
    #expect(try isbns(#Predicate { shelves[$0.title, default: 2] == 2 }) == ["22", "333"])
  }

  // FET-40.
  @Test func `relationships are translated`() throws {
    let ada = try #require(try context.fetch(Author.self).first)
    #expect(try isbns(#Predicate { $0.author?.name == "Ada" }) == ["1", "22"])
    #expect(try isbns(#Predicate { $0.author == nil }) == ["333"])
    let id = ada.objectID
    #expect(try isbns(#Predicate { $0.author?.objectID == id }) == ["1", "22"])
    #expect(try isbns(#Predicate { $0.subjects.contains { $0.label == "Trees" } }) == ["1"])
    #expect(try isbns(#Predicate { $0.subjects.isEmpty }) == ["22", "333"])
    #expect(try isbns(#Predicate { $0.subjects.allSatisfy { $0.label == "x" } }) == ["22", "333"])
    let request = FetchRequest<Author>()
    request.predicate = #Predicate<Author> { author in
      author.books.filter { $0.pages > 200 && $0.title != author.name }.count == 1
    }
    #expect(try context.fetch(request) == [ada])
    request.predicate = #Predicate<Author> { $0.books.count == 2 }
    #expect(try context.fetch(request) == [ada])
  }

  // FET-40.
  @Test func `what has no translation is refused before anything is fetched`() throws {
    expectRefusal("#Predicate has no translation") { try isbns(#Predicate { ($0.title as Any) is String }) }
    let request = FetchRequest<Book>()
    request.predicate = #Predicate<Book, Book> { $0.title == $1.title }
    expectRefusal("it is about 2 objects") { try context.fetch(request) }
  }

  // FET-40.
  @Test func `tests of a class are translated, subclasses included, also of related objects`() throws {
    let comic = Comic(context: context)
    comic.isbn = "4444"
    comic.author = try context.fetch(Author.self).first
    #expect(try isbns(#Predicate { $0 is Comic }) == ["4444"])
    #expect(try isbns(#Predicate { !($0 is Comic) && $0.pages > 60 }) == ["1", "22"])
    try context.save()
    #expect(try isbns(#Predicate { $0 is Comic }) == ["4444"])
    let request = FetchRequest<Author>()
    request.predicate = #Predicate<Author> { $0.books.contains { $0 is Comic } }
    #expect(try context.fetch(request).map(\.name) == ["Ada"])
    request.predicate = #Predicate<Author> { $0.books.allSatisfy { $0 is Comic } }
    #expect(try context.fetch(request).isEmpty)
  }

  // FET-40.
  @Test func `an object of a subclass is used as one`() throws {
    let comic = Comic(context: context)
    (comic.isbn, comic.colours) = ("4444", 2)
    comic.author = try context.fetch(Author.self).first
    for _ in 0..<2 {
      #expect(try isbns(#Predicate { ($0 as? Comic)?.colours == 2 }) == ["4444"])
      #expect(try isbns(#Predicate { ($0 as? Comic)?.colours == nil }) == ["1", "22", "333"])
      #expect(try isbns(#Predicate { ($0 as? Comic)?.author?.name == "Ada" }) == ["4444"])
      #expect(
        try isbns(
          #Predicate { book in
            if let comic = book as? Comic { comic.colours != 4 } else { book.pages > 300 }
          }) == ["22", "4444"])
      #expect(try context.fetch(Book.self, where: { $0.as(Comic.self).colours < 3 }) == [comic])
      #expect(try context.count(Book.self) { $0.as(Comic.self) == nil } == 3)
      let colours = try context.fetchRows(
        Author.self, joining: { $0.books }, columns: { ($1.isbn, $1.as(Comic.self).colours) },
        sort: { [.ascending($1.isbn)] })
      #expect(colours.map(\.0) == ["1", "22", "4444"] && colours.map(\.1) == [nil, nil, 2])
      #expect(
        try context.fetch(Author.self, where: { $0.books.contains { $0.as(Comic.self).colours == 2 } }).count
          == 1)
      let byColours = try context.fetch(
        Book.self, sort: [.descending { $0.as(Comic.self).colours }, .ascending(\.isbn)])
      #expect(byColours.map(\.isbn) == ["4444", "1", "22", "333"])
      try context.save()
    }
  }

  // FET-40.
  @Test func `a condition on a missing object has no result`() throws {
    #expect(try isbns(#Predicate { $0.author.flatMap { $0.name != "Eve" } ?? false }) == ["1", "22"])
    #expect(try isbns(#Predicate { $0.author.flatMap { $0.name != "Ada" } ?? true }) == ["333"])
    #expect(try isbns(#Predicate { $0.author.flatMap { $0.name == "Ada" } == nil }) == ["333"])
    #expect(
      try isbns(
        #Predicate { book in
          if let author = book.author { author.name != "Eve" } else { book.pages > 300 }
        }) == ["1", "22"])
  }

  // FET-39.
  @Test func `Foundation's sort descriptors give the order`() throws {
    let request = FetchRequest<Book>()
    request.sortDescriptors = [SortDescriptor(\Book.year, order: .reverse), SortDescriptor(\Book.title)]
    #expect(try context.fetch(request).map(\.isbn) == ["333", "1", "22"])
  }
}
