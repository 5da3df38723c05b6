import Foundation

/// A row of a table. Its values are decoded when they are asked for.
///
/// A row keeps the page of its record in memory (a copy of it, if the record is in several pages); it stays valid
/// whatever happens to its cursor and to the database. An index outside of the table's columns is a mistake of the
/// program, as with an array.
public struct SQLiteRow: Sendable {
  let record: RowRecord

  @inline(__always)
  var layout: RowLayout { record.layout }

  /// The rowid; nil in a table `WITHOUT ROWID`.
  public var rowid: Int64? { layout.table.isWithoutRowid ? nil : record.rowid }

  /// The number of columns.
  public var count: Int { layout.positions.count }

  /// The value of a column.
  ///
  /// - Complexity: O(1) for numbers, O(length) for text and blobs, which are copied.
  public subscript(column: Int) -> SQLiteValue {
    let position = layout.positions[column]
    guard position < record.count else {
      precondition(record.isWhole, "The cursor has not read column \(column).")
      return column == layout.rowidAlias ? .integer(record.rowid) : layout.table.columns[column].defaultValue
    }
    let type = record.type(position)
    switch type {
    case 0: return column == layout.rowidAlias ? .integer(record.rowid) : .null
    case 7:
      let number = record.real(position)
      return number.isNaN ? .null : .real(number)
    case 1...9:
      let number = record.integer(position)
      return layout.isReal[column] ? .real(Double(number)) : .integer(number)
    case _ where type & 1 == 0: return .blob(Array(record.bytes(position)))
    default: return .text(layout.encoding.text(record.bytes(position)))
    }
  }

  /// The value of the column with the name, which is compared without case; nil if the table has no such column.
  public subscript(name: String) -> SQLiteValue? { layout.index(name).map { self[$0] } }

  /// All values, in the order of the columns.
  public var values: [SQLiteValue] { (0..<count).map { self[$0] } }

  /// Whether the value is null.
  public func isNull(_ column: Int) -> Bool {
    let position = layout.positions[column]
    guard position < record.count else { return self[column] == .null }
    switch record.type(position) {
    case 0: return column != layout.rowidAlias
    case 7: return record.real(position).isNaN
    default: return false
    }
  }

  /// The value if it is an integer; else nil. Faster than the value.
  public func integer(_ column: Int) -> Int64? {
    let position = layout.positions[column]
    if position < record.count, !layout.isReal[column] {
      let type = record.type(position)
      if type != 0 { return type < 10 && type != 7 ? record.integer(position) : nil }
    }
    if case .integer(let number) = self[column] { return number }
    return nil
  }

  /// The value as a floating-point number if it is a number; else nil. Faster than the value.
  package func number(_ column: Int) -> Double? {
    let position = layout.positions[column]
    if position < record.count {
      switch record.type(position) {
      case 7:
        let number = record.real(position)
        return number.isNaN ? nil : number
      case 1...9: return Double(record.integer(position))
      case 0: break
      default: return nil
      }
    }
    switch self[column] {
    case .integer(let number): return Double(number)
    case .real(let number): return number
    default: return nil
    }
  }

  /// Calls `body` with the bytes of a text, as they are in the encoding of the database, or of a blob; nil for other
  /// values. Nothing is copied.
  public func withBytes<Result>(
    of column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result? {
    let position = layout.positions[column]
    if position < record.count, record.type(position) >= 12 {
      return try withExtendedLifetime(record) { try body(record.bytes(position)) }
    }
    switch self[column] {
    case .text(let text): return try layout.encoding.bytes(text).withUnsafeBytes(body)
    case .blob(let bytes): return try bytes.withUnsafeBytes(body)
    default: return nil
    }
  }

  /// The bytes of a text, as they are in the encoding of the database, or of a blob; nil for other values.
  public func bytes(_ column: Int) -> [UInt8]? { withBytes(of: column) { Array($0) } }

  /// The bytes of a text, as they are in the encoding of the database, or of a blob; nil for other values.
  public func data(_ column: Int) -> Data? { withBytes(of: column) { Data($0) } }
}
