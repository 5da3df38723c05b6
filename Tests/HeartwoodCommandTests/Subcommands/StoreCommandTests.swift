import Heartwood
import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

extension SmallWorld {
  /// The number of the newest transaction that changed objects.
  var newestGeneration: String? {
    run("history", "--limit", "1").output.split(separator: " ").first.map(String.init)
  }
}

@Test func `the history lists authors and their changes`() throws {
  let world = try SmallWorld()
  #expect(world.run("delete", "Country", "--where", #"code == "FR""#, "--author", "me").status == .success)
  let all = world.run("history")
  #expect(all.status == .success)
  #expect(all.output.contains("inserted 3 City, 2 Continent, 4 Country"))
  let last = world.run("history", "--limit", "1").output
  #expect(last.contains("by me"))
  #expect(last.contains("deleted  Country/p1  was code FR, name France\n"))
  #expect(last.contains("neighbours"))
  let newest = try #require(world.newestGeneration)
  #expect(world.run("history", "--since", newest).output == "")
  #expect(world.run("history", "--since", newest, "--format", "json").output == "[]\n")
  #expect(world.run("history", "--changes", "1").output.contains("more (--changes 0 lists all)"))
}

@Test func `the history as JSON carries the tombstones`() throws {
  let world = try SmallWorld()
  #expect(world.run("delete", "Country/p4").status == .success)
  let run = world.run("history", "--limit", "1", "--format", "json")
  let value = try ImportDocument.parse(Array(run.output.utf8))
  guard case .array(let transactions) = value, case .object(let transaction)? = transactions.first,
    case .array(let changes)? = transaction["changes"]
  else { throw CommandFailure.data("no transaction") }
  let tombstone = JSONValue.object(JSONObject([("code", .string("PT")), ("name", .string("Portugal"))]))
  let deletion = changes.compactMap { change -> JSONObject? in
    if case .object(let object) = change, object["change"] == .string("delete") { return object }
    return nil
  }
  #expect(deletion.map { $0["object"] } == [.string("Country/p4")])
  #expect(deletion.map { $0["tombstone"] } == [tombstone])
}

@Test func `generations are listed, each with a number that can be requested`() throws {
  let world = try SmallWorld()
  #expect(world.run("delete", "City/p2").status == .success)
  let run = world.run("generations", "--format", "csv")
  #expect(run.status == .success)
  let rows = run.output.split(separator: "\n").map {
    $0.split(separator: ",", omittingEmptySubsequences: false)
  }
  #expect(rows.first?.map(String.init) == ["generation", "date", "author", "changes", "bytes", "held"])
  #expect(rows.count >= 3)
  for row in rows.dropFirst().suffix(2) {
    #expect(world.run("count", "Continent", "--generation", String(row[0])).output == "2\n")
  }
}

@Test func `the schema is the model that was imported`() throws {
  let world = try SmallWorld()
  let text = world.run("schema").output
  #expect(text.contains("  code        string        unique, kept in history\n"))
  #expect(text.contains("  cities      ->> City      inverse country, delete rule cascade\n"))
  let json = try directoryModel(world.run("schema", "--format", "json").output)
  let given = try directoryModel(SmallWorld.model)
  #expect(json.entities.sorted { $0.name < $1.name } == given.entities.sorted { $0.name < $1.name })
}

@Test func `the schema of one entity is shown alone`() throws {
  let world = try SmallWorld()
  #expect(world.run("schema", "Continent").output.hasPrefix("Continent\n  name "))
  #expect(!world.run("schema", "Continent").output.contains("population"))
  #expect(world.run("schema", "Contnent").notes.contains("did you mean Continent?"))
}

private func directoryModel(_ text: String) throws -> DocumentModel {
  try DocumentModel(reading: JSONPlace(path: "", value: ImportDocument.parse(Array(text.utf8))))
}

@Test func `statistics count objects and bytes`() throws {
  let world = try SmallWorld()
  let text = world.run("statistics")
  #expect(text.status == .success)
  let lines = text.output.split(separator: "\n")
  #expect(lines.contains { $0.hasPrefix("objects ") && $0.hasSuffix(" 9") })
  #expect(lines.contains { $0.hasPrefix("  Country ") && $0.hasSuffix(" 4") })
  let json = try ImportDocument.parse(Array(world.run("statistics", "--format", "json").output.utf8))
  guard case .object(let object) = json, case .integer(let bytes)? = object["fileBytes"] else {
    throw CommandFailure.data("no bytes")
  }
  #expect(bytes > 0)
}

