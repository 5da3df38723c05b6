import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The command's verdict on models: whether a store can be migrated, and the hashes by which versions are told apart.
@Suite struct `Verdicts on models` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ name: String, _ body: String) throws -> String {
    let path = folder.url.appending(path: "\(name).xcdatamodel")
    try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
    try Data("<model>\(body)</model>".utf8).write(to: path.appending(path: "contents"))
    return path.path
  }

  private func item(_ attributes: String) -> String { "<entity name=\"Item\">\(attributes)</entity>" }

  @Test func `a comparison says first whether a store can be migrated without a mapping`() throws {
    let first = try model("1", item("<attribute name=\"a\" attributeType=\"String\" optional=\"YES\"/>"))
    let wider = try model(
      "2",
      item(
        "<attribute name=\"a\" attributeType=\"String\" optional=\"YES\"/><attribute name=\"b\" attributeType=\"String\" optional=\"YES\"/>"
      ))
    let other = try model(
      "3",
      item(
        "<attribute name=\"a\" attributeType=\"Date\" optional=\"YES\"/><attribute name=\"b\" attributeType=\"String\" optional=\"YES\"/>"
      ))
    let possible = CommandRun("model", "diff", first, wider)
    #expect(possible.status == .success)
    #expect(possible.output.hasPrefix("a store can be migrated without a mapping"), "\(possible.output)")
    #expect(possible.output.contains("Item.b is new"))
    let impossible = CommandRun("model", "diff", first, other)
    #expect(impossible.status == .dataError)
    let lines = impossible.output.split(separator: "\n")
    #expect(lines.first == "a store cannot be migrated without a mapping, 1 reason:", "\(impossible.output)")
    #expect(lines.dropFirst().first?.contains("Item.a is of type date") == true)
    #expect(impossible.output.contains("Item.b is new"))
    let same = CommandRun("model", "diff", first, first)
    #expect(same.status == .success && same.output == "the models do not differ in what a store has\n")
  }

  @Test func `a comparison names destinations that a relationship cannot lead to any more`() throws {
    func entities(_ destination: String) -> String {
      """
      <entity name="Base"/><entity name="Part" parentEntity="Base"/>
      <entity name="Owner"><relationship name="things" optional="YES" toMany="YES" destinationEntity="\(destination)"/></entity>
      """
    }
    let first = try model("1", entities("Base"))
    let second = try model("2", entities("Part"))
    let run = CommandRun("model", "diff", first, second)
    #expect(run.status == .success, "\(run)")
    #expect(run.output.contains("Owner.things leads to no Base any more, and loses such links"), "\(run)")
  }

  @Test func `a comparison refuses names that are exchanged as a migration does`() throws {
    func attribute(_ name: String, _ renamed: String) -> String {
      "<attribute name=\"\(name)\" elementID=\"\(renamed)\" attributeType=\"String\" optional=\"YES\"/>"
    }
    let first = try model("1", item(attribute("a", "a") + attribute("b", "b")))
    let second = try model("2", item(attribute("a", "b") + attribute("b", "a")))
    let run = CommandRun("model", "diff", first, second)
    #expect(run.status == .dataError, "\(run)")
    #expect(run.output.contains("give one of them another versionHashModifier"), "\(run)")
  }

  @Test func `hashes are printed by entity, and a parent's property is in those of its subentities`() throws {
    func hashes(_ property: String) throws -> [String: String] {
      let path = try model(
        "M",
        """
        <entity name="Base"><attribute name="\(property)" attributeType="String" optional="YES"/></entity>
        <entity name="Part" parentEntity="Base"/><entity name="Other"/>
        """)
      let run = CommandRun("model", path, "--hashes")
      #expect(run.status == .success, "\(run.notes)")
      let lines = run.output.split(separator: "\n").map { $0.split(separator: " ") }
      #expect(lines.count == 4 && lines[3].prefix(4) == ["checksum", "of", "the", "model:"])
      return Dictionary(uniqueKeysWithValues: lines.prefix(3).map { (String($0[0]), String($0[1])) })
    }
    let (first, second) = (try hashes("a"), try hashes("b"))
    #expect(first["Base"] != second["Base"] && first["Part"] != second["Part"])
    #expect(first["Other"] == second["Other"] && Data(base64Encoded: first["Part"] ?? "")?.count == 16)
  }

  @Test func `a migration of values whose transformer the command does not have is tried and done`() throws {
    let transformable =
      "<attribute name=\"shape\" attributeType=\"Transformable\" optional=\"YES\" valueTransformerName=\"ShapeTransformer\"/>"
    let name = "<attribute name=\"name\" attributeType=\"String\" optional=\"YES\"/>"
    let first = try model("1", item(transformable + name))
    let second = try model(
      "2",
      item(
        transformable + name
          + "<attribute name=\"size\" attributeType=\"Double\" minValueString=\"0\" optional=\"YES\"/>"))
    let store = folder.path("items.heartwood")
    let objects = try folder.file("items.json", #"[{"@entity": "Item", "name": "a"}]"#)
    let made = CommandRun("import", store, objects, "--model", first)
    #expect(made.status == .success, "\(made.notes)")
    let tried = CommandRun("migrate", store, second, "--dry-run")
    #expect(tried.status == .success && !tried.notes.contains("transformer"), "\(tried.notes)\(tried.output)")
    let done = CommandRun("migrate", store, second)
    #expect(done.status == .success, "\(done.notes)")
    #expect(CommandRun("fetch", store, "Item", "--columns", "name,size").status == .success)
  }

  @Test func `files of other programs are named for what they are`() throws {
    let database = folder.url.appending(path: "data.sqlite")
    try Data("SQLite format 3\u{0}".utf8 + [UInt8](repeating: 0, count: 200)).write(to: database)
    let store = folder.url.appending(path: "App.sqlite")
    try Data(
      "SQLite format 3\u{0}".utf8 + [UInt8](repeating: 0, count: 200) + Array("CREATE TABLE Z_METADATA".utf8)
    )
    .write(to: store)
    let compiled = folder.url.appending(path: "App.mom")
    try Data("bplist00".utf8 + Array("NSManagedObjectModel".utf8)).write(to: compiled)
    let folderOfVersions = folder.url.appending(path: "App.momd")
    try FileManager.default.createDirectory(at: folderOfVersions, withIntermediateDirectories: true)
    try Data("bplist00".utf8).write(to: folderOfVersions.appending(path: "App.mom"))
    for (file, part) in [
      (database, "SQLite database"), (store, "SQLite database"),
      (compiled, "model that Apple's tools have compiled"),
      (folderOfVersions, "model that Apple's tools have compiled"),
    ] {
      for words in [
        ["fetch", file.path, "Item"], ["model", file.path], ["statistics", file.path],
        ["migrate", file.path, file.path],
        ["import", folder.path("new.heartwood"), file.path], ["verify", file.path],
      ] {
        let run = CommandRun(words)
        let text = run.notes + run.output
        #expect(run.status != .success && text.contains(part), "\(words): \(text)")
      }
    }
  }
}
