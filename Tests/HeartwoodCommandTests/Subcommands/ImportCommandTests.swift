import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Test func `an import creates a store and reports its result in one line`() throws {
  let world = try SmallWorld()
  #expect(world.imported.status == .success)
  #expect(world.imported.notes == "")
  #expect(
    world.imported.output.hasPrefix("imported 9 objects and 15 links into \(world.path) in "))
  #expect(world.imported.output.hasSuffix(" seconds\n"))
  #expect(world.run("count", "City").output == "3\n")
}

@Test func `a file without a model gets the model that its objects imply`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a.heartwood")
  let file = try directory.file("a.json", #"[{"@id": "Cat/1", "name": "Tom", "age": 3}]"#)
  #expect(CommandRun("import", path, file).status == .success)
  #expect(CommandRun("fetch", path, "Cat", "--format", "csv").output == "@id,name,age\nCat/p1,Tom,3\n")
}

@Test func `a model may be in a file of its own`() throws {
  let directory = try TemporaryFolder()
  let path = directory.path("a.heartwood")
  let model = try directory.file(
    "model.json", #"{"entities": {"Cat": {"attributes": {"age": {"type": "double"}}}}}"#)
  let file = try directory.file("a.json", #"[{"@entity": "Cat", "age": 3}]"#)
  #expect(CommandRun("import", path, file, "--model", model).status == .success)
  #expect(CommandRun("schema", path).output == "Cat\n  age  double\n")
  let again = CommandRun("import", path, file, "--model", model)
  #expect(again.status == .usage)
  #expect(again.notes == "heartwood: \(path) is a store with a model already: --model is for a new one\n")
}

@Test(arguments: ["log", "binary"])
func `an import into a folder that does not exist names the folder`(_ type: String) throws {
  let directory = try TemporaryFolder()
  let file = try directory.file("a.json", #"[{"@id": "Cat/1", "name": "Tom"}]"#)
  let run = CommandRun("import", directory.path("none/a"), file, "--type", type)
  #expect(run.status != .success)
  #expect(run.notes.hasSuffix("there is no folder \(directory.path("none")); create it first\n"))
}

@Test func `an existing store keeps its model and its objects`() throws {
  let world = try SmallWorld()
  let more = try world.directory.file(
    "more.json", #"[{"@entity": "Country", "code": "IS", "name": "Iceland"}]"#)
  #expect(CommandRun("import", world.path, more).status == .success)
  #expect(world.run("count", "Country").output == "5\n")
  let wrong = try world.directory.file("wrong.json", #"[{"@entity": "Country", "code": "NO"}]"#)
  let refused = CommandRun("import", world.path, wrong)
  #expect(refused.status == .dataError)
  #expect(
    refused.notes
      == "heartwood: \(wrong): objects[0].name: a value is missing, and Country.name is not optional\n")
}

@Test func `unique values are imported once, and a second import writes nothing`() throws {
  let world = try SmallWorld()
  let again = CommandRun("import", world.path, world.directory.path("small.json"))
  #expect(again.status == .dataError)
  #expect(again.notes.split(separator: "\n").count == 1)
  #expect(world.run("count", "Country").output == "4\n")
}

@Test(arguments: [1, 2, 3, 100])
func `portions of any size yield the same objects and links`(size: Int) throws {
  let world = try SmallWorld()
  let path = world.directory.path("portions.heartwood")
  let run = CommandRun("import", path, world.directory.path("small.json"), "--batch", "\(size)")
  #expect(run.status == .success)
  #expect(run.notes == "")
  let columns = "code,continent.name,capital.name,cities.@count,neighbours.@count"
  #expect(
    CommandRun("fetch", path, "Country", "--sort", "code", "--columns", columns).output
      == world.run("fetch", "Country", "--sort", "code", "--columns", columns).output)
  #expect(CommandRun("verify", path).status == .success)
}

@Test func `an import that fails leaves no new store`() throws {
  let directory = try TemporaryFolder()
  let model = #"{"entities": {"A": {"attributes": {"k": {"type": "string", "unique": true}}}}}"#
  let file = try directory.file(
    "a.json",
    #"{"model": \#(model), "objects": [{"@entity": "A", "k": "1"}, {"@entity": "A", "k": "2"}, {"@entity": "A", "k": "1"}]}"#
  )
  for size in ["100", "1"] {
    let run = CommandRun("import", directory.path("a.heartwood"), file, "--batch", size)
    #expect(run.status == .dataError)
    #expect(!FileManager.default.fileExists(atPath: directory.path("a.heartwood")))
  }
}

@Test(arguments: ["log", "json"])
func `an import removes what a killed one has left at its new place`(type: String) throws {
  let directory = try TemporaryFolder()
  let file = try directory.file("small.json", SmallWorld.document)
  if type == "log" {
    #expect(CommandRun("import", directory.path(".a.heartwood.copying"), file).status == .success)
    _ = try directory.file(".a.heartwood.migration", "")
  } else {
    _ = try directory.file("a.heartwood", "")
    _ = try directory.file("a.heartwood.0123456789abcdef.temporary", "{")
  }
  let run = CommandRun("import", directory.path("a.heartwood"), file, "--type", type, "--batch", "2")
  #expect(run.status == .success, "\(run.notes)")
  #expect(CommandRun("count", directory.path("a.heartwood"), "City").output == "3\n")
  let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
  #expect(names == ["a.heartwood", "small.json"])
}

@Test func `an import in portions that a save would refuse is refused before the first`() throws {
  let directory = try TemporaryFolder()
  // Only a save knows what the condition says of a relationship.
  let rule = #"{"kind": "condition", "text": "k < 9 OR up != nil"}"#
  let model =
    #"{"entities": {"A": {"attributes": {"k": {"type": "integer32", "validationRules": [\#(rule)]}}, "#
    + #""relationships": {"up": {"destination": "A"}}}}}"#
  let path = directory.path("a.heartwood")
  let first = try directory.file(
    "first.json", #"{"model": \#(model), "objects": [{"@entity": "A", "k": 1}]}"#)
  #expect(CommandRun("import", path, first).status == .success)
  let file = try directory.file("more.json", #"[{"@entity": "A", "k": 2}, {"@entity": "A", "k": 9}]"#)
  let run = CommandRun("import", path, file, "--batch", "1")
  #expect(run.status == .dataError)
  #expect(run.notes.contains("A.k of objects[1] is 9 and does not satisfy the condition"), "\(run.notes)")
  #expect(!run.notes.contains("were saved before"))
  #expect(CommandRun("count", path, "A").output == "1\n")
}

@Test func `progress is shown to a person and erased at the end`() throws {
  let world = try SmallWorld()
  let console = RecordingConsole()
  console.showsProgress = true
  let path = world.directory.path("b.heartwood")
  #expect(
    Command.run(["import", path, world.directory.path("small.json")], console: console) == .success)
  #expect(console.notes.contains("\rimporting 9 of 9"))
  #expect(console.notes.hasSuffix("\r"))
}

@Test func `an import into a path that is not a store is refused`() throws {
  let directory = try TemporaryFolder()
  let file = try directory.file("small.json", SmallWorld.document)
  let notStore = CommandRun("import", directory.url.path, file)
  #expect(notStore.status == .dataError)
  #expect(notStore.notes.contains(directory.url.path))
  let overFile = CommandRun("import", file, file)
  #expect(overFile.status == .dataError)
  #expect(CommandRun("import", directory.path("a.heartwood"), directory.path("none.json")).status == .noInput)
  #expect(CommandRun("import", directory.path("a.heartwood"), file, "--batch", "0").status == .usage)
  #expect(CommandRun("import", directory.path("a.heartwood")).status == .usage)
  #expect(!FileManager.default.fileExists(atPath: directory.path("a.heartwood")))
}

@Test func `an import into dev null tries a file without keeping data`() throws {
  let directory = try TemporaryFolder()
  let run = CommandRun("import", "/dev/null", try directory.file("small.json", SmallWorld.document))
  #expect(run.status == .success)
}
