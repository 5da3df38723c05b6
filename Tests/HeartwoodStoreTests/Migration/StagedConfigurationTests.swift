import Foundation
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Staged migrations of stores of configurations.
@Suite struct StagedConfigurationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The name of each attribute ends with the version. Version 3 has the right entity as version 2.
  private static func model(_ version: Int, named: Bool) -> ManagedObjectModel {
    func entity(_ name: String, _ version: Int) -> EntityDescription {
      let attribute = AttributeDescription(name: "name\(version)", type: .string)
      if version > 1 { attribute.renamingIdentifier = "name\(version - 1)" }
      return EntityDescription(name: name, properties: [attribute])
    }
    let (left, right) = (entity("Left", version), entity("Right", min(version, 2)))
    let model = ManagedObjectModel(entities: [left, right])
    guard named else { return model }
    model.setEntities([left], forConfigurationName: "Lefts")
    model.setEntities([right], forConfigurationName: "Rights")
    return model
  }

  private func description(_ configuration: String, _ manager: StagedMigrationManager?)
    -> PersistentStoreDescription
  {
    let description = PersistentStoreDescription(url: folder.url.appending(path: configuration))
    description.configuration = configuration
    description.stagedMigrationManager = manager
    return description
  }

  private func open(_ version: Int, _ manager: StagedMigrationManager? = nil) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version, named: true))
    for name in ["Lefts", "Rights"] { try coordinator.addPersistentStore(with: description(name, manager)) }
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill() throws {
    let context = try open(1)
    for (name, count) in [("Left", 2), ("Right", 3)] {
      let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name])
      for number in 0..<count {
        ManagedObject(entity: entity, insertInto: context).setValue("\(number)", forKey: "name1")
      }
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private static func counts(_ manager: StagedMigrationManager) throws -> String {
    guard let context = manager.container?.newBackgroundContext() else { return "none" }
    return try ["Left", "Right"].map { name in
      "\(try context.count(for: FetchRequest<ManagedObject>(entityName: name)))"
    }.joined(separator: "-")
  }

  // MIG-20, MIG-22, PSC-16
  @Test(arguments: [true, false]) func `each store of a configuration goes through the stages that change it`(
    named: Bool
  ) throws {
    try fill()
    let seen = Guarded<[String]>([])
    func custom(_ version: Int) -> CustomMigrationStage {
      let stage = CustomMigrationStage(
        migratingFrom: ManagedObjectModelReference(model: Self.model(version, named: named)),
        to: ManagedObjectModelReference(model: Self.model(version + 1, named: named)))
      stage.willMigrateHandler = { manager, _ in
        let counts = try Self.counts(manager)
        seen.withLock { $0.append("will \(version) \(counts)") }
      }
      stage.didMigrateHandler = { manager, _ in
        let counts = try Self.counts(manager)
        seen.withLock { $0.append("did \(version) \(counts)") }
      }
      return stage
    }
    let manager = StagedMigrationManager([custom(1), custom(2)])
    for name in ["Lefts", "Rights"] {
      let report = try PersistentStoreCoordinator.rehearseMigration(
        with: description(name, manager), to: Self.model(3, named: true))
      #expect(report?.violations.isEmpty == true)
    }
    seen.withLock { $0 = [] }
    let context = try open(3, manager)
    #expect(
      seen.withLock { $0 } == [
        "will 1 2-0", "did 1 2-0", "will 2 2-0", "did 2 2-0", "will 1 0-3", "did 1 0-3",
      ])
    let lefts = try context.fetch(FetchRequest<ManagedObject>(entityName: "Left"))
    #expect(Set(lefts.map { $0.value(forKey: "name3") as? String }) == ["0", "1"])
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Right")) == 3)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-22
  @Test func `a handler that failed in a store of a configuration runs again`() throws {
    try fill()
    let fails = Guarded(true)
    let runs = Guarded(0)
    let stage = CustomMigrationStage(
      migratingFrom: ManagedObjectModelReference(model: Self.model(1, named: false)),
      to: ManagedObjectModelReference(model: Self.model(2, named: false)))
    stage.didMigrateHandler = { _, _ in
      runs.withLock { $0 += 1 }
      if fails.withLock({ $0 }) { throw CocoaError(.featureUnsupported) }
    }
    let manager = StagedMigrationManager([stage])
    #expect(throws: (any Error).self) { try open(2, manager) }
    fails.withLock { $0 = false }
    let context = try open(2, manager)
    #expect(runs.withLock { $0 } == 3)
    try context.persistentStoreCoordinator?.close()
  }
}
