import Foundation
import Heartwood
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
  #expect(refused.status == .dataError)
  #expect(refused.notes.contains("1 transaction was saved after the backup, and would be lost"))
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
  #expect(
    run.output
      == "a store can be migrated without a mapping, if its objects allow it (see heartwood migrate --dry-run):\n"
      + "City.size is new, and 7 in objects that exist\nCountry.title is renamed from name\n")
  #expect(CommandRun(["model", "diff", world.path, world.path]).output.contains("do not differ"))
}

@Test
func `going back is rehearsed without a change, and keeps the store in another backup if that is wanted`()
  throws
{
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let (backup, kept) = (world.directory.path("backup"), world.directory.path("kept"))
  #expect(world.run("migrate", file, "--backup", backup).status == .success)
  let same = world.run("migrate", backup, "--back", "--dry-run")
  #expect(
    same.output == """
      nothing was saved after the backup
      the store would be as it was when the backup was made; nothing was changed

      """)
  #expect(world.run("delete", "City/p1").status == .success)
  for options in [["--dry-run"], ["--dry-run", "--force"]] {
    let tried = CommandRun(["migrate", world.path, backup, "--back"] + options)
    #expect(tried.status == .success)
    #expect(tried.output.hasPrefix("1 transaction was saved after the backup, and would be lost\n"))
    #expect(world.run("fetch", "Country", "--columns", "title").status == .success)
    #expect(world.run("show", "City/p1").status != .success)
  }
  let overwritten = world.run("migrate", backup, "--back", "--force", "--backup", backup)
  #expect(overwritten.status == .usage && overwritten.notes.contains("the backup to go back to"))
  #expect(CommandRun("fetch", backup, "Country", "--columns", "name").status == .success)
  #expect(world.run("migrate", backup, "--back", "--backup", kept).status == .dataError)
  #expect(world.run("migrate", backup, "--back", "--force", "--backup", kept).status == .success)
  #expect(world.run("show", "City/p1").status == .success)
  #expect(CommandRun("fetch", kept, "Country", "--columns", "title").status == .success)
  #expect(CommandRun("show", kept, "City/p1").status != .success)
}

@Test(arguments: [
  ["--dry-run", "--force"], ["--mapping", "x", "--force"], ["--dry-run", "--rewrite"],
  ["--dry-run", "--backup", "x"], ["--back", "--steps"],
  ["--back", "--rewrite"], ["--back", "--mapping", "x"],
  ["--mapping", "x", "--rewrite"], ["--back", "--dry-run", "--backup", "x"],
])
func `options that have no meaning together are refused`(options: [String]) throws {
  let world = try SmallWorld()
  let run = CommandRun(["migrate", world.path, try world.changedModel(renamed)] + options)
  #expect(run.status == .usage && run.notes.contains(options[0]))
  #expect(world.run("fetch", "Country", "--columns", "name").status == .success)
}

@Test
func `a backup is neither in the store's directory nor around it, and a copy that fails leaves nothing`()
  throws
{
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let link = world.directory.path("link")
  try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: world.path)
  for place in [world.path, world.path + "/b", link + "/a/b", world.directory.path(".")] {
    for run in [
      world.run("migrate", file, "--backup", place), world.run("migrate", place, "--back"),
      world.run("backup", place),
    ] {
      #expect(run.status == .usage, "\(place): \(run)")
    }
  }
  #expect(!FileManager.default.fileExists(atPath: world.path + "/b"))
  // A page of the store is damaged: the copy is checked, and fails.
  let folder = URL(fileURLWithPath: world.path)
  let names = try FileManager.default.contentsOfDirectory(atPath: world.path).sorted()
  let log = folder.appending(path: try #require(names.last { $0.hasSuffix(".log") }))
  var bytes = try Data(contentsOf: log)
  bytes[try #require(bytes.lastIndex { $0 != 0 }) / 2] ^= 1
  try bytes.write(to: log)
  let backup = world.directory.path("backup")
  let failed = world.run("migrate", file, "--backup", backup)
  #expect(failed.status != .success)
  #expect(!FileManager.default.fileExists(atPath: backup))
  try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: false)
  #expect(world.run("backup", backup).status != .success)
  #expect(try FileManager.default.contentsOfDirectory(atPath: backup) == [])
}

