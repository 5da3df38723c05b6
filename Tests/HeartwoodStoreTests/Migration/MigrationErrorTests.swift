import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// The errors of migrations: their subjects, and their advice.
@Suite struct MigrationErrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ edit: (EntityDescription) -> Void = { _ in }) -> ManagedObjectModel {
    let person = EntityDescription(
      name: "Person", properties: [AttributeDescription(name: "name", type: .string)])
    edit(person)
    return ManagedObjectModel(entities: [person])
  }

  private func with(_ name: String, _ type: AttributeType = .string, isOptional: Bool = true)
    -> ManagedObjectModel
  {
    model { $0.ownProperties.append(AttributeDescription(name: name, type: type, isOptional: isOptional)) }
  }

  private func open(
    _ model: ManagedObjectModel, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws {
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(with: description)
    try coordinator.close()
  }

  /// Saves persons with these names.
  private func fill(_ names: some Sequence<String> = ["Ada", "Ada"]) throws {
    let model = model()
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for name in names {
      let person = ManagedObject(entity: try #require(model.entitiesByName["Person"]), insertInto: context)
      person.setValue(name, forKey: "name")
    }
    try context.save()
    try coordinator.close()
  }

  @Test func `integers become floating-point numbers, unless one has no exact value`() throws {
    let former = with("count", .integer64)
    func save(_ counts: [Int64?]) throws {
      let coordinator = try PersistentStoreCoordinator(checking: former)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      for count in counts {
        let person = ManagedObject(
          entity: try #require(former.entitiesByName["Person"]), insertInto: context)
        person.setValue(count, forKey: "count")
      }
      try context.save()
      try coordinator.close()
    }
    try save([nil, 0, -1 << 53, 7, 1 << 53 + 1])
    let mapping = MappingModel(entityMappings: [EntityMapping(from: "Person", to: "Person")])
    expect(.migration, ["has a value in Person.count that the type double does not have exactly"]) {
      try open(with("count", .double))
    }
    expect(.migration, ["is no exact value of the type double"]) {
      try open(with("count", .double)) { $0.mappingModel = mapping }
    }
    let coordinator = try PersistentStoreCoordinator(checking: former)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
    where (person.value(forKey: "count") as? Int64 ?? 0) > 1 << 53 { context.delete(person) }
    try context.save()
    try coordinator.close()
    try open(with("count", .double))
    let model = with("count", .double)
    let migrated = try PersistentStoreCoordinator(checking: model)
    try migrated.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let found = try ManagedObjectContext(.privateQueue, coordinator: migrated).fetch(
      FetchRequest<ManagedObject>(entityName: "Person"))
    #expect(
      found.map { $0.value(forKey: "count") as? Double } == [nil, 0, -0x1p53, 7])
    try migrated.close()
  }

  private func expect(
    _ code: HeartwoodError.Code, _ parts: [String], _ place: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = heartwoodError(body)
    #expect(error?.code == code, sourceLocation: place)
    for part in parts {
      #expect(
        error?.message.contains(part) == true, "\(String(describing: error)): \(part)", sourceLocation: place)
    }
  }

  private func unique() -> ManagedObjectModel { model { $0.uniquenessConstraints = [["name"]] } }

  // MIG-01, MIG-02, MIG-17, MIG-18
  @Test func `an error of a migration names entity and property, and says what to do`() throws {
    try fill()
    expect(.persistentStoreIncompatibleVersionHash, ["Person.nick is new", "allow its migration"]) {
      try open(with("nick")) { $0.shouldMigrateStoreAutomatically = false }
    }
    expect(
      .persistentStoreIncompatibleVersionHash, ["Person.nick is new", "read-only", "open it for writing"]
    ) {
      try open(with("nick")) { $0.isReadOnly = true }
    }
    expect(.migration, ["Person", "no value in Person.nick", "give it one in the new model"]) {
      try open(with("nick", isOptional: false))
    }
    expect(.migrationConstraintViolation, ["name of Person must be unique", "make them different first"]) {
      try open(unique())
    }
    expect(.migrationMissingMappingModel, ["Person.nick is new", "no mapping model: give one"]) {
      try open(with("nick")) { $0.shouldInferMappingModelAutomatically = false }
    }
    try open(model())
  }

  // MIG-16
  @Test func `a migration that is cancelled says that the store is as it was, and can be migrated again`()
    throws
  {
    try fill()
    let newer = with("nick")
    let manager = MigrationManager(sourceModel: model(), destinationModel: newer)
    manager.usesStoreSpecificMigrationManager = false
    manager.cancelMigrationWithError(CancellationError())
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: newer)
    expect(.migrationCancelled, [folder.store.lastPathComponent, "is as it was", "migrate it again"]) {
      try manager.migrateStore(
        from: folder.store, withMapping: mapping, to: folder.url.appending(path: "new.heartwood"))
    }
  }

  // MIG-03, MIG-23, MIG-25
  @Test func `an error of a stage names the version by its checksum, and says what to do`() throws {
    try fill()
    let (second, third) = (with("nick"), with("size", .integer64))
    let known = StagedMigrationManager([
      LightweightMigrationStage(models: [
        ManagedObjectModelReference(model: second), ManagedObjectModelReference(model: third),
      ])
    ])
    expect(.migrationMissingSourceModel, [model().versionChecksum, "add a stage for it"]) {
      try open(third) { $0.stagedMigrationManager = known }
    }
    try open(third)
    expect(.stagedMigrationBackwardMigration, [third.versionChecksum, "newer version of the program"]) {
      try open(second) { $0.stagedMigrationManager = known }
    }
    expect(.stagedMigrationBackwardMigration, [model().versionChecksum, "newer version of the program"]) {
      try open(model())
    }
    let absent = ManagedObjectModelReference(versionChecksum: "missing")
    expect(.stagedMigrationModelReference, ["missing", "give the reference a model"]) {
      _ = try absent.resolvedModel
    }
    let wrong = ManagedObjectModelReference(model: second, versionChecksum: third.versionChecksum)
    expect(
      .stagedMigrationModelReference,
      [second.versionChecksum, third.versionChecksum, "give it the model of that version"]
    ) {
      _ = try wrong.resolvedModel
    }
  }

  // MIG-07
  @Test func `everything that cannot be inferred is named with entity and property, and with the way out`()
    throws
  {
    func model(
      _ toMany: Bool = true, to destination: String = "Pet", size: AttributeType = .integer64,
      isRelationship: Bool = false, joined: Bool = false
    ) -> ManagedObjectModel {
      let entities = ["Person", "Pet", "Plant"].map { EntityDescription(name: $0) }
      let byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name ?? "", $0) })
      let owned = RelationshipDescription(
        name: "owned", destination: byName[destination] ?? entities[1], isToMany: toMany)
      entities[0].ownProperties = [owned]
      entities[0].ownProperties.append(
        isRelationship
          ? RelationshipDescription(name: "size", destination: entities[1], isToMany: false)
          : AttributeDescription(name: "size", type: size))
      guard joined else { return ManagedObjectModel(entities: entities) }
      let being = EntityDescription(name: "Being")
      being.subentities = [entities[1], entities[2]]
      return ManagedObjectModel(entities: entities + [being])
    }
    for (newer, parts) in [
      (model(size: .date), ["Person.size is of type date", "of type integer64", "map it"]),
      (model(isRelationship: true), ["Person.size is a to-one relationship", "an attribute", "map it"]),
      (model(false), ["Person.owned is to-one", "to-many", "map it"]),
      (model(to: "Plant"), ["Person.owned leads to Plant", "leads to Pet", "map it"]),
      (model(joined: true), ["Being has entities of the hierarchies of Pet and Plant", "map them"]),
    ] {
      expect(.inferredMappingModel, parts) {
        _ = try MappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: newer)
      }
    }
  }

  // MIG-05, MIG-07
  @Test func `a report counts the links that are lost because their destination's entity is gone`() throws {
    let first = homesModel(withCats: true)
    let coordinator = try PersistentStoreCoordinator(checking: first)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    func insert(_ name: String) throws -> ManagedObject {
      ManagedObject(entity: try #require(first.entitiesByName[name]), insertInto: context)
    }
    let (pet, cat, other) = (try insert("Pet"), try insert("Cat"), try insert("Cat"))
    for (favourite, list) in [(cat, [cat, pet]), (pet, [other, cat]), (other, [])] {
      let home = try insert("Home")
      home.setValue(favourite, forKey: "favourite")
      home.setValue(list, forKey: "list")
    }
    try context.save()
    try coordinator.close()
    let newer = homesModel(withCats: false)
    for report in [
      try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: newer),
      try PersistentStoreCoordinator.migrateStore(at: folder.store, to: newer),
    ] {
      #expect(report?.deletedObjects == ["Cat": 2])
      #expect(report?.lostLinks == ["Home.favourite": 2, "Home.list": 3])
    }
  }

  // MIG-14
  @Test func `a migration and its rehearsal say how many of the rows are done, step by step`() throws {
    try fill((0..<9000).map { "p\($0)" })
    let noted = Noted()
    let newer = model {
      $0.ownProperties[0].isOptional = false
      $0.uniquenessConstraints = [["name"]]
      $0.indexes = []
    }
    func check(_ extra: [String] = []) {
      let steps = noted.taken()
      #expect(steps.allSatisfy { $0.rows <= $0.totalRows && $0.totalRows == 9000 })
      let names = steps.reduce(into: [String]()) { if $0.last != $1.step { $0.append($1.step) } }
      #expect(names == ["mandatory properties of Person", "index of name of Person"] + extra)
      for name in names {
        let rows = steps.filter { $0.step == name }.map(\.rows)
        #expect(rows == rows.sorted() && rows.count > 2 && rows.last == 9000)
      }
    }
    _ = try PersistentStoreCoordinator.rehearseMigration(
      ofStoreAt: folder.store, to: newer, progress: noted.note)
    check(["validation of Person"])
    try PersistentStoreCoordinator.migrateStore(at: folder.store, to: newer, progress: noted.note)
    check()
  }
}

/// Keeps what a migration says while it runs.
private final class Noted: @unchecked Sendable {
  private let lock = NSLock()
  private var steps: [MigrationProgress] = []

  @Sendable func note(_ step: MigrationProgress) { lock.withLock { steps.append(step) } }

  func taken() -> [MigrationProgress] {
    lock.withLock {
      defer { steps = [] }
      return steps
    }
  }
}
