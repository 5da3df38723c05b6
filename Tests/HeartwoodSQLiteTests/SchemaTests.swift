import Foundation
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Statements of a schema, as SQLite accepts them.
struct SchemaTests {
  private static func table(_ sql: String) throws -> SQLiteTable {
    Schema.table("t", 2, sql, try #require(TableStatement(sql), "\(sql)"))
  }

  @Test func `names and types are read in every kind of quotation`() throws {
    let table = try Self.table(
      #"""
      CREATE TABLE "my ""table"" " (a, [b c] INT, `d``e` VARCHAR ( 20 , 3 ), "f" unsigned big int,
        'g' "odd type", /* h TEXT, */ i -- j
        TEXT, \#u{e4}\#u{4e2d} REAL, generated BLOB, key NUMERIC)
      """#)
    #expect(
      table.columns.map(\.name) == ["a", "b c", "d`e", "f", "g", "i", "\u{e4}\u{4e2d}", "generated", "key"])
    let types = [
      "", "INT", "VARCHAR(20, 3)", "unsigned big int", "odd type", "TEXT", "REAL", "BLOB", "NUMERIC",
    ]
    #expect(table.columns.map(\.declaredType) == types)
    #expect(
      table.columns.map(\.affinity)
        == [.blob, .integer, .text, .integer, .numeric, .text, .real, .blob, .numeric])
    #expect(table.columnIndex(named: "B C") == 1)
  }

  @Test func `constraints are passed over, and defaults are values`() throws {
    let table = try Self.table(
      """
      create table main.t(a int default(5)check(a in(1,')')),b text default 'it''s'not null on conflict ignore unique,
      c constraint n default -1.5 constraint m references o(x,y) on delete set null deferrable initially deferred,
      d default x'0aFF' collate nocase, e default current_timestamp, f boolean default true, g as (a + 1) stored,
      h int generated always as (a + b), constraint u unique(a,b) on conflict replace foreign key(a) references t,
      check(1))
      """)
    #expect(table.columns.map(\.name) == ["a", "b", "c", "d", "e", "f", "g"])
    #expect(table.computedColumns == ["h"])
    #expect(table.columns.map(\.defaultValue) == [5, "it's", -1.5, .blob([10, 255]), nil, 1, nil])
    #expect(table.columns.map(\.isNotNull) == [false, true, false, false, false, false, false])
    #expect(table.columns[3].collation == "nocase")
  }

  @Test func `the rowid has a name only where SQLite gives it one`() throws {
    #expect(try Self.table("CREATE TABLE t (a, id INTEGER PRIMARY KEY)").rowidAlias == 1)
    #expect(try Self.table("CREATE TABLE t (id \"integer\" PRIMARY KEY ASC AUTOINCREMENT)").rowidAlias == 0)
    #expect(try Self.table("CREATE TABLE t (id INTEGER, PRIMARY KEY (\"ID\" DESC))").rowidAlias == 0)
    #expect(try Self.table("CREATE TABLE t (id INTEGER PRIMARY KEY DESC)").rowidAlias == nil)
    #expect(try Self.table("CREATE TABLE t (id INT PRIMARY KEY)").rowidAlias == nil)
    #expect(try Self.table("CREATE TABLE t (id INTEGER, a, PRIMARY KEY (id, a))").rowidAlias == nil)
    let without = try Self.table("CREATE TABLE t (id INTEGER PRIMARY KEY, a) STRICT, WITHOUT ROWID")
    #expect(without.rowidAlias == nil && without.isWithoutRowid && without.primaryKey == [0])
  }

  @Test func `what is no table is refused, and cut statements do not stop the parser`() {
    let sql =
      "CREATE TABLE t (a INT DEFAULT (1), \"b\" TEXT CHECK (b <> ')'), PRIMARY KEY (a, b)) WITHOUT ROWID"
    for count in 0...sql.count { _ = TableStatement(String(sql.prefix(count))) }
    #expect(TableStatement("CREATE VIRTUAL TABLE t USING fts5(a)") == nil)
    #expect(TableStatement("CREATE VIEW t AS SELECT 1") == nil)
    #expect(TableStatement("CREATE TABLE t ()") == nil)
    #expect(TableStatement("CREATE TABLE t (a") == nil)
  }

  @Test func `columns of an index are read with their order, and expressions have no name`() throws {
    let index = try #require(
      IndexStatement(
        "CREATE UNIQUE INDEX i ON t (a, \"b\" COLLATE nocase DESC, lower(c), a + 1, 'd' ASC) WHERE a > 0"))
    #expect(index.columns.map(\.name) == ["a", "b", nil, nil, "d"])
    #expect(index.columns.map(\.isDescending) == [false, true, false, false, false])
    #expect(index.columns[1].collation == "nocase")
    #expect(index.isUnique && index.isPartial)
  }
}
