import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Which stages are accepted, and what becomes of a store whose stages are not finished.
@Suite struct StageOrderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The name of the attribute goes from "first" over "second" to "third"; version 4 has also a note.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let names = ["first", "second", "third", "third"]
    let attribute = AttributeDescription(name: names[version - 1], type: .string)
    if version > 1 { attribute.renamingIdentifier = names[version - 2] }
    if version == 4 { attribute.renamingIdentifier = nil }
    let item = EntityDescription(name: "Item", properties: [attribute])
    if version == 4 { item.ownProperties.append(AttributeDescription(name: "note", type: .string)) }
    return ManagedObjectModel(entities: [item])
  }

  private func reference(_ version: Int) -> ManagedObjectModelReference {
    ManagedObjectModelReference(model: Self.model(version))
  }

  private func open(
    _ version: Int, _ stages: [MigrationStage]? = nil, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: folder.store)
    description.stagedMigrationManager = stages.map(StagedMigrationManager.init)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill() throws {
    let context = try open(1)
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    for number in 0..<3 {
      let item = ManagedObject(entity: try #require(model.entitiesByName["Item"]), insertInto: context)
      item.setValue("n\(number)", forKey: "first")
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private func values(_ context: ManagedObjectContext, _ key: String) throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
      .map { $0.value(forKey: key) as? String ?? "-" }.sorted()
  }

  private func checkIsOfFirstVersion() throws {
    let context = try open(1) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try values(context, "first") == ["n0", "n1", "n2"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-23
  @Test func `a version whose model is missing or another one stops a lightweight stage`() throws {
    try fill()
    let checksum = reference(2).versionChecksum
    let missing = folder.url.appending(path: "none.json")
    let broken = [
      ManagedObjectModelReference(model: Self.model(4), versionChecksum: checksum),
      ManagedObjectModelReference(fileURL: missing, versionChecksum: checksum),
      ManagedObjectModelReference(searching: [folder.url], versionChecksum: checksum),
    ]
    for middle in broken {
      let stage = LightweightMigrationStage(models: [reference(1), middle, reference(3)])
      #expect(heartwoodError { _ = try open(3, [stage]) }?.code == .stagedMigrationModelReference)
      try checkIsOfFirstVersion()
    }
    let stage = LightweightMigrationStage(models: [reference(1), reference(2), reference(3)])
    let context = try open(3, [stage])
    #expect(try values(context, "third") == ["n0", "n1", "n2"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-20, MIG-25
  @Test func `stages with a gap, with a version twice, or that do not lead to the model are refused`() throws
  {
    try fill()
    func stage(_ versions: Int...) -> MigrationStage {
      versions.count == 2
        ? CustomMigrationStage(migratingFrom: reference(versions[0]), to: reference(versions[1]))
        : LightweightMigrationStage(models: versions.map(reference))
    }
    let gap = heartwoodError { _ = try open(4, [stage(1, 2), stage(3, 4)]) }
    #expect(gap?.code == .migration && gap?.message.contains("have a gap") == true)
    let twice = heartwoodError { _ = try open(4, [stage(1, 2), stage(2, 3, 1), stage(1, 4)]) }
    #expect(twice?.code == .migration && twice?.message.contains("twice") == true)
    let short = heartwoodError { _ = try open(4, [stage(1, 2), stage(2, 3)]) }
    #expect(short?.code == .migrationMissingMappingModel)
    #expect(short?.message.contains(reference(4).versionChecksum) == true)
    try checkIsOfFirstVersion()
    // Checksums alone lead to the version that follows, as in Core Data.
    let checksums = LightweightMigrationStage([reference(1).versionChecksum])
    let context = try open(4, [checksums, stage(2, 3), stage(3, 4)])
    #expect(try values(context, "third") == ["n0", "n1", "n2"])
    try context.persistentStoreCoordinator?.close()
  }

  @Test func `checksums alone follow a stage that leads to the version before them`() throws {
    try fill()
    let filling = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    let last = LightweightMigrationStage([reference(3).versionChecksum])
    let context = try open(3, [filling, last])
    #expect(try values(context, "third") == ["n0", "n1", "n2"])
    try context.persistentStoreCoordinator?.close()
  }

  private struct Interrupted: Error {}

  // MIG-22, MIG-17
  @Test func `a store whose stage is not finished is opened for writing only by its manager`() throws {
    try fill()
    let filling = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    filling.label = "fill"
    filling.didMigrateHandler = { _, _ in throw Interrupted() }
    let later = LightweightMigrationStage(models: [reference(2), reference(3), reference(4)])
    #expect(throws: Interrupted.self) { try open(4, [filling, later]) }
    for version in 2...4 {
      let refused = heartwoodError { _ = try open(version) }
      #expect(refused?.code == .migration && refused?.message.contains("the stage fill") == true)
    }
    let command = heartwoodError {
      try PersistentStoreCoordinator.migrateStore(at: folder.store, to: Self.model(3))
    }
    #expect(command?.code == .migration && command?.message.contains("the stage fill") == true)
    let mapped = heartwoodError {
      let mapping = EntityMapping(from: "Item", to: "Item")
      _ = try open(3) { $0.mappingModel = MappingModel(entityMappings: [mapping]) }
    }
    #expect(mapped?.code == .migration && mapped?.message.contains("the stage fill") == true)
    let reading = try open(2) { $0.isReadOnly = true }
    #expect(try values(reading, "second") == ["n0", "n1", "n2"])
    try reading.persistentStoreCoordinator?.close()
    let ran = Guarded(0)
    filling.didMigrateHandler = { _, _ in ran.withLock { $0 += 1 } }
    let context = try open(4, [filling, later])
    #expect(ran.withLock { $0 } == 1)
    #expect(try values(context, "third") == ["n0", "n1", "n2"])
    try context.persistentStoreCoordinator?.close()
    try open(4).persistentStoreCoordinator?.close()
  }

  // MIG-20, MIG-22
  @Test func `several that migrate in stages at once run each handler once`() async throws {
    try fill()
    let count = Guarded(0)
    let stage = CustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    stage.didMigrateHandler = { manager, _ in
      count.withLock { $0 += 1 }
      guard let context = manager.container?.newBackgroundContext() else { return }
      for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        item.setValue("\(item.value(forKey: "second") ?? "")!", forKey: "second")
      }
      try context.save()
    }
    let url = folder.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await inThread {
            let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(2))
            let description = PersistentStoreDescription(url: url)
            description.stagedMigrationManager = StagedMigrationManager([stage])
            description.timeout = 600
            description.engineOptions = .init()
            description.engineOptions?.sharesInProcess = false
            try coordinator.addPersistentStore(with: description)
            try coordinator.close()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(count.withLock { $0 } == 1)
    let context = try open(2)
    #expect(try values(context, "second") == ["n0!", "n1!", "n2!"])
    try context.persistentStoreCoordinator?.close()
  }
}

/// Runs what waits for others in a thread of its own.
func inThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
