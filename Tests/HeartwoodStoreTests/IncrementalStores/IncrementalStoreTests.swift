import Dispatch
import Foundation
import GraphTestSupport
import HeartwoodFiles
import Testing

@testable import Heartwood

@Suite struct `Incremental stores of a program` {
  // EXT-05, EXT-06, EXT-07, EXT-08, EXT-09, EXT-12, EXT-13, BAT-17
  @Test
  func `objects of an incremental store are saved by requests, and found again under the same identifiers`()
    throws
  {
    let world = try DictionaryWorld()
    var context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[4], people[2]]
    people[0].idol = people[1]
    let club = Club(context: context)
    club.members = [people[1], people[3]]
    let other = context.makeCompany("B")
    other.partners = [company]
    try context.save()
    #expect(!people[0].objectID.isTemporaryID)
    context.delete(people[3])
    people[2].age = 20
    people[2].nick = "nick"
    company.ranking.append(people[0])
    try context.save()
    let uris = people.map { $0.objectID.uriRepresentation() }
    try world.container.close()

    let second = try DictionaryWorld(at: world.url)
    let coordinator = second.container.persistentStoreCoordinator
    context = second.context()
    let found = try uris.map { uri -> Person? in
      let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      return try? context.existingObject(with: identifier) as? Person
    }
    #expect(found.map { $0?.name } == ["0", "1", "2", nil, "4"])
    #expect(found.map { $0?.age } == [0, 1, 20, nil, 4])
    #expect(found[2]?.nick == "nick")
    #expect(found[0]?.idol?.name == "1")
    #expect(found[0]?.company?.ranking.map(\.name) == ["4", "2", "0"])
    #expect(found[0]?.company?.people.count == 4)
    #expect(found[0]?.company?.partners.map(\.code) == ["B"])
    #expect(try context.fetch(Club.self).map { $0.members.map(\.name) } == [["1"]])
    let fetched = try context.fetch(
      Person.self, where: { $0.age < 5 && $0.company.name == "A" }, sort: [.descending(\.name)], limit: 2,
      offset: 1)
    #expect(fetched.map(\.name) == ["1", "0"])
    #expect(try context.count(Person.self, where: { $0.name != "4" }) == 3)
    let request = FetchRequest<[String: Any]>(entityName: "Person")
    request.propertiesToFetch = ["age"]
    request.sortDescriptors = [NamedSort("age")]
    #expect(try context.fetch(request).map { $0["age"] as? Int64 } == [0, 1, 4, 20])
  }

  // EXT-14
  @Test func `a store is asked once for an object, and once for each relationship that is read`() throws {
    let world = try DictionaryWorld()
    let saving = world.context()
    let company = saving.makeCompany("A")
    let people = (0..<3).map { saving.makePerson("\($0)", in: company) }
    people[0].idol = people[1]
    try saving.save()
    let identifiers = people.map(\.objectID)
    let context = world.context()
    let person = try #require(context.object(with: identifiers[0]) as? Person)
    #expect(world.calls { _ = person.name } == ["values", "relationship idol"])
    #expect(world.calls { _ = person.age } == [])
    let found = try #require(person.company)
    #expect(world.calls { _ = found.people.count } == ["relationship people"])
    #expect(world.calls { _ = found.people.contains(person) } == [])
    #expect(try world.calls { _ = try context.count(Company.self) } == ["fetch"])
    #expect(try world.calls { _ = try context.fetchIdentifiers(Company.self) } == ["fetch"])
    person.age = 3
    #expect(try world.calls { try context.save() } == ["values", "relationship idol", "save"])
  }

  @Test func `a fetch of an incremental store shows unsaved changes at their places`() throws {
    let world = try DictionaryWorld()
    let context = world.context()
    let people = (0..<10).map { context.makePerson("\($0)", age: Int64($0)) }
    try context.save()
    people[2].age = 100
    context.delete(people[3])
    people[4].name = "x"
    _ = context.makePerson("new", age: 5)
    func names(_ limit: Int?, _ offset: Int) throws -> [String] {
      try context.fetch(
        Person.self, where: { $0.age >= 2 }, sort: [.ascending(\.age), .ascending(\.name)], limit: limit,
        offset: offset
      ).map(\.name)
    }
    let all = ["x", "5", "new", "6", "7", "8", "9", "2"]
    #expect(try names(nil, 0) == all)
    #expect(try names(3, 0) == Array(all[..<3]))
    #expect(try names(3, 5) == Array(all[5...]))
    #expect(try context.count(Person.self, where: { $0.age >= 2 }) == 8)
    let child = ManagedObjectContext(.privateQueue, parent: context)
    try child.performAndWait {
      let found = try child.fetch(Person.self, where: { $0.age >= 2 }, sort: [.ascending(\.age)])
      #expect(found.count == 8)
      let renamed = found[0]
      renamed.name = "child"
      _ = child.makePerson("grand", age: 1)
      try child.save()
    }
    #expect(people[4].name == "child")
    try context.save()
    #expect(try world.context().count(Person.self) == 11)
  }

  // EXT-13
  @Test func `a save over a newer version of an object is a conflict, which merge policies resolve`() throws {
    let world = try DictionaryWorld()
    let first = world.context()
    let person = first.makePerson("a", age: 1)
    try first.save()
    let second = world.context()
    let same = try #require(second.existingObject(with: person.objectID) as? Person)
    same.age = 2
    try second.save()
    person.name = "b"
    let error = heartwoodError { try first.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.map(\.newVersionNumber) == [2])
    first.mergePolicy = .mergeByPropertyObjectTrump
    try first.save()
    #expect(person.age == 2 && person.name == "b")
    second.delete(same)
    second.mergePolicy = .overwrite
    try second.save()
    person.age = 5
    #expect(
      heartwoodError {
        first.mergePolicy = .error; try first.save()
      }?.code == .managedObjectMerge)
  }

  @Test func `values that must be unique are looked for in the store, and imports update what is there`()
    throws
  {
    let world = try DictionaryWorld()
    let first = world.context()
    let stored = first.makeCompany("A")
    stored.size = 4
    try first.save()
    let context = world.context()
    _ = context.makeCompany("B")
    let again = context.makeCompany("A")
    again.name = "new"
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.constraintConflicts.map(\.databaseObjectID) == [stored.objectID])
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let all = try world.context().fetch(Company.self, sort: [.ascending(\.code)])
    #expect(all.map(\.name) == ["new", "B"] && all[0].size == 4 && all[0].objectID == stored.objectID)
    let third = world.context()
    _ = (third.makeCompany("C"), third.makeCompany("C"))
    #expect(heartwoodError { try third.save() }?.constraintConflicts.first?.conflictingObjects.count == 2)
  }

  @Test func `a save that the store refuses changes nothing, and the next one saves everything`() throws {
    let world = try DictionaryWorld()
    let context = world.context()
    let person = context.makePerson("a")
    world.database.beforeSave = { throw CocoaError(.fileWriteOutOfSpace) }
    #expect(heartwoodError { try context.save() }?.code == .persistentStoreSave)
    #expect(try world.context().count(Person.self) == 0)
    person.name = "b"
    world.database.beforeSave = nil
    try context.save()
    #expect(try world.context().fetch(Person.self).map(\.name) == ["b"])
  }

  @Test func `a live result follows the saves of a context of an incremental store`() throws {
    let world = try DictionaryWorld()
    let context = world.context()
    let people = (0..<4).map { context.makePerson("\($0)", age: Int64($0)) }
    try context.save()
    let request = FetchRequest<Person>(where: { $0.age > 1 }, sort: [.ascending(\.age)])
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    let delegate = IdleDelegate()
    controller.delegate = delegate
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map(\.name) == ["2", "3"])
    people[0].age = 10
    try context.save()
    #expect(controller.fetchedObjects?.map(\.name) == ["2", "3", "0"])
  }

  // EXT-10
  @Test func `a store is told which objects contexts begin and end to use`() throws {
    let world = try DictionaryWorld()
    try {
      let context = world.context()
      let people = (0..<3).map { context.makePerson("\($0)") }
      try context.save()
      #expect(Set(world.database.uses.filter { $0.value > 0 }.keys) == Set(people.map(\.objectID)))
      context.delete(people[0])
      try context.save()
      #expect(world.database.uses[people[0].objectID] == 0)
      let other = world.context()
      _ = try other.fetch(Person.self)
      #expect(world.database.uses[people[1].objectID] == 2)
      other.reset()
      #expect(world.database.uses[people[1].objectID] == 1)
    }()
    #expect(world.database.uses.values.allSatisfy { $0 == 0 })
  }

  // EXT-11, EXT-15
  @Test func `a store executes requests of its own classes, and refuses what it does not know`() throws {
    final class Ping: PersistentStoreRequest {}
    final class PingStore: DerivedStore, @unchecked Sendable {
      static let uuid = UUID()
      override class func identifierForNewStore(at url: URL) -> UUID { uuid }
      override func execute(_ request: PersistentStoreRequest, with context: ManagedObjectContext?) throws
        -> Any
      {
        request is Ping ? "pong" : try super.execute(request, with: context)
      }
    }
    let kind = PersistentStore.StoreType(rawValue: "Ping")
    PersistentStoreCoordinator.registerStoreClass(PingStore.self, type: kind)
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let store = try coordinator.addPersistentStore(type: kind, at: URL(string: "ping://a")!)
    #expect(store.identifier == PingStore.uuid.uuidString)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      let results = try context.execute(Ping())
      #expect(results as? [String] == ["pong"])
      let refused: [() throws -> Void] = [
        { _ = try context.execute(BatchInsertRequest(Person.self, objects: [["name": "a"]])) },
        { _ = try context.execute(BatchUpdateRequest(Person.self)) },
        { _ = try context.execute(BatchDeleteRequest(objectIDs: [])) },
        {
          _ = try context.execute(
            PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
        },
        { _ = try context.setQueryGenerationFrom(.current) },
        { _ = try context.fetch(Person.self) },
        { _ = try coordinator.verify() },
      ]
      for (place, request) in refused.enumerated() {
        #expect(heartwoodError(request)?.code == .persistentStoreUnsupportedRequestType, "request \(place)")
      }
    }
    let beside = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let both = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    #expect(try both.execute(Ping()) as? [String] == ["pong"])
    let ping = Ping()
    ping.affectedStores = [beside]
    #expect(heartwoodError { _ = try both.execute(ping) }?.code == .persistentStoreUnsupportedRequestType)
    let memory = PersistentContainer(name: "Test", managedObjectModel: coordinator.managedObjectModel)
    try memory.persistentStoreCoordinator.addPersistentStore(
      type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let foreign = memory.newBackgroundContext()
    #expect(
      heartwoodError { _ = try foreign.execute(Ping()) }?.code == .persistentStoreUnsupportedRequestType)
  }

  // EXT-05
  @Test func `metadata of an incremental store are read and set, and another model is refused`() throws {
    let world = try DictionaryWorld()
    let coordinator = world.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.setMetadata(["note": "n", "count": 3], for: store)
    try world.context().save()
    let identifier = store.identifier
    try world.container.close()
    let second = try DictionaryWorld(at: world.url)
    let again = try #require(second.container.persistentStoreCoordinator.persistentStores.first)
    #expect(again.identifier == identifier)
    #expect(try again.metadata["note"] as? String == "n")
    #expect(try again.metadata["count"] as? Int == 3)
    try second.container.close()
    let error = heartwoodError {
      _ = try DictionaryWorld(
        at: world.url, types: [Club.self, Person.self, Company.self, House.self, Stranger.self],
        migrates: false)
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
  }

  @Test(arguments: [1, 300, 500, 700])
  func `a context may be reset between the batches of an enumeration`(size: Int) throws {
    let world = try DictionaryWorld()
    let saving = world.context()
    for number in 0..<1200 { _ = saving.makePerson("\(number)", in: nil) }
    try saving.save()
    for sort in [nil, try ComputedSort("name", ascending: true)] {
      let context = world.context()
      let request = FetchRequest<Person>()
      request.sortDescriptors = sort.map { [$0] }
      var names: [String] = []
      try context.enumerate(request, batchSize: size) { people in
        names += people.map(\.name)
        context.reset()
      }
      #expect(names.count == 1200 && Set(names) == Set((0..<1200).map { "\($0)" }))
    }
  }

  @Test func `prefetching and batches load many objects by one call`() throws {
    let world = try DictionaryWorld()
    let saving = world.context()
    for number in 0..<6 {
      _ = saving.makePerson("\(number)", in: saving.makeCompany("\(number % 3)x\(number)"))
    }
    try saving.save()
    let context = world.context()
    let request = FetchRequest<Person>()
    request.fetchBatchSize = 3
    let people = try context.fetch(request)
    #expect(people.count == 6 && people.allSatisfy(\.isFault))
    #expect(world.calls { _ = people[0].name }.filter { $0 == "values" }.count == 3)
    #expect(world.calls { _ = people[1].name } == [])
    let prefetching = FetchRequest<Person>()
    prefetching.relationshipKeyPathsForPrefetching = ["company"]
    let other = world.context()
    let found = try other.fetch(prefetching)
    #expect(world.calls { for person in found { _ = person.company?.name } } == [])
  }

  @Test func `metadata that are set while a save writes others are written by the next one`() throws {
    let world = try DictionaryWorld()
    let coordinator = world.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let notes = { world.database.metadata.compactMapValues { $0 as? String }.filter { $0.key == "note" } }
    world.database.afterMetadata = { [database = world.database] in
      database.afterMetadata = nil
      try? coordinator.setMetadata(["note": "second"], for: store)
    }
    try coordinator.setMetadata(["note": "first"], for: store)
    try world.context().save()
    #expect(notes() == ["note": "first"])
    try world.context().save()
    #expect(notes() == ["note": "second"])
    #expect(try world.calls { try world.context().save() } == [])
    try world.container.close()
  }

  @Test func `saves that others make while a history is read are told once each, and in order`() throws {
    let world = try DictionaryWorld()
    let database = world.database
    database.history = []
    let told = Guarded<[UInt64]>([])
    let context = world.context()
    context.receivesChanges = { changes in
      told.withLock { $0.append(changes.queryGeneration?.generation ?? 0) }
    }
    context.automaticallyMergesRemoteChanges = true
    let observer = try #require(database.observer)
    let save = {
      let number = UInt64(database.history?.count ?? 0) + 1
      database.history?.append(StoreHistoryTransaction(number: number, timestamp: Date(), changes: []))
    }
    // A class may tell of a save while it reads, on the same thread or on another one.
    database.afterHistory = {
      let count = database.history?.count ?? 0
      guard count < 6 else { return }
      save()
      guard !count.isMultiple(of: 2) else { return observer.tell() }
      let isTold = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        observer.tell()
        isTold.signal()
      }
      isTold.wait()
    }
    save()
    observer.tell()
    #expect(told.withLock { $0 } == [1, 2, 3, 4, 5, 6])
    observer.tell()
    #expect(told.withLock { $0.count } == 6)
    context.automaticallyMergesChangesFromParent = false
    try world.container.close()
  }
}

/// Makes a controller follow its context.
private final class IdleDelegate: FetchedResultsControllerDelegate {
  typealias Object = Person
}

/// An entity that other tests' models do not have.
final class Stranger: ManagedObject {
  @Attribute var name = ""
}

/// A store that knows no request.
class DerivedStore: IncrementalStore, @unchecked Sendable {
  override func newValuesForObject(
    with objectID: ManagedObjectID, with context: ManagedObjectContext?
  ) throws -> IncrementalStoreNode { throw missingObject(objectID) }
}
