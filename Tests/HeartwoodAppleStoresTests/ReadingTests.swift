import Foundation
import Heartwood
import HeartwoodAppleStores
import TestSupport
import Testing

/// Stores of the fixtures, read as they are.
struct ReadingTests {
  @Test(
    .comparesWithPython,
    arguments: ["library", "pages", "clashes", "data", "history", "oldhistory", "log", "numbered"])
  func `every cell and every relationship is what SQLite reads`(_ name: String) throws {
    let fixture = try StoreFixture(name)
    // The dump is of another copy, as SQLite folds the log into the file.
    let other = try StoreFixture(name)
    let dump = try StoreDump(other.url)
    let model = name == "numbered" ? try StoreFixture("library").model() : nil
    let open = try fixture.open(model)
    let read = try open.read { try ContextDump($0) }
    #expect(differences(dump.entities, read.entities) == [])
    #expect(open.store.notes.allSatisfy { $0.contains("no transformer") })
  }

  // PSC-11
  @Test(arguments: ["library", "clashes", "log", "data"])
  func `a copy has the objects with their identifiers`(_ name: String) throws {
    let fixture = try StoreFixture(name)
    let open = try fixture.open()
    let read = try open.read { try ContextDump($0) }
    let identifier = open.store.identifier
    for (type, place) in [
      (PersistentStore.StoreType.log, "copy"), (.json, "copy.json"), (.binary, "copy.bin"),
    ] {
      let open = try fixture.open()
      let copy = try open.coordinator.migratePersistentStore(
        open.store, to: fixture.folder.url.appending(path: place), type: type)
      #expect(copy.identifier == identifier)
      #expect(!copy.isReadOnly)
      let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
      let copied = try context.performAndWait { try ContextDump(context) }
      #expect(differences(read.entities, copied.entities) == [], "\(type)")
      if type == .log { #expect(try open.coordinator.verify().findings.isEmpty) }
      try open.coordinator.close()
    }
  }

  // PSC-13
  @Test func `a store is replaced by one of Core Data`() throws {
    let fixture = try StoreFixture("library")
    AppleSQLiteStore.register()
    let place = fixture.folder.url.appending(path: "log")
    let coordinator = try PersistentStoreCoordinator(checking: fixture.model())
    try coordinator.replacePersistentStore(at: place, withPersistentStoreFrom: fixture.url)
    try coordinator.addPersistentStore(type: .log, at: place)
    let read = try fixture.open().read { try ContextDump($0) }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let copied = try context.performAndWait { try ContextDump(context) }
    #expect(differences(read.entities, copied.entities) == [])
    try coordinator.close()
  }

  @Test func `fetches have conditions, orders and windows`() throws {
    let open = try StoreFixture("library").open()
    try open.read { context in
      let request = FetchRequest<ManagedObject>(entityName: "Person")
      request.predicate = try FormatPredicate("ANY books.title BEGINSWITH 'Book 3' AND age > 1")
      request.sortDescriptors = [NamedSort("age", ascending: false)]
      let all = try context.fetch(request).map { $0.value(forKey: "age") as? Int16 }
      #expect(all == all.sorted { $0 ?? 0 > $1 ?? 0 })
      let expected = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).filter { person in
        let books = person.objectIDs(forRelationshipNamed: "books").map(context.object(with:))
        return person.value(forKey: "age") as? Int16 ?? 0 > 1
          && books.contains { ($0.value(forKey: "title") as? String)?.hasPrefix("Book 3") == true }
      }
      #expect(all.count == expected.count)
      #expect(all.count > 1)
      request.fetchLimit = 1
      request.fetchOffset = 1
      #expect(try context.fetch(request).map { $0.value(forKey: "age") as? Int16 } == [all[1]])
      #expect(try context.count(for: request) == 1)
      let items = FetchRequest<ManagedObject>(entityName: "Item")
      items.fetchBatchSize = 3
      #expect(try context.fetch(items).count == 14)
      items.includesSubentities = false
      #expect(try context.count(for: items) == 0)
    }
  }

