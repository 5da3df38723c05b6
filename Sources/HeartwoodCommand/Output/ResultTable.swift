/// The output format of a result.
enum OutputFormat: String, CaseIterable {
  case table, json, csv
}

/// Rows of values with named columns.
struct ResultTable {
  let columns: [String]
  var rows: [[CellValue]] = []
  /// The noun for a row in the line below a table, singular and plural.
  var noun = (one: "object", many: "objects")

  func write(_ format: OutputFormat, to console: any Console) throws(CommandFailure) {
    var writer = ResultWriter(columns: columns, format: format, to: console)
    writer.noun = noun
    for row in rows { try writer.add(row) }
    try writer.finish()
  }
}

// MARK: Table

extension ResultTable {
  /// The maximum width of a cell, in terminal columns, if long cells are truncated.
  static let widestCell = 60

  func writeTable(to console: any Console) throws(CommandFailure) {
    let cells = rows.map { row in row.map { text($0, console) } }
    let widths = columns.indices.map { column in
      cells.reduce(TextWidth.columns(of: columns[column])) { max($0, TextWidth.columns(of: $1[column])) }
    }
    let onLeft = columns.indices.map(isNumeric)
    try writeRow(columns, widths, onLeft, to: console)
    try console.writeLine(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
    for row in cells { try writeRow(row, widths, onLeft, to: console) }
    try console.writeLine("(\(rows.count) \(rows.count == 1 ? noun.one : noun.many))")
  }

  private func text(_ value: CellValue, _ console: any Console) -> String {
    let text = value.display.escapingControls
    return console.cutsLongCells ? text.cut(toColumns: ResultTable.widestCell) : text
  }

  private func isNumeric(_ column: Int) -> Bool {
    rows.contains { $0[column].isNumber } && rows.allSatisfy { $0[column].isNumber || $0[column] == .null }
  }

  private func writeRow(
    _ cells: [String], _ widths: [Int], _ onLeft: [Bool], to console: any Console
  ) throws(CommandFailure) {
    let line = cells.indices.map { cells[$0].padded(toColumns: widths[$0], onLeft: onLeft[$0]) }
    var text = line.joined(separator: "  ")
    while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
    try console.writeLine(text)
  }
}
