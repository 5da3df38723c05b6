import Heartwood
import Foundation
import Testing

@testable import HeartwoodCommand

private func written(_ table: ResultTable, _ format: OutputFormat, cut: Bool = false) throws -> String {
  let console = RecordingConsole()
  console.terminalWidth = cut ? 120 : nil
  try table.write(format, to: console)
  return console.output
}

private let countries = ResultTable(
  columns: ["name", "population", "capital"],
  rows: [
    [.text("France"), .integer(66_078_000), .reference("City/p1")],
    [.text("日本"), .null, .null],
    [.text("Coté\u{301}, \"x\""), .integer(5), .list([.text("a"), .text("b")])],
  ])

@Test func `a table is aligned by the width that a terminal shows`() throws {
  #expect(
    try written(countries, .table) == """
      name       population  capital
      ---------  ----------  -------
      France       66078000  City/p1
      日本                -  -
      Coté\u{301}, "x"           5  a, b
      (3 objects)

      """)
}

@Test func `CSV quotes values that need it`() throws {
  let lines = try written(countries, .csv).split(separator: "\n")
  #expect(
    lines == [
      "name,population,capital", "France,66078000,City/p1", "日本,,",
      #""Coté\#u{301}, ""x""",5,a;b"#,
    ])
}

@Test func `JSON is one object on each line and reads back`() throws {
  let text = try written(countries, .json)
  #expect(
    text.hasPrefix(
      "[\n{\"name\": \"France\", \"population\": 66078000, \"capital\": {\"@ref\": \"City/p1\"}},\n"))
  guard case .array(let rows) = try JSONParser.parse(Array(text.utf8)) else {
    Issue.record("not a list")
    return
  }
  #expect(rows.count == 3)
}

@Test func `no rows are an empty table and an empty list`() throws {
  let empty = ResultTable(columns: ["a"])
  #expect(try written(empty, .table) == "a\n-\n(0 objects)\n")
  #expect(try written(empty, .json) == "[]\n")
  #expect(try written(empty, .csv) == "a\n")
}

@Test func `characters that would disturb a terminal are escaped`() throws {
  let table = ResultTable(columns: ["a"], rows: [[.text("x\n\u{1B}[31m\u{202E}y")]])
  #expect(try written(table, .table).contains("x\\n\\u{1b}[31m\\u{202e}y\n"))
}

@Test func `blanks at the ends of a text are seen in a table, and are as they are in CSV and JSON`() throws {
  for (text, shown) in [
    ("  a b ", "\u{2423}\u{2423}a b\u{2423}"), (" ", "\u{2423}"), ("", ""), ("a  b", "a  b"),
    ("a\u{A0}", "a\\u{a0}"), ("\u{3000}a", "\\u{3000}a"), ("a \n", "a \\n"),
  ] {
    #expect(CellValue.text(text).display.escapingControls == shown)
  }
  let table = ResultTable(
    columns: ["a", "b"], rows: [[.text("x"), .text(" a ")], [.text("y"), .text("a")]])
  #expect(try written(table, .table).contains("x  \u{2423}a\u{2423}\ny  a\n"))
  #expect(try written(table, .csv) == "a,b\nx, a \ny,a\n")
  #expect(try written(table, .json).contains(#""b": " a ""#))
}

@Test func `long cells are cut only in output for a person`() throws {
  let table = ResultTable(columns: ["a"], rows: [[.text(String(repeating: "語", count: 100))]])
  #expect(try written(table, .table).contains(String(repeating: "語", count: 100)))
  #expect(
    try written(table, .table, cut: true).contains("\n" + String(repeating: "語", count: 29) + "\u{2026}\n"))
}

@Test func `a table is narrowed to the terminal, its widest columns first`() throws {
  #expect(ResultTable.widths([4, 30, 50], within: 60) == [4, 26, 26])
  #expect(ResultTable.widths([4, 10], within: 80) == [4, 10])
  #expect(ResultTable.widths([100], within: 300) == [60])
  #expect(ResultTable.widths([20, 20, 20], within: 10) == [8, 8, 8])
  let console = RecordingConsole()
  console.terminalWidth = 24
  let table = ResultTable(
    columns: ["code", "text"], rows: [[.integer(1), .text("a long text of many words")]])
  try table.write(.table, to: console)
  let lines = console.output.split(separator: "\n")
  #expect(lines[2] == "   1  a long text of ma\u{2026}")
  #expect(lines.prefix(3).allSatisfy { TextWidth.columns(of: String($0)) <= 24 })
}

@Test func `on a terminal with colours, heads are bold and missing values dim`() throws {
  let console = RecordingConsole()
  console.terminalWidth = 80
  console.usesColors = true
  try ResultTable(columns: ["a"], rows: [[.null], [.text("x")]]).write(.table, to: console)
  #expect(console.output == "\u{1B}[1ma\u{1B}[0m\n-\n\u{1B}[2m-\u{1B}[0m\nx\n(2 objects)\n")
  #expect(!TerminalStyle.isWanted(by: ["NO_COLOR": "1"]))
  #expect(!TerminalStyle.isWanted(by: ["TERM": "dumb"]))
  #expect(TerminalStyle.isWanted(by: ["TERM": "xterm", "NO_COLOR": ""]))
}

@Test func `CSV tells an empty text from no value`() throws {
  let table = ResultTable(columns: ["a", "b"], rows: [[.text(""), .null]])
  #expect(try written(table, .csv) == "a,b\n\"\",\n")
}

@Test(arguments: [
  ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한국", 4), ("😀", 2), ("👩‍👩‍👧", 2), ("🇫🇷", 2), ("ﾊ", 1),
  ("Ａ", 2),
  ("नेपाल", 3), ("", 0),
])
func `the width of a text counts columns`(text: String, width: Int) {
  #expect(TextWidth.columns(of: text) == width)
}

@Test func `values are written for people and for programs`() {
  #expect(CellValue(attribute: nil).display == "-")
  #expect(CellValue(attribute: true).plain == "true")
  #expect(CellValue(attribute: Int16(5)).plain == "5")
  #expect(CellValue(attribute: 640679.0).plain == "640679")
  #expect(CellValue(attribute: 0.1).plain == "0.1")
  #expect(CellValue(attribute: Float(0.1)).plain == "0.1")
  #expect(CellValue(attribute: -0.0).plain == "-0.0")
  #expect(CellValue(attribute: 1e300).plain == "1e+300")
  #expect(CellValue(attribute: Double.nan).json == .string("NaN"))
  #expect(CellValue(attribute: Decimal(string: "1.50")).plain == "1.5")
  #expect(CellValue(attribute: Date(timeIntervalSince1970: 0)).plain == "1970-01-01T00:00:00Z")
  #expect(CellValue(attribute: Date(timeIntervalSince1970: 0.5)).plain == "1970-01-01T00:00:00.500Z")
  #expect(CellValue(attribute: Data([1, 2])).display == "2 bytes")
  #expect(CellValue(attribute: Data([1, 2])).plain == "AQI=")
}

@Test func `progress is overwritten on a terminal and erased, and is silent elsewhere`() {
  let console = RecordingConsole()
  var silent = ProgressLine("importing", total: 2, on: console)
  silent.advance(to: 2)
  silent.finish()
  #expect(console.notes == "")
  console.showsProgress = true
  var progress = ProgressLine("importing", total: 1000, unit: 500, on: console)
  for done in 1...1000 { progress.advance(to: done) }
  progress.finish()
  let lines = console.notes.split(separator: "\r").filter { !$0.allSatisfy { $0 == " " } }
  #expect(lines == ["importing 500 of 1000", "importing 1000 of 1000"])
}