@Test func `verification reports that a store is sound`() throws {
  let world = try SmallWorld()
  let run = world.run("verify")
  #expect(run.status == .success)
  #expect(run.output.hasPrefix("\(world.path) is sound: "))
}

@Test func `a damaged store fails verification with exit status 1 and a finding`() throws {
  let world = try SmallWorld()
  try world.flipByteOfLargestFile()
  let run = world.run("verify")
  #expect(run.status == .verificationFailed)
  #expect(!run.output.isEmpty)
  #expect(run.notes.contains("finding"))
}

extension SmallWorld {
  /// Flips a bit in the first known text of the store's data.
  func flipByteOfLargestFile() throws {
    let folder = URL(fileURLWithPath: path)
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      let file = folder.appending(path: name)
      var data = try Data(contentsOf: file)
      guard let place = data.range(of: Data("Luxembourg".utf8)) else { continue }
      data[place.lowerBound] ^= 1
      try data.write(to: file)
    }
  }
}

/// The commands that read, each with the arguments that it needs after the store.
private let readers = [
  ["fetch", "Country"], ["show", "Country/p1"], ["count", "Country"], ["history"], ["generations"],
  ["schema"],
  ["statistics"], ["verify"], ["delete", "Country/p1", "--dry-run"],
]

private func words(_ reader: [String], _ path: String) -> [String] {
  [reader[0], path] + reader.dropFirst()
}

@Test(arguments: readers)
func `reading never creates a store`(reader: [String]) throws {
  let directory = try TemporaryFolder()
  let run = CommandRun(words(reader, directory.path("none.heartwood")))
  #expect(run.status == .noInput)
  #expect(
    run.notes
      == "heartwood: \(directory.path("none.heartwood")): there is no store here; heartwood import makes one\n"
  )
  #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
}

@Test(arguments: readers)
func `a path that is not a store is refused and left unchanged`(reader: [String]) throws {
  let directory = try TemporaryFolder()
  let file = try directory.file("a.txt", "text")
  let overFile = CommandRun(words(reader, file))
  #expect(overFile.status == .dataError)
  #expect(
    overFile.notes
      == "heartwood: \(file): this file is no store: a store is a directory, a binary, JSON or XML file that heartwood copy made, or a SQLite file of Core Data\n"
  )
  let overDirectory = CommandRun(words(reader, directory.url.path))
  #expect(overDirectory.status == .dataError)
  #expect(overDirectory.notes.contains(directory.url.path))
  #expect(overDirectory.notes.split(separator: "\n").count == 1)
  #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["a.txt"])
}

@Test func `an empty directory is no store to read from`() throws {
  let directory = try TemporaryFolder()
  let run = CommandRun("count", directory.url.path, "Country")
  #expect(run.status == .noInput || run.status == .dataError)
  #expect(run.notes.split(separator: "\n").count == 1)
  #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
}

@Test(arguments: readers)
func `reading changes no file of the store`(reader: [String]) throws {
  let world = try SmallWorld()
  let before = try world.contents()
  #expect(CommandRun(words(reader, world.path)).status == .success)
  #expect(try world.contents() == before)
}

extension SmallWorld {
  fileprivate func contents() throws -> [String: Data] {
    let folder = URL(fileURLWithPath: path)
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
  }
}

@Test func `reclaim frees space and keeps objects and history`() throws {
  let world = try SmallWorld()
  #expect(world.run("delete", "City/p1").status == .success)
  let (countries, history) = (world.run("fetch", "Country").output, world.run("history").output)
  let run = world.run("reclaim")
  #expect(run.status == .success)
  #expect(run.output.contains("on disk before, "))
  #expect(world.run("fetch", "Country").output == countries)
  #expect(world.run("history").output == history)
  #expect(world.run("verify").status == .success)
  #expect(world.run("delete", "City/p2").status == .success)
  #expect(world.run("verify").status == .success)
}
