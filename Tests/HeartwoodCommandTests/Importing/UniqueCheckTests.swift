import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Unique values of a file that is imported` {
  private static let model = """
    {"entities": {
      "Thing": {"attributes": {
          "code": {"type": "string", "optional": true, "unique": true},
          "serial": {"type": "integer32", "unique": true, "default": 7},
          "price": {"type": "decimal", "optional": true},
          "shelf": {"type": "composite", "optional": true,
                    "elements": {"room": {"type": "string", "optional": true},
                                 "place": {"type": "integer32", "optional": true}}}},
        "uniquenessConstraints": [["price", "shelf.room"]]},
      "Tool": {"superentity": "Thing", "attributes": {"use": {"type": "string", "optional": true}},
        "uniquenessConstraints": [["use", "shelf.place"]]}}}
    """

  private let folder: TemporaryFolder
  private var path: String { folder.path("things") }

  init() throws {
    folder = try TemporaryFolder()
    let first =
      #"[{"@entity": "Tool", "code": "A", "serial": 1, "price": 1.50, "use": "cut", "#
      + #""shelf": {"room": "x", "place": 1}}, {"@entity": "Thing", "code": "B", "serial": 2}]"#
    let run = CommandRun(
      "import", path, try folder.file("first.json", first), "--model",
      try folder.file("model.json", Self.model))
    #expect(run.status == .success, "\(run.notes)")
  }

  private func run(_ objects: String, _ options: [String]) throws -> CommandRun {
    CommandRun(["import", path, try folder.file("more.json", objects)] + options)
  }

  /// Each is a file and a part of the message.
  private static let refused = [
    (
      #"{"@entity": "Thing", "code": "C", "serial": 3}, {"@entity": "Tool", "code": "C", "serial": 4}"#,
      "objects[1].code: objects[0] has the same value, which is unique"
    ),
    (
      // One text in two forms of Unicode.
      #"{"@entity": "Thing", "code": "\u00E9", "serial": 3}, {"@entity": "Tool", "code": "e\u0301", "serial": 4}"#,
      "objects[1].code: objects[0] has the same value"
    ),
    (
      #"{"@entity": "Thing"}, {"@entity": "Thing"}"#,
      "objects[1].serial: objects[0] has the same value"
    ),
    (
      #"{"@entity": "Thing", "serial": 3, "price": 2, "shelf": {"room": "y"}}, "#
        + #"{"@entity": "Tool", "serial": 4, "price": "2.00", "shelf": {"room": "y", "place": 4}}"#,
      "objects[1]: objects[0] has the same values of price, shelf.room, which are unique together"
    ),
    (
      #"{"@entity": "Thing", "serial": 3}, {"@entity": "Tool", "code": "B", "serial": 4}"#,
      "objects[1].code: Thing/p2 of the store has the same value, which is unique; --upsert Thing.code updates that object"
    ),
    (
      #"{"@entity": "Thing", "serial": 3}, {"@entity": "Tool", "serial": 4, "price": 1.5, "shelf": {"room": "x"}}"#,
      "objects[1]: Tool/p1 of the store has the same values of price, shelf.room"
    ),
    (
      #"{"@entity": "Thing", "serial": 3}, {"@entity": "Tool", "serial": 4, "use": "cut", "shelf": {"place": 1}}"#,
      "objects[1]: Tool/p1 of the store has the same values of use, shelf.place"
    ),
  ]

  @Test(arguments: refused, ["1", "100"])
  func `values that two objects would have are refused before anything is written`(
    file: (objects: String, message: String), batch: String
  ) throws {
    let before = CommandRun("export", path).output
    let run = try run("[\(file.objects)]", ["--batch", batch])
    #expect(run.status == .dataError)
    #expect(run.notes.contains("more.json: \(file.message)"), "\(run.notes)")
    #expect(CommandRun("export", path).output == before)
  }

  @Test(arguments: ["1", "100"])
  func `a missing value equals no other, and an entity's constraint is none of its superentity`(
    batch: String
  ) throws {
    let objects =
      #"[{"@entity": "Thing", "serial": 3, "price": 2}, {"@entity": "Tool", "serial": 4, "price": 2}, "#
      + #"{"@entity": "Tool", "serial": 5, "price": 3, "use": "cut", "shelf": {"room": "y"}}, "#
      + #"{"@entity": "Tool", "serial": 6, "use": "cut", "shelf": {"room": "z"}}, "#
      + #"{"@entity": "Thing", "serial": 7, "price": 3, "shelf": {"room": "z", "place": 1}}]"#
    let run = try run(objects, ["--batch", batch])
    #expect(run.status == .success, "\(run.notes)")
    #expect(CommandRun("count", path, "Thing").output == "7\n")
  }

  @Test(arguments: ["1", "100"])
  func `with upsert, two records of one key are refused in one transaction as in two`(batch: String) throws {
    for key in ["A", "new"] {
      let objects =
        #"[{"@entity": "Tool", "code": "\#(key)", "serial": 8}, {"@entity": "Tool", "code": "\#(key)", "serial": 9}]"#
      let run = try run(objects, ["--upsert", "Thing.code", "--batch", batch])
      #expect(run.notes.contains("objects[1].code: objects[0] has the same value, which is unique"))
    }
    #expect(CommandRun("count", path, "Thing", "--where", "serial > 2").output == "0\n")
  }

  @Test(arguments: ["1", "100"])
  func `an update gives values that another object had, if that one is written before or with it`(
    batch: String
  ) throws {
    let upsert = ["--upsert", "Thing.code", "--batch", batch]
    // The constraints are those of the object of the store, here a Tool.
    let other = try run(#"[{"@entity": "Tool", "code": "C", "serial": 20, "use": "cut"}]"#, [])
    #expect(other.status == .success, "\(other.notes)")
    let placed = try run(#"[{"@entity": "Thing", "code": "C", "shelf": {"place": 1}}]"#, upsert)
    #expect(placed.notes.contains("objects[0]: Tool/p1 of the store has the same values of use, shelf.place"))
    #expect(CommandRun("delete", path, "Thing", "--where", "code == 'C'").notes == "")
    // The values that the file does not give are those of the store.
    let partly = try run(
      #"[{"@entity": "Thing", "code": "B", "price": 1.5, "shelf": {"room": "y"}}, "#
        + #"{"@entity": "Thing", "code": "B2", "serial": 5, "price": 1.5, "shelf": {"room": "x"}}]"#, upsert)
    #expect(partly.notes.contains("objects[1]: Tool/p1 of the store has the same values"), "\(partly.notes)")
    let moved = try run(
      #"[{"@entity": "Tool", "code": "A", "serial": 10}, {"@entity": "Thing", "code": "B", "serial": 1}]"#,
      upsert)
    #expect(moved.status == .success, "\(moved.notes)")
    let swapped = try run(
      #"[{"@entity": "Thing", "code": "B", "serial": 10}, {"@entity": "Tool", "code": "A", "serial": 1}]"#,
      upsert)
    if batch == "1" {
      #expect(
        swapped.notes.contains(
          "objects[0].serial: until objects[1] is written, Tool/p1 of the store has the same value"),
        "\(swapped.notes)")
    } else {
      #expect(swapped.status == .success, "\(swapped.notes)")
    }
    #expect(
      CommandRun("fetch", path, "Thing", "--columns", "code,serial", "--sort", "code", "--format", "csv")
        .output
        == (batch == "1" ? "code,serial\nA,10\nB,1\n" : "code,serial\nA,1\nB,10\n"))
  }
}
