import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Custom stores that load objects when they are used, beside other stores of one coordinator.
@Suite struct `Incremental stores beside others` {
  private struct Refusal: Error {}

  // MARK: Configurations

  // PSC-02
  @Test func `an incremental store has the entities of its configuration, also alone`() throws {
    let world = try SeveralStoresWorld(.all)
    let store = try #require(try world.add("Library") as? IncrementalStore)
    #expect(store.configurationName == "Library")
    #expect(Set(store.managedEntities.compactMap(\.name)) == ["Writer", "Book"])
    var context = world.context()
    let writer = world.make("Writer", 1, in: context, ["name": "Ann"])
    let book = world.make("Book", 2, in: context, ["writer": writer, "code": "a"])
    try context.save()
    let note = world.make("Note", 3, in: context)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreIncompatibleSchema)
    #expect(error?.objectIDs == [note.objectID])
    context.delete(note)
    try context.save()
    world.database("Library").calls = []
    #expect(try world.context().numbers("Note") == [])
    #expect(world.database("Library").calls == [])
    let texts = ["\(writer.objectID)", "\(book.objectID)"]
    try world.coordinator.close()
    // With all entities, and with the configuration again.
    for configuration in [nil, "Library"] {
      let again = try SeveralStoresWorld(folder: world.folder, .all)
      try again.add(configuration, "Library")
      context = again.context()
      let found = try #require(try context.fetch("Book", "writer.name == 'Ann'").first)
      #expect(
        ["\((found.value(forKey: "writer") as! ManagedObject).objectID)", "\(found.objectID)"] == texts)
      #expect(again.coordinator.managedObjectID(for: texts[1]) == found.objectID)
      found.setValue(7, forKey: "pages")
      try context.save()
      #expect(try again.context().numbers("Book", "pages == 7") == [2])
      try again.coordinator.close()
    }
  }

  @Test func `a change of an entity that it cannot have is no reason to migrate it`() throws {
    let world = try SeveralStoresWorld(.all)
    try world.add("Library")
    try world.add("Local")
    let context = world.context()
    _ = world.make("Writer", 1, in: context, ["name": "Ann"])
    _ = world.make("Note", 2, in: context, ["text": "a"])
    try context.save()
    try world.coordinator.close()
    let later = try SeveralStoresWorld(folder: world.folder, .all, noteHasDate: true)
    try later.add("Library", options: [:])
    let error = heartwoodError { try later.add("Local", options: [:]) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    try later.add("Local")
    #expect(!world.database("Library").calls.contains("migrate"))
    #expect(world.database("Local").calls.contains("migrate"))
    let again = later.context()
    #expect(try again.numbers("Writer", "name == 'Ann'") == [1])
    try again.fetch("Note").first?.setValue(Date(timeIntervalSince1970: 5), forKey: "date")
    try again.save()
    #expect(try later.context().numbers("Note", "date != nil") == [2])
  }

  @Test func `one of several is copied to a log store, and the others stay`() throws {
    let world = try SeveralStoresWorld(.first)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    for (number, store) in [library, archive].enumerated() {
      let writer = world.make("Writer", number, in: context)
      context.assign(writer, to: store)
      _ = world.make("Book", 10 + number, in: context, ["writer": writer])
    }
    try context.save()
    let moved = try world.coordinator.migratePersistentStore(library, to: world.url("Moved"))
    #expect(moved.configurationName == "Library" && moved.type == .log)
    let fresh = world.context()
    #expect(try fresh.numbers("Writer", sort: ["number"]) == [0, 1])
    #expect(try fresh.numbers("Writer", in: [moved]) == [0])
    #expect(try fresh.numbers("Book", "writer.number == 0") == [10])
    #expect(try world.coordinator.verify(moved).findings == [])
  }

  // MARK: Fetching

  @Test func `a fetch of an entity that only it has is one request with condition, order and limit`() throws {
    let world = try SeveralStoresWorld(.others)
    try world.add("Library")
    try world.add("Local")
    let context = world.context()
    for number in 0..<20 { _ = world.make("Note", number, in: context, ["text": "\(number % 4)"]) }
    try context.save()
    let database = world.database("Local")
    let fresh = world.context()
    /// A result, and the calls that it took.
    func called<Result>(_ body: () throws -> Result) rethrows -> (Result, [String]) {
      database.calls = []
      let result = try body()
      return (result, database.calls.filter { $0 != "register" && $0 != "unregister" })
    }
    let found = try called {
      try fresh.numbers("Note", "text == '1'", sort: ["-number"], limit: 2, offset: 1)
    }
    #expect(found == ([13, 9], ["fetch"]))
    let request = try fresh.request("Note", "text == '1'")
    #expect(try called { try fresh.count(for: request) } == (5, ["fetch"]))
    #expect(try called { try fresh.fetchIdentifiers(request).count } == (5, ["fetch"]))
    #expect(try fresh.plan(for: request).steps.first == "request: Note, executed by the store")
    // The others are not asked for it, nor it for theirs.
    #expect(try called { try fresh.numbers("Writer", "name == 'x'") } == ([], []))
    #expect(
      try fresh.plan(for: fresh.request("Writer", "name == 'x'")).steps.first?.hasPrefix("index") == true)
  }

  // FET-07
  @Test func `fetches over it and a log store have one order, with unsaved changes, groups and limits`()
    throws
  {
    let world = try SeveralStoresWorld(.first)
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    let context = world.context()
    for number in 0..<12 {
      let writer = world.make("Writer", number, in: context, ["rank": number % 3, "name": "w\(number)"])
      context.assign(writer, to: number % 2 == 0 ? library : archive)
    }
    try context.save()
    #expect(try context.numbers("Writer", sort: ["-number"], limit: 3, offset: 2) == [9, 8, 7])
    #expect(try context.numbers("Writer", "rank == 1", sort: ["number"]) == [1, 4, 7, 10])
    #expect(try context.numbers("Writer", "rank == 1", sort: ["number"], in: [library]) == [4, 10])
    #expect(try context.numbers("Writer", "rank == 1", sort: ["number"], in: [archive]) == [1, 7])
    for number in [4, 7] {
      try context.fetch("Writer", "number == \(number)").first?.setValue(5, forKey: "rank")
    }
    try context.fetch("Writer", "number IN {0, 11}").forEach(context.delete)
    #expect(try context.numbers("Writer", "rank == 5", sort: ["number"]) == [4, 7])
    #expect(try context.numbers("Writer", sort: ["number"], limit: 3) == [1, 2, 3])
    #expect(try context.count(for: context.request("Writer", "rank == 1")) == 2)
    try context.save()
    let groups = FetchRequest<[String: Any]>(entityName: "Writer")
    groups.propertiesToFetch = ["rank", "@count"]
    groups.propertiesToGroupBy = ["rank"]
    groups.sortDescriptors = [NamedSort("rank")]
    let rows = try world.context().fetch(groups).map { [$0["rank"], $0["count"]].map { "\($0 ?? "-")" } }
    #expect(rows.map(\.first) == ["0", "1", "2", "5"])
    let both = try context.fetch("Writer", "number IN {1, 2}", sort: ["number"]).map(\.objectID)
    let selected = FetchRequest<ManagedObject>(entityName: "Writer")
    selected.predicate = Condition.comparing(
      .path(PropertyPath(.fetched)), .isIn, .list(both.map(Value.object)))
    selected.sortDescriptors = [NamedSort("number")]
    #expect(try world.context().fetch(selected).map(\.ownNumber) == [1, 2])
    selected.affectedStores = [library]
    #expect(try world.context().fetch(selected).map(\.ownNumber) == [2])
    // A child reads both, and saves to both.
    let child = ManagedObjectContext(.privateQueue)
    child.parent = context
    try child.fetch("Writer", "number IN {1, 2}").forEach { $0.setValue("child", forKey: "name") }
    try child.save()
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'child'", sort: ["number"]) == [1, 2])
  }

  @Test func `it is told of the use of its own objects only`() throws {
    let world = try SeveralStoresWorld(.others)
    let (library, archive) = (try world.add("Library"), try world.add("Archive"))
    let context = world.context()
    for (number, store) in [library, archive].enumerated() {
      context.assign(world.make("Writer", number, in: context), to: store)
    }
    try context.save()
    let database = world.database("Archive")
    let fresh = world.context()
    let objects = try fresh.fetch("Writer", sort: ["number"])
    #expect(database.uses.keys.allSatisfy { $0 == objects[1].objectID })
    #expect((database.uses[objects[1].objectID] ?? 0) >= 1)
    context.reset()
    fresh.reset()
    #expect(database.uses.values.allSatisfy { $0 == 0 })
  }

  // MARK: Saving

  // PSC-23
  @Test func `if its class refuses a save, no store has anything of it`() throws {
    let world = try SeveralStoresWorld(.others)
    let (library, archive) = (try world.add("Library"), try world.add("Archive"))
    let context = world.context()
    var writers: [ManagedObject] = []
    for (number, store) in [library, archive].enumerated() {
      writers.append(world.make("Writer", number, in: context, ["name": "old"]))
      context.assign(writers[number], to: store)
    }
    try context.save()
    for writer in writers { writer.setValue("new", forKey: "name") }
    let added = [library, archive].enumerated().map { number, store in
      let writer = world.make("Writer", 10 + number, in: context)
      context.assign(writer, to: store)
      return writer
    }
    world.database("Archive").beforeSave = { throw Refusal() }
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreSave)
    #expect(error?.underlying is Refusal)
    #expect(context.updatedObjects == Set(writers) && context.insertedObjects == Set(added))
    #expect(try world.context().numbers("Writer", "name == 'old'", sort: ["number"]) == [0, 1])
    #expect(try world.context().numbers("Writer", sort: ["number"]) == [0, 1])
    world.database("Archive").beforeSave = nil
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'new'", sort: ["number"]) == [0, 1])
    #expect(try world.context().numbers("Writer", sort: ["number"]) == [0, 1, 10, 11])
    #expect(added[1].objectID.persistentStore === archive)
  }

  @Test func `what a log store refuses is not asked of the class`() throws {
    let world = try SeveralStoresWorld(.others)
    let (library, archive) = (try world.add("Library"), try world.add("Archive"))
    let context = world.context()
    context.assign(world.make("Book", 1, in: context, ["code": "a"]), to: library)
    context.assign(world.make("Book", 2, in: context, ["code": "a"]), to: archive)
    try context.save()
    context.assign(world.make("Book", 3, in: context, ["code": "a"]), to: library)
    context.assign(world.make("Book", 4, in: context, ["code": "b"]), to: archive)
    world.database("Archive").calls = []
    #expect(heartwoodError { try context.save() }?.code == .managedObjectConstraintMerge)
    #expect(!world.database("Archive").calls.contains("save"))
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(try world.context().numbers("Book", sort: ["number"]) == [2, 3, 4])
  }

  // PSC-23
  @Test func `if a log store cannot commit after the class has written, the rest is saved by the next save`()
    throws
  {
    let world = try SeveralStoresWorld(.others)
    let faulty = FaultInjectingFileSystem(base: PosixFileSystem())
    let library = try world.add("Library", fileSystem: faulty)
    let archive = try world.add("Archive")
    let context = world.context()
    var writers: [ManagedObject] = []
    for (number, store) in [library, archive].enumerated() {
      writers.append(world.make("Writer", number, in: context))
      context.assign(writers[number], to: store)
    }
    try context.save()
    for writer in writers { writer.setValue("new", forKey: "name") }
    faulty.use([.fail(.write, file: "*/*.log", .forever)])
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreIncompleteSave)
    #expect(error?.affectedStoreIDs == [library.identifier])
    #expect(error?.objectIDs == [writers[0].objectID])
    #expect(context.updatedObjects == [writers[0]])
    faulty.use([])
    #expect(try world.context().numbers("Writer", "name == 'new'") == [1])
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'new'", sort: ["number"]) == [0, 1])
    // The class counts versions from where the first save has left them.
    writers[1].setValue("newer", forKey: "name")
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'newer'") == [1])
  }

  // PSC-23
  @Test func `if the second of two classes refuses, the first one's part is saved, and no log store's`()
    throws
  {
    let world = try SeveralStoresWorld(.all)
    let stores = [
      try world.add("Library"), try world.add("Archive"), try world.add("Library", "Log", type: .log),
    ]
    let context = world.context()
    var writers: [ManagedObject] = []
    for (number, store) in stores.enumerated() {
      writers.append(world.make("Writer", number, in: context))
      context.assign(writers[number], to: store)
    }
    try context.save()
    for writer in writers { writer.setValue("new", forKey: "name") }
    world.database("Archive").beforeSave = { throw Refusal() }
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreIncompleteSave)
    #expect(Set(error?.affectedStoreIDs ?? []) == Set(stores[1...].map(\.identifier)))
    #expect(context.updatedObjects == Set(writers[1...]))
    #expect(try world.context().numbers("Writer", "name == 'new'") == [0])
    world.database("Archive").beforeSave = nil
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'new'", sort: ["number"]) == [0, 1, 2])
  }

  @Test func `versions are compared in each store, and merge policies resolve what differs`() throws {
    let world = try SeveralStoresWorld(.others)
    let (library, archive) = (try world.add("Library"), try world.add("Archive"))
    let context = world.context()
    for (number, store) in [library, archive].enumerated() {
      context.assign(world.make("Writer", number, in: context, ["name": "old"]), to: store)
    }
    try context.save()
    let other = world.context()
    for writer in try other.fetch("Writer") { writer.setValue(5, forKey: "rank") }
    for writer in try context.fetch("Writer") { writer.setValue("new", forKey: "name") }
    try other.save()
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectMerge)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(try world.context().numbers("Writer", "name == 'new' AND rank == 5", sort: ["number"]) == [0, 1])
  }

  // MARK: Requests and generations

  @Test func `batches work in the stores that execute them, and are refused over both`() throws {
    let world = try SeveralStoresWorld(.others)
    let (library, archive) = (try world.add("Library"), try world.add("Archive"))
    let context = world.context()
    context.assign(world.make("Writer", 1, in: context), to: library)
    context.assign(world.make("Writer", 2, in: context), to: archive)
    try context.save()
    let update = BatchUpdateRequest(entityName: "Writer")
    update.propertiesToUpdate = ["rank": 4]
    let error = heartwoodError { try context.execute(update) }
    #expect(error?.code == .persistentStoreUnsupportedRequestType)
    #expect(error?.message.contains("name one of the stores in affectedStores") == true)
    update.affectedStores = [library]
    try context.execute(update)
    #expect(try world.context().numbers("Writer", "rank == 4") == [1])
    update.affectedStores = [archive]
    #expect(
      heartwoodError { try context.execute(update) }?.message.contains(
        "does not execute a BatchUpdateRequest")
        == true)
    world.database("Archive").answerToBatches = "done"
    let wrong = heartwoodError { try context.execute(update) }
    #expect(wrong?.message.contains(world.customURL("Archive").absoluteString) == true, "\(wrong as Any)")
    world.database("Archive").answerToBatches = nil
    let insert = BatchInsertRequest(entityName: "Writer", objects: [["number": 3, "rank": 4]])
    try context.execute(insert)
    #expect(try world.context().numbers("Writer", "rank == 4", sort: ["number"], in: [library]) == [1, 3])
    let ids = try context.fetch("Writer", "number == 3").map(\.objectID)
    try context.execute(BatchDeleteRequest(objectIDs: ids))
    #expect(try world.context().numbers("Writer", sort: ["number"]) == [1, 2])
  }

  @Test func `a coordinator with it has the history of the others, and pins contexts to their past states`()
    throws
  {
    let world = try SeveralStoresWorld(.others)
    let stores = [try world.add("Library"), try world.add("Local")]
    let context = world.context()
    _ = world.make("Writer", 1, in: context)
    _ = world.make("Note", 1, in: context)
    try context.save()
    #expect(try context.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions.count == 1)
    let pinned = world.context()
    try pinned.setQueryGenerationFrom(.current)
    for entity in ["Writer", "Note"] { #expect(try pinned.numbers(entity) == [1]) }
    _ = world.make("Writer", 2, in: context)
    _ = world.make("Note", 2, in: context)
    try context.save()
    // The rows of the program's class are read as they are now.
    for (entity, store) in zip(["Writer", "Note"], stores) {
      let wanted = store.type == .log ? [1] : [1, 2]
      #expect(try pinned.numbers(entity, sort: ["number"]) == wanted, "\(entity)")
    }
    let logs = stores.filter { $0.type == .log }
    let token = try #require(pinned.queryGenerationToken)
    #expect(logs.count == 1 && token.generationsByStore.map(\.key) == logs.map(\.identifier))
    #expect(try world.coordinator.newestQueryGenerationToken() != token)
    try pinned.setQueryGenerationFrom(world.coordinator.newestQueryGenerationToken())
    for entity in ["Writer", "Note"] { #expect(try pinned.numbers(entity, sort: ["number"]) == [1, 2]) }
    // A pinned context sees its own save.
    _ = world.make("Note", 3, in: pinned)
    _ = world.make("Writer", 3, in: pinned)
    try pinned.save()
    for entity in ["Writer", "Note"] {
      #expect(try pinned.numbers(entity, sort: ["number"]) == [1, 2, 3])
    }
    // Where no store has past states, none is pinned.
    try world.coordinator.remove(logs[0])
    let error = heartwoodError { try world.context().setQueryGenerationFrom(.current) }
    #expect(error?.code == .persistentStoreUnsupportedRequestType)
    #expect(error?.message.contains("is a custom store of type Dictionaries") == true)
  }
}
