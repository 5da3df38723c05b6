import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A store in PostgreSQL and one of type Log in one coordinator.
@Suite struct `A PostgreSQL store beside another` {
  private struct World {
    let folder: URL
    let url: URL
    let model: ManagedObjectModel
    let coordinator: PersistentStoreCoordinator

    init(_ former: World? = nil) throws {
      PostgresStore.register()
      folder =
        former?.folder
        ?? FileManager.default.temporaryDirectory.appending(path: "several-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = try former?.url ?? PostgresServer.shared.get().url()
      model = try ManagedObjectModel(types: allTypes) { model in
        let things = model.entities.filter {
          $0.name == "Thing" || $0.name == "Playlist" || $0.name == "Song"
        }
        model.setEntities(things, forConfigurationName: "Local")
        let others = model.entities.filter { entity in !things.contains { $0 === entity } }
        model.setEntities(others, forConfigurationName: "Server")
      }
      coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    }

    func addServer(_ configuration: String? = "Server") throws -> PersistentStore {
      try coordinator.addPersistentStore(
        type: .postgres, configuration: configuration, at: url, options: [.historyTracking: true])
    }

    func addLocal(_ configuration: String? = "Local") throws -> PersistentStore {
      try coordinator.addPersistentStore(
        type: .log, configuration: configuration, at: folder.appending(path: "local.heartwood"),
        options: [.historyTracking: true])
    }

    func context() -> ManagedObjectContext { ManagedObjectContext(.privateQueue, coordinator: coordinator) }

    func end() {
      try? coordinator.close()
      try? FileManager.default.removeItem(at: folder)
    }
  }

  @Test(arguments: [false, true])
  func `each has the entities of its configuration, and a save writes to both`(isServerFirst: Bool) throws {
    let world = try World()
    defer { world.end() }
    let first = isServerFirst ? try world.addServer() : try world.addLocal()
    let second = isServerFirst ? try world.addLocal() : try world.addServer()
    let (server, local) = isServerFirst ? (first, second) : (second, first)
    let context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[4], people[2]]
    people[0].idol = people[1]
    let club = Club(context: context)
    club.members = [people[1], people[3]]
    let thing = Thing(context: context)
    (thing.number, thing.text) = (1, "local")
    try context.save()
    #expect(company.objectID.persistentStore === server && thing.objectID.persistentStore === local)
    people[2].age = 20
    context.delete(people[3])
    thing.text = "changed"
    try context.save()
    let fresh = world.context()
    let found = try fresh.fetch(
      Person.self, where: { $0.company.code == "A" }, sort: [.descending(\.age)], limit: 2, offset: 1)
    #expect(found.map(\.name) == ["4", "1"])
    #expect(found.allSatisfy { $0.company?.code == "A" })
    #expect(try fresh.count(Person.self) == 4)
    let again = try #require(try fresh.fetch(Company.self).first)
    #expect(again.ranking.map(\.name) == ["4", "2"])
    #expect(again.people.count == 4)
    #expect(try fresh.fetch(Club.self).map { $0.members.map(\.name) } == [["1"]])
    #expect(try fresh.fetch(Thing.self).map(\.text) == ["changed"])
    let request = FetchRequest<Person>()
    request.predicate = ObjectQuery<Person>().idol == people[1]
    #expect(try fresh.fetch(request).map(\.name) == ["0"])
    // The server executes it.
    #expect(try fresh.plan(for: request).steps.first == "request: Person, executed by the store")
    let uris = [company, thing].map { $0.objectID.uriRepresentation() }
    try world.coordinator.close()

    let later = try World(world)
    defer { later.end() }
    _ = isServerFirst ? try later.addLocal() : try later.addServer()
    _ = isServerFirst ? try later.addServer() : try later.addLocal()
    let reader = later.context()
    let objects = try uris.map { uri in
      try reader.existingObject(with: #require(later.coordinator.managedObjectID(forURIRepresentation: uri)))
    }
    #expect((objects[0] as? Company)?.code == "A" && (objects[1] as? Thing)?.text == "changed")
  }

