/// Where the columns of a table are in its records.
final class RowLayout: Sendable {
  let table: SQLiteTable
  let encoding: SQLiteTextEncoding
  /// By column, the position of its value in the record.
  let positions: [Int]
  /// The number of values in a record.
  let valueCount: Int
  /// By column, whether its integers are floating-point numbers that were stored shorter.
  let isReal: [Bool]
  /// -1 if there is none.
  let rowidAlias: Int
  private let indices: [String: Int]

  init(_ table: SQLiteTable, _ encoding: SQLiteTextEncoding) {
    (self.table, self.encoding) = (table, encoding)
    var positions = Array(table.columns.indices)
    var valueCount = positions.count
    if table.isWithoutRowid {
      // The columns of the primary key come first. One that it names for two orders of text is there twice.
      let order = table.primaryKey + table.columns.indices.filter { !table.primaryKey.contains($0) }
      for (position, column) in order.enumerated().reversed() { positions[column] = position }
      valueCount = order.count
    }
    (self.positions, self.valueCount) = (positions, valueCount)
    isReal = table.columns.map { $0.affinity == .real }
    rowidAlias = table.rowidAlias ?? -1
    indices = Dictionary(
      table.columns.enumerated().map { ($1.name.lowercasedName, $0) }, uniquingKeysWith: { first, _ in first }
    )
  }

  func index(_ name: String) -> Int? { indices[name] ?? indices[name.lowercasedName] }
}
