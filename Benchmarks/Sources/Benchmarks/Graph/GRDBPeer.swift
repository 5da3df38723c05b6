import GRDB

/// GRDB with plain records: a pool in WAL mode, foreign keys that cascade, indexes on what is looked up.
final class GRDBPeer: GraphPeer {
  private let pool: DatabasePool

  init(directory: String) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    pool = try DatabasePool(path: directory + "/library.sqlite", configuration: configuration)
    try pool.write { database in
      if try !database.tableExists("book") { try Self.makeTables(database) }
    }
  }

  private static func makeTables(_ database: Database) throws {
    try database.create(table: "publisher") { table in
      table.primaryKey("id", .integer)
      table.column("number", .integer).notNull().unique()
      table.column("name", .text).notNull()
      table.column("city", .text).notNull()
    }
    try database.create(table: "book") { table in
      table.primaryKey("id", .integer)
      table.column("number", .integer).notNull()
      table.column("isbn", .text).notNull().unique()
      table.column("title", .text).notNull()
      table.column("pages", .integer).notNull()
      table.column("price", .double).notNull()
      table.column("published", .integer).notNull().indexed()
      table.column("shelf", .integer).notNull()
      table.belongsTo("publisher", onDelete: .cascade).notNull()
    }
  }

  func insert(_ library: Library) throws {
    try pool.write { database in
      for publisher in library.publishers { try PublisherRecord(publisher).insert(database) }
      for book in library.books { try BookRecord(book).insert(database) }
    }
  }

  func noteIdentifiers() {}

  func touchAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    for book in try pool.read({ try BookRecord.fetchAll($0) }) { digest.add(book.title, book.pages) }
    return digest.value
  }

  func lookUp(_ isbns: [String]) throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for isbn in isbns {
        let book = try BookRecord.filter(BookRecord.Columns.isbn == isbn).fetchOne(database)
        digest.add(try found(book).title)
      }
      return digest.value
    }
  }

  func dearestByTitle() throws -> UInt64 {
    let request = BookRecord.filter(BookRecord.Columns.price > 50).order(BookRecord.Columns.title).limit(100)
    return Self.digest(try pool.read { try request.fetchAll($0) })
  }

  func publishedSince(_ days: [Int64]) throws -> UInt64 {
    try pool.read { database in
      var books: [BookRecord] = []
      for day in days {
        books += try BookRecord.filter(BookRecord.Columns.published >= day && BookRecord.Columns.price > 50)
          .order(BookRecord.Columns.published).limit(20).fetchAll(database)
      }
      return Self.digest(books)
    }
  }

  private static func digest(_ books: [BookRecord]) -> UInt64 {
    var digest = ReadDigest()
    for book in books {
      digest.add(book.title)
      digest.add(UInt64(bitPattern: book.pages))
    }
    return digest.value
  }

  func raisePrices(shelf: Int64) throws {
    try pool.write { database in
      for var book in try BookRecord.filter(BookRecord.Columns.shelf == shelf).fetchAll(database) {
        book.price += 1
        try book.update(database, columns: [BookRecord.Columns.price])
      }
    }
  }

  /// One request for each publisher: faster than `including(all:)` with the same records.
  func walkPublishers() throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for publisher in try PublisherRecord.order(PublisherRecord.Columns.number).fetchAll(database) {
        let books = try publisher.request(for: PublisherRecord.books).fetchAll(database)
        digest.add(publisher.name)
        digest.add(UInt64(bitPattern: books.reduce(0) { $0 + $1.pages }))
      }
      return digest.value
    }
  }

  func load(_ books: [Int]) throws -> UInt64 {
    try pool.read { database in
      var digest = ReadDigest()
      for book in books {
        digest.add(try found(BookRecord.fetchOne(database, id: Int64(book) + 1)).title)
      }
      return digest.value
    }
  }

  func deletePublishers(_ numbers: [Int64]) throws {
    try pool.write { database in
      let request = PublisherRecord.filter(numbers.contains(PublisherRecord.Columns.number))
      for publisher in try request.fetchAll(database) { try publisher.delete(database) }
    }
  }

  func digestOfAll() throws -> UInt64 {
    var digest = UnorderedDigest()
    try pool.read { database in
      for publisher in try PublisherRecord.fetchAll(database) { digest.add(publisher.name, publisher.number) }
      for book in try BookRecord.fetchAll(database) {
        digest.add(book.isbn + book.title, book.number)
        digest.add("\(book.price)", book.publisherId - 1)
      }
    }
    return digest.value
  }

  func close() throws { try pool.close() }

  private func found(_ book: BookRecord?) throws -> BookRecord {
    guard let book else { throw missingKey("GRDB") }
    return book
  }
}