  @Test func `fetches over both are merged, also by identifiers of the other one`() throws {
    let world = try World()
    defer { world.end() }
    let (local, server) = (try world.addLocal(nil), try world.addServer(nil))
    let context = world.context()
    for number in 0..<40 {
      let person = context.makePerson("\(number)", age: Int64(number / 4))
      context.assign(person, to: number % 2 == 0 ? local : server)
    }
    try context.save()
    func names(_ limit: Int, _ offset: Int, in stores: [PersistentStore]? = nil) throws -> [String] {
      let request = FetchRequest<Person>()
      request.predicate = ObjectQuery<Person>().age > 2
      request.sortDescriptors = [Sort<Person>.descending(\.age), Sort<Person>.ascending(\.name)]
      (request.fetchLimit, request.fetchOffset, request.affectedStores) = (limit, offset, stores)
      return try world.context().fetch(request).map(\.name)
    }
    #expect(try names(6, 2) == ["38", "39", "32", "33", "34", "35"])
    #expect(try names(2, 1, in: [server]) == ["39", "33"])
    #expect(try names(2, 1, in: [local]) == ["38", "32"])
    let fresh = world.context()
    #expect(try fresh.count(Person.self, where: { $0.age == 3 }) == 4)
    // Objects of both have the same numbers in their stores.
    let first = try fresh.fetch(Person.self, where: { $0.name == "0" })[0]
    let other = try fresh.fetch(Person.self, where: { $0.name == "1" })[0]
    let fan = fresh.makePerson("fan")
    fan.idol = other
    try fresh.save()
    #expect(fan.objectID.persistentStore === server)
    #expect(try fresh.fetch(Person.self, where: { $0.idol == other }).map(\.name) == ["fan"])
    #expect(try fresh.fetch(Person.self, where: { $0.idol == first }).map(\.name) == [])
    let fans = fresh.makePerson("fan 2")
    fans.idol = first
    fresh.assign(fans, to: server)
    #expect(heartwoodError { try fresh.save() }?.code == .managedObjectExternalRelationship)
    fresh.rollback()
    let groups = FetchRequest<[String: Any]>(entityName: "Person")
    groups.propertiesToFetch = ["age", "@count"]
    groups.propertiesToGroupBy = ["age"]
    groups.predicate = try FormatPredicate("age < 3 AND idol == nil")
    groups.sortDescriptors = [NamedSort("age")]
    #expect(try world.context().fetch(groups).map { $0["age"] as? Int64 } == [0, 1, 2])
  }

  @Test func `conflicts and unique values are those of each store, and both have a history`() throws {
    let world = try World()
    defer { world.end() }
    let (local, server) = (try world.addLocal(), try world.addServer())
    let (first, second) = (world.context(), world.context())
    let company = first.makeCompany("A")
    let thing = Thing(context: first)
    try first.save()
    let same = try #require(second.existingObject(with: company.objectID) as? Company)
    same.name = "second"
    try second.save()
    (company.size, thing.number) = (5, 5)
    #expect(heartwoodError { try first.save() }?.code == .managedObjectMerge)
    // Nothing of the refused save is in the other store.
    #expect(try world.context().fetch(Thing.self).map(\.number) == [0])
    first.mergePolicy = .mergeByPropertyObjectTrump
    try first.save()
    let saved = try #require(try world.context().fetch(Company.self).first)
    #expect(saved.size == 5 && saved.name == "second")
    #expect(try world.context().fetch(Thing.self).map(\.number) == [5])
    _ = second.makeCompany("A")
    #expect(heartwoodError { try second.save() }?.code == .managedObjectConstraintMerge)
    second.mergePolicy = .mergeByPropertyStoreTrump
    try second.save()
    #expect(try world.context().count(Company.self) == 1)
    let transactions = try first.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
    let stores = Set(transactions.compactMap { $0.token.transactionNumbersByStore.keys.sorted().last })
    #expect(transactions.count >= 5 && !stores.isEmpty)
    let changed = Set(transactions.flatMap { $0.changes ?? [] }.map(\.changedObjectID))
    #expect(changed.contains(company.objectID) && changed.contains(thing.objectID))
    #expect(Set(changed.map(\.persistentStore)).contains(local))
    #expect(Set(changed.map(\.persistentStore)).contains(server))
  }

