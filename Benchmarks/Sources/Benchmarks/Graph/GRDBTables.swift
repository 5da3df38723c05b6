import GRDB

/// The tables of both peers that use GRDB.
enum GRDBTables {
  /// Opens a pool in WAL mode whose commits are durable, and makes the tables in a new file.
  static func open(_ path: String) throws -> DatabasePool {
    let pool = try durablePool(path)
    try pool.write { database in
      if try !database.tableExists("person") { try makeTables(database) }
    }
    return pool
  }

  /// A pool sets `synchronous` to NORMAL when it turns to WAL mode, after its connection was prepared, so that commits are
  /// not synced; its one writer is told otherwise here.
  static func durablePool(_ path: String) throws -> DatabasePool {
    let pool = try DatabasePool(path: path)
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    return pool
  }

  private static func makeTables(_ database: Database) throws {
    try database.create(table: "company") { table in
      table.primaryKey("id", .integer)
      table.column("number", .integer).notNull().unique()
      table.column("name", .text).notNull()
      table.column("city", .text).notNull()
    }
    try database.create(table: "person") { table in
      table.primaryKey("id", .integer)
      table.column("number", .integer).notNull()
      table.column("email", .text).notNull().unique()
      table.column("name", .text).notNull()
      table.column("age", .integer).notNull()
      table.column("score", .double).notNull()
      table.column("joined", .integer).notNull().indexed()
      table.column("team", .integer).notNull()
      table.belongsTo("company", onDelete: .cascade).notNull()
    }
    try database.create(indexOn: "person", columns: ["name", "number"])
  }

  static func digestOfAll(_ database: Database) throws -> UInt64 {
    var digest = UnorderedDigest()
    for company in try CompanyRecord.fetchAll(database) { digest.add(company.name, company.number) }
    for person in try PersonRecord.fetchAll(database) {
      digest.add(person.email + person.name, person.number)
      digest.add("\(person.score)", person.companyId - 1)
    }
    return digest.value
  }
}
