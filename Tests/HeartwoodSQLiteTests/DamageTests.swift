import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

/// Files with changed bytes: an error that says where, or values; never a trap, a loop without end, or memory without
/// bound.
struct DamageTests {
  /// A database with all kinds of pages: a table, a long value, an index, a table `WITHOUT ROWID`, free pages, and a log.
  private static let victim = """
    db = sqlite3.connect('a.db', isolation_level=None)
    db.execute('pragma page_size = 512')
    db.execute('pragma auto_vacuum = %s' % sys.argv[1])
    db.execute("pragma encoding = '%s'" % sys.argv[2])
    db.execute('pragma journal_mode = %s' % ('wal' if sys.argv[3] == 'log' else 'delete'))
    db.execute('create table a (id integer primary key, t text collate nocase, r real default 5, b blob)')
    db.execute('create index i on a (t, r)')
    db.execute('create table w (k, v, primary key (v, k)) without rowid')
    r = random.Random(5)
    for i in range(120):
        db.execute('insert into a (t, r, b) values (?, ?, ?)', (random_text(r), i / 2, r.randbytes(3000 if i % 40 == 7 else i)))
        db.execute('insert into w values (?, ?)', (i, 'v%d' % (i % 5)))
    db.execute('delete from a where id % 3 = 0')
    if sys.argv[3] == 'log':
        shutil.copy('a.db', 'copy.db')
        shutil.copy('a.db-wal', 'copy.db-wal')
        db.close()
    else:
        db.close()
        shutil.copy('a.db', 'copy.db')
    """

