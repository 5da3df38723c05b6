import BenchmarkHarness
import CSQLite

/// SQLite by hand: a table, beside it words in FTS5 without a copy of the texts, or places in an R*Tree.
final class SQLiteSearchPeer: SearchPeer {
  let name = "SQLite"
  private let database: OpaquePointer
  private let indexes: SearchIndexes
  private let statement: SQLiteStatements

  init(_ directory: String, _ indexes: SearchIndexes) throws {
    self.indexes = indexes
    database = try SQLiteStatement.open(directory + "/items.sqlite")
    statement = SQLiteStatements(on: database)
    var commands = [
      "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -1000000",
      "PRAGMA mmap_size = 4000000000",
      """
      CREATE TABLE item (
        id INTEGER PRIMARY KEY, number INTEGER NOT NULL, title TEXT NOT NULL, x REAL NOT NULL, y REAL NOT NULL)
      """,
    ]
    if indexes.words {
      commands.append(
        "CREATE VIRTUAL TABLE words USING fts5(title, content = 'item', content_rowid = 'id')")
    }
    if indexes.boxes { commands.append("CREATE VIRTUAL TABLE places USING rtree(id, x0, x1, y0, y1)") }
    for command in commands { try SQLiteStatement.run(command, on: database) }
  }

  func insert(_ texts: SearchTexts) throws {
    let row = try statement("INSERT INTO item VALUES (?, ?, ?, ?, ?)")
    let words = indexes.words ? try statement("INSERT INTO words (rowid, title) VALUES (?, ?)") : nil
    let places = indexes.boxes ? try statement("INSERT INTO places VALUES (?, ?, ?, ?, ?)") : nil
    try SQLiteStatement.run("BEGIN", on: database)
    for item in texts.items {
      let id = Int(item.number) + 1
      row.bind(id, at: 1)
      row.bind(Int(item.number), at: 2)
      row.bind(item.title, at: 3)
      row.bind(item.x, at: 4)
      row.bind(item.y, at: 5)
      try row.run()
      if let words {
        words.bind(id, at: 1)
        words.bind(item.title, at: 2)
        try words.run()
      }
      if let places {
        places.bind(id, at: 1)
        for (place, number) in [item.x, item.x, item.y, item.y].enumerated() {
          places.bind(number, at: Int32(place) + 2)
        }
        try places.run()
      }
    }
    try SQLiteStatement.run("COMMIT", on: database)
  }

  func count(_ queries: [String]) throws -> UInt64 {
    let statement = try statement("SELECT count(*) FROM words WHERE words MATCH ?")
    var digest = ReadDigest()
    for query in queries {
      statement.bind(query, at: 1)
      while try statement.step() { digest.add(statement.integer(0)) }
      statement.reset()
    }
    return digest.value
  }

  func titles(_ words: [String]) throws -> UInt64 {
    var digest = ReadDigest()
    try forEachItem(words, "ORDER BY item.number") {
      digest.add($0.text(2))
    } afterEach: {
    }
    return digest.value
  }

  func best(_ words: [String]) throws -> UInt64 {
    var (digest, count) = (ReadDigest(), 0)
    try forEachItem(words, "ORDER BY rank LIMIT 10") { item in
      count += 1
      if item.text(2).isEmpty { throw missingKey(name) }
    } afterEach: {
      digest.add(count)
      count = 0
    }
    return digest.value
  }

  /// Reads the items with each of these words.
  private func forEachItem(
    _ words: [String], _ order: String, _ body: (SQLiteStatement) throws -> Void, afterEach: () -> Void
  ) throws {
    let statement = try statement(
      """
      SELECT item.id, item.number, item.title, x, y FROM words JOIN item ON item.id = words.rowid WHERE words MATCH ?
      \(order)
      """)
    for word in words {
      statement.bind(word, at: 1)
      while try statement.step() { try body(statement) }
      statement.reset()
      afterEach()
    }
  }

  /// The tree rounds its numbers outwards to 32 bits: the row decides.
  func inside(_ corners: [(x: Double, y: Double)], side: Double) throws -> UInt64 {
    let statement = try statement(
      """
      SELECT item.number FROM places JOIN item ON item.id = places.id
      WHERE x0 <= ?2 AND x1 >= ?1 AND y0 <= ?4 AND y1 >= ?3 AND x BETWEEN ?1 AND ?2 AND y BETWEEN ?3 AND ?4
      ORDER BY item.number
      """)
    var digest = ReadDigest()
    for (x, y) in corners {
      for (place, number) in [x, x + side, y, y + side].enumerated() {
        statement.bind(number, at: Int32(place) + 1)
      }
      while try statement.step() { digest.add(statement.integer(0)) }
      statement.reset()
    }
    return digest.value
  }

  func close() throws {
    statement.finalize()
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.failure(of: database) }
  }
}
