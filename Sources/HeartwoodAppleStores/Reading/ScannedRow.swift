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

  fileprivate init(
    _ store: AppleSQLiteStore, _ table: EntityTable, _ row: SQLiteRow, _ reader: EntityTable.Reader,
    _ key: Int64
  ) {
    (self.store, self.table, self.row, self.reader, self.key) = (store, table, row, reader, key)
  }

  /// - Parameter reader: Nil for the entity of the former row.
  fileprivate func move(to row: SQLiteRow, _ reader: EntityTable.Reader?, _ key: Int64) {
    (self.row, self.key) = (row, key)
    if let reader { self.reader = reader }
  }

  fileprivate func leave() { row = nil }

  var entity: EntityDescription { reader.entity }
  var number: UInt64 { UInt64(key) }
  var version: UInt64 { row.map { store.version(of: $0, in: table) } ?? 1 }

  func value(at place: Int) throws -> StoredValue {
    guard let row else { return .null }
    return try store.value(of: reader.cells[place], row, key, table)
  }
}

extension AppleSQLiteStore {
  /// Calls `body` with the rows of objects from a key on until it returns false.
  func scan(
    _ table: EntityTable, from first: Int64, _ body: (ScannedRow) throws -> Bool
  ) throws {
    let file = file
    let cursor = try file.translating { () throws(SQLiteError) in
      try file.database.rows(of: table.table, from: first)
    }
    var (scanned, last) = (ScannedRow?.none, Int64?.none)
    while let row = try file.translating({ () throws(SQLiteError) in try cursor.next() }) {
      guard let key = row.rowid else { continue }
      let number = entityNumber(of: row, in: table)
      let isSame = scanned != nil && number == last
      let reader = isSame ? nil : number.flatMap { table.readers[$0] }
      guard isSame || reader != nil else {
        unfit.add(unknownEntity(of: row, in: table), row: key)
        continue
      }
      guard key > 0, key <= Self.mostNumber else {
        noteKey(key, table)
        continue
      }
      if let scanned {
        scanned.move(to: row, reader, key)
      } else if let reader {
        scanned = ScannedRow(self, table, row, reader, key)
      }
      last = number
      defer { scanned?.leave() }
      guard let scanned, try body(scanned) else { return }
    }
  }
}
