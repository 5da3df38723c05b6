import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// The command on SQLite files of Core Data.
@Suite struct `Stores of Core Data` {
  private let folder: TemporaryFolder
  private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/AppleStores")

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { Self.fixtures.appending(path: "\(name).sqlite").path }

  @Test func `a store is imported, and what was taken is listed`() throws {
    let new = folder.path("new")
    let run = CommandRun("import", new, path("library"))
    #expect(run.status == .success && run.notes == "", "\(run.notes)")
    #expect(run.output.hasPrefix("imported 38 objects and "))
    #expect(run.output.contains("\n  Person    12\n"))
    #expect(CommandRun("verify", new).status == .success)
    let columns = [
      "Person", "--columns", "@id,name,balance,favourite.title,books.@count,wishes", "--format", "csv",
    ]
    let file = CommandRun(["fetch", path("library")] + columns)
    #expect(file.output.split(separator: "\n").count == 13)
    #expect(CommandRun(["fetch", new] + columns).output == file.output)
    let again = CommandRun("import", new, path("library"))
    #expect(again.status == .cannotCreate && again.notes.contains("something here already"))
    #expect(CommandRun("import", folder.path("x"), path("library"), "--upsert", "name").status == .usage)
  }

  @Test(arguments: ["json", "binary", "xml"])
  func `a store is copied to every kind`(kind: String) throws {
    let copy = folder.path("copy.\(kind)")
    #expect(CommandRun("copy", path("clashes"), copy, "--type", kind).status == .success)
    #expect(CommandRun("export", copy).output == CommandRun("export", path("clashes")).output)
    #expect(CommandRun("import", folder.path("new.\(kind)"), path("data"), "--type", kind).status == .success)
  }

  @Test func `a file is read by the other commands, and not changed`() throws {
    #expect(CommandRun("count", path("library"), "Item").output == "14\n")
    #expect(CommandRun("show", path("library"), "Shelf/p1").output.contains("->> "))
    #expect(CommandRun("schema", path("clashes")).output.contains("closes"))
    #expect(CommandRun("model", path("clashes")).output.contains("Concert"))
    #expect(CommandRun("statistics", path("data")).output.contains("AppleSQLite"))
    let history = CommandRun("history", path("history"))
    #expect(history.output.contains("by app  in view  inserted 4 Account, 4 Entry"))
    #expect(history.output.contains("deleted  Account/p4  was amount 44, id account 4"))
    for words in [
      ["update", path("library"), "Person", "--set", "age=3", "--where", "TRUEPREDICATE"],
      ["reclaim", path("library")],
    ] {
      let run = CommandRun(words)
      #expect(run.status == .noPermission && run.notes.contains("read and not changed"), "\(run.notes)")
    }
  }

  private static let people =
    "@id,@entity,name,age,visits,isMember,born,balance,height,weight,code,page,photo"

  @Test(
    arguments: [
      ["Person", "--columns", people],
      ["Person", "--columns", people, "--where", "age > 3 AND name != nil"],
      ["Person", "--columns", people, "--limit", "3", "--offset", "2"],
      ["Person", "--columns", "name,age", "--offset", "30"], ["Person", "--columns", "name,favourite.title"],
      ["Person", "--columns", "name,favourite", "--where", "name CONTAINS '1'"],
      ["Person", "--where", "name CONTAINS[c] 'PERSON'"], ["Person", "--columns", "name", "--sort", "-age"],
      ["Item"], ["Magazine", "--where", "issue > 1"], ["Desk"],
      ["Desk", "--columns", "@id,owner,owner.name"], ["Shelf", "--columns", "name,items"],
    ])
  func `rows of a file are what its import shows`(words: [String]) throws {
    let new = folder.path("new")
    #expect(CommandRun("import", new, path("library")).status == .success)
    for format in ["csv", "json", "table"] {
      let file = CommandRun(["fetch", path("library")] + words + ["--format", format])
      #expect(file.status == .success && file.notes == "", "\(file.notes)")
      #expect(file.output == CommandRun(["fetch", new] + words + ["--format", format]).output)
    }
  }

