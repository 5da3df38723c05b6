import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The world of the fixture in a store of one test.
private struct World {
  let directory: TemporaryFolder
  let path: String

  init() throws {
    directory = try TemporaryFolder()
    path = directory.path("world.heartwood")
    #expect(CommandRun("import", path, Fixture.path("World/world.json")).status == .success)
  }

  func run(_ subcommand: String, _ words: String...) -> CommandRun { CommandRun([subcommand, path] + words) }

  func count(_ entity: String, _ words: String...) -> Int? {
    Int(CommandRun(["count", path, entity] + words).output.dropLast())
  }
}

@Suite struct `The world fixture` {
  @Test func `the world is imported completely`() throws {
    let world = try World()
    #expect(world.count("Country") == 249)
    #expect(world.count("City") == 412)
    #expect(world.count("Language") == 113)
    #expect(world.count("Currency") == 155)
    #expect(world.count("Continent") == 5)
    #expect(world.run("verify").output.contains("is sound: 934 objects"))
  }

  @Test func `what the help shows of the world works on it`() throws {
    let world = try World()
    let rows = world.run("fetch", "Country", "--columns", "code,name,population", "--format", "csv").output
    let files = ["world.heartwood": world.path, "Country.csv": try world.directory.file("Country.csv", rows)]
    let names = ["import", "fetch", "show", "count", "update", "delete"]
    let lines = Command.subcommands.map { $0.syntax }.filter { names.contains($0.name) }.flatMap {
      $0.examples
    }
    .map { $0.line }
    let ofWorld = lines.filter { line in
      line.contains(" world.heartwood ") && !line.hasSuffix(".json") && !line.hasSuffix(".sqlite")
    }
    #expect(ofWorld.count == 10)
    for line in ofWorld {
      let words = ShellWords(Array(line)).words.map(\.text)
      let run = CommandRun(words.dropFirst().map { files[$0] ?? $0 })
      #expect(run.status == .success, "\(line): \(run.notes)")
    }
  }

  @Test func `the world is queried by index, through relationships and over many objects`() throws {
    let world = try World()
    let largest = world.run(
      "fetch", "Country", "--sort", "-population", "--limit", "3", "--columns",
      "name,capital.name,continent.name,neighbours.@count", "--format", "csv")
    #expect(
      largest.output == """
        name,capital.name,continent.name,neighbours.@count
        China,Beijing,Asia,16
        India,New Delhi,Asia,7
        United States,Washington D.C.,Americas,2

        """)
    #expect(world.count("Country", "--where", #"ANY neighbours.code == "BR""#) == 10)
    let city = #"country.name BEGINSWITH[cd] "bra" AND name CONTAINS[cd] "sao""#
    #expect(
      world.run("fetch", "City", "--where", city, "--columns", "name", "--format", "csv").output
        == "name\nSão Paulo\n")
  }

  @Test func `a deleted country takes its cities with it, and both stay visible in the history`() throws {
    let world = try World()
    let brazil = #"code == "BR""#
    let cities = #"country.code == "BR""#
    #expect(world.count("City", "--where", cities) == 15)
    let deleted = world.run("delete", "Country", "--where", brazil, "--author", "test")
    #expect(
      deleted.output == """
        deleted 1 Country; by cascade 15 City; \
        taken out of the relationships of 1 Continent, 10 Country, 1 Currency, 1 Language

        """)
    #expect(world.count("Country") == 248)
    #expect(world.count("City") == 412 - 15)
    #expect(world.count("Country", "--where", #"ANY neighbours.code == "BR""#) == 0)
    #expect(world.run("history", "--limit", "1").output.contains("was code BR, name Brazil\n"))
    #expect(world.count("Country", "--generation", "2") == 249)
    #expect(world.count("City", "--generation", "2", "--where", cities) == 15)
    #expect(world.run("verify").status == .success)
  }

  @Test func `a continent with countries cannot be deleted`() throws {
    let world = try World()
    let denied = world.run("delete", "Continent", "--where", #"name == "Europe""#)
    #expect(denied.status == .dataError)
    #expect(denied.notes.contains("Continent.countries"))
    #expect(world.count("Continent") == 5)
  }
}
