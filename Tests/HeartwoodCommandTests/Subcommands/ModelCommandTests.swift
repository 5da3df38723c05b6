import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `the model of a store is written for Xcode, shown, compared, imported with and migrated to`()
  throws
{
  let world = try SmallWorld()
  let folder = world.directory.path("World.xcdatamodeld")
  let written = CommandRun("model", world.path, "--output", folder)
  #expect(written.status == .success && written.notes == "")
  let contents = folder + "/World.xcdatamodel/contents"
  let text = try String(contentsOfFile: contents, encoding: .utf8)
  #expect(text.contains("<entity name=\"Country\""))

  let shown = CommandRun("model", folder)
  #expect(shown.status == .success && shown.output == CommandRun("model", world.path).output)
  #expect(
    CommandRun("model", "diff", world.path, folder).output == "the models do not differ in what a store has\n"
  )

  let attribute = "<attribute name=\"anthem\" optional=\"YES\" attributeType=\"String\" glow=\"1\"/>"
  let changed = text.replacing("<entity name=\"Country\">", with: "<entity name=\"Country\">" + attribute)
    .replacing(
      "<entity name=\"Country\" syncable=\"YES\">",
      with: "<entity name=\"Country\" syncable=\"YES\">" + attribute)
  try Data(changed.utf8).write(to: URL(filePath: contents))
  let differences = CommandRun("model", "diff", world.path, folder)
  #expect(differences.output.contains("Country.anthem is new"))
  #expect(differences.notes.contains("glow=\"1\" of Country.anthem is not known"))
  #expect(world.run("migrate", folder).status == .success)
  #expect(world.run("fetch", "Country", "--columns", "anthem", "--limit", "1").status == .success)

  let objects = try world.directory.file(
    "objects.json", #"[{"@id": "Country/X", "code": "X", "name": "X", "anthem": "la"}]"#)
  let made = world.directory.path("new.heartwood")
  #expect(CommandRun("import", made, objects, "--model", folder).status == .success)
  #expect(CommandRun("fetch", made, "Country", "--columns", "anthem").output.contains("la"))
}

@Test(arguments: [
  ["X", "--output", "Y.xcdatamodel", "--hashes"], ["X", "--hashes", "--format", "json"],
  ["X", "--output", "Y.xcdatamodel", "--format", "mermaid"], ["diff", "X", "X", "--hashes"],
  ["diff", "X", "X", "--format", "json"], ["diff", "X", "X", "--output", "Y.xcdatamodel"],
])
func `options of a model that have no meaning together are refused, and nothing is done`(words: [String])
  throws
{
  let world = try SmallWorld()
  let target = world.directory.path("Y.xcdatamodel")
  let run = CommandRun(["model"] + words.map { $0 == "X" ? world.path : $0 == "Y.xcdatamodel" ? target : $0 })
  #expect(run.status == .usage && run.output == "")
  #expect(run.notes.contains("has no meaning with it"), "\(run.notes)")
  #expect(!FileManager.default.fileExists(atPath: target))
}

@Test func `a JSON model that no store can have is refused with its file and the reason`() throws {
  let folder = try TemporaryFolder()
  for (entity, reason) in [
    (#"{"attributes": {"a": {"type": "string", "derived": "!!!"}}}"#, "E.a"),
    (
      #"{"attributes": {"a": {"type": "string"}}, "partialIndexes": [{"properties": ["a"], "where": "b == 1"}]}"#,
      "'b'"
    ),
    (#"{"attributes": {"a": {"type": "string"}}, "indexes": [["lowercase:(b)"]]}"#, "'b'"),
    (#"{"attributes": {"a": {"type": "string"}}, "rangeIndexes": [["a", "a"]]}"#, "ranges"),
  ] {
    try Data(#"{"entities": {"E": \#(entity)}}"#.utf8).write(to: folder.url.appending(path: "model.json"))
    let run = CommandRun("model", folder.path("model.json"))
    #expect(run.status != .success && run.notes.contains("model.json"), "\(run.notes)")
    #expect(run.notes.contains(reason), "\(run.notes)")
  }
}

@Test func `a model of Xcode that is missing or wrong is refused with its name`() throws {
  let folder = try TemporaryFolder()
  let missing = CommandRun("model", folder.path("None.xcdatamodel"))
  #expect(missing.status == .noInput && missing.notes.contains("None.xcdatamodel: there is no such model"))
  try FileManager.default.createDirectory(
    atPath: folder.path("Bad.xcdatamodel"), withIntermediateDirectories: true)
  try Data("<model><entity/></model>".utf8).write(to: folder.url.appending(path: "Bad.xcdatamodel/contents"))
  let bad = CommandRun("model", folder.path("Bad.xcdatamodel"))
  #expect(bad.status != .success && bad.notes.contains("line 1: <entity> has no attribute name"))
  let world = try SmallWorld()
  let other = CommandRun("model", world.path, "--output", folder.path("World.txt"))
  #expect(other.status != .success && other.notes.contains(".xcdatamodeld"))
}
