import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The outcome of the last of these keys, and the editor then.
private func edited(
  _ bytes: String, history: [String] = [], _ candidates: [String] = []
) -> (editor: LineEditor, outcome: LineEditor.Outcome) {
  var editor = LineEditor(history: history) { line in
    let start = line.lastIndex(of: " ").map { $0 + 1 } ?? 0
    return LineEditor.Completion(
      start: start, candidates: candidates.filter { $0.hasPrefix(String(line[start...])) })
  }
  var rest = Array(bytes.utf8)[...]
  let keys = KeyDecoder(hasMore: { !rest.isEmpty }) { rest.popFirst() }
  var outcome = LineEditor.Outcome.editing
  while let key = keys.key() { outcome = editor.handle(key) }
  return (editor, outcome)
}

@Suite struct `The shell` {
  @Test(arguments: [
    ("abc", "abc", 3), ("abc\u{1B}[D\u{1B}[DX", "aXbc", 2), ("abc\u{7F}", "ab", 2), ("abc\u{01}X", "Xabc", 1),
    ("abc\u{01}\u{05}X", "abcX", 4), ("one two\u{17}", "one ", 4), ("one two\u{15}", "", 0),
    ("one two\u{01}\u{0B}", "", 0), ("one two\u{1B}bX", "one Xtwo", 5), ("abc\u{01}\u{1B}[3~", "bc", 0),
    ("abc\u{01}\u{04}", "bc", 0), ("日本\u{1B}[DX", "日X本", 2), ("a\u{1B}[1;5DX", "Xa", 1),
    ("a\u{02}\u{06}b", "ab", 2),
    ("x\u{1B}[Hy\u{1B}[Fz", "yxz", 3), ("abc\u{1B}", "abc", 3), ("\u{7F}\u{1B}[D\u{1B}[3~", "", 0),
  ])
  func `keys move and delete as in other line editors`(bytes: String, line: String, cursor: Int) {
    let (editor, outcome) = edited(bytes)
    #expect(String(editor.line) == line)
    #expect(editor.cursor == cursor)
    #expect(outcome == .editing)
  }

  @Test func `a line ends with return, is given up by Control-C, and the input ends with Control-D`() {
    #expect(edited("count Country\r").outcome == .line("count Country"))
    #expect(edited("count\u{03}").outcome == .interrupted)
    #expect(edited("\u{04}").outcome == .ended)
  }

  @Test func `arrows go through former lines, and back to the new one`() {
    let up = "\u{1B}[A"
    let down = "\u{1B}[B"
    #expect(String(edited("new" + up, history: ["one", "two"]).editor.line) == "two")
    #expect(String(edited("new" + up + up + up, history: ["one", "two"]).editor.line) == "one")
    #expect(String(edited("new" + up + up + down + down, history: ["one", "two"]).editor.line) == "new")
  }

  @Test func `of a long line the part around the cursor is measured, and not more`() {
    func part(_ bytes: String, _ room: Int) -> (range: Range<Int>, measured: Int) {
      var measured = 0
      let range = edited(bytes).editor.part(of: room) {
        measured += 1
        return TextWidth.columns(of: $0)
      }
      return (range, measured)
    }
    let long = part(String(repeating: "x", count: 5_000), 70)
    #expect(long.range == 4_930..<5_000 && long.measured <= 72)
    #expect(part(String(repeating: "x", count: 5_000) + "\u{01}", 70).range == 0..<70)
    #expect(part("日本語", 4).range == 1..<3)
    #expect(part("ab\u{1B}[D日", 3).range == 0..<2)
    #expect(part("", 10).range == 0..<0)
  }

  @Test func `Tab completes as far as all candidates agree, and then lists them`() {
    let names = ["count", "copy", "completion"]
    #expect(String(edited("cou\t", names).editor.line) == "count ")
    #expect(String(edited("c\t", names).editor.line) == "co")
    #expect(edited("c\t\t", names).outcome == .candidates(names))
    #expect(edited("x\t", names).outcome == .editing)
  }

  @Test func `words are split at spaces, but for those in quotation marks`() {
    func texts(_ line: String) -> [String] { ShellWords(Array(line)).words.map(\.text) }
    #expect(
      texts("  fetch  Country --where 'name == \"a b\"' ") == [
        "fetch", "Country", "--where", "name == \"a b\"",
      ])
    #expect(texts("a\\ b \"c\\\"d\" '' e'f g'h") == ["a b", "c\"d", "", "ef gh"])
    #expect(ShellWords(Array("a 'b")).openQuote == "'")
    #expect(texts("") == [])
  }

  @Test(arguments: [
    ("cou", ["count"]), ("fetch Co", ["Continent", "Country"]), ("fetch Country --wh", ["--where"]),
    ("fetch Country --sort po", ["population"]), ("fetch Country --sort -po", ["population"]),
    ("fetch Country --sort name,-capital.na", ["capital.name"]),
    ("fetch Country --where 'capital.na", ["capital.name"]),
    ("fetch Country --where 'name == \"x\" and pop", ["population"]), ("count Ci", ["City"]),
    ("kv ge", ["get", "generations"]),
    ("fetch Country --columns name,continent.countries.ca", ["continent.countries.capital"]),
    ("nonsense x", []),
  ])
  func `commands, options, entities and properties are completed`(line: String, candidates: [String]) throws {
    let world = try SmallWorld()
    let model = try CommandStore.with(world.path, for: .reading, RecordingConsole()) { $0.model }
    #expect(ShellCompletion(model: model)(Array(line)).candidates == candidates)
  }

  @Test func `lines are commands on the store, and the first that fails ends a script`() throws {
    let world = try SmallWorld()
    let console = RecordingConsole()
    func run(_ lines: String...) throws -> ExitCode {
      var rest = lines[...]
      return try ShellCommand.run(world.path, console) { rest.popFirst() }
    }
    #expect(try run("# a note", "", "count Country", "count City --where 'name == \"Paris\"'") == .success)
    #expect(console.output == "4\n1\n")
    #expect(try run("count Nothing", "count Country") == .usage)
    #expect(console.output == "4\n1\n")
    #expect(try run("exit", "count Country") == .success)
    #expect(try run("count 'Country") == .usage)
    #expect(
      try run(
        "update Country --set 'population = 1' --where 'code == \"PT\"'",
        "count Country --where 'population == 1'") == .success)
    #expect(console.output.hasSuffix("1\n"))
    #expect(try run("help count") == .success)
  }

  @Test func `former lines are kept in a file of the user, without repetitions`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("history")
    var history = ShellHistory(path: path)
    for line in ["a", "b", "b", "", "a"] { history.add(line) }
    #expect(ShellHistory(path: path).lines == ["a", "b", "a"])
    for number in 0..<1_100 { history.add("\(number)") }
    #expect(ShellHistory(path: path).lines.count == 1_000)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(ShellHistory.path(["HOME": "/h"]) == "/h/.heartwood_history")
    #expect(ShellHistory.path(["HOME": "/h", "HEARTWOOD_HISTORY": ""]) == nil)
  }
}
