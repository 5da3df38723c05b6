import Testing

@testable import HeartwoodCommand

@Test func `diff prints what two generations differ in, and undo takes a transaction back`() throws {
  let world = try SmallWorld()
  let before = try #require(world.newestGeneration)
  #expect(
    world.run("update", "Country", "--where", #"code == "FR""#, "--set", "population = 7").status == .success)
  let change = try #require(world.newestGeneration)
  let text = world.run("diff", before, change).output
  #expect(text.contains("updated   Country/p1\n    population  ") && text.contains(" → 7\n1 object\n"))
  #expect(world.run("diff", before, "--entity", "City").output == "0 objects\n")
  let json = try ImportDocument.parse(Array(world.run("diff", before, "--format", "json").output.utf8))
  guard case .array(let list) = json, case .object(let first)? = list.first else {
    throw CommandFailure.data("no difference")
  }
  #expect(first["change"] == .string("updated"))
  #expect(world.run("undo", change, "--dry-run").output == "change Country/p1\nwould change 1 object\n")
  #expect(world.run("undo", change).output == "change Country/p1\nchanged 1 object\n")
  #expect(world.run("diff", before).output == "0 objects\n")
  // The later transaction has changed the same.
  let run = world.run("undo", change)
  #expect(run.status == .dataError && run.notes.contains("Country/p1.population was changed since"))
  #expect(world.run("undo", "x").status == .usage)
  #expect(world.run("diff", "0x").status == .noInput)
}

@Test func `a store without consumers says so, and an unknown one is not removed`() throws {
  let world = try SmallWorld()
  let run = world.run("consumers")
  #expect(run.status == .success && run.output.contains("0 consumers"))
  #expect(world.run("consumers", "--remove", "indexer").status == .usage)
}

private let compositeModel = #"""
  "E": {"attributes": {"n": {"type": "string", "unique": true},
    "x": {"type": "data", "optional": true, "allowsExternalStorage": true},
    "h": {"type": "composite", "optional": true, "elements": {
      "a": {"type": "string", "optional": true, "default": "A"},
      "g": {"type": "composite", "optional": true, "elements": {"lat": {"type": "double", "optional": true}}}}}}}
  """#

@Test func `large data that was changed and changed back is no difference, and is no text in JSON`() throws {
  func object(_ letter: Character) -> String {
    #"{"@entity": "E", "n": "e", "h": {"a": null}, "x": "\#(String(repeating: letter, count: 120_000))"}"#
  }
  let store = try SmallStore(compositeModel, object("A"))
  let first = store.newest
  for letter: Character in ["B", "A"] {
    #expect(try store.upsert(object(letter), by: "E.n").status == .success)
  }
  #expect(store.run("diff", first).output == "0 objects\n")
  try store.upsert(object("C"), by: "E.n")
  #expect(store.run("diff", first).output.contains("    x  (90000 bytes) → (90000 bytes)\n1 object\n"))
  let json = store.run("diff", first, "--format", "json").output.filter { !$0.isWhitespace }
  #expect(json.contains(#""former":{"x":{"byteCount":90000}}"#))
  let insertion = store.run("diff", "1", "--format", "json").output.filter { !$0.isWhitespace }
  #expect(insertion.contains(#""h":{"a":null}"#))
}
