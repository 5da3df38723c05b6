import Foundation
import TestSupport
import Testing

/// `Tests/Parity.md` says what works and which tests prove it; this holds it against the tests.
@Suite struct `The table of what works` {
  private struct Row {
    let id: String
    let state: String
    let text: String

    /// The names of tests, in backquotes.
    var tests: [String] {
      text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }
    /// The names of files.
    var files: [String] {
      text.components(separatedBy: "; ").filter {
        $0.hasSuffix("Tests") && !$0.contains(" ") && !$0.contains("`")
      }
    }
  }

  private let rows: [Row]
  /// The sources of the tests by the name of their file.
  private let sources: [String: String]

  init() throws {
    let table = try PackageFolder.text(of: "Tests/Parity.md")
    rows = table.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard let id = cells.first, id.contains(/^([A-Z]{3}-\d+|T\d\d)$/) else { return nil }
      if cells.count == 4 { return Row(id: id, state: cells[2], text: cells[3]) }
      // A trap is proved by tests, or open in an issue.
      let isOpen = cells[1].contains(/^open, issue \d+: ./)
      return Row(id: id, state: isOpen ? "open" : "works", text: cells[1])
    }
    var sources: [String: String] = [:]
    let tests = PackageFolder.url.appending(path: "Tests")
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift", !file.path.contains("/.build/") else { continue }
      // Files of several targets may have one name.
      let source = try String(contentsOf: file, encoding: .utf8)
      sources[file.deletingPathExtension().lastPathComponent, default: ""] += source + "\n"
    }
    self.sources = sources
  }

  @Test func `every test and file that the table names exists, and what works names one`() {
    #expect(rows.count > 200)
    let names = Set(sources.values.flatMap(Self.tests))
    for row in rows {
      for test in row.tests where !names.contains(test[...]) {
        Issue.record("\(row.id): no test `\(test)`")
      }
      for file in row.files where sources[file] == nil { Issue.record("\(row.id): no file \(file)") }
      let isProved = !row.tests.isEmpty || !row.files.isEmpty
      if row.state == "works", !isProved { Issue.record("\(row.id) works, and names no test") }
      #expect(["works", "partly", "open"].contains(row.state), "\(row.id)")
    }
  }

  /// The names of the functions in backquotes of a source.
  private static func tests(in source: String) -> [Substring] {
    source.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "`", maxSplits: 2, omittingEmptySubsequences: false)
      return parts.count == 3 && parts[0].hasSuffix("func ") ? parts[1] : nil
    }
  }

  @Test func `every trap of the graph has a row`() {
    let traps = Set(rows.map(\.id))
    for number in 1...63 {
      let id = "T" + (number < 10 ? "0" : "") + "\(number)"
      #expect(traps.contains(id), "\(id)")
    }
  }

  @Test func `every test that names a row in a comment is in the row`() {
    let tests = Dictionary(rows.map { ($0.id, Set($0.tests)) }, uniquingKeysWith: { $0.union($1) })
    for (file, source) in sources where file != "ParityTableTests" {
      let lines = source.components(separatedBy: "\n")
      for (number, line) in lines.enumerated() {
        // Most lines are no comment, and regular expressions are slow in debug builds.
        guard line.utf8.first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "/"),
          line.contains(/^\s*\/\/ ([A-Z]{3}-\d+|T\d\d)([,.;:]|$)/)
        else { continue }
        let next = lines[number..<min(number + 4, lines.count)].compactMap {
          $0.firstMatch(of: /func `([^`]+)`/)?.1
        }.first
        guard let name = next else { continue }
        for id in line.matches(of: /[A-Z]{3}-\d+|T\d\d/).map({ String($0.0) })
        where tests[id]?.contains(String(name)) != true {
          Issue.record("\(file): `\(name)` proves \(id), which the table does not say")
        }
      }
    }
  }
}
