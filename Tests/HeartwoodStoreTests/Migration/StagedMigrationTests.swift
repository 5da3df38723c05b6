import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Migrations through several versions, with code between them.
@Suite struct StagedMigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Version 1 has a full name, version 2 also its parts, version 3 only these; version 4 has another entity.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let person = EntityDescription(name: "Person")
    func add(_ name: String) { person.ownProperties.append(AttributeDescription(name: name, type: .string)) }
    if version < 3 { add("full") }
    if version > 1 { for name in ["first", "last"] { add(name) } }
    var entities = [person]
    if version > 3 { entities.append(EntityDescription(name: "Album")) }
    return ManagedObjectModel(entities: entities)
  }

  private func reference(_ version: Int) -> ManagedObjectModelReference {
    ManagedObjectModelReference(model: Self.model(version))
  }

  private func open(_ version: Int, _ manager: StagedMigrationManager? = nil) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: folder.store)
    description.stagedMigrationManager = manager
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill(_ version: Int = 1) throws {
    let context = try open(version)
    for name in ["Ada Lovelace", "Alan Turing"] {
      let entity = try #require(
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"])
      ManagedObject(entity: entity, insertInto: context).setValue(
        name, forKey: version < 3 ? "full" : "first")
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private func splitting() -> CustomMigrationStage {
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    stage.label = "split"
    stage.didMigrateHandler = { manager, _ in
      guard let context = manager.container?.newBackgroundContext() else { return }
      for person in try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")) {
        let parts = (person.value(forKey: "full") as? String ?? "").split(separator: " ").map(String.init)
        person.setValue(parts.first, forKey: "first")
        person.setValue(parts.last, forKey: "last")
      }
      try context.save()
    }
    return stage
  }

  private func names(_ context: ManagedObjectContext) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
      "\($0.value(forKey: "first") ?? "-") \($0.value(forKey: "last") ?? "-")"
    }.sorted()
  }

  // MIG-20, MIG-21, MIG-22, MIG-24, STO-12, MIG-28
  @Test func `a store goes through custom and lightweight stages to the newest version`() throws {
    try fill()
    let stage = splitting()
    let seen = Guarded<[String]>([])
    stage.willMigrateHandler = { manager, stage in
      let names =
        manager.container?.managedObjectModel.entitiesByName["Person"]?.attributesByName.keys.sorted() ?? []
      seen.withLock { $0 += [stage.label ?? ""] + names }
    }
    let manager = StagedMigrationManager([
      stage, LightweightMigrationStage(models: [reference(2), reference(3), reference(4)]),
    ])
    #expect(manager.stages.count == 2 && manager.container == nil)
    let context = try open(4, manager)
    #expect(try names(context) == ["Ada Lovelace", "Alan Turing"])
    #expect(seen.withLock { $0 } == ["split", "full"])
    #expect(manager.container == nil)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try context.persistentStoreCoordinator?.close()
    // Nothing is left to do.
    let again = try open(4, manager)
    #expect(seen.withLock { $0.count } == 2)
    try again.persistentStoreCoordinator?.close()
  }

  // MIG-20, MIG-23
  @Test func `a store of a version in the middle begins there, and checksums alone are enough for it`() throws
  {
    let (first, second, third, fourth) = (reference(1), reference(2), reference(3), reference(4))
    for version in 1...3 {
      let folder = try TemporaryFolder()
      let other = StagedMigrationTests(folder)
      try other.fill(version)
      let manager = StagedMigrationManager([
        LightweightMigrationStage([first, second, third, fourth].map(\.versionChecksum))
      ])
      let context = try other.open(4, manager)
      #expect(try other.names(context).count == 2)
      try context.persistentStoreCoordinator?.close()
    }
  }

  // MIG-20
  @Test func `a store goes no further than to the version that it is opened with`() throws {
    try fill()
    let later = CustomMigrationStage(migratingFrom: reference(3), to: reference(4))
    let ran = Guarded(false)
    later.willMigrateHandler = { _, _ in ran.withLock { $0 = true } }
    let stages = [
      splitting(), LightweightMigrationStage(models: [reference(2), reference(3)]), later,
    ]
    for version in [2, 3] {
      let context = try open(version, StagedMigrationManager(stages))
      #expect(try names(context) == ["Ada Lovelace", "Alan Turing"])
      try context.persistentStoreCoordinator?.close()
    }
    #expect(!ran.withLock { $0 })
    let context = try open(4, StagedMigrationManager(stages))
    #expect(ran.withLock { $0 })
    try context.persistentStoreCoordinator?.close()
  }

  private init(_ folder: TemporaryFolder) { self.folder = folder }

  private struct Interrupted: Error {}

  // MIG-22, MIG-17
  @Test func `a handler that fails after its step runs again when the store is opened again`() throws {
    try fill()
    let failing = splitting()
    let work = failing.didMigrateHandler
    failing.didMigrateHandler = { _, _ in throw Interrupted() }
    #expect(throws: Interrupted.self) { try open(2, StagedMigrationManager([failing])) }
    typealias Key = PersistentStore.MetadataKey
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    #expect(metadata[Key.pendingMigrationStage] as? String == "split")
    let missing = heartwoodError { _ = try open(2, StagedMigrationManager([])) }
    #expect(missing?.code == .migration && missing?.message.contains("split") == true)
    failing.didMigrateHandler = work
    let context = try open(2, StagedMigrationManager([failing]))
    #expect(try names(context) == ["Ada Lovelace", "Alan Turing"])
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    #expect(try store.metadata[Key.pendingMigrationStage] == nil)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-22
  @Test func `a handler that fails before its step leaves the version as it was`() throws {
    try fill()
    let stage = splitting()
    stage.willMigrateHandler = { _, _ in throw Interrupted() }
    #expect(throws: Interrupted.self) { try open(2, StagedMigrationManager([stage])) }
    let context = try open(1)
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).count == 2)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-23, MIG-03
  @Test func `a reference without its model, or with another one, is refused`() throws {
    let checksum = reference(2).versionChecksum
    let empty = ManagedObjectModelReference(versionChecksum: checksum)
    #expect(heartwoodError { _ = try empty.resolvedModel }?.code == .stagedMigrationModelReference)
    let wrong = ManagedObjectModelReference(model: Self.model(1), versionChecksum: checksum)
    #expect(heartwoodError { _ = try wrong.resolvedModel }?.code == .stagedMigrationModelReference)
    let file = folder.url.appending(path: "model.json")
    try Self.model(2).encodedDocument().write(to: file)
    #expect(
      try ManagedObjectModelReference(fileURL: file, versionChecksum: checksum).resolvedModel.versionChecksum
        == checksum)
    let absent = ManagedObjectModelReference(
      fileURL: folder.url.appending(path: "none.json"), versionChecksum: checksum)
    #expect(heartwoodError { _ = try absent.resolvedModel }?.code == .stagedMigrationModelReference)
    try fill()
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: empty)
    let error = heartwoodError { _ = try open(2, StagedMigrationManager([stage])) }
    #expect(error?.code == .stagedMigrationModelReference)
  }

  // MIG-25, MIG-26, MIG-03
  @Test func `a store that is ahead, or of a version without a stage, is refused`() throws {
    try fill(3)
    let manager = StagedMigrationManager([
      LightweightMigrationStage(models: [reference(1), reference(2), reference(3)])
    ])
    #expect(heartwoodError { _ = try open(2, manager) }?.code == .stagedMigrationBackwardMigration)
    let other = StagedMigrationManager([LightweightMigrationStage(models: [reference(1), reference(2)])])
    #expect(heartwoodError { _ = try open(4, other) }?.code == .migrationMissingSourceModel)
    let context = try open(3)
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).count == 2)
    try context.persistentStoreCoordinator?.close()
  }

  // SWD-29
  @Test func `a plan migrates a store of the first schema to the last, with typed objects in its stages`()
    throws
  {
    let first = try PersistentContainer(name: "Trips", schema: TripsOne.self, at: folder.store)
    let context = first.newBackgroundContext()
    for (name, days) in [("Rome", 3), ("Oslo", 5), ("Rome", 4)] {
      let trip = TripsOne.Trip(context: context)
      (trip.name, trip.days) = (name, days)
    }
    try context.save()
    try first.close()
    let last = try PersistentContainer(
      name: "Trips", schema: TripsThree.self, migrationPlan: CarefulTripPlan.self, at: folder.store)
    let trips = try last.newBackgroundContext().fetch(FetchRequest<TripsThree.Trip>(entityName: "Trip"))
    #expect(trips.map { "\($0.title) \($0.hours)" }.sorted() == ["Oslo 120", "Rome 96"])
    #expect(try last.persistentStoreCoordinator.verify().findings == [])
    try last.close()
    #expect(TripsOne.versionIdentifier < TripsThree.versionIdentifier)
  }
}

/// The plan of the guide, with a stage that makes names unique before they must be.
enum CarefulTripPlan: SchemaMigrationPlan {
  static let schemas: [any VersionedSchema.Type] = TripPlan.schemas
  static let stages: [SchemaMigrationStage] = [
    .custom(
      fromVersion: TripsOne.self, toVersion: TripsTwo.self,
      willMigrate: { context in
        // Only the longest of the trips with one name is kept.
        var kept: [String: TripsOne.Trip] = [:]
        for trip in try context.fetch(FetchRequest<TripsOne.Trip>(entityName: "Trip")) {
          if let other = kept[trip.name], other.days >= trip.days {
            context.delete(trip)
          } else {
            if let other = kept[trip.name] { context.delete(other) }
            kept[trip.name] = trip
          }
        }
        try context.save()
      },
      didMigrate: { context in
        for trip in try context.fetch(FetchRequest<TripsTwo.Trip>(entityName: "Trip")) {
          trip.hours = trip.days * 24
        }
        try context.save()
      }),
    .lightweight(fromVersion: TripsTwo.self, toVersion: TripsThree.self),
  ]
}
