import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Migrations by mapping models, with policies.
@Suite struct MigrationManagerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Persons with pets; the new model has owners with a first and a last name, and animals.
  private static func model(new: Bool) -> ManagedObjectModel {
    func text(_ name: String) -> AttributeDescription {
      AttributeDescription(name: name, type: .string, isOptional: false, defaultValue: "")
    }
    let person = EntityDescription(
      name: new ? "Owner" : "Person", properties: new ? [text("first"), text("last")] : [text("name")])
    let pet = EntityDescription(name: new ? "Animal" : "Pet", properties: [text("name")])
    let pets = RelationshipDescription(name: new ? "animals" : "pets", destination: pet, isToMany: true)
    let owner = RelationshipDescription(name: "owner", destination: person, isToMany: false)
    owner.isOptional = !new
    (pets.inverseRelationship, owner.inverseRelationship) = (owner, pets)
    person.ownProperties.append(pets)
    pet.ownProperties.append(owner)
    return ManagedObjectModel(entities: [person, pet])
  }

  private func mapping() -> MappingModel {
    let person = EntityMapping(from: "Person", to: "Owner", type: .custom)
    person.attributeMappings = ["first", "last"].map { part in
      PropertyMapping(name: part) { source, _ in
        let names = (source.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
        return part == "first" ? names.first : names.last
      }
    }
    person.relationshipMappings = [PropertyMapping(name: "animals", from: "pets")]
    let pet = EntityMapping(from: "Pet", to: "Animal")
    pet.attributeMappings = [PropertyMapping(name: "name", from: "name")]
    pet.relationshipMappings = [PropertyMapping(name: "owner", from: "owner")]
    return MappingModel(entityMappings: [person, pet])
  }

  private func fill(_ url: URL, persons: Int = 2, strays: Int = 0) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: false))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let entities = coordinator.managedObjectModel.entitiesByName
    for number in 0..<persons {
      let person = ManagedObject(entity: try #require(entities["Person"]), insertInto: context)
      person.setValue("P\(number) Q\(number)", forKey: "name")
      for name in ["a", "b"] {
        let pet = ManagedObject(entity: try #require(entities["Pet"]), insertInto: context)
        pet.setValue("\(name)\(number)", forKey: "name")
        pet.setValue(person, forKey: "owner")
      }
    }
    for _ in 0..<strays { _ = ManagedObject(entity: try #require(entities["Pet"]), insertInto: context) }
    try context.save()
    try coordinator.close()
  }

  private func owners(_ url: URL, _ edit: (PersistentStoreDescription) -> Void = { _ in }) throws -> [String]
  {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: true))
    let description = PersistentStoreDescription(url: url)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let owners = try context.fetch(FetchRequest<ManagedObject>(entityName: "Owner")).map { owner in
      let animals = (owner.value(forKey: "animals") as? Set<ManagedObject>) ?? []
      let names = animals.compactMap { $0.value(forKey: "name") as? String }.sorted()
      return "\(owner.value(forKey: "last") ?? "-"), \(owner.value(forKey: "first") ?? "-"): \(names)"
    }
    #expect(try coordinator.verify().findings == [])
    try coordinator.close()
    return owners.sorted()
  }

  // MIG-02, MIG-09, MIG-10, MIG-12
  @Test func `a store is migrated by a mapping model when it is opened, and replaced at the end`() throws {
    try fill(folder.store)
    let inferred = heartwoodError { _ = try owners(folder.store) }
    #expect(inferred?.code == .inferredMappingModel)
    let mapping = mapping()
    #expect(
      try owners(folder.store) {
        $0.mappingModel = mapping
        $0.shouldInferMappingModelAutomatically = false
        $0.createsStore = false
      } == [#"Q0, P0: ["a0", "b0"]"#, #"Q1, P1: ["a1", "b1"]"#])
    #expect(try owners(folder.store).count == 2)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(left == ["Store.heartwood"])
  }

  // MIG-10
  @Test func `a mapping leads to a model of declared classes`() throws {
    let first = try PersistentContainer(name: "Trips", schema: TripsOne.self, at: folder.store)
    let context = first.newBackgroundContext()
    TripsOne.Trip(context: context).name = "Rome"
    try context.save()
    try first.close()
    let mapping = EntityMapping(from: "Trip", to: "Trip")
    mapping.attributeMappings = [
      PropertyMapping(name: "title", from: "name"), PropertyMapping(name: "hours") { _, _ in 72 },
    ]
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: TripsThree.models))
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = MappingModel(entityMappings: [mapping])
    try coordinator.addPersistentStore(with: description)
    let migrated = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let trips = try migrated.fetch(FetchRequest<TripsThree.Trip>(entityName: "Trip"))
    #expect(trips.map { "\($0.title) \($0.hours)" } == ["Rome 72"])
    try coordinator.close()
  }

  // MIG-17
  @Test func `what an interrupted migration has left is removed when the store is opened again`() throws {
    try fill(folder.store)
    let mapping = mapping()
    let migrated = try owners(folder.store) { $0.mappingModel = mapping }
    // The process ended before it had removed them.
    for name in [".Store.heartwood.migrating", ".Store.heartwood.replacing"] {
      try FileManager.default.copyItem(at: folder.store, to: folder.url.appending(path: name))
    }
    #expect(try owners(folder.store) == migrated)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Store.heartwood"])
  }

  // MIG-17
  @Test func `a new store whose making was interrupted does not stand in the way of the next migration`()
    throws
  {
    try fill(folder.store)
    let beside = folder.url.appending(path: ".Store.heartwood.migrating")
    try FileManager.default.createDirectory(at: beside, withIntermediateDirectories: false)
    // A segment, and no anchor yet.
    try Data(count: 4096).write(to: beside.appending(path: "0000000000000001.log"))
    let mapping = mapping()
    #expect(try owners(folder.store) { $0.mappingModel = mapping }.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Store.heartwood"])
  }

  // MIG-10, MIG-13, MIG-14
  @Test
  func `a manager migrates more objects than it holds in memory, to another store, and counts its progress`()
    throws
  {
    try fill(folder.store, persons: 700)
    let copy = folder.url.appending(path: "Copy.heartwood")
    let manager = MigrationManager(
      sourceModel: Self.model(new: false), destinationModel: Self.model(new: true))
    manager.userInfo["who"] = "Ada"
    #expect(manager.migrationProgress == 0 && manager.mappingModel == nil)
    let mapping = mapping()
    try manager.migrateStore(from: folder.store, withMapping: mapping, to: copy)
    #expect(manager.migrationProgress == 1 && manager.currentEntityMapping == nil)
    #expect(manager.mappingModel === mapping)
    #expect(manager.sourceEntity(for: mapping.entityMappings[0])?.name == "Person")
    #expect(manager.destinationEntity(for: mapping.entityMappings[0])?.name == "Owner")
    let owners = try owners(copy)
    #expect(owners.count == 700 && owners.contains(#"Q699, P699: ["a699", "b699"]"#))
    // The source is as it was.
    let source = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(source.versionChecksum == Self.model(new: false).versionChecksum)
    // A second migration adds its objects.
    try manager.migrateStore(from: folder.store, withMapping: mapping, to: copy)
    #expect(try self.owners(copy).count == 1400)
  }

  private final class Recording: EntityMigrationPolicy, @unchecked Sendable {
    let calls = Guarded<[String]>([])
    private func note(_ call: String) { calls.withLock { if $0.last != call { $0.append(call) } } }
    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
      note("begin \(mapping.name) \(manager.userInfo["who"] ?? "")")
    }
    override func createDestinationInstances(
      forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      note("create")
      try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      #expect(manager.currentEntityMapping === mapping)
    }
    override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
      note("created")
    }
    override func createRelationships(
      forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      note("relate")
      try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
    {
      note("related")
    }
    override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
    {
      note("validate")
    }
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws { note("end") }
  }

  // MIG-11
  @Test func `a policy's methods are called in their order`() throws {
    try fill(folder.store)
    let mapping = mapping()
    let policy = Recording()
    mapping.entityMappings[0].policy = policy
    let manager = MigrationManager(
      sourceModel: Self.model(new: false), destinationModel: Self.model(new: true))
    manager.userInfo["who"] = "Ada"
    try manager.migrateStore(
      from: folder.store, withMapping: mapping, to: folder.url.appending(path: "Copy.heartwood"))
    #expect(
      policy.calls.withLock { $0 } == [
        "begin Person->Owner Ada", "create", "created", "relate", "related", "validate", "end",
      ])
  }

  // MIG-11, MIG-28
  @Test func `a closure edits what the mapping makes, and a predicate chooses the objects`() throws {
    try fill(folder.store, persons: 3)
    let mapping = mapping()
    mapping.entityMappings[0].policy = ClosureMigrationPolicy { source, owner, _ in
      owner.setValue("Dr \(source.value(forKey: "name") ?? "")", forKey: "first")
    }
    mapping.entityMappings[0].sourcePredicate = try FormatPredicate("name BEGINSWITH 'P1'")
    mapping.entityMappings[1].sourcePredicate = try FormatPredicate("owner.name BEGINSWITH 'P1'")
    #expect(try owners(folder.store) { $0.mappingModel = mapping } == [#"Q1, Dr P1 Q1: ["a1", "b1"]"#])
  }

  private struct Enough: Error {}

  // MIG-16, MIG-17, VAL-10
  @Test func `a migration that is cancelled, or whose objects are not valid, leaves the store as it was`()
    throws
  {
    try fill(folder.store, strays: 1)
    let invalid = heartwoodError { _ = try owners(folder.store) { $0.mappingModel = mapping() } }
    #expect(invalid?.code == .validationMissingMandatoryProperty && invalid?.property == "owner")
    let cancelling = mapping()
    cancelling.entityMappings[1].policy = ClosureMigrationPolicy { _, _, manager in
      manager.cancelMigrationWithError(Enough())
    }
    let cancelled = heartwoodError { _ = try owners(folder.store) { $0.mappingModel = cancelling } }
    #expect(cancelled?.code == .migrationCancelled && cancelled?.underlying is Enough)
    let wrong = MappingModel(entityMappings: [EntityMapping(from: "Missing", to: "Owner")])
    #expect(heartwoodError { _ = try owners(folder.store) { $0.mappingModel = wrong } }?.code == .migration)
    let source = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(source.versionChecksum == Self.model(new: false).versionChecksum)
    // The remains of them do not stand in the way.
    let repaired = mapping()
    repaired.entityMappings[1].sourcePredicate = try FormatPredicate("owner != NIL")
    #expect(try owners(folder.store) { $0.mappingModel = repaired }.count == 2)
  }

  @Test func `a migration that fails leaves no store at its destination, but one that was there`() throws {
    try fill(folder.store, strays: 1)
    let manager = MigrationManager(
      sourceModel: Self.model(new: false), destinationModel: Self.model(new: true))
    let destination = folder.url.appending(path: "new.heartwood")
    func migrate() -> HeartwoodError? {
      heartwoodError {
        try manager.migrateStore(from: folder.store, withMapping: mapping(), to: destination)
      }
    }
    #expect(migrate()?.code == .validationMissingMandatoryProperty)
    #expect(
      heartwoodError { _ = try PersistentStoreCoordinator.metadataForPersistentStore(at: destination) } != nil
    )
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(new: true))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: destination))
    try coordinator.close()
    #expect(migrate()?.code == .validationMissingMandatoryProperty)
    #expect(
      heartwoodError { _ = try PersistentStoreCoordinator.metadataForPersistentStore(at: destination) } == nil
    )
  }

  // MIG-10
  @Test func `a manager names the store that cannot be opened`() throws {
    let manager = MigrationManager(
      sourceModel: Self.model(new: false), destinationModel: Self.model(new: true))
    let none = heartwoodError {
      try manager.migrateStore(
        from: folder.url.appending(path: "None.heartwood"), withMapping: mapping(), to: folder.store)
    }
    #expect(none?.code == .migrationManagerSourceStore)
    try fill(folder.store)
    let other = heartwoodError {
      try manager.migrateStore(from: folder.store, withMapping: mapping(), to: folder.store)
    }
    #expect(other?.code == .migrationManagerDestinationStore)
  }
}
