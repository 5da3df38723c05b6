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
    let cells = rows.map { row in row.map { $0.display.escapingControls } }
    let full = columns.indices.map { column in
      cells.reduce(TextWidth.columns(of: columns[column])) { max($0, TextWidth.columns(of: $1[column])) }
    }
    let widths = console.terminalWidth.map { Self.widths(full, within: $0) } ?? full
    let onLeft = columns.indices.map(isNumeric)
    try writeRow(columns, widths, onLeft, to: console) {
      console.usesColors ? TerminalStyle.bold.styled($1) : $1
    }
    try console.writeLine(widths.map { String(repeating: "-", count: $0) }.joined(separator: "  "))
    for (values, row) in zip(rows, cells) {
      try writeRow(row, widths, onLeft, to: console) {
        console.usesColors && values[$0] == .null ? TerminalStyle.dim.styled($1) : $1
      }
    }
    try console.writeLine("(\(rows.count) \(rows.count == 1 ? noun.one : noun.many))")
  }

  /// The widths for a terminal: the widest columns are narrowed to one width, so that the table fits. No column gets narrower
  /// than a few characters, also if the table is too wide then.
  static func widths(_ full: [Int], within limit: Int) -> [Int] {
    let room = limit - 2 * max(full.count - 1, 0)
    var widest = widestCell
    while widest > narrowestCell, full.reduce(0, { $0 + min($1, widest) }) > room { widest -= 1 }
    return full.map { min($0, widest) }
  }

  private static let narrowestCell = 8

  private func isNumeric(_ column: Int) -> Bool {
    rows.contains { $0[column].isNumber } && rows.allSatisfy { $0[column].isNumber || $0[column] == .null }
  }

  /// - Parameter styled: The text of a column as it is shown.
  private func writeRow(
    _ cells: [String], _ widths: [Int], _ onLeft: [Bool], to console: any Console,
    _ styled: (_ column: Int, _ text: String) -> String
  ) throws(CommandFailure) {
    var text = ""
    // No spaces at the end of a line.
    let last = cells.lastIndex { !$0.isEmpty } ?? -1
    for column in cells.indices where column <= last {
      let cell = cells[column].cut(toColumns: widths[column])
      let space = String(repeating: " ", count: widths[column] - TextWidth.columns(of: cell))
      let shown = styled(column, cell)
      text +=
        (column == 0 ? "" : "  ") + (onLeft[column] ? space + shown : column == last ? shown : shown + space)
    }
    while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
    try console.writeLine(text)
  }
}