  @Test func `a wrong condition is said as for other stores`() throws {
    let new = folder.path("new")
    #expect(CommandRun("import", new, path("library")).status == .success)
    for condition in ["agee > 3", "age > 'x'", "age >"] {
      let file = CommandRun("count", path("library"), "Person", "--where", condition)
      #expect(file.status == .usage)
      #expect(file.notes == CommandRun("count", new, "Person", "--where", condition).notes)
    }
  }

  @Test func `a store without a model is opened with one that is given`() throws {
    let without = CommandRun("count", path("numbered"), "Shelf")
    #expect(without.status == .dataError && without.notes.contains("--model"), "\(without.notes)")
    #expect(CommandRun("count", path("numbered"), "Shelf", "--model", path("library")).output == "3\n")
    let model = try folder.file("model.json", CommandRun("model", path("library"), "--format", "json").output)
    let new = folder.path("new")
    #expect(CommandRun("import", new, path("numbered"), "--model", model).status == .success)
    #expect(CommandRun("count", new, "Shelf").output == "3\n")
    #expect(CommandRun("count", new, "Shelf", "--model", model).status == .usage)
  }

  @Test func `what cannot be taken is said`() throws {
    let run = CommandRun("import", folder.path("new"), path("lacking"))
    #expect(run.status == .success)
    for part in [
      "no entity Poster", "ZPERSON.ZAGE",
      "a reference of Person.favourite leads to an object that is not there",
    ] {
      #expect(run.notes.contains(part), "\(run.notes)")
    }
    for (name, words) in [
      ("plain", "no store of Core Data"), ("newer", "later version"), ("encrypted", "looks encrypted"),
    ] {
      let run = CommandRun("import", folder.path("other"), path(name))
      #expect(run.status == .dataError && run.notes.contains(words), "\(run.notes)")
    }
    let history = CommandRun("import", folder.path("history"), path("history"))
    #expect(history.notes.contains("its history of 4 transactions"))
  }

  @Test func `a copy says what an import says, and an export is imported again`() throws {
    let copy = CommandRun("copy", path("lacking"), folder.path("copy"))
    let note = "a reference of Person.favourite leads to an object that is not there, and is left out"
    #expect(copy.status == .success && copy.notes.contains(note), "\(copy.notes)")
    #expect(copy.output.hasPrefix("copied 38 objects and "), "\(copy.output)")
    #expect(CommandRun("copy", path("history"), folder.path("history")).notes.contains("its history of 4"))
    let export = CommandRun("export", path("lacking"))
    #expect(export.status == .success && export.notes.contains(note), "\(export.notes)")
    let json = try folder.file("lacking.json", export.output)
    let new = folder.path("new")
    #expect(CommandRun("import", new, json).status == .success)
    #expect(CommandRun("count", new, "Item").output == "14\n")
  }

  @Test func `a file is verified as far as it can be`() throws {
    let sound = CommandRun("verify", path("library"))
    #expect(sound.status == .success && sound.output.hasSuffix("can be read: 38 objects\n"), "\(sound.notes)")
    #expect(CommandRun("verify", path("numbered"), "--model", path("library")).status == .success)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path("pages")))
    bytes.replaceSubrange(20_480..<20_992, with: Data(repeating: 0xFF, count: 512))
    let damaged = folder.path("damaged.sqlite")
    try bytes.write(to: URL(fileURLWithPath: damaged))
    let run = CommandRun("verify", damaged)
    #expect(run.status == .verificationFailed, "\(run.output)\(run.notes)")
  }

