import TestSupport
import Testing

@testable import HeartwoodCommand

/// Imports in several transactions into a store that is there.
@Suite struct `What is found before the first transaction of an import` {
  private static let model = """
    {"entities": {"A": {
      "attributes": {
        "k": {"type": "integer64", "unique": true},
        "p": {"type": "string", "optional": true, "validationRules": [{"kind": "length", "greatest": "3"}]},
        "m": {"type": "string"}, "c": {"type": "integer16", "default": 5},
        "n": {"type": "integer16", "optional": true, "validationRules": [{"kind": "condition", "text": "n == nil OR n < c"}]},
        "h": {"type": "composite", "optional": true, "elements": {
          "z": {"type": "string", "default": "Z"}, "q": {"type": "string"},
          "e": {"type": "string", "optional": true, "validationRules": [{"kind": "length", "greatest": "3"}]}}}},
      "relationships": {
        "r": {"destination": "A", "inverse": "s"}, "s": {"destination": "A", "toMany": true, "inverse": "r", "max": 2},
        "owner": {"destination": "O", "inverse": "owned", "optional": false}}},
      "O": {"attributes": {"name": {"type": "string", "unique": true}},
        "relationships": {"owned": {"destination": "A", "toMany": true, "inverse": "owner", "deleteRule": "deny"}}}}}
    """

  private let folder: TemporaryFolder
  private var path: String { folder.path("a") }

  init() throws {
    folder = try TemporaryFolder()
    let objects =
      #"[{"@id": "O/o", "name": "o"}, {"@entity": "A", "k": 0, "m": "x", "owner": {"@ref": "O/o"}}]"#
    let run = CommandRun(
      "import", path, try folder.file("first.json", objects), "--model",
      try folder.file("model.json", Self.model))
    #expect(run.status == .success, "\(run.notes)")
  }

  private static func object(_ key: Int, _ members: String) -> String {
    #"{"@id": "A/\#(key)", "k": \#(key), \#(members), "owner": {"@find": {"name": "o"}}}"#
  }

  private func run(_ objects: String, _ options: [String] = []) throws -> CommandRun {
    let sound = (1...5).map { Self.object($0, #""m": "x""#) }.joined(separator: ", ")
    let file = try folder.file("more.json", "[\(sound), \(objects)]")
    return CommandRun(["import", path, file, "--batch", "2"] + options)
  }

  /// Each is an object after five sound ones, and a part of the message.
  private static let refused = [
    (object(9, #""m": "x", "p": "too long""#), "A.p of objects[5] is too long"),
    (object(9, #""p": "a""#), "objects[5].m: a value is missing"),
    (object(9, #""m": null"#), "objects[5].m: a value is missing"),
    (object(9, #""m": "x", "h": {"q": "a", "e": "too long"}"#), "A.h.e of objects[5] is too long"),
    (object(9, #""m": "x", "h": {}"#), "A.h.q of objects[5] needs a value"),
    (object(9, #""m": "x", "h": {"q": null}"#), "A.h.q of objects[5] needs a value"),
    (object(9, #""m": "x", "h.z": "w""#), "A.h.q of objects[5] needs a value"),
    (object(9, #""m": "x", "n": 7"#), "A.n of objects[5] is 7 and does not satisfy the condition"),
    (
      object(9, #""m": "x", "s": [{"@ref": "A/1"}, {"@ref": "A/2"}, {"@ref": "A/3"}]"#),
      "objects[5].s: has 3 of at most 2 destinations"
    ),
    (
      object(9, #""m": "x""#)
        + (6...8).map { ", " + object($0, #""m": "x", "r": {"@ref": "A/9"}"#) }.joined(),
      "objects[5].s: has 3 of at most 2 destinations"
    ),
    (
      #"{"@entity": "A", "k": 9, "m": "x"}"#,
      "objects[5].owner: a destination is missing, and A.owner is not optional"
    ),
  ]

  @Test(arguments: refused)
  func `a new object that cannot be saved is refused before anything is written`(
    file: (objects: String, message: String)
  ) throws {
    let before = CommandRun("export", path).output
    let run = try run(file.objects)
    #expect(run.status == .dataError && run.notes.contains(file.message), "\(run.notes)")
    #expect(!run.notes.contains("were saved before"))
    #expect(CommandRun("export", path).output == before)
  }

  private static let updates = [
    (#""m": null"#, "A.m of A/p1 needs a value"), (#""p": "too long""#, "A.p of A/p1 is too long"),
    (#""h": {"q": null}"#, "A.h.q of A/p1 needs a value"),
    (#""owner": null"#, "objects[5].owner: a destination is missing"),
    (#""s": [{"@ref": "A/1"}, {"@ref": "A/2"}, {"@ref": "A/3"}]"#, "has 3 of at most 2 destinations"),
  ]

  @Test(arguments: updates)
  func `an update that cannot be saved is refused before anything is written`(
    members: String, message: String
  ) throws {
    let before = CommandRun("export", path).output
    let run = try run(#"{"@entity": "A", "k": 0, \#(members)}"#, ["--upsert", "k"])
    #expect(run.status == .dataError && run.notes.contains(message), "\(run.notes)")
    #expect(CommandRun("export", path).output == before)
  }

  @Test func `what is sound is imported in several transactions`() throws {
    let run = try run(
      #"{"@entity": "A", "k": 0, "h": {"q": "a"}, "n": 4, "s": [{"@ref": "A/1"}, {"@ref": "A/5"}]}"#,
      ["--upsert", "k"])
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun("verify", path).status == .success)
    #expect(CommandRun("count", path, "A", "--where", "r.k == 0 AND owner.name == 'o'").output == "2\n")
  }
}
