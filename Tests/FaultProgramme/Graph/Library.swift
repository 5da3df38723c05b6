import Foundation
import Heartwood

/// A library with every kind of relationship: ordered, many-to-many, reflexive, cascades of two steps.
final class Shelf: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute(.indexed) var height: Int64?
  @Relationship(inverse: { $0.shelf }, deleteRule: .cascade) var books: [Book]
}

final class Book: ManagedObject {
  @Attribute([.unique, .preservesValueInHistoryOnDeletion]) var isbn = ""
  @Attribute(.indexed) var title = ""
  @Attribute var pages: Int32 = 0
  @Attribute var scan: Data?
  @Relationship(inverse: { $0.books }) var shelf: Shelf?
  @Relationship(inverse: { $0.book }, deleteRule: .cascade) var loans: Set<Loan>
  @Relationship(inverse: { $0.books }) var subjects: Set<Subject>
  @Relationship(inverse: { $0.citations }) var citedBy: Set<Book>
  @Relationship(inverse: { $0.citedBy }) var citations: [Book]
}

final class Subject: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.subjects }) var books: Set<Book>
}

final class Loan: ManagedObject {
  @Attribute var reader = ""
  @Relationship(inverse: { $0.loans }) var book: Book?
}

enum Library {
  static let types: [ManagedObject.Type] = [Shelf.self, Book.self, Subject.self, Loan.self]
}

/// The complete visible state of a graph and its history, as comparable lines.
struct GraphFacts: Hashable, CustomStringConvertible {
  let lines: [String]

  /// The state that a new context shows, and the history.
  init(of container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    lines =
      try context.performAndWait { try Self.objects(context) } + (try container.history().map(Self.line))
  }

  /// All objects as a context shows them, including its unsaved changes.
  init(of context: ManagedObjectContext) throws { lines = try Self.objects(context) }

  var history: [String] { lines.filter { $0.hasPrefix("transaction") } }

  var description: String { lines.joined(separator: "\n") }

  private static func objects(_ context: ManagedObjectContext) throws -> [String] {
    let lines = try shelves(context) + books(context) + subjects(context) + loans(context)
    // The next fetch throws the error of a property that could not be read.
    _ = try context.count(Subject.self)
    return lines
  }

  private static func shelves(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Shelf.self, sort: [.ascending(\.code)]).map { shelf in
      "shelf \(shelf.code), \(shelf.height.map { "\($0)" } ?? "no height"): \(shelf.books.map(\.isbn))"
    }
  }

  private static func books(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Book.self, sort: [.ascending(\.isbn)]).map { book in
      "book \(book.isbn) \(book.title), \(book.pages) pages, scan \(book.scan.map(digest) ?? "none"), "
        + "on \(book.shelf?.code ?? "no shelf"), lent to \(book.loans.map(\.reader).sorted()), "
        + "about \(book.subjects.map(\.name).sorted()), cites \(book.citations.map(\.isbn)), "
        + "cited by \(book.citedBy.map(\.isbn).sorted())"
    }
  }

  private static func subjects(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Subject.self, sort: [.ascending(\.name)]).map { subject in
      "subject \(subject.name): \(subject.books.map(\.isbn).sorted())"
    }
  }

  private static func loans(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(Loan.self, sort: [.ascending(\.reader)]).map { loan in
      "loan to \(loan.reader) of \(loan.book?.isbn ?? "nothing")"
    }
  }

  private static func digest(_ data: Data) -> String {
    "\(data.count)×\(data.first ?? 0)\(data.allSatisfy { $0 == data.first } ? "" : " mixed")"
  }

  static func line(_ transaction: PersistentHistoryTransaction) -> String {
    let changes = (transaction.changes ?? []).map { change in
      let key = change.changedObjectID.uriRepresentation().lastPathComponent
      let properties = change.updatedProperties.map { " \($0.map(\.name).sorted())" } ?? ""
      let tombstone = change.tombstone.map { " \($0.map { "\($0.key)=\($0.value)" }.sorted())" } ?? ""
      return
        "\(change.changeType) \(change.changedObjectID.entity.name ?? "") \(key)\(properties)\(tombstone)"
    }
    // Sorted, because the order in which the elements of a set are written can differ between runs.
    return "transaction \(transaction.transactionNumber) by \(transaction.author ?? "no author") in "
      + "\(transaction.contextName ?? "no context"): " + changes.sorted().joined(separator: "; ")
  }
}
