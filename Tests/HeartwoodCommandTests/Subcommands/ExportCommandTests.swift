import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Export, update and completion` {
  @Test func `what is exported and imported again is the same graph`() throws {
    let world = try SmallWorld()
    let first = world.run("export")
    #expect(first.status == .success && first.notes == "")
    let copy = world.directory.path("copy.heartwood")
    #expect(
      CommandRun("import", copy, try world.directory.file("first.json", first.output)).status == .success)
    let second = CommandRun("export", copy)
    let third = world.directory.path("third.heartwood")
    #expect(
      CommandRun("import", third, try world.directory.file("second.json", second.output)).status == .success)
    #expect(CommandRun("export", third).output == second.output)
    for columns in [
      "code,name,population,capital.name", "code,neighbours.@count,cities.@count,continent.name",
    ] {
      let words = ["Country", "--columns", columns, "--sort", "code", "--format", "csv"]
      #expect(CommandRun(["fetch", copy] + words).output == world.run("fetch", words: words).output)
    }
    #expect(first.output.hasSuffix("\n]}\n"))
    let file = world.directory.path("world.json")
    #expect(CommandRun("copy", world.path, file, "--type", "json").status == .success)
    #expect(CommandRun("export", file).output == first.output)
    #expect(world.run("export", "--generation", "0").output.hasSuffix("\"objects\": []}\n"))
  }

  @Test func `an export leaves out references to objects that are not there, and says so`() throws {
    let store = try SmallStore(
      #"""
      "A": {"attributes": {"n": {"type": "string"}},
        "relationships": {"lone": {"destination": "T"}, "many": {"destination": "T", "toMany": true, "ordered": true}}},
      "T": {"attributes": {"t": {"type": "string"}}}
      """#,
      #"{"@id": "T/1", "t": "gone"}, {"@id": "T/2", "t": "here"}, "#
        + #"{"@entity": "A", "n": "a", "lone": {"@ref": "T/1"}, "many": [{"@ref": "T/1"}, {"@ref": "T/2"}]}"#)
    #expect(store.run("export").notes == "")
    store.run("delete", "T", "--where", "t == 'gone'")
    let export = store.run("export")
    #expect(export.notes.contains("1 reference of A.lone to objects that are not there was left out"))
    #expect(export.notes.contains("1 reference of A.many to objects that are not there was left out"))
    let copy = store.directory.path("copy.heartwood")
    let run = CommandRun("import", copy, try store.directory.file("copy.json", export.output))
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun("count", copy, "A", "--where", "lone == nil AND many.@count == 1").output == "1\n")
  }

  @Test func `an update computes values of the objects that match, in one transaction or not at all`() throws
  {
    let world = try SmallWorld()
    let set = "population = population * 2, name = uppercase(name)"
    let dry = world.run("update", "Country", "--set", set, "--where", "population > 1000000", "--dry-run")
    #expect(dry.output == "would update 2 objects\n")
    let run = world.run(
      "update", "Country", "--set", set, "--where", "population > 1000000", "--author", "me")
    #expect(run.status == .success && run.output == "updated 2 objects\n", "\(run.notes)")
    let rows = world.run(
      "fetch", "Country", "--columns", "name,population", "--sort", "code", "--format", "csv")
    #expect(rows.output.contains("FRANCE,132000000\n") && rows.output.contains("Luxembourg,550000\n"))
    #expect(world.run("history", "--limit", "1").output.contains("by me"))
    let none = world.run("update", "Country", "--set", "population = nil", "--where", "TRUEPREDICATE")
    #expect(none.output == "updated 4 objects\n")
    let same = world.run("update", "Country", "--set", "code = \"XX\"", "--where", "TRUEPREDICATE")
    #expect(same.status != .success && same.notes.contains("unique"))
    #expect(world.run("count", "Country", "--where", "code == \"XX\"").output == "0\n")
  }

  @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
  func `an update sets the limits of whole numbers`(number: String) throws {
    let world = try SmallWorld()
    let run = world.run("update", "Country", "--set", "population = \(number)", "--where", "code == 'FR'")
    #expect(run.status == .success, "\(run.notes)")
    #expect(world.run("count", "Country", "--where", "population == \(number)").output == "1\n")
  }

  @Test(arguments: [
    ("population", "no name = expression"), ("population = ", "no name = expression"),
    ("size = 1", "size"), ("population = + 1", "--set population"),
    (
      "population = 2.7",
      "--set population = 2.7: Country.population is integer64, which does not have this number"
    ),
    ("population = -0.5", "does not have this number"),
    ("population = 1e400", "'1e400' is a larger number than any attribute has"),
    ("population = 9223372036854775808", "does not"),
  ])
  func `an update that is not understood changes nothing and says why`(set: String, reason: String) throws {
    let world = try SmallWorld()
    let run = world.run("update", "Country", "--set", set, "--where", "TRUEPREDICATE")
    #expect(run.status != .success && run.notes.contains(reason), "\(run.notes)")
  }

  @Test func `an update sets a number only as it is written, and a quotient of integers as one`() throws {
    let directory = try TemporaryFolder()
    let path = directory.path("a")
    let model =
      #"{"entities": {"E": {"attributes": {"i": {"type": "integer16"}, "d": {"type": "double"}, "f": {"type": "float"}}}}}"#
    let file = try directory.file(
      "a.json", #"{"model": \#(model), "objects": [{"@entity": "E", "i": 7, "d": 1, "f": 1}]}"#)
    #expect(CommandRun("import", path, file).status == .success)
    for set in ["f = 1e39", "i = 2.5", "i = 40000"] {
      let run = CommandRun("update", path, "E", "--set", set, "--where", "TRUEPREDICATE")
      #expect(run.status != .success && run.notes.contains("does not"), "\(set): \(run)")
    }
    let run = CommandRun(
      "update", path, "E", "--set", "i = i / 2, d = 2.5, f = 1e38", "--where", "TRUEPREDICATE")
    #expect(run.status == .success, "\(run.notes)")
    let set = CommandRun("fetch", path, "E", "--columns", "i,d,f", "--format", "csv").output
    #expect(set == "i,d,f\n3,2.5,1e+38\n")
    let whole = CommandRun("update", path, "E", "--set", "i = 2.0, d = 3", "--where", "TRUEPREDICATE")
    #expect(whole.status == .success, "\(whole.notes)")
  }

  @Test func `the manual page has every command and option`() {
    let page = CommandRun("manual").output
    for syntax in Command.subcommands.map({ $0.syntax }) + KeyValueSubcommands.all.map({ $0.syntax }) {
      #expect(page.contains(".SS heartwood \(syntax.name.replacing("-", with: "\\-"))"))
      for option in syntax.options {
        #expect(page.contains("\\fB\\-\\-\(option.name.replacing("-", with: "\\-"))"))
      }
    }
    // A line that begins with a point is a request of man's notation.
    let requests = Set(
      page.split(separator: "\n").filter { $0.hasPrefix(".") }.map { $0.prefix { $0 != " " } })
    #expect(requests.isSubset(of: [".TH", ".SH", ".SS", ".B", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi"]))
  }

  @Test(arguments: CompletionCommand.Shell.allCases)
  func `the completion of a shell has every command and option`(shell: CompletionCommand.Shell) throws {
    let script = CommandRun("completion", shell.rawValue).output
    for syntax in Command.subcommands.map({ $0.syntax }) + KeyValueSubcommands.all.map({ $0.syntax }) {
      #expect(script.contains(syntax.name.split(separator: " ").last ?? ""))
      for option in syntax.options { #expect(script.contains(option.name)) }
    }
    #expect(CommandRun("completion", "tcsh").status == .usage)
  }

  @Test func `bash completes commands, options and files`() throws {
    let folder = try TemporaryFolder()
    let script = try folder.file("completion.bash", CommandRun("completion", "bash").output)
    func completed(_ words: [String]) throws -> [String] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      let list = words.map { "'\($0)'" }.joined(separator: " ")
      process.arguments = [
        "-c",
        "source '\(script)'; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _heartwood; printf '%s\\n' \"${COMPREPLY[@]}\"",
      ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return text.split(separator: "\n").map(String.init)
    }
    #expect(try completed(["heartwood", "ex"]) == ["export"])
    #expect(try completed(["heartwood", "update", "store", "--dr"]) == ["--dry-run"])
    #expect(try completed(["heartwood", "kv", "pu"]) == ["put"])
    #expect(try completed(["heartwood", "show", script.dropLast(4) + ""]) == [script])
  }
}
