import Foundation
import Heartwood

/// A library for tests of fetches, with indexed, unique and plain attributes, inheritance, and each kind
/// of relationship that a plan can use.
class Book: ManagedObject {
  @Attribute(.unique) var isbn = ""
  @Attribute(.indexed) var title = ""
  @Attribute(.indexed) var year: Int64?
  @Attribute(.indexed) var price = 0.0
  @Attribute var pages: Int64 = 0
  @Attribute var isLent = false
  @Relationship(inverse: { $0.books }) var author: Author?
  @Relationship(inverse: { $0.books }) var subjects: Set<Subject>
}

final class Comic: Book {
  @Attribute var colours: Int64 = 4
}

final class Author: ManagedObject {
  @Attribute(.unique) var name = ""
  @Attribute var country: String?
  @Relationship(inverse: { $0.author }) var books: Set<Book>
}

final class Subject: ManagedObject {
  @Attribute(.indexed) var label = ""
  @Relationship(inverse: { $0.subjects }) var books: Set<Book>
}

let libraryTypes: [ManagedObject.Type] = [Book.self, Comic.self, Author.self, Subject.self]

/// A library in memory.
func makeLibrary() throws -> PersistentContainer {
  try PersistentContainer(name: "Library", types: libraryTypes, at: URL(fileURLWithPath: "/dev/null"))
}

extension ManagedObjectContext {
  @discardableResult
  func makeBook(
    _ isbn: String, _ title: String, year: Int64? = nil, pages: Int64 = 100, price: Double = 10,
    by author: Author? = nil
  ) -> Book {
    let book = Book(context: self)
    book.isbn = isbn
    book.title = title
    book.year = year
    book.pages = pages
    book.price = price
    book.author = author
    return book
  }

  func makeAuthor(_ name: String, _ country: String? = nil) -> Author {
    let author = Author(context: self)
    author.name = name
    author.country = country
    return author
  }

  func makeSubject(_ label: String) -> Subject {
    let subject = Subject(context: self)
    subject.label = label
    return subject
  }
}
