import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `help and version are results, not errors`() {
  for words in [["--help"], ["-h"], ["help"]] {
    let run = CommandRun(words)
    #expect(run.status == .success)
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(run.output.hasPrefix("heartwood: "))
    #expect(run.notes == "")
  }
  #expect(CommandRun("--version").output == "heartwood \(Command.version)\n")
}

@Test func `every command has a help text that names its arguments and options`() {
  for subcommand in Command.subcommands {
    let syntax = subcommand.syntax
    let run = CommandRun(syntax.name, "--help")
    #expect(run.status == .success)
    #expect(run == CommandRun("help", syntax.name))
    for name in syntax.arguments.map({ "<\($0.name)>" }) + syntax.options.map({ "--\($0.name)" }) {
      #expect(run.output.contains(name))
    }
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(CommandRun("--help").output.contains("  \(syntax.name) "))
  }
}

@Test func `a command line without a command shows the help as an error`() {
  let run = CommandRun()
  #expect(run.status == .usage)
  #expect(run.output == "")
  #expect(run.notes.contains("usage: heartwood"))
}

@Test func `an unknown command is one line and exit status 64`() {
  let run = CommandRun("modle", "x")
  #expect(run.status == .usage)
  #expect(
    run.notes == "heartwood: there is no command \"modle\", did you mean model?; see heartwood --help\n")
}

@Test func `the model of a file is shown as text and as JSON`() throws {
  let text = CommandRun("model", Fixture.path("World/world.json"))
  #expect(text.status == .success)
  #expect(text.output.contains("  capital     -> City       inverse capitalOf\n"))
  let json = CommandRun("model", "--format", "json", Fixture.path("World/world.json"))
  let read = try DocumentModel(
    reading: JSONPlace(path: "", value: ImportDocument.parse(Array(json.output.utf8))))
  #expect(read.entities.count == 5)
}

@Test func `a missing file, a directory and a file that is not JSON have different errors`() throws {
  let directory = try TemporaryFolder()
  let text = try directory.file("a.json", "{\n\"objects\": [}")
  let missing = CommandRun("model", directory.path("none.json"))
  #expect(missing.status == .noInput)
  #expect(missing.notes == "heartwood: \(directory.path("none.json")): there is no such file\n")
  #expect(CommandRun("model", directory.url.path).status == .noInput)
  let wrong = CommandRun("model", text)
  #expect(wrong.status == .dataError)
  #expect(wrong.notes == "heartwood: \(text): not JSON at line 2, column 13: a value should stand here\n")
}
