import Heartwood

/// A publisher as a user of Heartwood declares it.
final class Publisher: ManagedObject {
  @Attribute(.unique) var number: Int64
  @Attribute var name = ""
  @Attribute var city = ""
  @Relationship(inverse: { $0.publisher }, deleteRule: .cascade) var books: Set<Book>
}

final class Book: ManagedObject {
  @Attribute var number: Int64
  @Attribute(.unique) var isbn = ""
  @Attribute var title = ""
  @Attribute var pages: Int64
  @Attribute var price: Double
  @Attribute(.indexed) var published: Int64
  @Attribute var shelf: Int64
  @Relationship(inverse: { $0.books }) var publisher: Publisher?
}

extension Publisher {
  convenience init(_ data: Library.PublisherData, context: ManagedObjectContext) {
    self.init(context: context)
    number = data.number
    name = data.name
    city = data.city
  }
}

extension Book {
  convenience init(_ data: Library.BookData, of publisher: Publisher, context: ManagedObjectContext) {
    self.init(context: context)
    number = data.number
    isbn = data.isbn
    title = data.title
    pages = data.pages
    price = data.price
    published = data.published
    shelf = data.shelf
    self.publisher = publisher
  }
}
