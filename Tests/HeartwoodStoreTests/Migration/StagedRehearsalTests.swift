import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Staged migrations that are tried.
@Suite struct StagedRehearsalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Version 1 has a name, version 2 a length too, version 3 requires both, and lengths up to 4 only.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let word = EntityDescription(name: "Word")
    let name = AttributeDescription(name: "name", type: .string)
    let length = AttributeDescription(name: "length", type: .integer64)
    if version == 3 {
      (name.isOptional, length.isOptional) = (false, false)
      length.validationRules = [.range(0...4)]
    }
    word.properties = version == 1 ? [name] : [name, length]
    return ManagedObjectModel(entities: [word])
  }

  private func open(
    _ version: Int, _ manager: StagedMigrationManager? = nil
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: folder.store)
    description.stagedMigrationManager = manager
    description.shouldMigrateStoreAutomatically = manager != nil || version == 1
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill(_ names: [String?]) throws {
    let context = try open(1)
    let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Word"])
    for name in names { ManagedObject(entity: entity, insertInto: context).setValue(name, forKey: "name") }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  /// Fills the lengths after the first step; `before` runs before it, and `after` before the second.
  private func stages(
    before: @escaping @Sendable () throws -> Void = {}, after: @escaping @Sendable () throws -> Void = {}
  ) -> StagedMigrationManager {
    let models = (1...3).map { ManagedObjectModelReference(model: Self.model($0)) }
    let first = CustomMigrationStage(migratingFrom: models[0], to: models[1])
    first.willMigrateHandler = { _, _ in try before() }
    first.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container?.newBackgroundContext())
      for word in try context.fetch(FetchRequest<ManagedObject>(entityName: "Word")) {
        let name = word.value(forKey: "name") as? String
        word.setValue(name.map(\.count), forKey: "length")
      }
      try context.save()
    }
    let second = CustomMigrationStage(migratingFrom: models[1], to: models[2])
    second.willMigrateHandler = { _, _ in try after() }
    return StagedMigrationManager([first, second])
  }

  private func rehearse(_ manager: StagedMigrationManager, _ version: Int = 3) throws -> MigrationReport? {
    let description = PersistentStoreDescription(url: folder.store)
    description.stagedMigrationManager = manager
    let before = try files()
    defer { #expect((try? files()) == before) }
    return try PersistentStoreCoordinator.rehearseMigration(with: description, to: Self.model(version))
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.store.path) {
      files[name] = try Data(contentsOf: folder.store.appending(path: name))
    }
    return files
  }

  // MIG-20, MIG-22, MIG-17
  @Test func `stages are tried with their code, on a store of which every byte stays`() throws {
    try fill(["a", "bb", "much too long"])
    let ran = Guarded(0)
    let manager = stages(before: { ran.withLock { $0 += 1 } }, after: { ran.withLock { $0 += 10 } })
    let report = try #require(try rehearse(manager))
    #expect(ran.withLock { $0 } == 11 && manager.container == nil)
    #expect(
      report.changes.first?.hasPrefix("Word.length is new") == true && report.changes.count > 1,
      "\(report.changes)")
    #expect((report.bytesWritten ?? 0) > 0 && report.bytesBefore != nil)
    // The objects that the code of the first stage has made are validated with the last model.
    let size = try #require(report.violations.first)
    #expect(report.violations.count == 1 && size.property == "length" && !size.preventsMigration)
    #expect(size.objectIDs.map(\.key) == [3])
    let context = try open(3, manager)
    let lengths = try context.fetch(FetchRequest<ManagedObject>(entityName: "Word")).map {
      $0.value(forKey: "length") as? Int64
    }
    #expect(Set(lengths) == [1, 2, 13])
    try context.persistentStoreCoordinator?.close()
    #expect(try rehearse(manager) == nil)
  }

  // MIG-20, MIG-17
  @Test func `a step that objects prevent ends the trial, and is in the report`() throws {
    try fill(["a", nil, "c", nil])
    let report = try #require(try rehearse(stages()))
    let names = try #require(report.violations.first { $0.property == "name" })
    #expect(names.preventsMigration && names.objectIDs.map(\.key) == [2, 4] && names.code == .migration)
    #expect(heartwoodError { _ = try open(3, stages()) }?.code == .migration)
  }

  private struct Interrupted: Error {}

  // MIG-22, MIG-17
  @Test func `a trial throws what the code of a stage throws, and an unfinished stage is tried again`() throws
  {
    try fill(["a", "bb"])
    let failing = stages(after: { throw Interrupted() })
    #expect(throws: Interrupted.self) { try rehearse(failing) }
    let first = try #require(failing.stages.first as? CustomMigrationStage)
    let work = first.didMigrateHandler
    first.didMigrateHandler = { _, _ in throw Interrupted() }
    #expect(throws: Interrupted.self) { try open(3, failing) }
    first.didMigrateHandler = work
    #expect(heartwoodError { _ = try rehearse(StagedMigrationManager([])) }?.code == .migration)
    #expect(throws: Interrupted.self) { try rehearse(failing) }
    let report = try #require(try rehearse(stages()))
    #expect(
      report.violations.isEmpty && report.changes.contains { $0.hasPrefix("Word.length becomes mandatory") },
      "\(report.changes)")
    // The stage is still not finished.
    #expect(throws: Interrupted.self) { try open(3, failing) }
  }
}
