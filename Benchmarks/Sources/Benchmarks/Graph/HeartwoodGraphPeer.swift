import Foundation
import Heartwood

/// Heartwood's graph as a program uses it: declared classes, a context of its own for each row.
final class HeartwoodGraphPeer: GraphPeer {
  private let container: PersistentContainer
  /// By the book's place in the library.
  private var identifiers: [ManagedObjectID] = []

  init(directory: String) throws {
    let url = URL(fileURLWithPath: directory).appending(path: "library.heartwood")
    container = try PersistentContainer(name: "Library", types: [Publisher.self, Book.self], at: url)
  }

  func insert(_ library: Library) throws {
    try inContext { context in
      let publishers = library.publishers.map { Publisher($0, context: context) }
      for book in library.books { _ = Book(book, of: publishers[book.publisher], context: context) }
      try context.save()
    }
  }

  func noteIdentifiers() throws {
    identifiers = try inContext { try $0.fetch(Book.self, sort: [.ascending(\.number)]).map(\.objectID) }
  }

  func touchAll() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      for book in try context.fetch(Book.self) { digest.add(book.title, book.pages) }
      return digest.value
    }
  }

  func lookUp(_ isbns: [String]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for isbn in isbns {
        let book = try context.fetch(Book.self, where: { $0.isbn == isbn }, limit: 1).first
        digest.add(try found(book).title)
      }
      return digest.value
    }
  }

  func dearestByTitle() throws -> UInt64 {
    try inContext { context in
      Self.digest(
        try context.fetch(Book.self, where: { $0.price > 50 }, sort: [.ascending(\.title)], limit: 100))
    }
  }

  func publishedSince(_ days: [Int64]) throws -> UInt64 {
    try inContext { context in
      var books: [Book] = []
      for day in days {
        books += try context.fetch(
          Book.self, where: { $0.published >= day && $0.price > 50 }, sort: [.ascending(\.published)],
          limit: 20)
      }
      return Self.digest(books)
    }
  }

  private static func digest(_ books: [Book]) -> UInt64 {
    var digest = ReadDigest()
    for book in books {
      digest.add(book.title)
      digest.add(UInt64(bitPattern: book.pages))
    }
    return digest.value
  }

  func raisePrices(shelf: Int64) throws {
    try inContext { context in
      for book in try context.fetch(Book.self, where: { $0.shelf == shelf }) { book.price += 1 }
      try context.save()
    }
  }

  func walkPublishers() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for publisher in try context.fetch(Publisher.self, sort: [.ascending(\.number)]) {
        digest.add(publisher.name)
        digest.add(UInt64(bitPattern: publisher.$books.reduce(0) { $0 + $1.pages }))
      }
      return digest.value
    }
  }

  func load(_ books: [Int]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for book in books {
        digest.add(try found(context.existingObject(with: identifiers[book]) as? Book).title)
      }
      return digest.value
    }
  }

  func deletePublishers(_ numbers: [Int64]) throws {
    try inContext { context in
      for publisher in try context.fetch(Publisher.self, where: { numbers.contains($0.number) }) {
        context.delete(publisher)
      }
      try context.save()
    }
  }

  func digestOfAll() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      for publisher in try context.fetch(Publisher.self) { digest.add(publisher.name, publisher.number) }
      for book in try context.fetch(Book.self) {
        digest.add(book.isbn + book.title, book.number)
        digest.add("\(book.price)", book.publisher?.number ?? -1)
      }
      return digest.value
    }
  }

  func close() throws { try container.close() }

  private func inContext<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  private func found(_ book: Book?) throws -> Book {
    guard let book else { throw missingKey("Heartwood") }
    return book
  }
}
