import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

/// Databases that this module writes, read by SQLite and by this module.
struct WriterTests {
  /// Checks every `*.db` of the folder, and writes what SQLite reads in it.
  private static let check = """
    for name in sorted(os.listdir('.')):
        if not name.endswith('.db'): continue
        db = sqlite3.connect(name)
        found = [row[0] for row in db.execute('pragma integrity_check')]
        assert found == ['ok'], (name, found)
        assert db.execute('pragma journal_mode').fetchone() == ('delete',)
        # The file can be written on.
        db.execute('begin immediate')
        db.execute('rollback')
        db.close()
        random.seed(1)
        dump(name, name + '.dump', lookups=6)
    """

  @Test(.comparesWithSQLite, arguments: [512, 1024, 4096, 65_536])
  func `random tables with indexes are sound to SQLite, and read as they were written`(_ pageSize: Int) throws
  {
    var numbers = SeededNumbers(pageSize)
    let folder = try TemporaryFolder()
    var written: [String: [(name: String, rows: [(rowid: Int64, values: [SQLiteValue])])]] = [:]
    for file in 0..<5 {
      let writer = try SQLiteWriter(
        folder.url.appending(path: "\(file).db"), pageSize: pageSize,
        sortMemoryLimit: file % 2 == 0 ? 3000 : 1 << 20)
      writer.userVersion = 7
      var tables: [(SQLiteTableWriter, [(rowid: Int64, values: [SQLiteValue])])] = []
      for number in 0..<(numbers.below(4) == 0 ? 40 : 3) {
        let name = "table \(number)"
        let hasKey = numbers.below(2) == 0
        let columns = ["a", "b c", "\"x\""].map {
          SQLiteWriter.quoted($0) + (numbers.below(2) == 0 ? "" : " BLOB")
        }
        let key = hasKey ? ["id INTEGER PRIMARY KEY"] : []
        let table = try writer.createTable(
          "CREATE TABLE \(SQLiteWriter.quoted(name)) (\((key + columns).joined(separator: ", ")))")
        for index in 0..<numbers.below(3) {
          let ends = ["", " DESC", " COLLATE NOCASE", " COLLATE RTRIM DESC"]
          let parts = ["\"b c\"\(ends[numbers.below(4)])", "a\(ends[numbers.below(4)])"]
          try writer.createIndex(
            "CREATE INDEX \"index \(index) of \(number)\" ON \"\(name)\" (\(parts.joined(separator: ", ")))")
        }
        tables.append((table, []))
      }
      // Rows of the tables in turns.
      for _ in 0..<[0, 5, 200, 500][numbers.below(4)] {
        let index = numbers.below(tables.count)
        let table = tables[index].0
        let rowid =
          (tables[index].1.last?.rowid ?? -5) + Int64(1 + numbers.below(numbers.below(9) == 0 ? 1 << 40 : 3))
        var values = (0..<3).map { _ in numbers.value(longest: min(3 * pageSize, 80_000)) }
        if table.columns.count == 4 { values.insert(.integer(rowid), at: 0) }
        try table.insert(values, rowid: table.columns.count == 4 ? nil : rowid)
        tables[index].1.append((rowid, values))
      }
      try writer.finish()
      written["\(file)"] = tables.map { ($0.0.name, $0.1) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 5)
    try Python.run(Self.check, in: folder.url)
    for (file, tables) in written {
      let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: file + ".db"))
      #expect(database.userVersion == 7)
      var dump = try Dump(folder.url.appending(path: file + ".db.dump"))
      #expect(try dump.differences(to: database) == [], "file \(file), pages of \(pageSize) bytes")
      for (name, rows) in tables {
        let table = try #require(database.table(named: name))
        let cursor = try database.rows(of: table)
        for (rowid, values) in rows {
          let row = try #require(try cursor.next())
          #expect(row.rowid == rowid)
          #expect(row.values == values)
        }
      }
    }
  }

  @Test(.comparesWithSQLite)
  func `constraints get their indexes, and values the affinity of their columns`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.db")
    let writer = try SQLiteWriter(url)
    let people = try writer.createTable(
      "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, height REAL, born NUMERIC);")
    let friends = try writer.createTable("CREATE TABLE friends (a INTEGER, b INTEGER, PRIMARY KEY (a, b))")
    try writer.createIndex("CREATE INDEX born ON person (born DESC)")
    for number in 1...700 {
      try people.insert([nil, .text("p\(number)"), .integer(Int64(number)), .text("\(number).0")])
      try friends.insert([.integer(Int64(number)), .integer(Int64(number * 7 % 700))])
    }
    try writer.finish()
    try Python.run(Self.check, in: folder.url)
    let database = try SQLiteDatabase(contentsOf: url)
    var dump = try Dump(folder.url.appending(path: "a.db.dump"))
    #expect(try dump.differences(to: database) == [])
    let person = try #require(database.table(named: "PERSON"))
    #expect(try database.row(of: person, rowid: 5)?.values == [5, "p5", 5.0, 5])
    let born = try #require(database.index(named: "born"))
    #expect(try database.rowids(of: born, equalTo: [77]) == [77])
    let pair = try #require(database.index(named: "sqlite_autoindex_friends_1"))
    #expect(try database.rowids(of: pair, equalTo: [3, 21]) == [3])
    #expect(try database.rowids(of: pair, equalTo: [3]) == [3])
    #expect(try database.rowids(of: pair, equalTo: [3, 22]) == [])
  }

  @Test(.comparesWithSQLite)
  func `a schema of many tables and long statements is written over several pages`() throws {
    let folder = try TemporaryFolder()
    for (file, count) in [("one", 1), ("many", 300)] {
      let writer = try SQLiteWriter(folder.url.appending(path: file + ".db"), pageSize: 512)
      for number in 0..<count {
        let columns = (0..<(number % 7 == 0 ? 30 : 2)).map { "column_\($0)" }.joined(separator: ", ")
        let table = try writer.createTable("CREATE TABLE t\(number) (\(columns))")
        try table.insert([SQLiteValue](repeating: .integer(Int64(number)), count: table.columns.count))
      }
      try writer.finish()
    }
    try Python.run(Self.check, in: folder.url)
    for file in ["one", "many"] {
      var dump = try Dump(folder.url.appending(path: file + ".db.dump"))
      #expect(
        try dump.differences(to: SQLiteDatabase(contentsOf: folder.url.appending(path: file + ".db"))) == [])
    }
  }

  @Test func `without finish nothing remains, and a file that is there is kept`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.db")
    do {
      let writer = try SQLiteWriter(url)
      try writer.createTable("CREATE TABLE t (a)").insert([1])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    try Data("kept".utf8).write(to: url)
    #expect(throws: SQLiteError.self) { try SQLiteWriter(url) }
    let writer = try SQLiteWriter(url, replacing: true)
    try writer.createTable("CREATE TABLE t (a)")
    #expect(try Data(contentsOf: url) == Data("kept".utf8))
    try writer.finish()
    #expect(try SQLiteDatabase(contentsOf: url).tables.map(\.name) == ["t"])
    try Data().write(to: folder.url.appending(path: "b.db-wal"))
    #expect(throws: SQLiteError.self) { try SQLiteWriter(folder.url.appending(path: "b.db")) }
    let elsewhere = folder.url.appending(path: "nothing/c.db")
    let error = #expect(throws: SQLiteError.self) { try SQLiteWriter(elsewhere) }
    #expect(error?.description.hasPrefix("\(elsewhere.path): ") == true, "\(error?.description ?? "")")
  }

  @Test func `rows and statements that do not fit are refused with a reason`() throws {
    let folder = try TemporaryFolder()
    let writer = try SQLiteWriter(folder.url.appending(path: "a.db"))
    func refuse(_ part: String, _ body: () throws -> Void) {
      let error = #expect(throws: SQLiteError.self) { try body() }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
    let table = try writer.createTable("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b UNIQUE)")
    refuse("2 values") { try table.insert([1, "a"]) }
    refuse("cannot be null") { try table.insert([1, nil, 1]) }
    refuse("not an integer") { try table.insert(["x", "a", 1]) }
    try table.insert([5, "a", nil])
    refuse("ascending") { try table.insert([5, "a", 1]) }
    refuse("before the first row") { try writer.createIndex("CREATE INDEX i ON t (a)") }
    refuse("no table") { try writer.createIndex("CREATE INDEX j ON u (a)") }
    refuse("two tables") { try writer.createTable("CREATE TABLE T (a)") }
    refuse("no CREATE TABLE") { try writer.createTable("CREATE TABLE IF NOT EXISTS u (a)") }
    refuse("WITHOUT ROWID") { try writer.createTable("CREATE TABLE u (a PRIMARY KEY) WITHOUT ROWID") }
    try table.insert([6, "a", nil])
    try table.insert([7, "a", 2.0])
    try table.insert([8, "a", 2])
    refuse("unique index") { try writer.finish() }
  }
}