  @Test(arguments: [
    ("DELETE FROM ATRANSACTION WHERE Z_PK = 2", "of a transaction that the history does not have", true),
    ("DROP TABLE ATRANSACTION", "the history cannot be read: there is no table ATRANSACTION", false),
  ])
  func `what a history lacks is said by all commands that read it`(
    change: String, note: String, isRead: Bool
  ) throws {
    let file = folder.path("history.sqlite")
    try FileManager.default.copyItem(atPath: path("history"), toPath: file)
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.executescript("\(change)")
      db.commit()
      """
    guard try Self.python(script, file) != nil else { return }
    let verified = CommandRun("verify", file)
    #expect(verified.status == .success && verified.notes.contains(note), "\(verified.notes)")
    let history = CommandRun("history", file)
    #expect(history.status == (isRead ? .success : .dataError) && history.notes.contains(note))
    #expect(!history.notes.contains("no program has recorded one"), "\(history.notes)")
  }

  @Test func `an empty file, and an encrypted one of any length, are named`() throws {
    let empty = try folder.file("App.sqlite", "")
    let run = CommandRun("import", folder.path("new"), empty)
    #expect(run.status == .dataError && run.notes.contains("the file is empty"), "\(run.notes)")
    #expect(CommandRun("count", empty, "A").notes.contains("it is empty"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path("encrypted")))
    let file = folder.path("odd.sqlite")
    try (bytes + Data([1, 2, 3])).write(to: URL(fileURLWithPath: file))
    #expect(CommandRun("import", folder.path("new"), file).notes.contains("looks encrypted"))
  }

  @Test func `a store is exported as a plain database`() throws {
    let file = folder.path("out.db")
    let run = CommandRun("export", path("library"), file, "--format", "sqlite")
    #expect(run.output == "wrote 38 objects to \(file)\n", "\(run.notes)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).starts(with: Data("SQLite format 3\0".utf8)))
    #expect(CommandRun("export", path("library"), file, "--format", "sqlite").status == .cannotCreate)
    #expect(CommandRun("export", path("library"), "--format", "sqlite").status == .usage)
    #expect(CommandRun("export", path("library"), file).status == .usage)
    guard let found = try Self.python(Self.queries, file) else { return }
    #expect(found == "[('ok',)] [(12,)] [(14,)] [(1.25,)] [('Shelf 0',)] [(3,)]\n", "\(found)")
  }

  @Test func `names that SQLite takes for one are told apart in an exported database`() throws {
    let model = """
      {"model": {"entities": {
        "P": {"attributes": {"name": {"type": "string"}, "Name": {"type": "string"}, "id": {"type": "string"},
          "_id": {"type": "string"}, "owner_entity": {"type": "string"}, "a_x": {"type": "string"},
          "a": {"type": "composite", "elements": {"x": {"type": "string"}, "X": {"type": "string"}}}},
          "relationships": {"owner": {"destination": "Q"}, "members": {"destination": "Q", "toMany": true}}},
        "Q": {}, "R": {"superentity": "Q"}, "p_members": {}, "P_owner_index": {}}},
       "objects": [{"@id": "P/1", "name": "a", "Name": "b", "id": "c", "_id": "d", "owner_entity": "e", "a_x": "f",
         "a": {"x": "g", "X": "h"}, "owner": {"@ref": "R/1"}, "members": [{"@ref": "R/1"}]}, {"@id": "R/1"}]}
      """
    let store = folder.path("names")
    #expect(try CommandRun("import", store, folder.file("names.json", model)).status == .success)
    let file = folder.path("names.db")
    let run = CommandRun("export", store, file, "--format", "sqlite")
    #expect(run.status == .success, "\(run.notes)")
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      print(db.execute('PRAGMA integrity_check').fetchall(), sorted(str(v) for v in db.execute('SELECT * FROM P').fetchone()))
      """
    guard let found = try Self.python(script, file) else { return }
    #expect(found == "[('ok',)] ['1', '1', 'R', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']\n", "\(found)")
  }

  private static let queries = """
    import sqlite3, sys
    db = sqlite3.connect(sys.argv[1])
    print(*(db.execute(q).fetchall() for q in (
        'PRAGMA integrity_check', 'SELECT count(*) FROM Person',
        'SELECT (SELECT count(*) FROM Book) + (SELECT count(*) FROM Magazine) + (SELECT count(*) FROM Comic)',
        'SELECT CAST(balance AS REAL) FROM Person WHERE id = 2',
        'SELECT name FROM Shelf s JOIN Shelf_items i ON i.source = s.id WHERE i.position = 0 AND s.id = 1',
        'SELECT count(*) FROM Person_wishes WHERE source = 4')))
    """

  /// The output of a script; nil where there is no Python.
  private static func python(_ script: String, _ argument: String) throws -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script, argument]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 127 ? nil : String(decoding: data, as: UTF8.self)
  }
}
