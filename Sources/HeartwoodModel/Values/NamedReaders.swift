import HeartwoodBytes

/// Reads attributes directly from a row in the types of `value(forKey:)`, as typed accessors do in their own.
package struct NamedReaders: @unchecked Sendable {
  private typealias Reading = (RowFields, Column) -> Any?

  private enum Reader {
    /// The value is not in a cell of the row.
    case none
    // The types of most attributes, whose reading the compiler specialises.
    case int64, double, bool, string
    case other(Reading)
  }

  /// By slot.
  private let readers: [(reader: Reader, column: Column)]

  /// - Parameter types: By slot, the types of the values; nil if no type reads the cell.
  init(_ types: [(any AttributeValue.Type)?], _ layout: RowLayout) {
    readers = zip(types, layout.columns).map { type, column in
      guard let type, column.kind != .transient else { return (.none, column) }
      if type == Int64.self { return (.int64, column) }
      if type == Double.self { return (.double, column) }
      if type == Bool.self { return (.bool, column) }
      if type == String.self { return (.string, column) }
      return (.other(type.anyReading), column)
    }
  }

  /// The value in a validated row; nil for null, and for a value that is not in a cell of the row.
  package func value(_ row: RowFields, at slot: Int) -> Any? {
    let column = readers[slot].column
    switch readers[slot].reader {
    case .none: return nil
    case .int64:
      guard let value = Int64._read(row, column) else { return nil }
      return value
    case .double:
      guard let value = Double._read(row, column) else { return nil }
      return value
    case .bool:
      guard let value = Bool._read(row, column) else { return nil }
      return value
    case .string:
      guard let value = String._read(row, column) else { return nil }
      return value
    case .other(let read): return read(row, column)
    }
  }
}

extension AttributeValue {
  fileprivate static var anyReading: (RowFields, Column) -> Any? {
    { row, column in _read(row, column).map { $0 as Any } }
  }
}
