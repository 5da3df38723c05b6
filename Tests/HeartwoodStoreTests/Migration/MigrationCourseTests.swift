import Foundation
import GraphTestSupport
import HeartwoodEngine
import HeartwoodFiles
import Synchronization
import TestSupport
import Testing

@testable import Heartwood

/// The messages of a migration, the work that it leaves for later, and the parts of the former model that are
/// still readable.
@Suite struct MigrationCourseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ version: Int, _ edit: (EntityDescription) -> Void = { _ in }) -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    item.properties = [AttributeDescription(name: "name", type: .string)]
    let other = EntityDescription(name: "Other")
    other.properties = [AttributeDescription(name: "name", type: .string)]
    if version > 1 {
      for entity in [item, other] {
        entity.ownProperties.append(
          AttributeDescription(name: "size", type: .integer64, isOptional: false, defaultValue: 7))
      }
    }
    edit(item)
    return ManagedObjectModel(entities: [item, other])
  }

  private func open(
    _ model: ManagedObjectModel, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill(_ count: Int) throws {
    let context = try open(model(1))
    let coordinator = try #require(context.persistentStoreCoordinator)
    for entity in coordinator.managedObjectModel.entities {
      for number in 0..<count {
        ManagedObject(entity: entity, insertInto: context).setValue("n\(number)", forKey: "name")
      }
    }
    try context.save()
    try coordinator.close()
  }

  private func request(_ entity: String = "Item") -> FetchRequest<ManagedObject> {
    FetchRequest<ManagedObject>(entityName: entity)
  }

  private func hasDeferredWork(_ coordinator: PersistentStoreCoordinator?) throws -> Bool {
    let store = try #require(coordinator?.persistentStores.first)
    return try store.metadata[PersistentStore.MetadataKey.hasDeferredLightweightMigration] != nil
  }

  // MIG-19
  @Test func `deferred work runs in the background, part after part, while others save`() async throws {
    try fill(5000)
    let context = try open(model(2))
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(try hasDeferredWork(coordinator))
    let progress = Mutex<Progress?>(nil)
    let failure: (any Error)? = try await withCheckedThrowingContinuation { continuation in
      do {
        let begun = try coordinator.finishDeferredLightweightMigration { continuation.resume(returning: $0) }
        progress.withLock { $0 = begun }
        try context.performAndWait {
          let first = try context.fetch(request()).first
          first?.setValue("changed", forKey: "name")
          try context.save()
        }
      } catch { continuation.resume(throwing: error) }
    }
    #expect(failure == nil)
    #expect(progress.withLock { $0?.totalUnitCount } == 10_000)
    #expect(progress.withLock { $0?.isFinished } == true)
    #expect(try !hasDeferredWork(coordinator))
    try context.performAndWait {
      let items = try context.fetch(request())
      #expect(items.count == 5000 && items.first?.value(forKey: "name") as? String == "changed")
      #expect(items.allSatisfy { $0.value(forKey: "size") as? Int64 == 7 })
    }
    #expect(try coordinator.verify().findings == [])
    try coordinator.close()
  }

  // MIG-19
  @Test func `deferred work that is cancelled leaves the rest, which a call finishes`() throws {
    try fill(10)
    let context = try open(model(2))
    let coordinator = try #require(context.persistentStoreCoordinator)
    let store = try coordinator.openStore()
    let progress = Progress(totalUnitCount: 20)
    progress.cancel()
    let failure = BackgroundMigration(store, progress, { true }).run() as? HeartwoodError
    #expect(failure?.code == .migrationCancelled)
    #expect(try hasDeferredWork(coordinator))
    #expect(try coordinator.finishDeferredLightweightMigrationTask())
    while try coordinator.finishDeferredLightweightMigrationTask() {}
    #expect(try !hasDeferredWork(coordinator))
    try coordinator.close()
    let readOnly = try open(model(2)) { $0.isReadOnly = true }
    let refused = heartwoodError {
      try readOnly.persistentStoreCoordinator?.finishDeferredLightweightMigration { _ in }
    }
    #expect(refused?.code == .persistentStoreSave)
    try readOnly.persistentStoreCoordinator?.close()
  }

  // MIG-19, MIG-30
  @Test func `a description asks for the background work, and each step is logged with its time`()
    async throws
  {
    try fill(10)
    let (lines, ends) = AsyncStream.makeStream(of: String.self)
    let newer = model(2)
    let context = try open(newer) {
      $0.finishesDeferredMigrationInBackground = true
      $0.migrationLog = { ends.yield($0) }
    }
    var seen: [String] = []
    for await line in lines {
      seen.append(line)
      if line.hasSuffix("all are written again") { break }
    }
    #expect(seen.allSatisfy { $0.hasPrefix("migration of \(LogStore.path(of: folder.store)): ") })
    let steps = seen.map { $0.split(separator: ": ").dropFirst().joined(separator: ": ") }
    #expect(steps.first == "Item.size is new, and 7 in objects that exist")
    for step in ["mandatory properties", "rows", "relationships", "indexes and uniqueness"] {
      #expect(steps.contains { $0.hasPrefix("\(step): 0.") && $0.hasSuffix(" s") }, "\(step)")
    }
    #expect(try !hasDeferredWork(context.persistentStoreCoordinator))
    try context.persistentStoreCoordinator?.close()
    let failed = Mutex<[String]>([])
    let strict = model(2) {
      $0.ownProperties.append(AttributeDescription(name: "x", type: .uuid, isOptional: false))
    }
    _ = heartwoodError {
      _ = try open(strict) { $0.migrationLog = { line in failed.withLock { $0.append(line) } } }
    }
    #expect(failed.withLock { $0.contains { $0.contains("mandatory properties: failed after ") } })
  }

  // MIG-04
  @Test func `a mandatory value that each object needs for itself is refused with the ways to give it`()
    throws
  {
    try fill(2)
    let newer = model(2) {
      $0.ownProperties.append(AttributeDescription(name: "key", type: .uuid, isOptional: false))
    }
    let error = heartwoodError { _ = try open(newer) }
    #expect(error?.code == .migration && error?.property == "key" && error?.objectIDs.count == 2)
    #expect(error?.message.contains("set it in didMigrateHandler of a custom stage") == true)
  }

  // MIG-25
  @Test func `a store whose model a newer version of the library wrote is not migrated in stages`() throws {
    try fill(1)
    try LogStore.withEngine(at: folder.store, options: LogStoreOptions()) { engine in
      try engine.write { transaction in
        var bytes = try #require(try transaction.get(KeySpace.schemaKey))
        bytes[0] = 99
        try transaction.put(KeySpace.schemaKey, bytes)
      }
    }
    let manager = StagedMigrationManager([
      LightweightMigrationStage(models: [1, 2].map { ManagedObjectModelReference(model: model($0)) })
    ])
    let error = heartwoodError { _ = try open(model(2)) { $0.stagedMigrationManager = manager } }
    #expect(error?.code == .stagedMigrationFrameworkVersionMismatch)
    #expect(error?.message.contains("format 99") == true)
    #expect(heartwoodError { _ = try open(model(2)) }?.code == .persistentStoreOpen)
    let description = PersistentStoreDescription(url: folder.store)
    let rehearse = { [self] in
      _ = try PersistentStoreCoordinator.rehearseMigration(with: description, to: model(2))
    }
    #expect(heartwoodError(rehearse)?.code == .persistentStoreOpen)
    description.stagedMigrationManager = manager
    #expect(heartwoodError(rehearse)?.message == error?.message)
  }

  // MIG-26, HIS-21
  @Test func `the history before a migration is read after it, and its generations say why they are not`()
    throws
  {
    let context = try open(model(1))
    let coordinator = try #require(context.persistentStoreCoordinator)
    let entities = coordinator.managedObjectModel.entitiesByName
    let token = try #require(coordinator.currentPersistentHistoryToken())
    let item = ManagedObject(entity: try #require(entities["Item"]), insertInto: context)
    let other = ManagedObject(entity: try #require(entities["Other"]), insertInto: context)
    try context.save()
    item.setValue("a", forKey: "name")
    context.delete(other)
    try context.save()
    let pinned = try coordinator.openStore().newestGeneration
    try coordinator.close()
    // An entity is gone, and the name of the other is another attribute now.
    let thing = EntityDescription(name: "Thing")
    thing.renamingIdentifier = "Item"
    let title = AttributeDescription(name: "title", type: .string)
    title.renamingIdentifier = "name"
    thing.properties = [AttributeDescription(name: "name", type: .integer64), title]
    let migrated = try open(ManagedObjectModel(entities: [thing]))
    let newer = try #require(migrated.persistentStoreCoordinator)
    let changes = try migrated.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
      .map { transaction in
        (transaction.changes ?? []).map {
          "\($0.changeType) \($0.changedObjectID.entity.displayName) \($0.updatedProperties?.map(\.name) ?? [])"
        }
      }
    #expect(changes == [["insert Thing []"], [#"update Thing ["title"]"#]])
    let past = try newer.queryGenerationToken(forGeneration: pinned)
    let error = heartwoodError { try migrated.setQueryGenerationFrom(past) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.message.hasPrefix("generation \(pinned) of the store at ") == true)
    #expect(error?.message.contains("was written before the store was migrated") == true)
    try newer.close()
  }
}
