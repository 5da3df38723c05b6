import Testing

@testable import HeartwoodCommand

@Suite struct `An undo from the command line` {
  private static let lists = #"""
    "P": {"attributes": {"n": {"type": "string", "unique": true}},
      "relationships": {"list": {"destination": "K", "toMany": true, "ordered": true, "inverse": "p"}}},
    "K": {"attributes": {"k": {"type": "integer64", "unique": true}},
      "relationships": {"p": {"destination": "P", "inverse": "list"MANY}}}
    """#

  private static let objects = #"""
    {"@id": "K/1", "k": 1}, {"@id": "K/2", "k": 2}, {"@id": "K/3", "k": 3},
    {"@entity": "P", "n": "a", "list": [{"@ref": "K/3"}, {"@ref": "K/1"}, {"@ref": "K/2"}]}
    """#

  @Test(arguments: ["", #", "toMany": true"#])
  func `brings lists back in their order, and a difference knows their order`(many: String) throws {
    let store = try SmallStore(Self.lists.replacing("MANY", with: many), Self.objects)
    let first = store.newest
    for change in [
      { store.run("delete", "P/p1") },
      { try store.upsert(#"{"@entity": "P", "n": "a", "list": []}"#, by: "P.n") },
      { store.run("delete", "K", "--where", "k < 3") }, { store.run("delete", "K", "--where", "k != 1") },
    ] as [() throws -> CommandRun] {
      #expect(try change().status == .success)
      #expect(store.run("undo", store.newest).status == .success)
      #expect(store.run("diff", first).output == "0 objects\n")
    }
    // The others keep their order, wherever their places are.
    try store.upsert(
      #"{"@entity": "P", "n": "a", "list": [{"@find": {"k": 2}}, {"@find": {"k": 3}}]}"#, by: "P.n")
    let turned = store.newest
    #expect(store.run("diff", first).output.contains("    list  in another order\n"))
    store.run("delete", "K", "--where", "k == 2")
    #expect(!store.run("diff", first).output.contains("in another order"))
    #expect(!store.run("diff", turned).output.contains("in another order"))
    #expect(store.run("verify").status == .success)
  }

  @Test func `with force, a partner that has got another object since keeps it`() throws {
    let store = try SmallStore(
      #"""
      "P": {"attributes": {"n": {"type": "string", "unique": true}},
        "relationships": {"one": {"destination": "K", "inverse": "of"}}},
      "K": {"attributes": {"k": {"type": "integer64", "unique": true}},
        "relationships": {"of": {"destination": "P", "inverse": "one"}}}
      """#,
      #"{"@id": "K/1", "k": 1}, {"@id": "K/2", "k": 2}, {"@entity": "P", "n": "a", "one": {"@ref": "K/1"}}"#)
    store.run("delete", "K", "--where", "k == 1")
    let deletion = store.newest
    try store.upsert(
      #"{"@entity": "P", "n": "a", "one": {"@ref": "K/9"}}, {"@id": "K/9", "k": 9}"#, by: "P.n,K.k")
    let refused = store.run("undo", deletion)
    #expect(refused.status == .dataError && refused.notes.contains("P/p1.one was changed since"))
    #expect(store.run("undo", deletion, "--force").status == .success)
    #expect(store.column("K", "of.n", by: "k") == ["", "", "a"])
    #expect(store.run("verify").status == .success)
  }

  @Test func `with force, an object stays whose deletion would delete what was changed since`() throws {
    let store = try SmallStore(
      #"""
      "A": {"attributes": {"n": {"type": "string", "unique": true}},
        "relationships": {"kids": {"destination": "K", "toMany": true, "inverse": "a", "deleteRule": "cascade"}}},
      "K": {"attributes": {"k": {"type": "integer64"}},
        "relationships": {"a": {"destination": "A", "inverse": "kids"}}}
      """#, #"{"@entity": "A", "n": "x"}"#)
    try store.upsert(
      #"{"@entity": "A", "n": "a", "kids": [{"@ref": "K/1"}]}, {"@id": "K/1", "k": 1}"#, by: "A.n")
    let insertion = store.newest
    store.set("k = 5", of: "K")
    let run = store.run("undo", insertion, "--force")
    #expect(
      run.notes.contains("K/p1.k was changed since") && run.notes.contains("A/p2.kids was changed since"))
    #expect(store.column("K", "a.n", by: "k") == ["a"] && store.column("K", "k", by: "k") == ["5"])
  }

  @Test func `takes back all that an author has changed after a transaction, and nothing of others`() throws {
    let store = try SmallStore(
      #""P": {"attributes": {"n": {"type": "string", "unique": true}, "k": {"type": "integer64"}}}"#,
      #"{"@entity": "P", "n": "a", "k": 1}, {"@entity": "P", "n": "b", "k": 1}"#)
    for (name, number, author) in [("a", 2, "x"), ("b", 2, "y"), ("a", 3, "x"), ("b", 3, "x")] {
      #expect(
        store.run("update", "P", "--where", "n == '\(name)'", "--set", "k = \(number)", "--author", author)
          .status == .success)
    }
    let newest = UInt64(store.newest) ?? 0
    #expect(
      store.run("undo", "--by", "x", "--after", "\(newest - 2)", "--dry-run").output.contains("2 objects"))
    #expect(store.run("undo", "--by", "x", "--after", "\(newest - 2)").status == .success)
    #expect(store.column("P", "k", by: "n") == ["2", "2"])
    #expect(store.run("undo", "--by", "z").notes.contains("the author z has changed no object"))
    // The undo itself has changed them since.
    #expect(store.run("undo", "--by", "x").notes.contains("P/p1.k was changed since"))
    #expect(store.run("undo", "3", "--by", "x").status == .usage)
    #expect(store.run("undo", "3", "--after", "2").status == .usage)
    #expect(store.run("undo", "--by", "x", "--after", "y").status == .usage)
  }

  @Test func `takes back objects of an author that refer to others that the author inserted before`() throws {
    let store = try SmallStore(
      #"""
      "D": {"attributes": {"d": {"type": "string", "unique": true}},
        "relationships": {"es": {"destination": "E", "toMany": true, "inverse": "of"}}},
      "E": {"attributes": {"e": {"type": "string", "unique": true}},
        "relationships": {"of": {"destination": "D", "inverse": "es"}}}
      """#, #"{"@entity": "E", "e": "old"}"#)
    let first = store.newest
    try store.upsert(
      #"{"@id": "D/1", "d": "x"}, {"@entity": "E", "e": "old", "of": {"@ref": "D/1"}}"#, by: "D.d,E.e")
    try store.upsert(#"{"@entity": "E", "e": "new", "of": {"@find": {"d": "x"}}}"#, by: "D.d,E.e")
    let run = store.run("undo", "--by", "heartwood", "--after", first)
    #expect(run.status == .success, "\(run.notes)")
    #expect(store.run("diff", first).output == "0 objects\n")
    #expect(store.run("verify").status == .success)
  }

  private static let references = #"""
    "A": {"attributes": {"n": {"type": "string", "unique": true}},
      "relationships": {"lone": {"destination": "T"}, "many": {"destination": "T", "toMany": true}}},
    "T": {"attributes": {"t": {"type": "string", "unique": true}}}
    """#

  @Test(arguments: [#""lone": {"@find": {"t": "t"}}"#, #""many": [{"@find": {"t": "t"}}]"#])
  func `keeps an inserted object to which a relationship without an inverse leads since`(reference: String)
    throws
  {
    let store = try SmallStore(Self.references, #"{"@entity": "A", "n": "a"}, {"@entity": "A", "n": "b"}"#)
    try store.upsert(#"{"@entity": "T", "t": "t"}"#, by: "T.t")
    let insertion = store.newest
    try store.upsert(#"{"@entity": "A", "n": "b", \#(reference)}"#, by: "A.n")
    let link = store.newest
    let run = store.run("undo", insertion)
    #expect(run.status == .dataError && run.notes.contains("T/p1 is referred to by A/p2"))
    #expect(store.run("undo", link).status == .success)
    #expect(store.run("undo", insertion).output == "delete T/p1\nchanged 1 object\n")
  }

  @Test func `deletes an inserted object with the references of the same transaction`() throws {
    let store = try SmallStore(Self.references, #"{"@entity": "A", "n": "a"}"#)
    try store.upsert(
      #"{"@entity": "A", "n": "a", "lone": {"@ref": "T/1"}, "many": [{"@ref": "T/1"}]}, {"@id": "T/1", "t": "t"}, "#
        + #"{"@entity": "A", "n": "b", "lone": {"@ref": "T/1"}}"#, by: "A.n")
    #expect(
      store.run("undo", store.newest).output == "change A/p1\ndelete A/p2\ndelete T/p1\nchanged 3 objects\n")
  }

  @Test func `takes a reference to an object that was gone before for none`() throws {
    let store = try SmallStore(
      Self.references,
      #"{"@id": "T/1", "t": "t"}, {"@id": "T/2", "t": "u"}, "#
        + #"{"@entity": "A", "n": "a", "lone": {"@ref": "T/1"}, "many": [{"@ref": "T/1"}, {"@ref": "T/2"}]}"#)
    store.run("delete", "T", "--where", "t == 't'")
    try store.upsert(#"{"@entity": "A", "n": "a", "lone": {"@find": {"t": "u"}}, "many": []}"#, by: "A.n")
    let change = store.newest
    #expect(store.run("undo", change, "--dry-run").status == .success)
    store.run("delete", "T", "--where", "t == 'u'")
    let run = store.run("undo", change)
    #expect(run.status == .dataError)
    #expect(run.notes.contains("A/p1.many referred to an object that is not there any more"))
    #expect(!run.notes.contains("A/p1.lone"))
  }

  @Test func `finds unique values that others have by now, and takes back the rest`() throws {
    let store = try SmallStore(
      #""A": {"attributes": {"n": {"type": "string", "unique": true}, "v": {"type": "integer64", "default": 0}}}"#,
      #"{"@entity": "A", "n": "a"}, {"@entity": "A", "n": "b"}, {"@entity": "A", "n": "c"}"#)
    store.run("delete", "A", "--where", "n == 'a'")
    let deletion = store.newest
    store.set("n = 'x', v = 1", of: "A", where: "n == 'b'")
    let renaming = store.newest
    try store.upsert(#"{"@entity": "A", "n": "a"}, {"@entity": "A", "n": "b"}"#, by: "A.n")
    for words in [["undo", deletion], ["undo", deletion, "--dry-run"]] {
      let run = CommandRun([words[0], store.path] + words.dropFirst())
      #expect(run.status == .dataError && run.notes.contains("A/p4 has the unique values of A/p1 by now"))
    }
    #expect(
      store.run("undo", renaming, "--dry-run").notes.contains("A/p5 has the unique values of A/p2.n by now")
    )
    #expect(store.run("undo", deletion, "--force").output == "changed 0 objects\n")
    #expect(store.run("undo", renaming, "--force").output == "change A/p2\nchanged 1 object\n")
    #expect(store.column("A", "v", by: "n") == ["0", "0", "0", "0"])
    #expect(store.column("A", "n", by: "n") == ["a", "b", "c", "x"])
  }

  @Test func `exchanges unique values`() throws {
    let store = try SmallStore(
      #""A": {"attributes": {"n": {"type": "string", "unique": true}, "v": {"type": "integer64"}}}"#,
      #"{"@entity": "A", "n": "a", "v": 1}, {"@entity": "A", "n": "b", "v": 2}"#)
    store.set(#"n = TERNARY(n == "a", "b", "a")"#, of: "A")
    #expect(store.column("A", "v", by: "n") == ["2", "1"])
    #expect(store.run("undo", store.newest).status == .success)
    #expect(store.column("A", "v", by: "n") == ["1", "2"])
  }

  private static let composite = #"""
    "E": {"attributes": {"n": {"type": "string", "unique": true},
      "x": {"type": "data", "optional": true, "allowsExternalStorage": true},
      "h": {"type": "composite", "optional": true, "elements": {
        "a": {"type": "string", "optional": true, "default": "A"},
        "g": {"type": "composite", "optional": true, "elements": {"lat": {"type": "double", "optional": true}}}}}}}
    """#

  @Test func `takes the elements of a composite attribute back one by one`() throws {
    let store = try SmallStore(
      Self.composite, #"{"@entity": "E", "n": "e", "h": {"a": "x", "g": {"lat": 1}}}"#)
    store.set(#"h.a = "y""#, of: "E")
    let first = store.newest
    store.set("h.g.lat = 2", of: "E")
    let second = store.newest
    #expect(store.run("undo", first).status == .success)
    #expect(store.column("E", "h.a", by: "n") == ["x"] && store.column("E", "h.g.lat", by: "n") == ["2"])
    try store.upsert(#"{"@entity": "E", "n": "e", "h": null}"#, by: "E.n")
    let removal = store.newest
    #expect(store.run("undo", second).notes.contains("E/p1.h.g.lat was changed since"))
    store.set(#"h.a = "z""#, of: "E")
    #expect(store.run("undo", removal).notes.contains("E/p1.h was changed since"))
    #expect(store.run("undo", store.newest).status == .success)
    #expect(store.run("undo", removal).status == .success)
    #expect(store.column("E", "h.a", by: "n") == ["x"] && store.column("E", "h.g.lat", by: "n") == ["2"])
  }

  @Test func `leaves derived attributes to the store`() throws {
    let store = try SmallStore(
      #"""
      "A": {"attributes": {"n": {"type": "string", "unique": true}, "v": {"type": "string"},
          "low": {"type": "string", "optional": true, "derived": "lowercase:(v)"},
          "count": {"type": "integer64", "optional": true, "derived": "kids.@count"}},
        "relationships": {"kids": {"destination": "K", "toMany": true, "inverse": "a"}}},
      "K": {"attributes": {"k": {"type": "integer64", "unique": true}},
        "relationships": {"a": {"destination": "A", "inverse": "kids"}}}
      """#, #"{"@entity": "A", "n": "a", "v": "One"}"#)
    try store.upsert(
      #"{"@id": "A/1", "n": "a", "v": "Two"}, {"@entity": "K", "k": 1, "a": {"@ref": "A/1"}}"#, by: "A.n")
    let change = store.newest
    try store.upsert(#"{"@entity": "K", "k": 2, "a": {"@find": {"n": "a"}}}"#, by: "K.k")
    let run = store.run("undo", change)
    #expect(run.output == "change A/p1\ndelete K/p1\nchanged 2 objects\n", "\(run.notes)")
    #expect(store.column("A", "low", by: "n") == ["one"] && store.column("A", "count", by: "n") == ["1"])
    #expect(store.run("verify").status == .success)
  }

  @Test func `says that a transaction has changed nothing`() throws {
    let store = try SmallStore(Self.references, #"{"@entity": "A", "n": "a"}"#)
    let run = store.run("undo", "1")
    #expect(run.output == "changed 0 objects\n" && run.notes.contains("transaction 1 has changed no object"))
  }
}
