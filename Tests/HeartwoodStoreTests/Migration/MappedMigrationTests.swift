import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Migrations by a mapping model, beside others who have the store open.
@Suite struct MappedMigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Version 1 has a name, version 2 a title; both have notes.
  private static func model(_ version: Int) -> ManagedObjectModel {
    let entities = ["Person", "Note"].map { name in
      let entity = EntityDescription(name: name)
      let attribute = version == 2 && name == "Person" ? "title" : "name"
      entity.properties = [AttributeDescription(name: attribute, type: .string)]
      return entity
    }
    return ManagedObjectModel(entities: entities)
  }

  private func mapping(
    _ edit: (EntityMapping) -> Void = { _ in },
    notes: EntityMapping? = EntityMapping(from: "Note", to: "Note")
  ) -> MappingModel {
    let person = EntityMapping(from: "Person", to: "Person")
    person.attributeMappings = [PropertyMapping(name: "title", from: "name")]
    edit(person)
    notes?.attributeMappings = [PropertyMapping(name: "name", from: "name")]
    return MappingModel(entityMappings: [person] + (notes.map { [$0] } ?? []))
  }

  private func open(
    _ version: Int, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: Self.model(version))
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func add(_ names: [String], to context: ManagedObjectContext, _ key: String = "name")
    throws
  {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    for name in names {
      let entity = try #require(model.entitiesByName["Person"])
      ManagedObject(entity: entity, insertInto: context).setValue(name, forKey: key)
    }
    try context.save()
  }

  private func fill() throws {
    let context = try open(1)
    try add(["Ada", "Bob"], to: context)
    try context.persistentStoreCoordinator?.close()
  }

  private func persons(_ context: ManagedObjectContext, _ key: String = "title") throws -> [String] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      .map { $0.value(forKey: key) as? String ?? "-" }.sorted()
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path) }
  }

  // MIG-16, MIG-17
  @Test
  func `a store that others have open is not migrated by a mapping, and what they save stays`()
    async throws
  {
    try fill()
    let other = try open(1)
    let lines = Guarded<[String]>([])
    let error = heartwoodError {
      _ = try open(2) {
        $0.mappingModel = mapping()
        $0.timeout = 0
        $0.migrationLog = { line in lines.withLock { $0.append(line) } }
      }
    }
    #expect(error?.code == .persistentStoreTimeout)
    #expect(
      error?.message.contains("\(LogStore.path(of: folder.store)) could not be migrated") == true)
    #expect(error?.message.contains(".migrating") == false)
    // Nothing was begun that would have been in vain.
    #expect(lines.withLock { $0 } == [])
    #expect(try names == ["Store.heartwood"])
    // One that waits has what is saved meanwhile.
    let url = folder.store
    let plan = mapping()
    async let waiting: Void = inThread {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model(2))
      let description = PersistentStoreDescription(url: url)
      description.mappingModel = plan
      description.timeout = 600
      try coordinator.addPersistentStore(with: description)
      try coordinator.close()
    }
    try add(["Eve"], to: other)
    try other.persistentStoreCoordinator?.close()
    try await waiting
    let context = try open(2)
    #expect(try persons(context) == ["Ada", "Bob", "Eve"])
    try context.persistentStoreCoordinator?.close()
    #expect(try names == ["Store.heartwood"])
  }

  // MIG-17
  @Test
  func `several that map a store at once wait for the first, and have its objects`() async throws {
    try fill()
    let coordinators = (0..<4).map { _ in
      PersistentStoreCoordinator(managedObjectModel: Self.model(2))
    }
    let (url, plan) = (folder.store, mapping())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for coordinator in coordinators {
        group.addTask {
          try await inThread {
            let description = PersistentStoreDescription(url: url)
            description.mappingModel = plan
            description.timeout = 600
            description.engineOptions = .init()
            description.engineOptions?.sharesInProcess = false
            // The store stays open.
            try coordinator.addPersistentStore(with: description)
          }
        }
      }
      try await group.waitForAll()
    }
    for coordinator in coordinators {
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      #expect(try persons(context) == ["Ada", "Bob"])
    }
    #expect(try coordinators[0].verify().findings == [])
    for coordinator in coordinators { try coordinator.close() }
    #expect(try names == ["Store.heartwood"])
  }

  private struct Refused: Error {}

  // MIG-17
  @Test func `a mapping that fails leaves nothing beside the store, which is as it was`() throws {
    try fill()
    let failing = mapping { $0.policy = ClosureMigrationPolicy { _, _, _ in throw Refused() } }
    let error = try #require(heartwoodError { _ = try open(2) { $0.mappingModel = failing } })
    #expect(error.code == .entityMigrationPolicy && error.underlying is Refused)
    #expect(error.objectIDs.count == 1 && error.message.contains("/p1: Refused()"), "\(error.message)")
    #expect(try names == ["Store.heartwood"])
    let context = try open(1) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try persons(context, "name") == ["Ada", "Bob"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-17
  @Test func `what a killed migration has left is removed by any opening that may write`() throws {
    try fill()
    let remains = [".Store.heartwood.migrating", ".Store.heartwood.replacing"]
    for name in remains {
      try FileManager.default.copyItem(at: folder.store, to: folder.url.appending(path: name))
    }
    try open(1) { $0.isReadOnly = true }.persistentStoreCoordinator?.close()
    #expect(try names.count == 3)
    try open(1).persistentStoreCoordinator?.close()
    #expect(try names == ["Store.heartwood"])
  }

  // MIG-09
  @Test func `entities that a mapping model forgets are named, and their objects are not deleted`()
    throws
  {
    try fill()
    let forgetting = mapping(notes: nil)
    let error = heartwoodError { _ = try open(2) { $0.mappingModel = forgetting } }
    #expect(error?.code == .migrationMissingMappingModel)
    #expect(error?.message.contains("it says nothing about Note") == true)
    let empty = heartwoodError {
      _ = try open(2) { $0.mappingModel = MappingModel(entityMappings: []) }
    }
    #expect(empty?.message.contains("Note, Person") == true)
    let twice = MappingModel(entityMappings: mapping().entityMappings + mapping().entityMappings)
    let doubled = heartwoodError { _ = try open(2) { $0.mappingModel = twice } }
    #expect(doubled?.code == .migration)
    #expect(doubled?.message.contains("two mappings have the name Person->Person") == true)
    // A mapping that says so deletes them.
    let removing = mapping(notes: EntityMapping(from: "Note", to: nil, type: .remove))
    let context = try open(2) { $0.mappingModel = removing }
    #expect(try persons(context) == ["Ada", "Bob"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-26, MIG-29
  @Test
  func `a store that was migrated by a mapping keeps its metadata, and knows its former model`()
    throws
  {
    try fill()
    try PersistentStoreCoordinator.setMetadata(["mine": "x"], at: folder.store)
    try open(2) { $0.mappingModel = mapping() }.persistentStoreCoordinator?.close()
    let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    #expect(metadata["mine"] as? String == "x")
    let error = heartwoodError { _ = try open(1) }
    #expect(error?.code == .stagedMigrationBackwardMigration)
    let context = try open(2)
    #expect(try persons(context) == ["Ada", "Bob"])
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-09, MIG-10
  @Test func `properties that a mapping names wrongly are an error with the mapping and the name`()
    throws
  {
    try fill()
    for (name, source, word) in [("title", "nme", "nme"), ("titel", "name", "titel")] {
      let wrong = mapping { $0.attributeMappings = [PropertyMapping(name: name, from: source)] }
      let error = heartwoodError { _ = try open(2) { $0.mappingModel = wrong } }
      #expect(error?.code == .migration)
      #expect(
        error?.message.contains("Person->Person") == true && error?.message.contains(word) == true)
    }
    let relationship = mapping {
      $0.relationshipMappings = [PropertyMapping(name: "title", from: "name")]
    }
    #expect(
      heartwoodError { _ = try open(2) { $0.mappingModel = relationship } }?.code == .migration)
    #expect(try names == ["Store.heartwood"])
  }
}