@Test func `a model that differs in indexes and defaults only is taken over, and that is said`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel([
    (
      #""City": {"attributes": {"name": {"type": "string""#,
      #""City": {"attributes": {"name": {"type": "string", "indexed": true, "default": "X""#
    )
  ])
  let sentences = "City.name has the default X\nCity gets an index of name\n"
  #expect(CommandRun("model", "diff", world.path, file).output.hasSuffix("--dry-run):\n" + sentences))
  let rehearsal = world.run("migrate", file, "--dry-run")
  #expect(rehearsal.output.hasPrefix(sentences) && rehearsal.output.contains("nothing was changed"))
  let before = world.run("schema").output
  #expect(!before.contains("indexed, default"))
  let run = world.run("migrate", file)
  #expect(
    run.output.hasPrefix(sentences + "City.by name: index built\n") && run.output.contains("migrated in"))
  #expect(world.run("schema").output != before)
  #expect(CommandRun("model", "diff", world.path, file).output.contains("do not differ"))
  #expect(world.run("migrate", file).output == "the store has this model already; nothing was changed\n")
  #expect(world.run("verify").status == .success)
}

@Test func `rows are rewritten at once or later, and it is said only where there are any`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel(renamed)
  let run = world.run("migrate", file)
  #expect(
    run.output.contains("the other rows are converted when they are read (--rewrite writes them again)"))
  let later = world.run("migrate", file, "--rewrite")
  #expect(later.output == "the store has this model already; the rows of its former model are rewritten\n")
  let again = world.run("migrate", file, "--rewrite")
  #expect(again.output == "the store has this model already; nothing was changed\n")
  let other = try SmallWorld()
  let rewritten = other.run("migrate", file, "--rewrite")
  #expect(!rewritten.output.contains("--rewrite"))
  #expect(rewritten.output.hasSuffix("the rows of the former model are rewritten\n"))
  #expect(other.run("migrate", file, "--rewrite").output.contains("nothing was changed"))
}

