import TestSupport
import Testing

@testable import HeartwoodCommand

/// Rules that one object of a file does not show, in imports of several transactions.
@Suite struct `What an import does to other objects is found before its first transaction` {
  private static let entities = #"""
    "R": {"attributes": {"name": {"type": "string", "unique": true}},
      "relationships": {
        "os": {"destination": "O", "toMany": true, "inverse": "shelf", "max": 2},
        "needed": {"destination": "O", "toMany": true, "inverse": "user", "min": 1, "optional": false},
        "parts": {"destination": "Part", "toMany": true, "inverse": "whole", "deleteRule": "cascade"}}},
    "O": {"attributes": {
        "n": {"type": "integer64", "unique": true}, "title": {"type": "string"},
        "low": {"type": "string", "optional": true, "derived": "lowercase:(title)", "unique": true}},
      "relationships": {
        "shelf": {"destination": "R", "inverse": "os"}, "user": {"destination": "R", "inverse": "needed"}}},
    "Part": {"attributes": {"p": {"type": "integer64", "unique": true}},
      "relationships": {
        "whole": {"destination": "R", "inverse": "parts"},
        "locks": {"destination": "Lock", "toMany": true, "inverse": "part", "deleteRule": "deny"}}},
    "Lock": {"attributes": {"l": {"type": "integer64"}},
      "relationships": {"part": {"destination": "Part", "inverse": "locks"}}}
    """#

  private static let objects = #"""
    {"@id": "R/a", "name": "a", "needed": [{"@ref": "O/1"}], "parts": [{"@ref": "Part/1"}]},
    {"@id": "R/b", "name": "b", "needed": [{"@ref": "O/2"}]},
    {"@id": "O/1", "n": 1, "title": "x", "shelf": {"@ref": "R/a"}}, {"@id": "O/2", "n": 2, "title": "y"},
    {"@id": "Part/1", "p": 1}, {"@entity": "Lock", "l": 1, "part": {"@ref": "Part/1"}}
    """#

  private static func object(_ number: Int, _ members: String = "", title: String? = nil) -> String {
    #"{"@entity": "O", "n": \#(number), "title": "\#(title ?? "m\(number)")"\#(members)}"#
  }

  private static let toA = #"{"@find": {"name": "a"}}"#
  private static let toB = #"{"@find": {"name": "b"}}"#

  /// Each is what follows six sound objects, and a part of the message.
  private static let refused = [
    (
      object(50, #", "shelf": \#(toA)"#) + ", " + object(51, #", "shelf": \#(toA)"#),
      "R.os of R/p1 has 3 of at most 2"
    ),
    (#"{"@entity": "O", "n": 1, "user": null}"#, "R.needed of R/p1"),
    (#"{"@entity": "O", "n": 1, "user": \#(toB)}"#, "R.needed of R/p1"),
    (#"{"@entity": "R", "name": "w", "needed": [{"@find": {"n": 1}}]}"#, "R.needed of R/p1"),
    (#"{"@entity": "R", "name": "a", "parts": []}"#, "Part/p1"),
    (object(50, title: "X"), "unique by low"),
    (object(50, title: "Q") + ", " + object(51, title: "q"), "unique by low: several unsaved objects"),
    (
      object(50, title: "Q") + ", " + object(52) + ", " + object(51, title: "q"),
      "unique by low: objects[6] has low"
    ),
  ]

  @Test(arguments: refused, ["log", "json"])
  func `what a later transaction could not save is refused`(
    file: (objects: String, message: String), type: String
  )
    throws
  {
    let store = try SmallStore(Self.entities, Self.objects, type: type)
    let before = store.run("export").output
    let sound = (100..<106).map { Self.object($0) }.joined(separator: ", ")
    let run = store.run(
      "import", try store.directory.file("more.json", "[\(sound), \(file.objects)]"), "--upsert",
      "O.n,R.name", "--batch", "2")
    #expect(run.status == .dataError && run.notes.contains(file.message), "\(run.notes)")
    #expect(!run.notes.contains("were saved before"))
    #expect(store.run("export").output == before)
  }

  @Test(arguments: ["log", "json"]) func `what can be saved is imported`(type: String) throws {
    let store = try SmallStore(Self.entities, Self.objects, type: type)
    let objects = (100..<104).map { Self.object($0, #", "user": \#(Self.toA)"#) }.joined(separator: ", ")
    let moved = #"{"@entity": "O", "n": 1, "shelf": \#(Self.toB), "user": \#(Self.toB)}"#
    let run = store.run(
      "import", try store.directory.file("more.json", "[\(objects), \(moved)]"), "--upsert", "n",
      "--batch", "2")
    #expect(run.status == .success, "\(run.notes)")
    #expect(store.column("R", "needed.@count", by: "name") == ["4", "2"])
    #expect(store.run("verify").status == .success)
  }
}