  /// Reads everything; returns the error.
  private static func readAll(_ url: URL) -> SQLiteError? {
    do throws(SQLiteError) {
      let database = try SQLiteDatabase(contentsOf: url)
      var rows = 0
      for table in database.tables {
        let cursor = try database.rows(of: table)
        while let row = try cursor.next() {
          rows += 1
          for column in 0..<row.count { _ = row[column] }
        }
        _ = try database.count(of: table)
        guard !table.isWithoutRowid else { continue }
        _ = try database.row(of: table, rowid: 50)
        let first = try database.rows(of: table, from: .min, through: 1)
        while let row = try first.next() {
          for column in 0..<min(2, row.count) { _ = (row[column], row.number(column)) }
          try first.readRest()
          _ = row.values
        }
      }
      for index in database.indexes where database.table(named: index.tableName)?.isWithoutRowid == false {
        _ = try database.rowids(of: index, equalTo: ["abc"])
      }
      #expect(rows < 1000)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    .comparesWithSQLite,
    arguments: [("0", "UTF-8", "file"), ("1", "UTF-16be", "file"), ("0", "UTF-8", "log")])
  func `a changed byte is an error with its place, or a value`(
    _ vacuum: String, _ encoding: String, _ changed: String
  ) throws {
    let folder = try TemporaryFolder()
    try Python.run(Self.victim, vacuum, encoding, changed, in: folder.url)
    let url = folder.url.appending(path: "copy.db")
    #expect(Self.readAll(url) == nil)
    let victim = changed == "log" ? URL(filePath: url.path + "-wal") : url
    let whole = try Data(contentsOf: victim)
    let seed = 11
    var numbers = SeededNumbers(seed)
    let file = try FileHandle(forUpdating: victim)
    var errors = 0
    let rounds = Rounds.count(150, long: 20_000)
    for round in 0..<(changed == "log" ? rounds / 2 : rounds) {
      // Headers of pages and of cells more often than contents.
      let offset =
        switch round % 3 {
        case 0: numbers.below(whole.count)
        case 1: numbers.below(min(200, whole.count))
        default: min(whole.count - 1, numbers.below(whole.count / 512) * 512 + numbers.below(24))
        }
      let byte = UInt8(
        [0, 255, Int(whole[offset]) ^ 1 << numbers.below(8), numbers.below(256)][numbers.below(4)])
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: [byte])
      if let error = Self.readAll(url) {
        errors += 1
        // The name of an order of text that was changed is that of an unknown order.
        let hasPlace =
          error.offset != nil && (error.page != nil || offset < 100) || error.code == .unsupported
        #expect(hasPlace && error.path != nil, "seed \(seed), byte \(offset) = \(byte): \(error)")
      }
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: [whole[offset]])
    }
    // In a log, what is behind the changed byte does not count.
    #expect(errors > 0 || changed == "log")
    #expect(Self.readAll(url) == nil)
  }

  @Test(.comparesWithSQLite)
  func `many changed bytes, and files that are cut anywhere, do not stop the program`() throws {
    let folder = try TemporaryFolder()
    try Python.run(Self.victim, "2", "UTF-16le", "log", in: folder.url)
    let url = folder.url.appending(path: "copy.db")
    let log = URL(filePath: url.path + "-wal")
    let (whole, wholeLog) = (try Data(contentsOf: url), try Data(contentsOf: log))
    let seed = 12
    var numbers = SeededNumbers(seed)
    var errors = 0
    for round in 0..<80 {
      var (bytes, logBytes) = (whole, wholeLog)
      switch round % 4 {
      case 0: bytes = bytes.prefix(numbers.below(bytes.count))
      case 1: logBytes = logBytes.prefix(numbers.below(logBytes.count))
      default:
        for _ in 0..<(1 + numbers.below(40)) {
          bytes[numbers.below(bytes.count)] = UInt8(numbers.below(256))
          if round % 4 == 2 { logBytes = Data() }
        }
      }
      try bytes.write(to: url)
      try logBytes.write(to: log)
      if Self.readAll(url) != nil { errors += 1 }
    }
    #expect(errors > 10)
  }

  @Test(arguments: [16, 60, 99])
  func `a file that ends in the header of a database is said to end there`(count: Int) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.db")
    try Data(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: count - 16)).write(to: url)
    let error = #expect(throws: SQLiteError.self) { try SQLiteDatabase(contentsOf: url) }
    #expect(error?.message.contains("it ends after \(count) bytes") == true, "\(error?.message ?? "")")
  }

  @Test func `files that are no databases that can be read say what they are`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.db")
    func code(_ bytes: some Sequence<UInt8>) throws -> SQLiteError.Code? {
      try Data(bytes).write(to: url)
      return #expect(throws: SQLiteError.self) { try SQLiteDatabase(contentsOf: url) }?.code
    }
    let missing = #expect(throws: SQLiteError.self) { try SQLiteDatabase(contentsOf: url) }
    #expect(missing?.code == .notFound)
    #expect(missing?.description.hasPrefix(url.path) == true)
    let ofFolder = #expect(throws: SQLiteError.self) { try SQLiteDatabase(contentsOf: folder.url) }
    #expect(ofFolder?.code == .inputOutput)
    #expect(try code([]) == .notSQLite)
    #expect(try code("<?xml version=\"1.0\"?>".utf8) == .notSQLite)
    #expect(try code([UInt8](repeating: 7, count: 4096)) == .notSQLite)
    #expect(try code("SQLite format 3\0".utf8) == .notSQLite)
    var numbers = SeededNumbers(1)
    #expect(try code((0..<8192).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }) == .encrypted)
    #expect(try code((0..<8195).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }) == .encrypted)

    try FileManager.default.removeItem(at: url)
    let writer = try SQLiteWriter(url)
    let table = try writer.createTable("CREATE TABLE t (a)")
    for number in 0..<2000 { try table.insert([.integer(Int64(number))]) }
    try writer.finish()
    let whole = try Data(contentsOf: url)
    func changed(_ offset: Int, _ byte: UInt8) -> Data {
      var bytes = whole
      bytes[offset] = byte
      return bytes
    }
    #expect(try code(changed(19, 3)) == .newerFormat)
    #expect(try code(changed(47, 5)) == .newerFormat)
    #expect(try code(changed(16, 3)) == .damaged)
    #expect(try code(changed(59, 9)) == .damaged)
    #expect(try code(whole.dropLast(4096)) == .damaged)
    try whole.write(to: url)
    #expect(throws: Never.self) { try SQLiteDatabase(contentsOf: url) }
  }

  @Test func `pages that form a circle are an error`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.db")
    let writer = try SQLiteWriter(url, pageSize: 512)
    let table = try writer.createTable("CREATE TABLE t (a UNIQUE)")
    for number in 0..<500 {
      try table.insert([.blob([UInt8](repeating: UInt8(number % 251), count: 90) + [UInt8(number / 251)])])
    }
    try writer.finish()
    let database = try SQLiteDatabase(contentsOf: url)
    for root in [database.tables[0].rootPage, database.indexes[0].rootPage] {
      // Each inner page leads to the root.
      var bytes = try Data(contentsOf: url)
      let start = Int(root - 1) * 512
      #expect([2, 5].contains(bytes[start]))
      for byte in 0..<4 { bytes[start + 8 + byte] = UInt8(truncatingIfNeeded: root >> UInt32(24 - 8 * byte)) }
      let copy = folder.url.appending(path: "\(root).db")
      try bytes.write(to: copy)
      let error = try #require(Self.readTree(copy, root))
      #expect(error.code == .damaged && error.page != nil)
    }
  }

  /// Reads the tree with a root.
  private static func readTree(_ url: URL, _ root: UInt32) -> SQLiteError? {
    do throws(SQLiteError) {
      let database = try SQLiteDatabase(contentsOf: url)
      if let index = database.indexes.first(where: { $0.rootPage == root }) {
        _ = try database.rowids(of: index, equalTo: [.blob([255])])
      } else {
        let cursor = try database.rows(of: database.tables[0])
        while try cursor.next() != nil {}
      }
      return nil
    } catch {
      return error
    }
  }
}
