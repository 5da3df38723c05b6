import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `The command on stores of all kinds` {
  @Test(arguments: ["binary", "json", "xml"])
  func `a store of one file is migrated, after a rehearsal`(kind: String) throws {
    let world = try SmallWorld()
    let path = world.directory.path("world.\(kind)")
    #expect(CommandRun("copy", world.path, path, "--type", kind).status == .success)
    let model = try world.directory.file(
      "changed.json",
      SmallWorld.model.replacing(
        #""City": {"attributes": {"#,
        with: #""City": {"attributes": {"size": {"type": "integer32", "default": 7}, "#))
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let rehearsal = CommandRun("migrate", path, model, "--dry-run")
    #expect(rehearsal.output.contains("nothing was changed"), "\(rehearsal.notes)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    let run = CommandRun("migrate", path, model)
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun("count", path, "City", "--where", "size == 7").output == "3\n")
    #expect(CommandRun("verify", path).status == .success)
  }

  @Test func `an ordered list keeps its order where an earlier object names its inverse`() throws {
    let folder = try TemporaryFolder()
    let model =
      #"{"entities": {"A": {"relationships": {"bs": {"destination": "B", "toMany": true, "ordered": true, "inverse": "a"}}}, "#
      + #""B": {"attributes": {"name": {"type": "string"}}, "relationships": {"a": {"destination": "A", "inverse": "bs"}}}}}"#
    let objects =
      #"[{"@id": "B/1", "name": "1", "a": {"@ref": "A/1"}}, {"@id": "B/2", "name": "2"}, {"@id": "B/3", "name": "3"}, "#
      + #"{"@id": "A/1", "bs": [{"@ref": "B/2"}, {"@ref": "B/3"}, {"@ref": "B/1"}]}]"#
    let file = try folder.file("list.json", #"{"model": \#(model), "objects": \#(objects)}"#)
    let path = folder.path("store")
    #expect(CommandRun("import", path, file).status == .success)
    #expect(
      CommandRun("fetch", path, "A", "--columns", "bs.name", "--format", "csv").output == "bs.name\n2;3;1\n")
  }

  @Test(arguments: [0.0, -0.0, 1e22, -1e22, -63_113_904_000, -62_135_596_801, 0.1, 1e-300, .infinity])
  func `dates of any size are exported and imported exactly`(seconds: Double) throws {
    let json = CellValue.date(Date(timeIntervalSinceReferenceDate: seconds)).json
    let place = JSONPlace(path: "date", value: try JSONParser.parse(Array(JSONWriter.line(json).utf8)))
    let date = try #require(try AttributeReading.value(of: place, as: .date) as? Date)
    #expect(date.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
  }

  @Test(arguments: ["population = 1/0", "population = 9223372036854775807 + 1"])
  func `a constant without a result is refused, and changes nothing`(set: String) throws {
    let world = try SmallWorld()
    let before = world.run("fetch", "Country", "--format", "csv").output
    let run = world.run("update", "Country", "--set", set, "--where", "TRUEPREDICATE")
    #expect(run.status != .success && run.notes.contains("population"), "\(run.notes)")
    #expect(world.run("fetch", "Country", "--format", "csv").output == before)
  }
}
