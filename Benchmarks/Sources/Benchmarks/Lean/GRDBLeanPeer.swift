import GRDB

/// GRDB fetching one batch of records after another by their identifiers.
final class GRDBLeanPeer: LeanPeer {
  private let pool: DatabasePool

  init(directory: String) throws {
    pool = try DatabasePool(path: directory + "/objects.sqlite")
    try pool.write { database in
      try database.create(table: "object", options: .ifNotExists) { table in
        table.primaryKey("id", .integer)
        table.column("title", .text).notNull()
        table.column("pages", .integer).notNull()
      }
    }
  }

  func insert(_ numbers: Range<Int>) throws {
    try pool.write { database in
      for number in numbers { try ObjectRecord(number).insert(database) }
    }
  }

  func pass(batch: Int, _ sample: () -> Void) throws -> UInt64 {
    var digest = UnorderedDigest()
    var last: Int64 = 0
    var isDone = false
    while !isDone {
      let request = ObjectRecord.filter(ObjectRecord.Columns.id > last).order(ObjectRecord.Columns.id)
      let objects = try pool.read { try request.limit(batch).fetchAll($0) }
      for object in objects { digest.add(object.title, object.pages) }
      sample()
      last = objects.last?.id ?? last
      isDone = objects.count < batch
    }
    return digest.value
  }

  func close() throws { try pool.close() }
}

private struct ObjectRecord: FetchableRecord, PersistableRecord {
  var id: Int64
  var title: String
  var pages: Int64

  static let databaseTableName = "object"

  enum Columns {
    static let id = Column("id")
    static let title = Column("title")
    static let pages = Column("pages")
  }

  init(_ number: Int) {
    id = Int64(number) + 1
    title = LeanObject.title(number)
    pages = LeanObject.pages(number)
  }

  init(row: Row) {
    id = row[Columns.id]
    title = row[Columns.title]
    pages = row[Columns.pages]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.id] = id
    container[Columns.title] = title
    container[Columns.pages] = pages
  }
}
