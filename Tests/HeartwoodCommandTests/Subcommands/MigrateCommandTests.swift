import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

extension SmallWorld {
  /// A file with the model of the store, changed as text.
  fileprivate func changedModel(_ changes: [(String, String)]) throws -> String {
    var text = Self.model
    for (old, new) in changes { text = text.replacingOccurrences(of: old, with: new) }
    return try directory.file("changed.json", text)
  }
}

private let renamed = [
  (
    #""name": {"type": "string", "indexed": true"#,
    #""title": {"type": "string", "renamed": "name", "indexed": true"#
  ),
  (
    #""City": {"attributes": {"name""#,
    #""City": {"attributes": {"size": {"type": "integer32", "default": 7}, "name""#
  ),
]

@Test func `a store is migrated to the model of a file, after a rehearsal that changes nothing`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let rehearsal = world.run("migrate", file, "--dry-run")
  #expect(rehearsal.status == .success)
  #expect(rehearsal.output.contains("City.size is new, and 7 in objects that exist\n"))
  #expect(rehearsal.output.contains("Country.title is renamed from name\n"))
  #expect(rehearsal.output.contains("nothing was changed; it took"))
  #expect(rehearsal.output.contains(" would be written, and the store would grow from "))
  #expect(world.run("fetch", "Country", "--columns", "name").status == .success)
  let backup = world.directory.path("backup")
  let run = world.run("migrate", file, "--backup", backup, "--rewrite")
  #expect(run.status == .success && run.output.contains("migrated in"))
  #expect(world.run("fetch", "Country", "--columns", "title", "--format", "csv").output.contains("France"))
  #expect(world.run("show", "City/p1", "--format", "json").output.contains(#""size": 7"#))
  #expect(world.run("verify").status == .success)
  #expect(CommandRun(["fetch", backup, "Country", "--columns", "name"]).status == .success)
  #expect(world.run("migrate", file).output.contains("has this model already"))
}

@Test func `a store goes back to the backup of before a migration, and loses saves only if that is wanted`()
  throws
{
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let backup = world.directory.path("backup")
  #expect(world.run("migrate", file, "--backup", backup).status == .success)
  #expect(
    world.run("migrate", backup, "--back").output == "the store is as it was when the backup was made\n")
  #expect(world.run("fetch", "Country", "--columns", "name").status == .success)
  #expect(world.run("verify").status == .success)
  #expect(world.run("migrate", file).status == .success)
  #expect(world.run("delete", "City/p1").status == .success)
  let refused = world.run("migrate", backup, "--back")
  #expect(refused.status == .dataError && refused.notes.contains("1 transaction"))
  #expect(world.run("show", "City/p1").status != .success)
  #expect(world.run("migrate", backup, "--back", "--force").status == .success)
  #expect(world.run("show", "City/p1").status == .success)
  #expect(world.run("fetch", "City", "--columns", "name", "--format", "csv").status == .success)
  let other = try SmallWorld()
  #expect(other.run("migrate", backup, "--back").notes.contains("but another store"))
}

@Test func `a rehearsal names what stands against a migration`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel([(#""name": {"type": "string"}}"#, #""name": {"type": "integer64"}}"#)])
  let run = world.run("migrate", file, "--dry-run")
  #expect(run.status == .dataError && run.notes.contains("City.name is of type integer64"))
  let mandatory = try world.changedModel([
    (#""population": {"type": "integer64", "optional": true"#, #""population": {"type": "integer64""#)
  ])
  let listed = world.run("migrate", mandatory, "--dry-run")
  #expect(listed.status == .dataError)
  #expect(listed.output.contains("has no value in Country.population, which is mandatory"))
  #expect(listed.output.contains("which prevents the migration\n  Country/p"))
  #expect(listed.output.hasSuffix("the store cannot be migrated to this model; nothing was changed\n"))
  let refused = world.run("migrate", mandatory)
  #expect(refused.status == .dataError && refused.notes.contains("has no value in Country.population"))
  #expect(world.run("verify").status == .success)
}

@Test func `two models are compared in words`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let run = CommandRun(["model", "diff", world.path, file])
  #expect(run.status == .success)
  #expect(run.output == "City.size is new, and 7 in objects that exist\nCountry.title is renamed from name\n")
  #expect(CommandRun(["model", "diff", world.path, world.path]).output.contains("do not differ"))
}