  @Test func `batches go to the store of the entity, and contexts merge them`() throws {
    let world = try World()
    defer { world.end() }
    _ = try world.addLocal()
    let server = try world.addServer()
    let context = world.context()
    let company = context.makeCompany("A")
    let thing = Thing(context: context)
    try context.save()
    let update = BatchUpdateRequest(entityName: "Company")
    update.propertiesToUpdate = ["name": "batch"]
    update.resultType = .objectIDs
    #expect(try context.execute(update, mergingInto: [context]).objectIDs == [company.objectID])
    #expect(company.name == "batch")
    let things = BatchUpdateRequest(entityName: "Thing")
    things.propertiesToUpdate = ["number": 9]
    try context.execute(things, mergingInto: [context])
    #expect(thing.number == 9)
    try context.execute(BatchInsertRequest(entityName: "Company", objects: [["code": "B"], ["code": "C"]]))
    #expect(try context.fetch(Company.self, sort: [.ascending(\.code)]).map(\.code) == ["A", "B", "C"])
    #expect(try context.fetch(Company.self).allSatisfy { $0.objectID.persistentStore === server })
    let wanted = try context.fetch(Company.self, where: { $0.code != "A" }).map(\.objectID)
    try context.execute(BatchDeleteRequest(objectIDs: wanted))
    #expect(try world.context().count(Company.self) == 1)
  }

  @Test func `a pinned context reads a past state of the log store, and the newest of the server`() throws {
    let world = try World()
    defer { world.end() }
    let (server, local) = (try world.addServer(), try world.addLocal())
    let context = world.context()
    let (company, thing) = (context.makeCompany("A"), Thing(context: context))
    (company.size, thing.number) = (1, 1)
    try context.save()
    func read(_ context: ManagedObjectContext) throws -> [Int64] {
      let sizes = try context.fetch(Company.self, sort: [.ascending(\.code)]).map { $0.size ?? 0 }
      return sizes + (try context.fetch(Thing.self, sort: [.ascending(\.number)]).map { Int64($0.number) })
    }
    let pinned = world.context()
    try pinned.setQueryGenerationFrom(.current)
    #expect(try read(pinned) == [1, 1])
    let token = try #require(pinned.queryGenerationToken)
    #expect(token.generationsByStore.map(\.key) == [local.identifier])
    #expect(try world.coordinator.newestQueryGenerationToken() == token)
    (company.size, thing.number) = (2, 2)
    context.makeCompany("B").size = 5
    try context.save()
    // Its rows are read again.
    pinned.reset()
    try pinned.setQueryGenerationFrom(token)
    #expect(try read(pinned) == [2, 5, 1])
    #expect(try pinned.count(Thing.self, where: { $0.number == 2 }) == 0)
    #expect(pinned.queryGenerationToken == token)
    // Its own save moves the pin.
    let own = try #require(try pinned.fetch(Company.self, where: { $0.code == "B" }).first)
    own.size = 6
    let made = Thing(context: pinned)
    made.number = 3
    try pinned.save()
    #expect(try read(pinned) == [2, 6, 2, 3] || read(pinned) == [2, 6, 1, 3])
    let after = try #require(pinned.queryGenerationToken)
    #expect(after != token && after.generationsByStore.map(\.key) == [local.identifier])
    // Where the store with past states is removed, none can be pinned.
    let ofServer = QueryGenerationToken(generation: 1, storeID: server.identifier)
    #expect(
      heartwoodError { try world.context().setQueryGenerationFrom(ofServer) }?.code
        == .persistentStoreOperation
    )
    try world.coordinator.remove(local)
    let alone = heartwoodError { try world.context().setQueryGenerationFrom(.current) }
    #expect(alone?.code == .persistentStoreUnsupportedRequestType)
  }

