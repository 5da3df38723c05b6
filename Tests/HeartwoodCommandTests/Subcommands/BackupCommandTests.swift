import Foundation
import Heartwood
import Testing

@testable import HeartwoodCommand

@Test func `backup copies a store, and later only new data`() throws {
  let world = try SmallWorld()
  let backup = world.directory.path("backup")
  let first = world.run("backup", backup)
  #expect(first.status == .success)
  #expect(first.output.contains("copied") && !first.output.contains("already"))
  let countries = world.run("fetch", "Country").output
  #expect(CommandRun("fetch", backup, "Country").output == countries)
  #expect(CommandRun("verify", backup).status == .success)
  #expect(world.run("delete", "City/p1").status == .success)
  let second = world.run("backup", backup)
  #expect(second.output.contains("were there already"))
  #expect(CommandRun("fetch", backup, "City").output == world.run("fetch", "City").output)
  #expect(CommandRun("history", backup).output == world.run("history").output)
}

@Test func `backup to another store, or to a changed backup, is refused in one line`() throws {
  let world = try SmallWorld()
  let other = try SmallWorld()
  let before = other.run("fetch", "Country").output
  let overOther = world.run("backup", other.path)
  #expect(overOther.status == .cannotCreate)
  #expect(overOther.notes.split(separator: "\n").count == 1)
  #expect(other.run("fetch", "Country").output == before)
  let backup = world.directory.path("backup")
  #expect(world.run("backup", backup).status == .success)
  #expect(CommandRun("delete", backup, "City/p1").status == .success)
  #expect(world.run("backup", backup).status == .cannotCreate)
  #expect(world.run("backup").status == .usage)
}

@Test(arguments: ["backup", "copy"])
func `a copy in a folder that is not there is refused with the reason`(command: String) throws {
  let world = try SmallWorld()
  let run = world.run(command, world.directory.path("none/copy"))
  #expect(run.status == .noInput)
  #expect(run.notes.contains("there is no such file or folder"), "\(run.notes)")
}

@Test func `salvage makes a new store from one that has lost its anchor and its tree`() throws {
  let world = try SmallWorld()
  let countries = world.run("fetch", "Country").output
  let folder = URL(fileURLWithPath: world.path)
  for name in try FileManager.default.contentsOfDirectory(atPath: world.path)
  where name == "anchor" || name.hasSuffix(".pages") {
    try FileManager.default.removeItem(at: folder.appending(path: name))
  }
  #expect(world.run("count", "Country").status != .success)
  let new = world.directory.path("new")
  let run = world.run("salvage", new)
  #expect(run.status == .verificationFailed)
  #expect(run.output.contains("the anchor is missing or damaged"))
  #expect(CommandRun("fetch", new, "Country").output == countries)
  #expect(CommandRun("verify", new).status == .success)
  #expect(world.run("salvage", new).status == .cannotCreate)
}

@Test func `salvage reports that the last file of the log is lost, and exits with 1`() throws {
  let world = try SmallWorld()
  let folder = URL(fileURLWithPath: world.path)
  let logs = try FileManager.default.contentsOfDirectory(atPath: world.path).filter { $0.hasSuffix(".log") }
  let last = folder.appending(path: try #require(logs.max()))
  try Data().write(to: last)
  let emptied = world.run("salvage", world.directory.path("first"))
  #expect(emptied.status == .verificationFailed)
  #expect(emptied.output.contains("the last file of the log, which the anchor names, is missing"))
  try FileManager.default.removeItem(at: last)
  #expect(world.run("salvage", world.directory.path("second")).status == .verificationFailed)
}

@Test(arguments: ["binary", "json", "xml"])
func `copy makes a store of another kind, which the commands find by themselves`(type: String) throws {
  let world = try SmallWorld()
  let (file, back) = (world.directory.path("copy"), world.directory.path("back"))
  let countries = world.run("fetch", "Country").output
  let copied = world.run("copy", file, "--type", type)
  #expect(copied.status == .success, "\(copied.notes)")
  #expect(copied.output.contains("copied") && copied.output.contains("objects"))
  #expect(CommandRun("fetch", file, "Country").output == countries)
  #expect(CommandRun("verify", file).status == .success)
  #expect(CommandRun("delete", file, "City/p1").status == .success)
  #expect(CommandRun("count", file, "City").output != world.run("count", "City").output)
  #expect(CommandRun("history", file).status != .success)
  #expect(CommandRun("copy", file, back).status == .success)
  #expect(CommandRun("count", back, "City").output == CommandRun("count", file, "City").output)
  #expect(CommandRun("copy", file, back).status == .cannotCreate)
  #expect(CommandRun("copy", file, world.directory.path("other"), "--type", "odd").status == .usage)
}

@Test func `copy takes a place where a store was removed`() throws {
  let world = try SmallWorld()
  let copy = world.directory.path("copy")
  #expect(world.run("copy", copy).status == .success)
  try PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel()).destroyPersistentStore(
    at: URL(filePath: copy))
  #expect(FileManager.default.fileExists(atPath: copy + "/lock"))
  #expect(world.run("copy", copy).status == .success)
  #expect(CommandRun("count", copy, "City").output == world.run("count", "City").output)
  #expect(world.run("copy", copy).status == .cannotCreate)
}

@Test func `copy takes a place where a killed copy has left files`() throws {
  let world = try SmallWorld()
  let copy = world.directory.path("copy")
  #expect(world.run("copy", copy).status == .success)
  // As it was before the last step: a mark in place of the anchor.
  try FileManager.default.removeItem(atPath: copy + "/anchor")
  try Data().write(to: URL(filePath: copy + "/anchor.new"))
  #expect(CommandRun("count", copy, "City").notes.contains("repeat the copy"))
  let again = world.run("copy", copy)
  #expect(again.status == .success, "\(again)")
  #expect(CommandRun("fetch", copy, "Country").output == world.run("fetch", "Country").output)
  #expect(CommandRun("verify", copy).status == .success)
  #expect(world.run("copy", copy).status == .cannotCreate)
}

@Test func `copy begins again if the store is migrated meanwhile`() throws {
  let world = try SmallWorld()
  let newer = try world.directory.file(
    "newer.json",
    SmallWorld.model.replacingOccurrences(
      of: #""City": {"attributes": {"#,
      with: #""City": {"attributes": {"size": {"type": "integer16", "optional": true}, "#))
  let copy = world.directory.path("copy")
  var copies = 0
  let count = try CopyCommand.copied(world.path, to: copy, .log, model: nil, RecordingConsole()) {
    path, model, place, type in
    copies += 1
    if copies == 1 { #expect(world.run("migrate", newer).status == .success) }
    try CopyCommand.write(path, model, to: place, type)
  }
  #expect(copies == 2 && count == 9)
  #expect(CommandRun("schema", copy).output.contains("size"))
  #expect(CommandRun("fetch", copy, "City").output == world.run("fetch", "City").output)
}
