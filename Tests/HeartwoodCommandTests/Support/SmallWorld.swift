import Foundation
import TestSupport

@testable import HeartwoodCommand

/// Four countries, imported into a store of one test.
struct SmallWorld {
  static let model = """
    {"entities": {
      "Continent": {"attributes": {"name": {"type": "string", "unique": true}},
        "relationships": {
          "countries": {"destination": "Country", "toMany": true, "inverse": "continent", "deleteRule": "deny"}}},
      "Country": {"attributes": {
          "code": {"type": "string", "unique": true, "preservesValueInHistoryOnDeletion": true},
          "name": {"type": "string", "indexed": true, "preservesValueInHistoryOnDeletion": true},
          "population": {"type": "integer64", "optional": true, "indexed": true}},
        "relationships": {
          "continent": {"destination": "Continent", "inverse": "countries"},
          "capital": {"destination": "City", "inverse": "capitalOf"},
          "cities": {"destination": "City", "toMany": true, "inverse": "country", "deleteRule": "cascade"},
          "neighbours": {"destination": "Country", "toMany": true, "inverse": "neighbours"}}},
      "City": {"attributes": {"name": {"type": "string"}},
        "relationships": {
          "country": {"destination": "Country", "inverse": "cities", "optional": false},
          "capitalOf": {"destination": "Country", "inverse": "capital"}}}}}
    """

  static let objects = """
    [{"@id": "Continent/E", "name": "Europe"}, {"@id": "Continent/N", "name": "Nowhere"},
     {"@id": "Country/FR", "code": "FR", "name": "France", "population": 66000000,
      "continent": {"@ref": "Continent/E"}, "capital": {"@ref": "City/P"},
      "neighbours": [{"@ref": "Country/DE"}, {"@ref": "Country/LU"}]},
     {"@id": "Country/DE", "code": "DE", "name": "Germany", "population": 80000000,
      "continent": {"@ref": "Continent/E"}, "capital": {"@ref": "City/B"},
      "neighbours": [{"@ref": "Country/FR"}, {"@ref": "Country/LU"}]},
     {"@id": "Country/LU", "code": "LU", "name": "Luxembourg", "population": 550000,
      "continent": {"@ref": "Continent/E"}, "neighbours": [{"@ref": "Country/FR"}, {"@ref": "Country/DE"}]},
     {"@id": "Country/PT", "code": "PT", "name": "Portugal", "continent": {"@ref": "Continent/E"}},
     {"@id": "City/P", "name": "Paris", "country": {"@ref": "Country/FR"}},
     {"@id": "City/L", "name": "Lyon", "country": {"@ref": "Country/FR"}},
     {"@id": "City/B", "name": "Berlin", "country": {"@ref": "Country/DE"}}]
    """

  static var document: String { #"{"model": \#(model), "objects": \#(objects)}"# }

  let directory: TemporaryFolder
  let path: String
  let imported: CommandRun

  init() throws {
    directory = try TemporaryFolder()
    path = directory.path("small.heartwood")
    imported = CommandRun("import", path, try directory.file("small.json", SmallWorld.document))
  }

  /// Runs a command on the store.
  func run(_ subcommand: String, _ words: String...) -> CommandRun { run(subcommand, words: words) }

  func run(_ subcommand: String, words: [String]) -> CommandRun { CommandRun([subcommand, path] + words) }
}
