import TestSupport
import Testing

@testable import HeartwoodCommand

/// Imports that update objects by properties that are unique together.
@Suite struct `Updates by several properties` {
  private static let model = """
    {"entities": {
      "Project": {"attributes": {"key": {"type": "string", "unique": true}},
        "relationships": {"issues": {"destination": "Issue", "toMany": true, "inverse": "project"}}},
      "Issue": {"attributes": {"number": {"type": "integer32"}, "title": {"type": "string"},
          "state": {"type": "string", "optional": true}},
        "relationships": {"project": {"destination": "Project", "inverse": "issues", "optional": true},
          "comments": {"destination": "Comment", "toMany": true, "ordered": true, "inverse": "issue"}},
        "uniquenessConstraints": [["project", "number"]]},
      "Comment": {"attributes": {"place": {"type": "integer32"}, "text": {"type": "string", "optional": true}},
        "relationships": {"issue": {"destination": "Issue", "inverse": "comments", "optional": true}},
        "uniquenessConstraints": [["issue", "place"]]},
      "Spot": {"attributes": {"x": {"type": "integer32"}, "y": {"type": "integer32"}, "name": {"type": "string", "optional": true}},
        "relationships": {"near": {"destination": "Spot", "optional": true}},
        "uniquenessConstraints": [["x", "y"]]}}}
    """

  private static let first = """
    [{"@id": "Project/H", "key": "H"}, {"@id": "Project/G", "key": "G"},
     {"@id": "Issue/H1", "number": 1, "title": "first", "project": {"@ref": "Project/H"}},
     {"@id": "Issue/G1", "number": 1, "title": "other", "project": {"@ref": "Project/G"}},
     {"@id": "Comment/1", "place": 1, "text": "a", "issue": {"@ref": "Issue/H1"}},
     {"@id": "Spot/1", "x": 1, "y": 2, "name": "here"}]
    """

  private let folder: TemporaryFolder
  private var path: String { folder.path("issues") }

  init() throws {
    folder = try TemporaryFolder()
    let run = CommandRun(
      "import", path, try folder.file("first.json", Self.first), "--model",
      try folder.file("model.json", Self.model))
    #expect(run.status == .success, "\(run.notes)")
  }

  private func run(_ objects: String, _ upsert: String, batch: String = "100") throws -> CommandRun {
    CommandRun("import", path, try folder.file("more.json", objects), "--upsert", upsert, "--batch", batch)
  }

  private func rows(_ entity: String, _ columns: String, _ sort: String) -> [Substring] {
    CommandRun("fetch", path, entity, "--columns", columns, "--sort", sort, "--format", "csv").output
      .split(separator: "\n").dropFirst().map { $0 }
  }

  private static let ways = [
    // The relationship is given on its own side, on the other, and by a search.
    """
    [{"@id": "Project/x", "key": "H"}, {"@id": "Issue/x", "number": 1, "title": "new", "project": {"@ref": "Project/x"}},
     {"@id": "Issue/y", "number": 2, "title": "second", "project": {"@ref": "Project/x"}},
     {"@id": "Comment/x", "place": 1, "text": "b", "issue": {"@ref": "Issue/x"}},
     {"@id": "Comment/y", "place": 1, "text": "c", "issue": {"@ref": "Issue/y"}}]
    """,
    """
    [{"@id": "Issue/x", "number": 1, "title": "new", "comments": [{"@ref": "Comment/x"}]},
     {"@id": "Issue/y", "number": 2, "title": "second", "comments": [{"@ref": "Comment/y"}]},
     {"@id": "Comment/x", "place": 1, "text": "b"}, {"@id": "Comment/y", "place": 1, "text": "c"},
     {"@id": "Project/x", "key": "H", "issues": [{"@ref": "Issue/x"}, {"@ref": "Issue/y"}]}]
    """,
    """
    [{"@id": "Comment/x", "place": 1, "text": "b", "issue": {"@ref": "Issue/x"}},
     {"@id": "Comment/y", "place": 1, "text": "c", "issue": {"@ref": "Issue/y"}},
     {"@id": "Issue/x", "number": 1, "title": "new", "project": {"@find": {"key": "H"}}},
     {"@id": "Issue/y", "number": 2, "title": "second", "project": {"@find": {"key": "H"}}}]
    """,
  ]