  /// A scan of the file reads single values; one of the copy reads rows.
  @Test(
    arguments: [
      (nil, nil, nil, 0), (nil, "age", 3, 0), (nil, "-name,age", 5, 2), ("age > 3", nil, nil, 0),
      ("age > 3", "-age", nil, 0), ("age > 3", "-born", 4, 1), ("name == nil", "age", 2, 0),
      ("name CONTAINS '1' AND balance > 2", "height", 6, 0), ("photo == nil", "code", nil, 0),
      ("favourite.title != nil", "-favourite.title,age", 4, 0),
      ("ANY books.title CONTAINS '3'", "name", 3, 0),
      ("books.@count > 1", "-points,age", 3, 1), ("page CONTAINS '2' OR isMember == YES", nil, nil, 0),
      ("SUBQUERY(friends, $f, $f.age > age).@count > 0", "points,age", 3, 0),
    ] as [(String?, String?, Int?, Int)])
  func `a fetch finds in the file what it finds in a copy`(
    _ condition: String?, _ order: String?, _ limit: Int?, _ offset: Int
  ) throws {
    let fixture = try StoreFixture("library")
    func results(_ context: ManagedObjectContext, _ entity: String) throws -> [[String]] {
      let request = FetchRequest<ManagedObject>(entityName: entity)
      request.predicate = try condition.map { try FormatPredicate($0) }
      request.sortDescriptors = (order ?? "").split(separator: ",").map {
        NamedSort(String($0.drop { $0 == "-" }), ascending: !$0.hasPrefix("-"))
      }
      (request.fetchLimit, request.fetchOffset) = (limit ?? 0, offset)
      let found = try context.fetch(request).map { object in
        ["\(object.objectID.uriRepresentation().lastPathComponent)"]
          + object.entity.attributesByName.keys.sorted().map { "\(object.value(forKey: $0) ?? "none")" }
      }
      let keys = try context.fetchIdentifiers(request).map { [$0.uriRepresentation().lastPathComponent] }
      return found + keys + [["\(try context.count(for: request))"]]
    }
    let open = try fixture.open()
    let read = try open.read { try results($0, "Person") }
    try open.coordinator.migratePersistentStore(
      open.store, to: fixture.folder.url.appending(path: "copy"))
    let context = ManagedObjectContext(.privateQueue, coordinator: open.coordinator)
    let copied = try context.performAndWait { try results(context, "Person") }
    #expect(read == copied)
    #expect(read.count > 1)
  }

  @Test(.comparesWithPython) func `a count reads the values that its condition names, and no others`() throws
  {
    let fixture = try StoreFixture(
      making: """
        store = Store(path, Model([E('P', [A('one', 'int16'), A('other', 'int16')])]))
        store.write([Object('P', {'one': n, 'other': 70000}) for n in range(5)])
        store.close()
        """)
    let open = try fixture.open()
    try open.read { context in
      let request = FetchRequest<ManagedObject>(entityName: "P")
      request.predicate = try FormatPredicate("one > 2")
      #expect(try context.count(for: request) == 2)
      #expect(open.store.notes == [])
      #expect(try context.fetch(request).count == 2)
      #expect(open.store.notes == ["a value of ZP.ZOTHER does not fit other, and is read as none (2 times)"])
      request.predicate = nil
      request.sortDescriptors = [NamedSort("one", ascending: false)]
      request.fetchLimit = 3
      #expect(try context.fetch(request).count == 3)
      #expect(open.store.notes == ["a value of ZP.ZOTHER does not fit other, and is read as none (3 times)"])
    }
  }

  @Test func `an object is found by its identifier, and one that is not there is not`() throws {
    let open = try StoreFixture("library").open()
    try open.read { context in
      let uuid = open.store.identifier
      let uri = try #require(URL(string: "x-coredata://\(uuid)/Item/p12"))
      let id = try #require(open.coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(id.entity.name == "Comic")
      #expect(try context.existingObject(with: id).value(forKey: "title") as? String == "Comic 1")
      let missing = try #require(URL(string: "x-coredata://\(uuid)/Person/p9999"))
      let none = try #require(open.coordinator.managedObjectID(forURIRepresentation: missing))
      #expect(throws: HeartwoodError.self) { try context.existingObject(with: none) }
      let plan = try context.plan(
        for: {
          let request = FetchRequest<ManagedObject>(entityName: "Person")
          request.predicate = try FormatPredicate("favourite == %@", id)
          return request
        }())
      #expect(plan.description.contains("related"))
    }
  }

  @Test func `a save is refused with what to do`() throws {
    let open = try StoreFixture("library").open()
    #expect(open.store.isReadOnly)
    let error = try open.read { context in
      try #require(throws: HeartwoodError.self) {
        let person = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))[0]
        person.setValue("another", forKey: "name")
        try context.save()
      }
    }
    #expect(error.message.contains("migratePersistentStore"))
  }

  @Test func `the file, its log and its metadata stay as they are`() throws {
    let fixture = try StoreFixture("log")
    func files() throws -> [String: Data] {
      var found: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.url.path) {
        let url = fixture.folder.url.appending(path: name)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        found["\(name) \(attributes[.modificationDate] ?? "")"] = (try? Data(contentsOf: url)) ?? Data()
      }
      return found
    }
    let before = try files()
    let open = try fixture.open()
    _ = try open.read { try ContextDump($0) }
    try open.coordinator.close()
    #expect(try files() == before)
  }

  @Test func `metadata of the program are kept, and a copy has them`() throws {
    let fixture = try StoreFixture("library")
    let open = try fixture.open()
    let metadata = try open.coordinator.metadata(for: open.store)
    #expect(metadata["author"] as? String == "the program")
    #expect(metadata["NSStoreUUID"] as? String == open.store.identifier)
    let hashes = metadata[AppleSQLiteStore.appleVersionHashesKey] as? [String: Data]
    #expect(hashes?["Person"]?.count == 32)
    let copy = try open.coordinator.migratePersistentStore(
      open.store, to: fixture.folder.url.appending(path: "copy"))
    #expect(try open.coordinator.metadata(for: copy)["author"] as? String == "the program")
    try open.coordinator.close()
  }
}
