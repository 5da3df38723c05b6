import Foundation
import Heartwood
import HeartwoodAppleStores
import Testing

/// Files that cannot be read, and values that cannot be taken as they are.
struct ErrorTests {
  @Test(
    arguments: [
      ("plain", "no store of Core Data"), ("newer", "later version"), ("encrypted", "encrypted"),
      ("numbered", "--model"),
    ])
  func `a file that is no store, or none that can be read, says what to do`(_ name: String, _ words: String)
    throws
  {
    AppleSQLiteStore.register()
    let fixture = try StoreFixture(name)
    let error = try #require(throws: HeartwoodError.self) { try fixture.model() }
    #expect(error.message.contains(words), "\(error.message)")
  }

  @Test func `an encrypted file is known by its bytes`() throws {
    let error = try #require(throws: HeartwoodError.self) {
      let fixture = try StoreFixture("encrypted")
      let coordinator = try PersistentStoreCoordinator(checking: ManagedObjectModel(entities: []))
      try coordinator.addPersistentStore(type: .appleSQLite, at: fixture.url)
    }
    #expect(error.message.contains("encrypted"), "\(error.message)")
  }

  @Test func `a model with other attributes is refused`() throws {
    let fixture = try StoreFixture("history")
    let entity = EntityDescription(name: "Account")
    entity.properties = [
      AttributeDescription(name: "id", type: .string), AttributeDescription(name: "owner", type: .string),
    ]
    let error = try #require(throws: HeartwoodError.self) {
      try fixture.open(ManagedObjectModel(entities: [entity]))
    }
    #expect(error.code == .persistentStoreIncompatibleVersionHash)
    #expect(error.message.contains("Account.owner"))
  }

  @Test func `rows of unknown entities and values that do not fit are said`() throws {
    let fixture = try StoreFixture("lacking")
    let open = try fixture.open()
    try open.read { context in
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 14)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Desk")) == 4)
      let people = FetchRequest<ManagedObject>(entityName: "Person")
      people.sortDescriptors = [NamedSort("objectID", ascending: true)]
      let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      #expect(all[2].value(forKey: "visits") as? Int32 == 12)
      #expect(all[2].value(forKey: "age") == nil)
      #expect(all[3].value(forKey: "name") as? String == "55")
      #expect((all[3].value(forKey: "born") as? Date)?.timeIntervalSinceReferenceDate == 12)
    }
    #expect(open.store.notes.contains { $0.contains("Poster") })
    #expect(open.store.notes.contains { $0.contains("ZAGE") })
    let copy = PersistentStoreDescription(url: fixture.folder.url.appending(path: "copy"))
    let report = try open.coordinator.copyContents(of: open.store, to: copy)
    #expect(report.missingDestinations.isEmpty)
    #expect(
      open.store.notes.contains(
        "a reference of Person.favourite leads to an object that is not there, and is left out"))
    #expect(report.objects["Person"] == 12)
  }
}
