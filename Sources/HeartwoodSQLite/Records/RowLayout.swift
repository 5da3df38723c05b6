/// Where the columns of a table are in its records.
final class RowLayout: Sendable {
  let table: SQLiteTable
  let encoding: SQLiteTextEncoding
  /// By column, the position of its value in the record.
  let positions: [Int]
  /// By column, whether its integers are floating-point numbers that were stored shorter.
  let isReal: [Bool]
  /// -1 if there is none.
  let rowidAlias: Int
  private let indices: [String: Int]

  init(_ table: SQLiteTable, _ encoding: SQLiteTextEncoding) {
    (self.table, self.encoding) = (table, encoding)
    var positions = Array(table.columns.indices)
    if table.isWithoutRowid {
      // The columns of the primary key come first; one that it names twice has a place of its own only for another
      // order of text, which is left out here.
      var order: [Int] = []
      for column in table.primaryKey where !order.contains(column) { order.append(column) }
      order += table.columns.indices.filter { !order.contains($0) }
      for (position, column) in order.enumerated() { positions[column] = position }
    }
    self.positions = positions
    isReal = table.columns.map { $0.affinity == .real }
    rowidAlias = table.rowidAlias ?? -1
    indices = Dictionary(
      table.columns.enumerated().map { ($1.name.lowercasedName, $0) }, uniquingKeysWith: { first, _ in first }
    )
  }

  func index(_ name: String) -> Int? { indices[name] ?? indices[name.lowercasedName] }
}
