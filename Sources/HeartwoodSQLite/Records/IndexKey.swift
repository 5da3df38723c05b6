/// Values that records of an index are compared with, in the order of the index: "Datatypes In SQLite", section 4.1,
/// and "Database File Format", section 2.4.
struct IndexKey {
  private enum Part {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes by which text is ordered.
    case text([UInt8])
    case blob([UInt8])
  }

  private let parts: [(part: Part, collation: Collation, isDescending: Bool)]
  private let encoding: SQLiteTextEncoding

  init(_ values: [SQLiteValue], _ index: SQLiteIndex, _ encoding: SQLiteTextEncoding) throws(SQLiteError) {
    self.encoding = encoding
    var parts: [(part: Part, collation: Collation, isDescending: Bool)] = []
    for (value, column) in zip(values, index.columns) {
      guard let collation = Collation(column.collation) else {
        throw SQLiteError(
          .unsupported, "Index \(index.name) is ordered by \(column.collation), which is part of a program.")
      }
      let part: Part =
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): number.isNaN ? .null : .real(number)
        case .text(let text):
          .text(collation.sortBytes(collation == .binary ? encoding.bytes(text) : Array(text.utf8)))
        case .blob(let bytes): .blob(bytes)
        }
      parts.append((part, collation, column.isDescending))
    }
    self.parts = parts
  }

  /// Less than 0 if the record comes before the key, 0 if its first values are equal to the key's.
  func comparison(with record: Record) -> Int {
    for (index, (part, collation, isDescending)) in parts.enumerated() {
      let result = index < record.count ? comparison(record, index, part, collation) : -1
      if result != 0 { return isDescending ? -result : result }
    }
    return 0
  }

  private func comparison(_ record: Record, _ index: Int, _ part: Part, _ collation: Collation) -> Int {
    let type = record.type(index)
    let isNull = type == 0 || type == 7 && record.real(index).isNaN
    let rank = isNull ? 0 : type < 10 ? 1 : type & 1 == 1 ? 2 : 3
    switch part {
    case .null: return rank
    case .integer(let number):
      if rank != 1 { return rank - 1 }
      return type == 7
        ? Self.order(record.real(index), number) : Self.order(record.integer(index), number)
    case .real(let number):
      if rank != 1 { return rank - 1 }
      return type == 7
        ? Self.order(record.real(index), number) : -Self.order(number, record.integer(index))
    case .text(let bytes):
      if rank != 2 { return rank - 2 }
      if collation == .binary { return Self.order(record.bytes(index), bytes) }
      let text =
        encoding == .utf8 ? Array(record.bytes(index)) : Array(encoding.text(record.bytes(index)).utf8)
      return collation.sortBytes(text).withUnsafeBytes { Self.order($0, bytes) }
    case .blob(let bytes):
      return rank == 3 ? Self.order(record.bytes(index), bytes) : rank - 3
    }
  }

  private static func order<Number: Comparable>(_ first: Number, _ second: Number) -> Int {
    first < second ? -1 : first > second ? 1 : 0
  }

  /// The exact order of a floating-point number and an integer.
  private static func order(_ first: Double, _ second: Int64) -> Int {
    if first < -0x1p63 { return -1 }
    if first >= 0x1p63 { return 1 }
    let whole = Int64(first)
    if whole != second { return whole < second ? -1 : 1 }
    return order(first, Double(whole))
  }

  private static func order(_ first: UnsafeRawBufferPointer, _ second: [UInt8]) -> Int {
    for (a, b) in zip(first, second) where a != b { return a < b ? -1 : 1 }
    return order(first.count, second.count)
  }
}
