import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A store in PostgreSQL that is opened with a later model, beside a log store with the same objects.
@Suite struct `Migration of a store in PostgreSQL` {
  /// - Parameter isLater: Whether it is the later version, with a change of every kind that is inferred.
  private static func model(isLater: Bool, scoreHasDefault: Bool = true) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType, optional: Bool = true, preset: Any? = nil)
      -> AttributeDescription
    {
      let attribute = AttributeDescription(name: name, type: type)
      attribute.isOptional = optional
      attribute.defaultValue = preset
      return attribute
    }
    func relate(
      _ left: EntityDescription, _ name: String, many: Bool, ordered: Bool = false,
      _ right: EntityDescription, _ inverse: String, many rightMany: Bool, rightOrdered: Bool = false
    ) -> (RelationshipDescription, RelationshipDescription) {
      let first = RelationshipDescription(
        name: name, destination: right, isToMany: many, isOrdered: ordered)
      left.ownProperties.append(first)
      let second = RelationshipDescription(
        name: inverse, destination: left, isToMany: rightMany, isOrdered: rightOrdered)
      right.ownProperties.append(second)
      (first.inverseRelationship, second.inverseRelationship) = (second, first)
      return (first, second)
    }
    let name = attribute(isLater ? "fullName" : "name", .string)
    if isLater { name.renamingIdentifier = "name" }
    let person = EntityDescription(
      name: "Person", properties: [name, attribute("age", isLater ? .integer64 : .integer16)])
    person.ownProperties.append(
      isLater
        ? attribute("score", .double, optional: false, preset: scoreHasDefault ? 1.5 : nil)
        : attribute("nick", .string))
    person.ownProperties.append(attribute("rank", .integer32, optional: !isLater, preset: isLater ? 7 : nil))
    let company = EntityDescription(
      name: isLater ? "Firm" : "Company", properties: [attribute("code", .string)])
    if isLater { company.renamingIdentifier = "Company" }
    company.uniquenessConstraints = [["code"]]
    let tag = EntityDescription(name: "Tag", properties: [attribute("label", .string)])
    let animal = EntityDescription(name: "Animal", properties: [attribute("label", .string)])
    let dog = EntityDescription(
      name: "Dog", properties: [attribute(isLater ? "tricks" : "trick", .string)])
    animal.subentities = [dog]
    let note = EntityDescription(name: "Note", properties: [attribute("label", .string)])
    let (_, employer) = relate(
      company, "people", many: true, ordered: isLater, person, isLater ? "employer" : "company", many: false)
    if isLater { employer.renamingIdentifier = "company" }
    _ = relate(company, "tags", many: true, ordered: isLater, tag, "owners", many: true)
    _ = relate(dog, "master", many: isLater, person, "dogs", many: true)
    _ = relate(person, "best", many: false, person, "bestOf", many: false)
    if isLater {
      let badge = EntityDescription(name: "Badge", properties: [attribute("label", .string)])
      _ = relate(badge, "person", many: false, person, "badges", many: true)
      return ManagedObjectModel(entities: [person, company, tag, animal, dog, badge])
    }
    _ = relate(note, "about", many: false, person, "notes", many: true)
    return ManagedObjectModel(entities: [person, company, tag, animal, dog, note])
  }

  private func open(
    _ url: URL, _ type: PersistentStore.StoreType, _ model: ManagedObjectModel, timeout: Double = 5,
    _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    PostgresStore.register()
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    description.type = type
    description.timeout = timeout
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// The same random objects for the same seed.
  private func fill(_ context: ManagedObjectContext, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let entities = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName)
    func make(_ entity: String, _ values: [String: Any?]) throws -> ManagedObject {
      let object = ManagedObject(entity: try #require(entities[entity]), insertInto: context)
      for (name, value) in values { object.setValue(value, forKey: name) }
      return object
    }
    let companies = try (0..<4).map { try make("Company", ["code": "c\($0)"]) }
    let tags = try (0..<3).map { try make("Tag", ["label": "t\($0)"]) }
    var people: [ManagedObject] = []
    for number in 0..<12 {
      let person = try make(
        "Person",
        [
          "name": "p\(number)", "age": random.below(3) == 0 ? nil : random.below(99), "nick": "n",
          "rank": random.below(2) == 0 ? nil : number,
          "company": random.below(4) == 0 ? nil : companies[random.below(4)],
        ])
      if let other = people.last, random.below(2) == 0, other.value(forKey: "best") == nil {
        person.setValue(other, forKey: "bestOf")
      }
      people.append(person)
      if random.below(2) == 0 { _ = try make("Note", ["label": "x", "about": person]) }
    }
    for (number, company) in companies.enumerated() {
      company.setValue(Set(tags.filter { _ in random.below(2) == 0 }), forKey: "tags")
      if number % 2 == 0 { _ = try make("Animal", ["label": "a\(number)"]) }
      _ = try make("Dog", ["label": "d\(number)", "trick": "sit", "master": people[random.below(12)]])
    }
    try context.save()
  }

  /// Every object with its values, and the names of what it is related to.
  private func dump(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    func name(_ object: ManagedObject) -> String {
      let key = ["fullName", "name", "code", "label"].first { object.entity.attributesByName[$0] != nil }
      return "\(object.entity.name ?? "")/\(key.flatMap { object.value(forKey: $0) } ?? "-")"
    }
    for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] {
      let request = FetchRequest<ManagedObject>(entityName: try #require(entity.name))
      request.includesSubentities = false
      for object in try context.fetch(request) {
        var line = [name(object)]
        for key in entity.attributesByName.keys.sorted() {
          line.append("\(key) \(object.value(forKey: key).map { "\($0)" } ?? "nil")")
        }
        for key in entity.relationshipsByName.keys.sorted() {
          let identifiers = object.objectIDs(forRelationshipNamed: key)
          let names = identifiers.map { name(context.object(with: $0)) }
          // The order of an unordered one that becomes ordered is each store's own.
          line.append("\(key) \(names.sorted())")
        }
        lines.append(line.joined(separator: ", "))
      }
    }
    return lines.sorted()
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `a store has the objects that a log store has after the same changes of the model`(seed: UInt64) throws
  {
    let url = try PostgresServer.shared.get().url()
    let folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let places: [(URL, PersistentStore.StoreType)] = [(url, .postgres), (folder, .log)]
    var identifiers: [[URL]] = []
    for (url, type) in places {
      let context = try open(url, type, Self.model(isLater: false))
      try fill(context, seed: seed)
      let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      identifiers.append(people.map { $0.objectID.uriRepresentation() })
      try context.persistentStoreCoordinator?.close()
    }
    let contexts = try places.map { try open($0, $1, Self.model(isLater: true)) }
    let dumps = try contexts.map(dump)
    #expect(dumps[0] == dumps[1])
    #expect(
      dumps[0].contains { $0.contains("score 1.5") } && dumps[0].allSatisfy { !$0.contains("rank nil") })
    let coordinator = try #require(contexts[0].persistentStoreCoordinator)
    for uri in identifiers[0] {
      let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(try contexts[0].existingObject(with: id).value(forKey: "fullName") != nil)
    }
    // The store is a whole one of the new model: places, constraints and numbers of objects.
    let firm = try #require(
      try contexts[0].fetch(FetchRequest<ManagedObject>(entityName: "Firm")).first)
    let entities = coordinator.managedObjectModel.entitiesByName
    let new = ManagedObject(entity: try #require(entities["Person"]), insertInto: contexts[0])
    new.setValue("new", forKey: "fullName")
    new.setValue(firm, forKey: "employer")
    try contexts[0].save()
    #expect(!identifiers[0].contains(new.objectID.uriRepresentation()))
    contexts[0].refreshAllObjects()
    let staff = firm.objectIDs(forRelationshipNamed: "people")
    #expect(staff.last == new.objectID)
    let twin = ManagedObject(entity: firm.entity, insertInto: contexts[0])
    twin.setValue(firm.value(forKey: "code"), forKey: "code")
    #expect(heartwoodError { try contexts[0].save() }?.code == .managedObjectConstraintMerge)
    contexts[0].rollback()
    try coordinator.close()
    let again = try open(url, .postgres, Self.model(isLater: true))
    #expect(try dump(again).count == dumps[0].count + 1)
    try again.persistentStoreCoordinator?.close()
  }

  @Test func `a migration that the objects do not allow leaves the store as it was`() throws {
    let url = try PostgresServer.shared.get().url()
    let context = try open(url, .postgres, Self.model(isLater: false))
    try fill(context, seed: 5)
    let before = try dump(context)
    try context.persistentStoreCoordinator?.close()
    let error = heartwoodError {
      _ = try open(url, .postgres, Self.model(isLater: true, scoreHasDefault: false))
    }
    #expect(error != nil && error?.message.contains("score") == true, "\(String(describing: error))")
    let refused = heartwoodError {
      _ = try open(url, .postgres, Self.model(isLater: true)) { $0.shouldMigrateStoreAutomatically = false }
    }
    #expect(refused?.code == .persistentStoreIncompatibleVersionHash)
    let again = try open(url, .postgres, Self.model(isLater: false))
    #expect(try dump(again) == before)
    try again.persistentStoreCoordinator?.close()
  }

  private struct Refusal: Error {}

  /// The inferred mapping, with names in capitals.
  private func mapping(failsAt last: Int = .max) throws -> MappingModel {
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: Self.model(isLater: false), destinationModel: Self.model(isLater: true))
    let person = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Person" })
    let name = try #require(person.attributeMappings.first { $0.name == "fullName" })
    let calls = Counter()
    name.value = { person, _ in
      if calls.next() == last { throw Refusal() }
      return (person.value(forKey: "name") as? String)?.uppercased()
    }
    return mapping
  }

  private func schemas(beside url: URL) throws -> Int64 {
    let address = try PostgresAddress(url)
    return try PostgresConnection(address).query(
      "SELECT count(*) FROM pg_namespace WHERE nspname LIKE $1::text", [.text("\(address.schema).%")]
    ).integer(0, 0)
  }

  @Test func `a mapping model makes the objects that it makes of a log store`() throws {
    let url = try PostgresServer.shared.get().url()
    let folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let places: [(URL, PersistentStore.StoreType)] = [(url, .postgres), (folder, .log)]
    var former: [URL] = []
    for (url, type) in places {
      let context = try open(url, type, Self.model(isLater: false))
      try fill(context, seed: 7)
      former += try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
        $0.objectID.uriRepresentation()
      }
      try context.persistentStoreCoordinator?.close()
    }
    // The remains of a killed migration.
    let address = try PostgresAddress(url)
    try PostgresConnection(address).run("CREATE SCHEMA \"\(address.schema).migrating\"")
    let mapping = try mapping()
    let contexts = try places.map {
      try open($0, $1, Self.model(isLater: true)) { $0.mappingModel = mapping }
    }
    let dumps = try contexts.map(dump)
    #expect(dumps[0] == dumps[1])
    #expect(dumps[0].contains { $0.hasPrefix("Person/P0") })
    for (context, (url, type)) in zip(contexts, places) {
      let coordinator = try #require(context.persistentStoreCoordinator)
      for uri in former { #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil) }
      // The store is a whole one, in which new objects get numbers of their own.
      let person = try #require(coordinator.managedObjectModel.entitiesByName["Person"])
      let new = ManagedObject(entity: person, insertInto: context)
      new.setValue("new", forKey: "fullName")
      try context.save()
      try coordinator.close()
      let again = try open(url, type, Self.model(isLater: true))
      #expect(try dump(again).count == dumps[0].count + 1)
      try again.persistentStoreCoordinator?.close()
    }
    #expect(try schemas(beside: url) == 0)
  }

  @Test func `a mapping that fails leaves the store as it was, also where others have it open`() throws {
    let url = try PostgresServer.shared.get().url()
    let context = try open(url, .postgres, Self.model(isLater: false))
    try fill(context, seed: 8)
    let before = try dump(context)
    let failing = try mapping(failsAt: 5)
    let locked = heartwoodError {
      _ = try open(url, .postgres, Self.model(isLater: true), timeout: 0) { $0.mappingModel = failing }
    }
    #expect(locked?.code == .persistentStoreTimeout)
    try context.persistentStoreCoordinator?.close()
    let failed = heartwoodError {
      _ = try open(url, .postgres, Self.model(isLater: true)) { $0.mappingModel = failing }
    }
    #expect(failed?.code == .entityMigrationPolicy && failed?.underlying is Refusal)
    #expect(try schemas(beside: url) == 0)
    let again = try open(url, .postgres, Self.model(isLater: false))
    #expect(try dump(again) == before)
    try again.persistentStoreCoordinator?.close()
  }

  @Test func `a log store moves to PostgreSQL and back, object by object`() throws {
    let url = try PostgresServer.shared.get().url()
    let folder = FileManager.default.temporaryDirectory.appending(path: "moving-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let places = ["first", "last"].map { folder.appending(path: $0) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var context = try open(places[0], .log, Self.model(isLater: false))
    try fill(context, seed: 10)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let company = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Company")).first)
    let person = try #require(coordinator.managedObjectModel.entitiesByName["Person"])
    for number in 0..<1200 {
      let made = ManagedObject(entity: person, insertInto: context)
      made.setValue("many\(number)", forKey: "name")
      made.setValue(company, forKey: "company")
    }
    try context.save()
    let before = try dump(context)
    var store = try #require(coordinator.persistentStores.first)
    try coordinator.setMetadata(["note": "kept"], for: store)
    for (url, type) in [(url, .postgres), (places[1], .log)] as [(URL, PersistentStore.StoreType)] {
      store = try coordinator.migratePersistentStore(store, to: url, type: type)
      context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      #expect(try dump(context) == before)
      #expect(try coordinator.metadata(for: store)["note"] as? String == "kept")
    }
    // Objects are not added to a store that is there already.
    let taken = heartwoodError { _ = try coordinator.migratePersistentStore(store, to: url, type: .postgres) }
    #expect(taken?.code == .persistentStoreOperation)
    #expect(try dump(ManagedObjectContext(.privateQueue, coordinator: coordinator)) == before)
    try coordinator.close()
  }

  @Test func `a store goes through a stage, and finishes it where its code has failed`() throws {
    let url = try PostgresServer.shared.get().url()
    let context = try open(url, .postgres, Self.model(isLater: false))
    try fill(context, seed: 9)
    try context.persistentStoreCoordinator?.close()
    let calls = Counter()
    let stage = CustomMigrationStage(
      migratingFrom: ManagedObjectModelReference(model: Self.model(isLater: false)),
      to: ManagedObjectModelReference(model: Self.model(isLater: true)))
    stage.label = "names"
    stage.didMigrateHandler = { manager, _ in
      if calls.next() == 1 { throw Refusal() }
      let context = try #require(manager.container?.newBackgroundContext())
      for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
        person.setValue("staged", forKey: "fullName")
      }
      try context.save()
    }
    let manager = StagedMigrationManager([stage])
    #expect(throws: Refusal.self) {
      _ = try open(url, .postgres, Self.model(isLater: true)) { $0.stagedMigrationManager = manager }
    }
    let unfinished = heartwoodError { _ = try open(url, .postgres, Self.model(isLater: true)) }
    #expect(unfinished?.message.contains("the stage names") == true)
    for _ in 0..<2 {
      let later = try open(url, .postgres, Self.model(isLater: true)) { $0.stagedMigrationManager = manager }
      #expect(try dump(later).filter { $0.hasPrefix("Person/staged") }.count == 12)
      try later.persistentStoreCoordinator?.close()
    }
    #expect(calls.next() == 3)
  }

  @Test func `a store that others have open is not migrated under them`() throws {
    let url = try PostgresServer.shared.get().url()
    let context = try open(url, .postgres, Self.model(isLater: false))
    try fill(context, seed: 6)
    let error = heartwoodError { _ = try open(url, .postgres, Self.model(isLater: true), timeout: 0) }
    #expect(error?.code == .persistentStoreTimeout)
    let person = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).first)
    person.setValue("saved", forKey: "name")
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let later = try open(url, .postgres, Self.model(isLater: true))
    #expect(try dump(later).contains { $0.hasPrefix("Person/saved") })
    try later.persistentStoreCoordinator?.close()
    // A program that has only the former model does not migrate it back.
    let behind = heartwoodError { _ = try open(url, .postgres, Self.model(isLater: false)) }
    #expect(behind?.code == .stagedMigrationBackwardMigration)
  }
}

/// Counts calls.
final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
