import Testing

@testable import HeartwoodCommand

@Suite struct `An import that updates objects` {
  private func rows(_ world: SmallWorld, _ entity: String, _ columns: String, _ sort: String) -> [String] {
    world.run("fetch", entity, "--columns", columns, "--sort", sort, "--format", "csv").output
      .split(separator: "\n").dropFirst().map(String.init)
  }

  // G6
  @Test(arguments: ["1", "2", "100"])
  func `replaces the relationships to many that the file gives, and keeps the others`(batch: String) throws {
    let world = try SmallWorld()
    let file = try world.directory.file(
      "cities.json",
      #"[{"@entity": "Country", "code": "FR", "cities": [{"@ref": "City/1"}, {"@ref": "City/2"}]},"#
        + #"{"@entity": "Country", "code": "LU", "neighbours": []},"#
        + #"{"@entity": "Country", "code": "PT", "neighbours": [{"@find": {"code": "FR"}}]},"#
        + #"{"@id": "City/1", "name": "Nice"}, {"@id": "City/2", "name": "Paris"}]"#)
    for _ in 0..<2 {
      let run = world.run("import", file, "--upsert", "Country.code", "--batch", batch)
      #expect(run.status == .success, "\(run.notes)")
      // The former cities are deleted with their links, as the relationship deletes with its object.
      #expect(rows(world, "City", "name,country.code", "name") == ["Berlin,DE", "Nice,FR", "Paris,FR"])
      #expect(
        rows(world, "Country", "code,neighbours.@count,cities.@count", "code")
          == ["DE,1,1", "FR,2,2", "LU,0,0", "PT,1,0"])
    }
    #expect(world.run("verify").status == .success)
  }

  @Test func `does not delete what the file gives to another object`() throws {
    let world = try SmallWorld()
    let model = #"""
      {"entities": {
        "List": {"attributes": {"name": {"type": "string", "unique": true}},
          "relationships": {"items": {"destination": "Item", "toMany": true, "ordered": true, "inverse": "list",
            "deleteRule": "cascade"}}},
        "Item": {"attributes": {"code": {"type": "string", "unique": true}},
          "relationships": {"list": {"destination": "List", "inverse": "items"}}}}}
      """#
    func document(_ lists: [(String, [String])]) -> String {
      let names = lists.flatMap(\.1)
      let objects = lists.map { name, items in
        let references = items.map { #"{"@ref": "Item/\#($0)"}"# }.joined(separator: ", ")
        return #"{"@entity": "List", "name": "\#(name)", "items": [\#(references)]}"#
      }
      let items = names.map { #"{"@id": "Item/\#($0)", "code": "\#($0)"}"# }
      return #"{"model": \#(model), "objects": [\#((objects + items).joined(separator: ", "))]}"#
    }
    let path = world.directory.path("lists.heartwood")
    for (number, lists) in [
      [("A", ["a", "b", "c"]), ("B", ["d"])], [("A", ["c", "a"]), ("B", ["d", "b"])],
      [("A", ["c", "x", "a"])],
    ].enumerated() {
      let file = try world.directory.file("lists\(number).json", document(lists))
      let run = CommandRun("import", path, file, "--upsert", "List.name,Item.code", "--batch", "2")
      #expect(run.status == .success, "\(run.notes)")
      for (name, items) in lists {
        let ordered = CommandRun(
          "fetch", path, "Item", "--where", "list.name == '\(name)'", "--columns", "code", "--format", "csv"
        ).output.split(separator: "\n").dropFirst().map(String.init)
        #expect(Set(ordered) == Set(items), "\(number) \(name)")
      }
      #expect(CommandRun("count", path, "Item").output == ["4\n", "4\n", "5\n"][number])
    }
  }

  @Test(arguments: [("", "1"), ("", "100"), (#", "toMany": true"#, "1"), (#", "toMany": true"#, "100")])
  func `gives an ordered relationship the order of the file`(many: String, batch: String) throws {
    let store = try SmallStore(
      #"""
      "P": {"attributes": {"n": {"type": "string", "unique": true}},
        "relationships": {"list": {"destination": "K", "toMany": true, "ordered": true, "inverse": "p"}}},
      "K": {"attributes": {"k": {"type": "integer64", "unique": true}},
        "relationships": {"p": {"destination": "P", "inverse": "list"\#(many)}}}
      """#,
      #"{"@id": "K/1", "k": 1}, {"@id": "K/2", "k": 2}, "#
        + #"{"@entity": "P", "n": "a", "list": [{"@ref": "K/2"}, {"@ref": "K/1"}]}"#)
    func list() -> [String] {
      store.run("show", "P/p1").output.split(separator: "\n").filter { $0.contains("  K/p") }.compactMap {
        $0.split(separator: "K/p").last.map(String.init)
      }
    }
    for order in [[1, 2], [3, 2, 1], [1, 3, 2], [2], [4, 2, 5, 1], [5, 4, 1, 2]] {
      let objects = order.map { #"{"@id": "K/\#($0)", "k": \#($0)}"# }.joined(separator: ", ")
      let references = order.map { #"{"@ref": "K/\#($0)"}"# }.joined(separator: ", ")
      let file = try store.directory.file(
        "list.json", #"[{"@entity": "P", "n": "a", "list": [\#(references)]}, \#(objects)]"#)
      let run = store.run("import", file, "--upsert", "P.n,K.k", "--batch", batch)
      #expect(run.status == .success, "\(run.notes)")
      #expect(list() == order.map(String.init))
    }
    // A list that only the other side gives keeps its order, and grows at its end.
    try store.upsert(
      #"{"@entity": "K", "k": 6, "p": \#(many.isEmpty ? "" : "[")"#
        + #"{"@find": {"n": "a"}}\#(many.isEmpty ? "" : "]")}"#, by: "K.k")
    #expect(list() == ["5", "4", "1", "2", "6"])
    #expect(store.run("verify").status == .success)
  }
}
