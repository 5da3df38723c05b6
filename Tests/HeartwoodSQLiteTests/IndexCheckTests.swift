import Foundation
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Indexes that are compared with their tables, and tables whose inner pages contradict their rows.
struct IndexCheckTests {
  private static let script = """
    db = sqlite3.connect('a.db', isolation_level=None)
    db.execute('pragma page_size = 512')
    db.execute('create table a (id integer primary key, n integer, m integer, r real, t text)')
    r = random.Random(59)
    for i in range(900):
        n = r.choice([None, r.randrange(-9, 9), r.randrange(2**60), i / 2 + 0.25, 'x%d' % i, b'y'])
        db.execute('insert into a values (?, ?, ?, ?, ?)', (3 * i, n, i % 7, i, 'text %d' % i))
    db.execute('create index up on a (n)')
    db.execute('create index down on a (n desc, m)')
    db.execute('create index twice on a (m, n)')
    db.execute('create index alias on a (id)')
    db.execute('create index reals on a (r)')
    db.execute('create index part on a (n) where m > 2')
    db.execute('create index computed on a (n + 1)')
    """

  private func makeDatabase(in folder: TemporaryFolder) throws -> (url: URL, bytes: Data) {
    try Python.run(Self.script, in: folder.url)
    let url = folder.url.appending(path: "a.db")
    return (url, try Data(contentsOf: url))
  }

  @Test(.comparesWithSQLite) func `an index of all rows finds all, whatever its columns and order are`()
    throws
  {
    let folder = try TemporaryFolder()
    let database = try SQLiteDatabase(contentsOf: makeDatabase(in: folder).url)
    for index in database.indexes {
      let isExpected = !["part", "computed"].contains(index.name)
      #expect(try database.findsAllIntegers(index) == isExpected, "\(index.name)")
    }
  }

  /// Compared with what a search finds of each integer.
  @Test(.comparesWithSQLite) func `a damaged index that does not find a row is seen`() throws {
    let folder = try TemporaryFolder()
    let (url, bytes) = try makeDatabase(in: folder)
    let database = try SQLiteDatabase(contentsOf: url)
    let table = try #require(database.table(named: "a"))
    var rows: [Int64: [Int64]] = [:]
    try database.forEachRow(of: table) { row in
      if let number = row.integer(1), let rowid = row.rowid { rows[number, default: []].append(rowid) }
    }
    let pages = try pages(of: #require(database.index(named: "up")), database)
    let seed = 59
    var numbers = SeededNumbers(seed)
    var (damaged, unseen) = (0, 0)
    for _ in 0..<120 {
      let place = (Int(pages[numbers.below(pages.count)]) - 1) * 512 + numbers.below(512)
      var changed = bytes
      changed[place] ^= UInt8(1 << numbers.below(8))
      try changed.write(to: url)
      let database = try SQLiteDatabase(contentsOf: url)
      let index = try #require(database.index(named: "up"))
      let isWhole = try database.findsAllIntegers(index)
      let isFound =
        (try? rows.allSatisfy { number, rowids in
          try database.rowids(of: index, equalTo: [.integer(number)]).sorted() == rowids
        }) ?? false
      if !isFound { damaged += 1 }
      if !isFound && isWhole { unseen += 1 }
      #expect(!isWhole || isFound, "seed \(seed), byte \(place)")
    }
    #expect(damaged > 10 && unseen == 0)
  }

  private func pages(of index: SQLiteIndex, _ database: SQLiteDatabase) throws -> [UInt32] {
    var found = [index.rootPage]
    let cursor = try TreeCursor(database.source, .index, root: index.rootPage)
    while try cursor.next() { if found.last != cursor.page.number { found.append(cursor.page.number) } }
    return found
  }

  /// A search for a rowid does not look behind such a key, so that a scan would find rows that a search does not.
  @Test(.comparesWithSQLite) func `a scan refuses a row that is behind a greater key of an inner page`()
    throws
  {
    let folder = try TemporaryFolder()
    let (url, bytes) = try makeDatabase(in: folder)
    let table = try #require(SQLiteDatabase(contentsOf: url).table(named: "a"))
    let page = Int(table.rootPage - 1) * 512
    #expect(bytes[page] == 5)
    var changed = bytes
    // The root has the keys of inner pages or leaves; a key is a varint behind the number of the child.
    let cell = Int(bytes[page + 12]) << 8 | Int(bytes[page + 13])
    let last = (page + cell + 4..<page + cell + 13).first { bytes[$0] < 0x80 }
    changed[try #require(last)] |= 0x7F
    try changed.write(to: url)
    let database = try SQLiteDatabase(contentsOf: url)
    #expect(throws: SQLiteError.self) { try database.forEachRow(of: table) { _ in } }
  }
}
