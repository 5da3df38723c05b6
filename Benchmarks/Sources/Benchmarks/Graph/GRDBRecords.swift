import GRDB

/// A publisher as GRDB's documentation writes records: a struct with columns, decoded without `Codable`.
struct PublisherRecord: FetchableRecord, PersistableRecord, Identifiable {
  var id: Int64
  var number: Int64
  var name: String
  var city: String

  static let databaseTableName = "publisher"
  static let books = hasMany(BookRecord.self)

  enum Columns {
    static let id = Column("id")
    static let number = Column("number")
    static let name = Column("name")
    static let city = Column("city")
  }

  init(_ data: Library.PublisherData) {
    id = data.number + 1
    number = data.number
    name = data.name
    city = data.city
  }

  init(row: Row) {
    id = row[Columns.id]
    number = row[Columns.number]
    name = row[Columns.name]
    city = row[Columns.city]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.number] = number
    container[Columns.name] = name
    container[Columns.city] = city
  }
}

struct BookRecord: FetchableRecord, PersistableRecord, Identifiable {
  var id: Int64
  var number: Int64
  var isbn: String
  var title: String
  var pages: Int64
  var price: Double
  var published: Int64
  var shelf: Int64
  var publisherId: Int64

  static let databaseTableName = "book"

  enum Columns {
    static let id = Column("id")
    static let number = Column("number")
    static let isbn = Column("isbn")
    static let title = Column("title")
    static let pages = Column("pages")
    static let price = Column("price")
    static let published = Column("published")
    static let shelf = Column("shelf")
    static let publisherId = Column("publisherId")
  }

  init(_ data: Library.BookData) {
    id = data.number + 1
    number = data.number
    isbn = data.isbn
    title = data.title
    pages = data.pages
    price = data.price
    published = data.published
    shelf = data.shelf
    publisherId = Int64(data.publisher) + 1
  }

  init(row: Row) {
    id = row[Columns.id]
    number = row[Columns.number]
    isbn = row[Columns.isbn]
    title = row[Columns.title]
    pages = row[Columns.pages]
    price = row[Columns.price]
    published = row[Columns.published]
    shelf = row[Columns.shelf]
    publisherId = row[Columns.publisherId]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.number] = number
    container[Columns.isbn] = isbn
    container[Columns.title] = title
    container[Columns.pages] = pages
    container[Columns.price] = price
    container[Columns.published] = published
    container[Columns.shelf] = shelf
    container[Columns.publisherId] = publisherId
  }
}
