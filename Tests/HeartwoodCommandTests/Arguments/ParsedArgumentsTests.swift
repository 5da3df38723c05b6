import Testing

@testable import HeartwoodCommand

private let syntax = SubcommandSyntax(
  name: "fetch", summary: "", arguments: [.store, .init(name: "entity", summary: "", isOptional: true)],
  options: [.predicate, .init(name: "limit", value: "number", summary: ""), .init(name: "plan", summary: "")])

private func parse(_ words: String...) throws -> ParsedArguments {
  try ParsedArguments(words, for: syntax)
}

@Test func `options and arguments may stand in any order`() throws {
  let parsed = try parse("--limit", "5", "store", "--plan", "Country", "--where=a == \"=\"")
  #expect(parsed.positionals == ["store", "Country"])
  #expect(try parsed.count("limit") == 5)
  #expect(parsed.value("where") == "a == \"=\"")
  #expect(parsed.has("plan"))
}

@Test func `after two dashes everything is an argument`() throws {
  #expect(try parse("--plan", "--", "--limit").positionals == ["--limit"])
  #expect(try parse("-").positionals == ["-"])
}

@Test func `an option may have a value that begins with a dash`() throws {
  #expect(try parse("s", "--where", "-1 < x").value("where") == "-1 < x")
}

@Test(arguments: [
  ([], "<store> is missing; usage: heartwood fetch <store> [<entity>] [options]"),
  (["a", "b", "c"], "too much: \"c\"; usage: heartwood fetch <store> [<entity>] [options]"),
  (["a", "--limt", "1"], "fetch has no option --limt, did you mean --limit?; see heartwood fetch --help"),
  ([""], "<store> is empty; usage: heartwood fetch <store> [<entity>] [options]"),
  (
    ["a", "-x"],
    "fetch has no option -x: write -- before words that begin with - and are none; see heartwood fetch --help"
  ),
  (["a", "--limit"], "--limit needs a value: --limit <number>"),
  (["a", "--plan=1"], "--plan takes no value"),
  (["a", "--plan", "--plan"], "--plan is given twice"),
  (["a", "--limit", "1", "--limit", "2"], "--limit is given twice"),
])
func `a bad command line is a usage failure that names the word`(words: [String], message: String) {
  #expect(failure(.usage) { _ = try ParsedArguments(words, for: syntax) } == message)
}

@Test(arguments: ["x", "-1", "1.5", "", "99999999999999999999"])
func `a count that is not a number is refused`(text: String) throws {
  let parsed = try parse("s", "--limit", text)
  #expect(
    failure(.usage) { _ = try parsed.count("limit") }
      == "--limit needs a whole number, 0 or more, not \"\(text)\"")
}

@Test func `lists are split at commas and trimmed`() throws {
  #expect(try parse("s", "--where", "a, b.c ,d").list("where") == ["a", "b.c", "d"])
  #expect(
    failure(.usage) { _ = try parse("s", "--where", "a,,b").list("where") }
      == "--where has an empty name in \"a,,b\"")
}

@Test func `the nearest word is suggested only when it is near`() {
  #expect(Spelling.hint("modle", among: ["model", "fetch"]) == ", did you mean model?")
  #expect(Spelling.hint("frobnicate", among: ["model", "fetch"]) == "")
  #expect(Spelling.hint("nope", among: ["copy", "model"]) == "")
  #expect(Spelling.hint("ctiy", among: ["City"]) == ", did you mean City?")
  #expect(Spelling.hint("x", among: []) == "")
  #expect(Spelling.hint(String(repeating: "fetch ", count: 1_000_000), among: ["model", "fetch"]) == "")
}
