import Foundation
import HeartwoodSQLite
import TestSupport
import Testing

/// Cursors that read the first columns of rows, and the others when they are asked to.
struct CursorTests {
  /// A database with values of all types, also longer than a page, and rows that are older than their last column.
  private static let script = """
    db = sqlite3.connect('a.db', isolation_level=None)
    db.execute('pragma page_size = 512')
    db.execute('create table t (a, id integer primary key, b real, c text, d blob, e)')
    r = random.Random(3)
    def value():
        return r.choice([None, 0, 1, r.randrange(-2 ** 63, 2 ** 63), r.random(), 'x' * r.randrange(200), r.randbytes(2000)])
    for i in range(300):
        db.execute('insert into t values (?, ?, ?, ?, ?, ?)', (value(), i * i, r.choice([1, 1.5, None]), value(), value(), value()))
    db.execute('alter table t add column f default 7')
    db.close()
    """

  private static func database(_ folder: TemporaryFolder) throws -> (SQLiteDatabase, SQLiteTable) {
    try Python.run(script, in: folder.url)
    let database = try SQLiteDatabase(contentsOf: folder.url.appending(path: "a.db"))
    return (database, try #require(database.table(named: "t")))
  }

  @Test(.comparesWithSQLite, arguments: Array((-1..<7).sampled(every: 3)))
  func `rows have the columns that were asked for, and the rest when it is read`(_ last: Int) throws {
    let (database, table) = try Self.database(TemporaryFolder())
    let whole = try database.rows(of: table)
    let cursor = try database.rows(of: table, from: .min, through: last)
    var count = 0
    while let row = try cursor.next(), let expected = try whole.next() {
      #expect((0..<last + 1).allSatisfy { row[$0] == expected[$0] })
      if count % 3 > 0 { try cursor.readRest() }
      if count % 3 > 1 { try cursor.readRest() }
      if count % 3 > 0 { #expect(row.values == expected.values) }
      count += 1
    }
    #expect(count == 300)
  }

  @Test(.comparesWithSQLite) func `a row that is kept does not change when the cursor goes on`() throws {
    let (database, table) = try Self.database(TemporaryFolder())
    let cursor = try database.rows(of: table, from: .min, through: 0)
    var kept: [SQLiteRow] = []
    while let row = try cursor.next() {
      try cursor.readRest()
      kept.append(row)
    }
    var expected: [[SQLiteValue]] = []
    try database.forEachRow(of: table) { expected.append($0.values) }
    #expect(kept.map(\.values) == expected)
  }

  @Test(.comparesWithSQLite) func `numbers are those of the values`() throws {
    let (database, table) = try Self.database(TemporaryFolder())
    try database.forEachRow(of: table) { row in
      for column in 0..<row.count {
        let expected: Double? =
          switch row[column] {
          case .integer(let number): Double(number)
          case .real(let number): number
          default: nil
          }
        #expect(row.number(column) == expected)
      }
    }
  }
}
