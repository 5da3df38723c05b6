import CSQLite

/// SQLite by hand: `ALTER TABLE` where it is enough, and otherwise a second table that takes the place of the first.
struct SQLiteMigrationPeer: MigrationPeer {
  private let path: String

  init(directory: String) { path = directory + "/people.sqlite" }

  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -65536",
    "PRAGMA mmap_size = 4000000000",
  ]
  private static let columns = "number, email, name, age, score, joined"
  private static let definitions = """
    id INTEGER PRIMARY KEY, number INTEGER NOT NULL, email TEXT NOT NULL, name TEXT NOT NULL, age INTEGER NOT NULL,
    score REAL NOT NULL, joined INTEGER NOT NULL
    """
  private static let indexes = [
    "CREATE UNIQUE INDEX humanByEmail ON human (email)", "CREATE INDEX humanByName ON human (name)",
  ]

  /// Runs statements in one transaction, and closes the database.
  private func run(_ statements: [String]) throws {
    try with { database in
      try SQLiteStatement.run("BEGIN", on: database)
      for statement in statements { try SQLiteStatement.run(statement, on: database) }
      try SQLiteStatement.run("COMMIT", on: database)
    }
  }

  private func with(_ body: (OpaquePointer) throws -> Void) throws {
    let database = try SQLiteStatement.open(path)
    for setting in Self.settings { try SQLiteStatement.run(setting, on: database) }
    try body(database)
    sqlite3_close_v2(database)
  }

  func make(_ people: People) throws {
    try with { database in
      try SQLiteStatement.run("BEGIN", on: database)
      try SQLiteStatement.run("CREATE TABLE human (\(Self.definitions))", on: database)
      let insert = try SQLiteStatement("INSERT INTO human VALUES (NULL, ?, ?, ?, ?, ?, ?)", on: database)
      for person in people.persons {
        insert.bind(Int(person.number), at: 1)
        insert.bind(person.address, at: 2)
        insert.bind(person.name, at: 3)
        insert.bind(Int(person.age), at: 4)
        insert.bind(person.score, at: 5)
        insert.bind(Int(person.joined), at: 6)
        try insert.run()
      }
      insert.finalize()
      for index in Self.indexes { try SQLiteStatement.run(index, on: database) }
      try SQLiteStatement.run("COMMIT", on: database)
    }
  }

  func addOptional() throws { try run(["ALTER TABLE human ADD COLUMN note TEXT"]) }

  func addDefault() throws { try copyTable("7") }

  func addComputed() throws { try copyTable("age * 100 + number % 100") }

  func updateComputed() throws {
    try run([
      "ALTER TABLE human ADD COLUMN rank INTEGER NOT NULL DEFAULT 0",
      "UPDATE human SET rank = age * 100 + number % 100",
    ])
  }

  func copyComputed() throws { try addComputed() }

  private func copyTable(_ value: String) throws {
    try run(
      [
        "CREATE TABLE other (\(Self.definitions), rank INTEGER NOT NULL)",
        "INSERT INTO other SELECT id, \(Self.columns), \(value) FROM human", "DROP TABLE human",
        "ALTER TABLE other RENAME TO human",
      ] + Self.indexes)
  }

  func copyBytes() throws {
    try with { try SQLiteStatement.run("VACUUM INTO '\(path).copy'", on: $0) }
  }

  func digest(_ row: MigrationRow) throws -> UInt64 {
    let added = row == .bytes ? "0" : row == .optional ? "note IS NOT NULL" : "rank"
    var digest = PersonsDigest()
    try with { database in
      let all = try SQLiteStatement("SELECT number, name, \(added) FROM human", on: database)
      while try all.step() { digest.add(Int64(all.integer(0)), all.text(1), Int64(all.integer(2))) }
      all.finalize()
    }
    return digest.value
  }
}
