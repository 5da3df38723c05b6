/// How a result is written.
enum OutputFormat: String, CaseIterable {
  case table, json, csv
}

/// Rows of values under named columns.
struct ResultTable {
  let columns: [String]
  var rows: [[CellValue]] = []
  /// What a row is called, for the line below a table: one, and more than one.
  var noun = (one: "object", many: "objects")

  func write(_ format: OutputFormat, to console: any Console) throws(CommandFailure) {
    switch format {
    case .table: try writeTable(to: console)
    case .json: try writeJSON(to: console)
    case .csv: try writeCSV(to: console)
    }
  }
}

// MARK: Table

extension ResultTable {
  /// Cells wider than this are cut where a person reads them.
  static let widestCell = 60

  private func writeTable(to console: any Console) throws(CommandFailure) {
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
    let text = line.joined(separator: "  ")
    try console.writeLine(String(text.reversed().drop { $0 == " " }.reversed()))
  }
}

// MARK: JSON and CSV

extension ResultTable {
  /// A list of objects, one on each line.
  private func writeJSON(to console: any Console) throws(CommandFailure) {
    try console.write("[")
    for (index, row) in rows.enumerated() {
      let object = JSONObject(zip(columns, row).map { ($0, $1.json) })
      try console.write((index == 0 ? "\n" : ",\n") + JSONWriter.line(.object(object)))
    }
    try console.writeLine(rows.isEmpty ? "]" : "\n]")
  }

  /// As RFC 4180 has it, with line feeds.
  private func writeCSV(to console: any Console) throws(CommandFailure) {
    try console.writeLine(columns.map(ResultTable.quoted).joined(separator: ","))
    for row in rows {
      try console.writeLine(row.map { ResultTable.quoted($0.plain) }.joined(separator: ","))
    }
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
      return text
    }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}
