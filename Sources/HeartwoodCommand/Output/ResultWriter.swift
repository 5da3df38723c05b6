import Foundation
import Heartwood

/// Writes rows as they arrive. Only the table format keeps all rows, because it has to know the column
/// widths.
struct ResultWriter {
  /// The noun for a row in the line below a table, singular and plural.
  var noun = (one: "object", many: "objects")
  private let columns: [String]
  private let format: OutputFormat
  private let console: any Console
  private var kept: [[CellValue]] = []
  private var count = 0
  /// Memory for a line of CSV.
  private var line: [UInt8] = []

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

  /// Writes the remaining output: the whole table, the end of the JSON, or the header of CSV without rows.
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

  /// Writes a row as an object on its own line of the JSON list.
  private func addJSON(_ row: [CellValue]) throws(CommandFailure) {
    let object = JSONObject(zip(columns, row).map { ($0, $1.json) })
    try console.write((count == 0 ? "[\n" : ",\n") + JSONWriter.line(.object(object)))
  }

  /// Writes a row as in RFC 4180, but with line feeds. An empty text is `""`, as is empty data, to differ from no value.
  private mutating func addCSV(_ row: [CellValue]) throws(CommandFailure) {
    if count == 0 { try writeCSVHeading() }
    line.removeAll(keepingCapacity: true)
    for (place, value) in row.enumerated() {
      if place > 0 { line.append(UInt8(ascii: ",")) }
      switch value {
      case .text(""): line.append(contentsOf: "\"\"".utf8)
      case .data(let data) where data.isEmpty: line.append(contentsOf: "\"\"".utf8)
      default: Self.appendField(value.plain, to: &line)
      }
    }
    line.append(UInt8(ascii: "\n"))
    try console.write(line)
  }

  private func writeCSVHeading() throws(CommandFailure) {
    var heading: [UInt8] = []
    for (place, column) in columns.enumerated() {
      if place > 0 { heading.append(UInt8(ascii: ",")) }
      Self.appendField(column, to: &heading)
    }
    try console.write(heading + [UInt8(ascii: "\n")])
  }

  /// Appends a text, in quotation marks if it has them, or ends of fields or lines.
  private static func appendField(_ text: String, to line: inout [UInt8]) {
    let start = line.count
    var text = text
    let isPlain = text.withUTF8 { bytes in
      line.append(contentsOf: bytes)
      return !bytes.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    }
    if isPlain { return }
    line.removeSubrange(start...)
    line.append(contentsOf: "\"\(text.replacing("\"", with: "\"\""))\"".utf8)
  }
}
