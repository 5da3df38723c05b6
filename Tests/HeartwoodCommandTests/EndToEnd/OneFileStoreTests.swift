import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Commands that need the folder of a store` {
  private static let apple = Fixture.path("AppleStores/library.sqlite")

  @Test func `a store of one file is refused with what to do`() throws {
    let world = try SmallWorld()
    let file = world.directory.path("small.store")
    #expect(CommandRun("copy", world.path, file, "--type", "json").status == .success)
    for words in [
      ["list"], ["count"], ["dump"], ["verify"], ["get", "a"], ["put", "a", "b"], ["backup", "b"],
    ] {
      let run = CommandRun(["kv", words[0], file] + words.dropFirst())
      #expect(run.status == .dataError)
      let reason =
        "a store of type json is one file: it has no keys; heartwood copy \(file) NEW --type log makes a store that has"
      #expect(run.notes == "heartwood: \(file): \(reason)\n", "\(words)")
    }
    let salvage = CommandRun("salvage", file, world.directory.path("new"))
    #expect(salvage.status == .dataError && salvage.notes.contains("is one file: it is read as a whole"))
  }

  @Test(arguments: ["json", "xml"])
  func `a mistake in the model of a file that was edited is named, with what to do`(type: String) throws {
    let world = try SmallWorld()
    let file = world.directory.path("small.store")
    #expect(CommandRun("copy", world.path, file, "--type", type).status == .success)
    var text = try String(contentsOfFile: file, encoding: .utf8)
    let member = try #require(text.range(of: "isOptional"))
    text.replaceSubrange(member, with: "isOptionel")
    try Data(text.utf8).write(to: URL(filePath: file))
    let message =
      "the store at \(file) is no \(type.uppercased()) store, or a damaged one: the model in the store cannot be read: "
      + "entities[0].properties[0]: \"isOptional\" is missing; nothing was changed; correct it, or restore it from a copy\n"
    #expect(CommandRun("count", file, "City").notes == "heartwood: \(message)")
    #expect(CommandRun("verify", file).output == message)
  }

  @Test func `a store of Core Data is refused as such`() {
    for words in [["kv", "list", Self.apple], ["salvage", Self.apple, "new"]] {
      let run = CommandRun(words)
      #expect(run.notes.contains("this is a store of Core Data"), "\(run.notes)")
    }
    for words in [
      ["count", Self.apple, "Item"], ["fetch", Self.apple, "Item"], ["show", Self.apple, "Item/p1"],
      ["statistics", Self.apple], ["schema", Self.apple], ["verify", Self.apple],
    ] {
      let run = CommandRun(words + ["--at", "1"])
      #expect(run.status == .usage)
      #expect(run.notes.contains("has no past generations: leave out --as-of"), "\(run.notes)")
    }
  }
}
