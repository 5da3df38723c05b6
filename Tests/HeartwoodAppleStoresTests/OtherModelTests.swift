import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Files that are opened with another model than they were written with.
struct OtherModelTests {
  private let fixture: StoreFixture
  private let model: ManagedObjectModel

  init() throws {
    fixture = try StoreFixture("library")
    model = try fixture.model()
  }

  private func person() throws -> EntityDescription { try #require(model.entitiesByName["Person"]) }

  /// - Returns: The message of the error about the properties that are not in the file.
  private func refusal() throws -> String {
    let error = #expect(throws: HeartwoodError.self) { try fixture.open(model) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(try !AppleSQLiteStore.hasAll(of: model, at: fixture.url))
    return error?.message ?? ""
  }

  @Test func `the model of the file is recognised`() throws {
    #expect(try AppleSQLiteStore.hasAll(of: model, at: fixture.url))
    #expect(try fixture.open(model).store.notes == [])
  }

  @Test(arguments: ["marks", "wishes", "friends", "desk", "name"])
  func `a renamed property is not read as one without values`(name: String) throws {
    let property = try #require(try person().propertiesByName[name])
    property.renamingIdentifier = name
    property.name = "\(name)New"
    #expect(try refusal().contains("Person.\(name)New"))
  }

  @Test func `an attribute of another type is not converted`() throws {
    let name = try #require(try person().attributesByName["name"])
    name.type = .integer64
    #expect(try refusal().contains("Person.name as integer64, but as string"))
  }

  @Test func `a relationship to many does not become one to one`() throws {
    let marks = try #require(try person().relationshipsByName["marks"])
    marks.maxCount = 1
    #expect(try refusal().contains("Person.marks as a to-one relationship"))
  }

  /// The file of `numbered` keeps no model.
  @Test func `without a model in the file, its columns are compared`() throws {
    let older = try StoreFixture("numbered")
    #expect(try AppleSQLiteStore.hasAll(of: fixture.model(), at: older.url))
    try #require(try person().attributesByName["name"]).type = .integer64
    let friends = try #require(try person().relationshipsByName["friends"])
    friends.name = "buddies"
    let error = #expect(throws: HeartwoodError.self) { try older.open(model) }
    #expect(error?.message.contains("Person.buddies, Person.name") == true, "\(String(describing: error))")
  }

  // Rows whose number stands for no entity of their table are named in notes.
  @Test(.comparesWithPython) func `rows of entities that are none of their table are named`() throws {
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      keys = [k for k, in db.execute('SELECT Z_PK FROM ZITEM ORDER BY Z_PK LIMIT 4')]
      names = dict(db.execute('SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY'))
      for key, entity in zip(keys, (None, names['Desk'], 77, names['Item'])):
          db.execute('UPDATE ZITEM SET Z_ENT = ? WHERE Z_PK = ?', (entity, key))
      db.commit()
      """
    _ = try Python.run(["-c", script, fixture.url.path])
    let open = try fixture.open(model)
    let copied = try open.coordinator.migratePersistentStore(
      open.store, to: fixture.folder.url.appending(path: "copy"))
    #expect(!copied.isReadOnly)
    let notes = open.store.notes
    for part in [
      "does not say of which entity", "the entity Desk, which has another table", "the entity number 77",
      "the abstract entity Item",
    ] {
      #expect(notes.filter { $0.contains(part) && !$0.contains("times") }.count == 1, "\(notes)")
    }
  }

  @Test func `a pipe is not waited for`() throws {
    let pipe = fixture.folder.url.appending(path: "pipe.sqlite")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    #expect(!AppleSQLiteStore.recognises(pipe) && ForeignFile.kind(at: pipe.path) == nil)
    let log = fixture.url.path + "-wal"
    #expect(mkfifo(log, 0o600) == 0)
    #expect(throws: HeartwoodError.self) { try fixture.open(model) }
  }
}
