import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Migrations of stores of one file to another model, in each way.
@Suite struct FileStoreMigrationTests {
  private static let types: [PersistentStore.StoreType] = [.binary, .json, .xml]
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Version 1 has a name, version 2 also a title, version 3 only the title.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let names = version == 1 ? ["name"] : version == 2 ? ["name", "title"] : ["title"]
    let person = EntityDescription(
      name: "Person", properties: names.map { AttributeDescription(name: $0, type: .string) })
    let friends = RelationshipDescription(name: "friends", destination: person, isToMany: true)
    friends.inverseRelationship = friends
    person.properties.append(friends)
    return ManagedObjectModel(entities: [person])
  }

  private func description(_ type: PersistentStore.StoreType) -> PersistentStoreDescription {
    let description = PersistentStoreDescription(url: folder.store)
    description.type = type
    return description
  }

  private func open(_ version: Int, _ description: PersistentStoreDescription) throws -> ManagedObjectContext
  {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// Two persons who are friends.
  private func fill(_ type: PersistentStore.StoreType) throws -> String {
    let context = try open(1, description(type))
    let coordinator = try #require(context.persistentStoreCoordinator)
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Person"])
    try context.performAndWait {
      let persons = ["Ada", "Bob"].map { name in
        let person = ManagedObject(entity: entity, insertInto: context)
        person.setValue(name, forKey: "name")
        return person
      }
      persons[0].setValue(Set([persons[1]]), forKey: "friends")
      try context.save()
    }
    try coordinator.setMetadata(["kept": "yes"], for: coordinator.persistentStores[0])
    try context.performAndWait { try context.save() }
    let identifier = coordinator.persistentStores[0].identifier
    try coordinator.close()
    return identifier
  }

  private func persons(_ context: ManagedObjectContext) throws -> [String] {
    try context.performAndWait {
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map { person in
        let friends = person.objectIDs(forRelationshipNamed: "friends").count
        return "\(person.value(forKey: "title") ?? "-") \(friends)"
      }.sorted()
    }
  }

  private func mapping(_ edit: (EntityMapping) -> Void = { _ in }) -> MappingModel {
    let person = EntityMapping(from: "Person", to: "Person")
    person.attributeMappings = [
      PropertyMapping(name: "title") { source, _ in "Dr \(source.value(forKey: "name") ?? "")" }
    ]
    person.relationshipMappings = [PropertyMapping(name: "friends", from: "friends")]
    edit(person)
    return MappingModel(entityMappings: [person])
  }

  private func stages() -> StagedMigrationManager {
    func reference(_ version: Int) -> ManagedObjectModelReference {
      ManagedObjectModelReference(model: Self.model(version))
    }
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    stage.label = "titles"
    stage.didMigrateHandler = { manager, _ in
      guard let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait {
        for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
          person.setValue("Dr \(person.value(forKey: "name") ?? "")", forKey: "title")
        }
        try context.save()
      }
    }
    return StagedMigrationManager([
      stage, LightweightMigrationStage(models: [reference(2), reference(3)]),
    ])
  }

  private var files: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  // STO-02, STO-04, MIG-09
  @Test(arguments: types)
  func `a mapping migrates a file, which keeps its identifier and metadata`(type: PersistentStore.StoreType)
    throws
  {
    let identifier = try fill(type)
    let before = try files
    let plan = description(type)
    plan.mappingModel = mapping()
    for _ in 0..<2 {
      let context = try open(3, plan)
      #expect(try persons(context) == ["Dr Ada 1", "Dr Bob 1"])
      let coordinator = try #require(context.persistentStoreCoordinator)
      #expect(coordinator.persistentStores[0].identifier == identifier)
      #expect(try coordinator.persistentStores[0].metadata["kept"] as? String == "yes")
      try coordinator.close()
      #expect(PersistentStoreCoordinator.typeOfPersistentStore(at: folder.store) == type)
    }
    #expect(try files == before)
  }

  // STO-02, STO-04, MIG-22
  @Test(arguments: types)
  func `a file goes through custom and lightweight stages`(type: PersistentStore.StoreType) throws {
    _ = try fill(type)
    let plan = description(type)
    plan.stagedMigrationManager = stages()
    let context = try open(3, plan)
    #expect(try persons(context) == ["Dr Ada 1", "Dr Bob 1"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-17
  @Test(arguments: types)
  func `a mapping that fails leaves the file as it was`(type: PersistentStore.StoreType) throws {
    struct Refused: Error {}
    _ = try fill(type)
    let (names, bytes) = (try files, try Data(contentsOf: folder.store))
    let plan = description(type)
    plan.mappingModel = mapping { $0.policy = ClosureMigrationPolicy { _, _, _ in throw Refused() } }
    #expect(heartwoodError { _ = try open(3, plan) }?.underlying is Refused)
    #expect(try files == names)
    #expect(try Data(contentsOf: folder.store) == bytes)
  }

  // MIG-17
  @Test(arguments: types)
  func `each kind of migration of a file is tried without a change`(type: PersistentStore.StoreType) throws {
    _ = try fill(type)
    let (names, bytes) = (try files, try Data(contentsOf: folder.store))
    let mapped = description(type)
    mapped.mappingModel = mapping()
    let staged = description(type)
    staged.stagedMigrationManager = stages()
    for plan in [mapped, staged] {
      let report = try #require(
        try PersistentStoreCoordinator.rehearseMigration(with: plan, to: Self.model(3)))
      #expect(report.violations.isEmpty && (report.bytesBefore ?? 0) > 0)
    }
    let inferred = try #require(
      try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: Self.model(2)))
    #expect(inferred.violations.isEmpty && !inferred.changes.isEmpty)
    #expect(try files == names)
    #expect(try Data(contentsOf: folder.store) == bytes)
  }

  @Test(arguments: types)
  func `a file's objects that a new constraint does not allow are listed by a rehearsal`(
    type: PersistentStore.StoreType
  ) throws {
    _ = try fill(type)
    let context = try open(1, description(type))
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    try context.fetch(request).forEach { $0.setValue("Ada", forKey: "name") }
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let newer = Self.model(1)
    newer.entities[0].uniquenessConstraints = [["name"]]
    let bytes = try Data(contentsOf: folder.store)
    let report = try #require(
      try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: newer))
    #expect(report.violations.map(\.preventsMigration) == [true])
    #expect(try Data(contentsOf: folder.store) == bytes)
  }

  // MIG-10
  @Test(arguments: types)
  func `a manager migrates a file to a store in a folder`(type: PersistentStore.StoreType) throws {
    _ = try fill(type)
    let manager = MigrationManager(sourceModel: Self.model(1), destinationModel: Self.model(3))
    let destination = folder.url.appending(path: "new.heartwood")
    try manager.migrateStore(from: folder.store, withMapping: mapping(), to: destination)
    let context = try open(3, PersistentStoreDescription(url: destination))
    #expect(try persons(context) == ["Dr Ada 1", "Dr Bob 1"])
    try context.persistentStoreCoordinator?.close()
  }
}