// MIG-07, MIG-09
@Test func `a store is migrated by the mapping model in a file`() throws {
  let world = try SmallWorld()
  let file = try world.directory.file(
    "places.json",
    #"{"entities": {"Place": {"attributes": {"label": {"type": "string"}}}, "Country": {"attributes": {"people": {"type": "integer64"}}}}}"#
  )
  let place = EntityMapping(from: "City", to: "Place")
  place.attributeMappings = [
    try PropertyMapping(
      name: "label", valueExpression: #""in " + $source.country.name + ": " + $source.name"#)
  ]
  let country = EntityMapping(from: "Country", to: "Country")
  country.attributeMappings = [
    try PropertyMapping(name: "people", valueExpression: "$source.neighbours.@count * 2")
  ]
  let mapping = try world.directory.file(
    "mapping.json",
    String(decoding: MappingModel(entityMappings: [place, country]).encodedDocument(), as: UTF8.self))
  let backup = world.directory.path("backup")
  let run = world.run("migrate", file, "--mapping", mapping, "--backup", backup)
  #expect(run.status == .success, "\(run)")
  #expect(run.output.contains("Country: 4 objects\nPlace: 3 objects\nmigrated by the mapping in "))
  let places = world.run("fetch", "Place", "--columns", "label", "--format", "csv").output
  #expect(places.contains("in France: Lyon"))
  #expect(world.run("count", "Country", "--where", "people = 4").output.contains("3"))
  #expect(world.run("verify").status == .success)
  #expect(CommandRun("fetch", backup, "City", "--columns", "name").status == .success)
  let third = try SmallWorld()
  let console = RecordingConsole()
  console.showsProgress = true
  #expect(Command.run(["migrate", third.path, file, "--mapping", mapping], console: console) == .success)
  #expect(console.notes.contains("validation of Country->Country: 4 of 4 rows"), "\(console.notes)")
  let again = world.run("migrate", file, "--mapping", mapping)
  #expect(again.output == "the store has this model already; nothing was changed\n")
  let other = try SmallWorld()
  let wrong = other.run("migrate", file, "--mapping", file)
  #expect(wrong.status == .dataError && wrong.notes.contains("is no mapping model"), "\(wrong)")
  #expect(other.run("fetch", "City").status == .success)
}

// MIG-14
@Test func `a migration shows how many rows of its step are done`() throws {
  let world = try SmallWorld()
  let file = try world.changedModel([
    (#""name": {"type": "string"}}"#, #""name": {"type": "string", "unique": true}}"#)
  ])
  let console = RecordingConsole()
  console.showsProgress = true
  #expect(Command.run(["migrate", world.path, file, "--dry-run"], console: console) == .success)
  #expect(console.notes.contains("validation of Country: 4 of 4 rows"), "\(console.notes)")
  #expect(Command.run(["migrate", world.path, file], console: console) == .success)
  #expect(console.notes.contains("index of name of City: 3 of 3 rows"), "\(console.notes)")
}

/// Calls a closure after the first result, or after each.
private final class InterruptingConsole: Console {
  let showsProgress = false
  let terminalWidth: Int? = nil
  let usesColors = false
  private(set) var notes = ""
  private var interruption: (() -> Void)?

  private let repeats: Bool

  init(always repeats: Bool = false, _ interruption: @escaping () -> Void) {
    self.repeats = repeats
    self.interruption = interruption
  }

  func write(_ bytes: [UInt8]) {
    interruption?()
    if !repeats { interruption = nil }
  }

  func writeNote(_ text: String) { notes += text }
}

// MIG-17
@Test func `what is saved between the backup of a store and its replacement is in the backup`() throws {
  let world = try SmallWorld()
  let (backup, kept) = (world.directory.path("backup"), world.directory.path("kept"))
  #expect(world.run("backup", backup).status == .success)
  #expect(world.run("delete", "City/p1").status == .success)
  let console = InterruptingConsole {
    #expect(world.run("delete", "City/p2").status == .success)
  }
  let status = Command.run(
    ["migrate", world.path, backup, "--back", "--force", "--backup", kept], console: console)
  #expect(status == .success, "\(console.notes)")
  #expect(world.run("count", "City").output == "3\n")
  #expect(CommandRun("count", kept, "City").output == "1\n")
}

// MIG-17
@Test func `going back to a backup is refused, as no failure of the disk, while others go on saving`() throws
{
  let world = try SmallWorld()
  let (backup, kept) = (world.directory.path("backup"), world.directory.path("kept"))
  #expect(world.run("backup", backup).status == .success)
  var saves = 0
  let console = InterruptingConsole(always: true) {
    saves += 1
    let file = try? world.directory.file("more.json", #"[{"@id": "Continent/X", "name": "new \#(saves)"}]"#)
    #expect(world.run("import", file ?? "").status == .success)
  }
  let status = Command.run(
    ["migrate", world.path, backup, "--back", "--force", "--backup", kept], console: console)
  #expect(status == .dataError, "\(console.notes)")
  #expect(console.notes.contains("something was saved after each of 20 backups"), "\(console.notes)")
  #expect(saves == 20 && world.run("count", "Continent").output == "22\n")
}

// MIG-10, MIG-17
@Test func `a migration by a mapping is tried, and lists the objects that it cannot migrate`() throws {
  let world = try SmallWorld()
  let file = try world.directory.file(
    "places.json",
    #"{"entities": {"City": {"attributes": {"label": {"type": "string", "optional": false}}}}}"#)
  let city = EntityMapping(from: "City", to: "City")
  city.attributeMappings = [try PropertyMapping(name: "label", valueExpression: "$source.name")]
  let mapping = try world.directory.file(
    "mapping.json", String(decoding: MappingModel(entityMappings: [city]).encodedDocument(), as: UTF8.self))
  let run = world.run("migrate", file, "--mapping", mapping, "--dry-run")
  #expect(run.status == .success, "\(run)")
  #expect(run.output.contains("Country is removed, with its objects\n"), "\(run)")
  #expect(run.output.contains("the mapping City->City makes City of City\n"))
  #expect(run.output.contains("City: 3 objects to write again\n"))
  #expect(run.output.contains("Country: 4 objects to delete\n"))
  city.attributeMappings = [try PropertyMapping(name: "label", valueExpression: "NIL")]
  try MappingModel(entityMappings: [city]).encodedDocument().write(to: URL(fileURLWithPath: mapping))
  let prevented = world.run("migrate", file, "--mapping", mapping, "--dry-run")
  #expect(
    prevented.status == .dataError && prevented.output.contains("City/p1, City/p2, City/p3"), "\(prevented)")
  #expect(world.run("count", "Country").output == "4\n")
}
