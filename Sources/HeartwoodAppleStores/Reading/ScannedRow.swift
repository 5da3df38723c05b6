import Heartwood
import HeartwoodSQLite

/// The row at which a scan is. One object is used for all rows of a scan.
final class ScannedRow: IncrementalStoreRow {
  private let store: AppleSQLiteStore
  private let table: EntityTable
  /// Nil between rows, so that the cursor uses its memory again.
  private var row: SQLiteRow?
  private var reader: EntityTable.Reader
  private var key: Int64

  init(
    _ store: AppleSQLiteStore, _ table: EntityTable, _ row: SQLiteRow, _ reader: EntityTable.Reader,
    _ key: Int64
  ) {
    (self.store, self.table, self.row, self.reader, self.key) = (store, table, row, reader, key)
  }

  func move(to row: SQLiteRow, _ reader: EntityTable.Reader, _ key: Int64) {
    (self.row, self.key) = (row, key)
    if reader !== self.reader { self.reader = reader }
  }

  func leave() { row = nil }

  var entity: EntityDescription { reader.entity }
  var number: UInt64 { UInt64(key) }
  var version: UInt64 { row.map { store.version(of: $0, in: table) } ?? 1 }

  func value(at place: Int) throws -> StoredValue {
    guard let row else { return .null }
    return try store.value(at: place, reader, row, key, table)
  }
}

extension AppleSQLiteStore {
  /// Calls `body` with the rows of objects from a key on until it returns false.
  ///
  /// - Parameter condition: The condition on the rows, of which `body` learns; nil for all.
  func scan(
    _ table: EntityTable, from first: Int64 = .min, where condition: ScanCondition? = nil,
    _ body: (ScannedRow) throws -> Bool
  ) throws {
    var scanned: ScannedRow?
    let file = file
    try forEachRow(of: table, from: first, through: condition?.lastColumn(in: table)) {
      row, reader, key, cursor in
      if let condition {
        guard try condition.holds(for: row, reader) else { return true }
        try file.translating { () throws(SQLiteError) in try cursor.readRest() }
      }
      if let scanned {
        scanned.move(to: row, reader, key)
      } else {
        scanned = ScannedRow(self, table, row, reader, key)
      }
      defer { scanned?.leave() }
      return try scanned.map(body) ?? true
    }
  }

  /// Calls `body` with the rows of objects from a key on, how each is read, its key, and the cursor, until it returns
  /// false.
  ///
  /// - Parameter last: The last column that the rows have before the cursor's `readRest`; nil for all.
  func forEachRow(
    of table: EntityTable, from first: Int64, through last: Int?,
    _ body: (SQLiteRow, EntityTable.Reader, Int64, SQLiteCursor) throws -> Bool
  ) throws {
    let file = file
    let cursor = try file.translating { () throws(SQLiteError) in
      try file.database.rows(of: table.table, from: first, through: last)
    }
    var current: (number: Int64, reader: EntityTable.Reader)?
    while let row = try file.translating({ () throws(SQLiteError) in try cursor.next() }) {
      guard let key = row.rowid else { continue }
      let number = entityNumber(of: row, in: table)
      if number == nil || number != current?.number {
        current = number.flatMap { number in table.readers[number].map { (number, $0) } }
      }
      guard let reader = current?.reader else {
        unfit.add(unknownEntity(of: row, in: table), row: key)
        continue
      }
      guard key > 0, key <= Self.mostNumber else {
        noteKey(key, table)
        continue
      }
      guard try body(row, reader, key, cursor) else { return }
    }
  }
}
