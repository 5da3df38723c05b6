/// Writes rows as they come. Only a table keeps them all, for it has to know how wide its columns are.
struct ResultWriter {
  /// What a row is called, for the line below a table: one, and more than one.
  var noun = (one: "object", many: "objects")
  private let columns: [String]
  private let format: OutputFormat
  private let console: any Console
  private var kept: [[CellValue]] = []
  private var count = 0

  init(columns: [String], format: OutputFormat, to console: any Console) {
    self.columns = columns
    self.format = format
    self.console = console
  }

  mutating func add(_ row: [CellValue]) throws(CommandFailure) {
    switch format {
    case .table: kept.append(row)
    case .json: try addJSON(row)
    case .csv: try addCSV(row)
    }
    count += 1
  }

  /// Writes what remains: the whole table, the end of the JSON, the names of CSV columns that had no rows.
  func finish() throws(CommandFailure) {
    switch format {
    case .table:
      var table = ResultTable(columns: columns, rows: kept)
      table.noun = noun
      try table.writeTable(to: console)
    case .json: try console.writeLine(count == 0 ? "[]" : "\n]")
    case .csv: if count == 0 { try writeCSVHeading() }
    }
  }

  /// A list of objects, one on each line.
  private func addJSON(_ row: [CellValue]) throws(CommandFailure) {
    let object = JSONObject(zip(columns, row).map { ($0, $1.json) })
    try console.write((count == 0 ? "[\n" : ",\n") + JSONWriter.line(.object(object)))
  }

  /// As RFC 4180 has it, with line feeds.
  private func addCSV(_ row: [CellValue]) throws(CommandFailure) {
    if count == 0 { try writeCSVHeading() }
    try console.writeLine(row.map { ResultWriter.quoted($0.plain) }.joined(separator: ","))
  }

  private func writeCSVHeading() throws(CommandFailure) {
    try console.writeLine(columns.map(ResultWriter.quoted).joined(separator: ","))
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else {
      return text
    }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}