  @Test(arguments: 0..<ways.count, ["1", "2", "100"])
  func `objects are updated by an attribute and a relationship, whose destination may be found so, too`(
    way: Int, batch: String
  ) throws {
    let run = try run(Self.ways[way], "Project.key,Issue.project+number,issue+place", batch: batch)
    #expect(run.status == .success, "\(run.notes)")
    #expect(
      rows("Issue", "project.key,number,title", "project.key,number")
        == ["G,1,other", "H,1,new", "H,2,second"], "batch \(batch)")
    #expect(
      rows("Comment", "issue.project.key,issue.number,place,text", "issue.number") == ["H,1,1,b", "H,2,1,c"])
    #expect(CommandRun("count", path, "Project").output == "2\n")
    #expect(CommandRun("verify", path).status == .success)
  }

  @Test func `a missing value may be left out where the object exists, and not where it is new`() throws {
    let existing = try run(
      #"[{"@entity": "Issue", "number": 1, "state": "open", "project": {"@find": {"key": "G"}}}]"#,
      "number+project")
    #expect(existing.status == .success, "\(existing.notes)")
    #expect(rows("Issue", "title,state", "title") == ["first,", "other,open"])
    let new = try run(
      #"[{"@entity": "Issue", "number": 9, "project": {"@find": {"key": "G"}}}]"#, "Issue.number+project")
    #expect(new.notes.contains("objects[0].title: a value is missing"), "\(new.notes)")
    // Without a destination it equals no other, and is new.
    let alone = try run(#"[{"@entity": "Issue", "number": 1, "title": "alone"}]"#, "Issue.number+project")
    #expect(alone.status == .success && CommandRun("count", path, "Issue").output == "3\n")
  }

  @Test func `a CSV file updates by a relationship that a column finds`() throws {
    let file = try folder.file("Issue.csv", "project.key,number,title\nH,1,csv\nG,2,made\n")
    let run = CommandRun("import", path, file, "--upsert", "project+number")
    #expect(run.status == .success, "\(run.notes)")
    #expect(
      rows("Issue", "project.key,number,title", "project.key,number") == ["G,1,other", "G,2,made", "H,1,csv"])
  }

  @Test func `references find objects by attributes that are unique together`() throws {
    let run = try run(
      #"[{"@id": "Spot/2", "x": 5, "y": 6, "near": {"@find": {"y": 2, "x": 1}}},"#
        + #"{"@id": "Spot/3", "x": 1, "y": 2, "near": {"@find": {"x": 5, "y": 6}}}]"#, "Spot.x+y")
    #expect(run.status == .success, "\(run.notes)")
    #expect(rows("Spot", "x,y,name,near.x", "x") == ["1,2,here,5", "5,6,,1"])
  }

  @Test func `what is wrong with keys is said before anything is written`() throws {
    let before = CommandRun("export", path).output
    for (objects, upsert, message) in [
      (
        #"[{"@entity": "Issue", "number": 1, "title": "t", "project": {"@find": {"key": "H"}}}]"#,
        "Project.key",
        "has the same values of project, number, which are unique together; --upsert Issue.project+number updates"
      ),
      (
        #"[{"@entity": "Issue", "number": 3, "title": "t", "project": {"@find": {"key": "H"}}}, "#
          + #"{"@entity": "Issue", "number": 3, "title": "u", "project": {"@find": {"key": "H"}}}]"#,
        "Issue.project+number", "objects[1]: objects[0] has the same values of project, number"
      ),
      (
        // Of a project that is not saved yet.
        #"[{"@id": "Project/N", "key": "N"}, {"@entity": "Issue", "number": 3, "title": "t", "project": {"@ref": "Project/N"}}, "#
          + #"{"@entity": "Issue", "number": 3, "title": "u", "project": {"@ref": "Project/N"}}]"#,
        "Project.key", "objects[2]: objects[1] has the same values of project, number"
      ),
      (#"[]"#, "Issue.project+title", "these are not unique together"),
      (#"[]"#, "Issue.number", "Issue.number is not unique"), (#"[]"#, "project+", "--upsert needs"),
      (#"[]"#, "Issue.nothing", "no entity has this attribute"),
      (
        #"[{"@entity": "Spot", "x": 7, "y": 7, "near": {"@find": {"x": 9, "y": 9}}}]"#, "Spot.x+y",
        "neither the file nor the store has a Spot whose x is \"9\" and y is \"9\""
      ),
      (
        #"[{"@entity": "Spot", "x": 7, "y": 7, "near": {"@find": {"x": 9}}}]"#, "Spot.x+y",
        "Spot.x is not unique"
      ),
      (
        #"[{"@entity": "Comment", "place": 1, "issue": {"@find": {"project": 1, "number": 1}}}]"#, "Spot.x+y",
        "Issue.project is a relationship; objects are found by attributes"
      ),
    ] {
      let run = try run(objects, upsert)
      #expect(run.status != .success && run.notes.contains(message), "\(message): \(run.notes)")
      #expect(CommandRun("export", path).output == before)
    }
  }
}