  @Test func `live results over both follow what other programs save to either`() async throws {
    let world = try World()
    defer { world.end() }
    _ = (try world.addServer(nil), try world.addLocal(nil))
    let other = try World(world)
    defer { try? other.coordinator.close() }
    let (local, server) = (try other.addLocal(nil), try other.addServer(nil))
    let context = world.context()
    context.automaticallyMergesRemoteChanges = true
    let request = FetchRequest<Person>(entityName: "Person")
    request.predicate = ObjectQuery<Person>().age < 10
    request.sortDescriptors = [Sort<Person>.ascending(\.age)]
    var results = context.liveQuery(request).makeAsyncIterator()
    #expect(try await results.next()?.objectIDs.count == 0)
    let saving = other.context()
    var people: [Person] = []
    for (age, store) in [(5, local), (3, server), (1, local), (4, server)] {
      try saving.performAndWait {
        let person = saving.makePerson("\(age)", age: Int64(age))
        saving.assign(person, to: store)
        people.append(person)
        try saving.save()
      }
      var count = 0
      while count < people.count { count = try await results.next()?.objectIDs.count ?? .max }
      #expect(count == people.count)
    }
    // One leaves the results, another one changes its place.
    try saving.performAndWait {
      (people[1].age, people[2].age) = (20, 8)
      try saving.save()
    }
    let wanted = [people[3], people[0], people[2]].map { $0.objectID.uriRepresentation() }
    var found: [URL] = []
    while found != wanted {
      found = try #require(try await results.next()).objectIDs.map { $0.uriRepresentation() }
    }
  }

  @Test func `copies of a store of a configuration have its entities, and keep its identifiers`() throws {
    let world = try World()
    defer { world.end() }
    let (server, local) = (try world.addServer(), try world.addLocal())
    let context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[4], people[2]]
    let club = Club(context: context)
    club.members = [people[1], people[3]]
    Thing(context: context).number = 1
    try context.save()
    let uris = people.map { $0.objectID.uriRepresentation() }
    func check(_ coordinator: PersistentStoreCoordinator) throws {
      let reading = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      for (number, uri) in uris.enumerated() {
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect((try reading.existingObject(with: id) as? Person)?.name == "\(number)")
      }
      #expect(try reading.fetch(Company.self).map { $0.ranking.map(\.name) } == [["4", "2"]])
      #expect(try reading.fetch(Club.self).map { Set($0.members.map(\.name)) } == [["1", "3"]])
      #expect(try reading.count(Thing.self) == 1)
    }
    let place = world.folder.appending(path: "server.heartwood")
    let copy = try world.coordinator.migratePersistentStore(server, to: place, type: .log)
    #expect(copy.configurationName == "Server" && copy.identifier == server.identifier)
    try check(world.coordinator)
    try world.coordinator.close()
    // From there to PostgreSQL by the command, which has no configuration.
    let url = try PostgresServer.shared.get().url()
    let report = try StoreCopy(from: place, to: url).run()
    #expect(report.objects == ["Company": 1, "Person": 5, "Club": 1] && report.links > 0)
    let again = PersistentStoreCoordinator(managedObjectModel: world.model)
    _ = try again.addPersistentStore(type: .postgres, configuration: "Server", at: url)
    let path = local.url
    _ = try again.addPersistentStore(type: .log, configuration: "Local", at: path)
    try check(again)
    try again.close()
    let back = world.folder.appending(path: "back.heartwood")
    #expect(try StoreCopy(from: url, to: back).run().objects == report.objects)
  }
}
