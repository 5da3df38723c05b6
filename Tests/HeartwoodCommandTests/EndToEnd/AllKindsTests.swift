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

  @Test(arguments: ["log", "binary", "json", "xml"])
  func `a file is imported into a new store of any kind, and again into that store`(kind: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.file("small.json", SmallWorld.document)
    let path = folder.path("world")
    let run = CommandRun("import", path, file, "--type", kind, "--batch", "4")
    #expect(run.status == .success, "\(run.notes)")
    #expect(
      PersistentStoreCoordinator.typeOfPersistentStore(at: URL(fileURLWithPath: path))?.rawValue.lowercased()
        == kind)
    #expect(CommandRun("count", path, "Country").output == "4\n")
    #expect(CommandRun("verify", path).status == .success)
    let again = CommandRun("import", path, file, "--upsert", "Continent.name,Country.code", "--type", kind)
    #expect(again.status == .success, "\(again.notes)")
    #expect(CommandRun("count", path, "Country").output == "4\n")
    let other = CommandRun("import", path, file, "--type", kind == "xml" ? "json" : "xml")
    #expect(other.status == .usage && other.notes.contains("is a store of type \(kind)"), "\(other.notes)")
    #expect(
      CommandRun("import", folder.path("none"), file, "--type", "table").notes.contains("--type is log"))
    let copied = CommandRun("copy", path, path, "--type", kind)
    #expect(copied.status == .usage && copied.notes.contains("this is the store itself"), "\(copied.notes)")
    #expect(CommandRun("count", path, "City").output == (again.status == .success ? "6\n" : ""))
  }

  @Test(arguments: ["binary", "json", "xml"])
  func `statistics of a store of one file say what the file is, and nothing is reclaimed in it`(kind: String)
    throws
  {
    let world = try SmallWorld()
    let path = world.directory.path("world.\(kind)")
    #expect(CommandRun("copy", world.path, path, "--type", kind).status == .success)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let text = CommandRun("statistics", path)
    let lines = text.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.map(\.first) == ["store", "type", "on", "objects", "City", "Continent", "Country"])
    #expect(lines[1] == ["type", kind] && lines[3] == ["objects", "9"] && lines[6] == ["Country", "4"])
    let json = try ImportDocument.parse(
      Array(CommandRun("statistics", path, "--format", "json").output.utf8))
    guard case .object(let object) = json else { throw CommandFailure.data("no object") }
    #expect(object.names == ["store", "type", "fileBytes", "objects"])
    #expect(object["fileBytes"] == .integer(Int64(before.count)) && object["type"] == .string(kind))
    let reclaimed = CommandRun("reclaim", path)
    #expect(reclaimed.status == .success && reclaimed.notes == "")
    #expect(
      reclaimed.output
        == "\(path): a store of type \(kind) is one file, which every save writes as a whole: there is nothing to reclaim\n"
    )
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    let lineOfLog = world.run("statistics").output.split(separator: "\n")[1]
    #expect(lineOfLog.split(separator: " ") == ["type", "log"])
    #expect(world.run("statistics", "--format", "json").output.contains("\"type\": \"log\""))
  }

  @Test func `a model with transformable attributes is written so that a store keeps them`() throws {
    let folder = try TemporaryFolder()
    let model = try folder.file(
      "model.json",
      #"{"entities": {"A": {"attributes": {"shape": {"type": "transformable", "transformer": "Shapes", "valueClass": "Shape", "optional": true}}}}}"#
    )
    let objects = try folder.file("objects.json", #"[{"@id": "A/1", "shape": "AQID"}, {"@id": "A/2"}]"#)
    let path = folder.path("store")
    let made = CommandRun("import", path, objects, "--model", model)
    #expect(made.status == .success, "\(made.notes)")
    let schema = CommandRun("schema", path, "--format", "json")
    #expect(
      schema.output.contains("\"transformable\"") && schema.output.contains("\"Shapes\""), "\(schema.output)")
    let written = try folder.file("written.json", schema.output)
    let same = CommandRun("migrate", path, written)
    #expect(
      same.status == .success && same.output.contains("has this model already"), "\(same.output)\(same.notes)"
    )
    let larger = try folder.file(
      "larger.json",
      schema.output.replacing(
        "\"attributes\": {", with: "\"attributes\": {\"size\": {\"type\": \"integer32\", \"default\": 7}, "))
    let migrated = CommandRun("migrate", path, larger)
    #expect(migrated.status == .success, "\(migrated.notes)")
    #expect(
      CommandRun("fetch", path, "A", "--columns", "size,shape", "--format", "csv").output
        == "size,shape\n7,AQID\n7,\n")
    let wrong = try folder.file(
      "wrong.json", #"{"entities": {"A": {"attributes": {"shape": {"type": "transformable"}}}}}"#)
    #expect(CommandRun("migrate", path, wrong).notes.contains("\"transformer\" is missing"))
  }

  @Test func `the manual page has the variables of the environment`() {
    let page = CommandRun("manual").output
    for name in ["NO_COLOR", "HEARTWOOD_HISTORY", "HEARTWOOD_FETCH_DEBUG"] {
      #expect(page.contains(name), "\(name)")
    }
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
