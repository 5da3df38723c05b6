import Heartwood
import HeartwoodSQLite

/// A column that a condition reads. Cells of the storage class that the attribute has are read as they are; others are converted, and noted, as
/// those of objects are.
final class ConditionColumn {
  let kind: CellKind
  private let store: AppleSQLiteStore
  private let table: EntityTable
  private let cell: EntityTable.Cell
  let column: Int
  /// The integers that the attribute can have.
  private let range: ClosedRange<Int64>
  private let isUTF8: Bool
  /// Whether the attribute has every floating-point number.
  private let isDouble: Bool

  /// Nil for a property without a column.
  init?(_ store: AppleSQLiteStore, _ table: EntityTable, _ cell: EntityTable.Cell) {
    guard let column = cell.column else { return nil }
    (self.store, self.table, self.cell, self.column, kind) = (store, table, cell, column, cell.kind)
    range =
      switch cell.kind {
      case .integer16: Int64(Int16.min)...Int64(Int16.max)
      case .integer32: Int64(Int32.min)...Int64(Int32.max)
      default: .min ... .max
      }
    isDouble = kind == .double || kind == .date
    isUTF8 = table.encoding == .utf8
  }

  private func value(of row: SQLiteRow) throws -> StoredValue {
    try store.value(of: cell, row, row.rowid ?? 0, table)
  }

  func isMissing(in row: SQLiteRow) throws -> Bool { try row.isNull(column) || value(of: row) == .null }

  /// An integer; 0 or 1 for a Boolean.
  @inline(__always)
  func integer(of row: SQLiteRow) throws -> Int64? {
    if let number = row.integer(column), range.contains(number) {
      return kind == .boolean ? (number == 0 ? 0 : 1) : number
    }
    switch try value(of: row) {
    case .integer(let number): return number
    case .boolean(let value): return value ? 1 : 0
    default: return nil
    }
  }

  /// A floating-point number, or the seconds of a date.
  @inline(__always)
  func number(of row: SQLiteRow) throws -> Double? {
    if isDouble, let number = row.number(column) { return number }
    let number: Double
    switch try value(of: row) {
    case .double(let value), .date(let value): number = value
    default: return nil
    }
    return kind == .float ? Double(Float(number)) : number
  }

  func text(of row: SQLiteRow) throws -> String? {
    if case .string(let text) = try value(of: row) { return text }
    return nil
  }

  /// Calls `body` with the bytes of a text in ASCII; nil for others.
  @inline(__always)
  func withASCII(of row: SQLiteRow, _ body: (UnsafeRawBufferPointer) -> Bool) -> Bool? {
    guard isUTF8 else { return nil }
    return row.withBytes(of: column) { $0.allSatisfy { $0 < 0x80 } ? body($0) : nil } ?? nil
  }
}
