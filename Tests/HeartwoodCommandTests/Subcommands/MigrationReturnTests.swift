import Foundation
import Heartwood
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The ways back to a model, or a state, that a store had before.
@Suite struct `Ways back from a migration` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A store with two objects, and the files of models by the attributes of their only entity: names, with `<` and the name that each is renamed
  /// from.
  private func fill(_ attributes: String, type: String = "log") throws {
    let first = attributes.prefix { $0 != " " && $0 != "<" }
    let document = try folder.file(
      "data.json",
      #"{"model": \#(model(attributes)), "objects": [{"@entity": "A", "\#(first)": "x"}, {"@entity": "A", "\#(first)": "y"}]}"#
    )
    let made = type == "log" ? store : folder.path("first")
    #expect(CommandRun("import", made, document).status == .success)
    if type != "log" { #expect(CommandRun("copy", made, store, "--type", type).status == .success) }
  }

  private var store: String { folder.path("store") }

  private func model(_ attributes: String) -> String {
    let parts = attributes.split(separator: " ").map { part in
      let names = part.split(separator: "<")
      let renamed = names.count > 1 ? #", "renamed": "\#(names[1])""# : ""
      return #""\#(names[0])": {"type": "string", "optional": true\#(renamed)}"#
    }
    return #"{"entities": {"A": {"attributes": {\#(parts.joined(separator: ", "))}}}}"#
  }

  private func file(_ attributes: String) throws -> String {
    try folder.file("\(attributes.replacing("<", with: "-")).json", model(attributes))
  }

  private func migrate(_ attributes: String, _ options: String...) throws -> CommandRun {
    CommandRun(["migrate", store, try file(attributes)] + options)
  }

  /// A mapping of the entity to itself, with expressions by attribute.
  private func mapping(_ values: [String: String]) throws -> String {
    let mapping = EntityMapping(from: "A", to: "A")
    mapping.attributeMappings = try values.sorted { $0.key < $1.key }.map {
      try PropertyMapping(name: $0.key, valueExpression: $0.value)
    }
    let text = String(decoding: try MappingModel(entityMappings: [mapping]).encodedDocument(), as: UTF8.self)
    return try folder.file("mapping.json", text)
  }

  private func values(_ attribute: String) -> String {
    CommandRun("fetch", store, "A", "--columns", attribute, "--sort", attribute, "--format", "csv").output
  }

  @Test func `several renamings are taken back one after the other, with all values`() throws {
    try fill("a")
    for step in ["b<a", "c<b", "d<c", "c<b", "b<a", "a"] {
      let run = try migrate(step)
      #expect(run.status == .success && run.output.contains("is renamed from"), "\(step): \(run)")
      #expect(values(String(step.prefix(1))).contains("x"))
    }
  }

  @Test func `a model that the store had is taken again without a loss, or if the loss is wanted`() throws {
    try fill("a")
    #expect(try migrate("a b").status == .success)
    let tried = try migrate("a", "--dry-run")
    #expect(tried.status == .dataError && tried.output.contains("A.b is removed, with its values"))
    let refused = try migrate("a")
    #expect(refused.status == .dataError, "\(refused)")
    #expect(refused.notes.contains("had this model before, and would lose what it does not have: A.b"))
    #expect(values("b").contains("b"))
    #expect(try migrate("a", "--force").status == .success)
    #expect(values("a").contains("x"))
  }

  @Test(arguments: ["log", "json"])
  func `a mapping leads back to a model that the store had, and keeps what would be lost`(type: String) throws
  {
    try fill("a", type: type)
    let there = try mapping(["b": "$source.a + \"!\""])
    #expect(try migrate("b", "--mapping", there).status == .success)
    let back = try mapping(["a": "$source.b + \"?\""])
    #expect(try migrate("a", "--mapping", back, "--dry-run").status == .success)
    let run = try migrate("a", "--mapping", back)
    #expect(run.status == .success, "\(run)")
    #expect(values("a").contains("x!?"))
  }

  @Test func `a store that a mapping has made goes back to the backup of the former one`() throws {
    try fill("a")
    let mapping = try mapping(["b": "$source.a"])
    let backup = folder.path("backup")
    #expect(try migrate("b", "--mapping", mapping, "--backup", backup).status == .success)
    let tried = CommandRun("migrate", store, backup, "--back", "--dry-run")
    #expect(tried.output.hasPrefix("nothing was saved after the backup\n"), "\(tried)")
    let back = CommandRun("migrate", store, backup, "--back")
    #expect(back.status == .success, "\(back)")
    #expect(values("a").contains("x") && CommandRun("verify", store).status == .success)
  }

  @Test func `what was saved after a mapping's migration, or before it, is lost only if that is wanted`()
    throws
  {
    try fill("a")
    let mapping = try mapping(["b": "$source.a"])
    let backup = folder.path("backup")
    #expect(CommandRun("backup", store, backup).status == .success)
    #expect(CommandRun("update", store, "A", "--where", "a == \"x\"", "--set", "a=\"z\"").status == .success)
    #expect(try migrate("b", "--mapping", mapping).status == .success)
    #expect(CommandRun("update", store, "A", "--where", "b == \"z\"", "--set", "b=\"w\"").status == .success)
    let refused = CommandRun("migrate", store, backup, "--back")
    #expect(refused.status == .dataError, "\(refused)")
    #expect(refused.notes.contains("something was saved between the backup and the migration"))
    #expect(refused.notes.contains("1 transaction was saved after the backup"))
    let back = CommandRun("migrate", store, backup, "--back", "--force")
    #expect(back.status == .success && values("a").contains("x"), "\(back)")
  }
}
