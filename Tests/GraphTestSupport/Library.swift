import Foundation
import Heartwood

/// A library for tests of fetches, with indexed, unique and plain attributes, inheritance, and each kind
/// of relationship that a plan can use.
package class Book: ManagedObject {
  @Attribute(.unique) package var isbn = ""
  @Attribute(.indexed) package var title = ""
  @Attribute(.indexed) package var year: Int64?
  @Attribute(.indexed) package var price = 0.0
  @Attribute package var pages: Int64 = 0
  @Attribute package var isLent = false
  @Relationship(inverse: { $0.books }) package var author: Author?
  @Relationship(inverse: { $0.books }) package var subjects: Set<Subject>
}

package final class Comic: Book {
  @Attribute package var colours: Int64 = 4
}

package final class Author: ManagedObject {
  @Attribute(.unique) package var name = ""
  @Attribute package var country: String?
  @Relationship(inverse: { $0.author }) package var books: Set<Book>
}

package final class Subject: ManagedObject {
  @Attribute(.indexed) package var label = ""
  @Relationship(inverse: { $0.subjects }) package var books: Set<Book>
}

package let libraryTypes: [ManagedObject.Type] = [Book.self, Comic.self, Author.self, Subject.self]

/// A library in memory.
package func makeLibrary() throws -> PersistentContainer {
  try PersistentContainer(name: "Library", types: libraryTypes, at: URL(fileURLWithPath: "/dev/null"))
}

extension ManagedObjectContext {
  @discardableResult
  package func makeBook(
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

  package func makeAuthor(_ name: String, _ country: String? = nil) -> Author {
    let author = Author(context: self)
    author.name = name
    author.country = country
    return author
  }

  package func makeSubject(_ label: String) -> Subject {
    let subject = Subject(context: self)
    subject.label = label
    return subject
  }
}
