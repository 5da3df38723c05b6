import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

/// Containers of one store with different models. Each has its own engine, as a separate process would.
@Suite struct `Containers with different models` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(indexed: Bool, extra: Bool = false, migrates: Bool = false) throws -> ManagedObjectContext
  {
    let size = AttributeDescription(name: "size", type: .integer64)
    var properties: [PropertyDescription] = [size]
    if extra { properties.append(AttributeDescription(name: "extra", type: .string)) }
    let item = EntityDescription(name: "Item", properties: properties)
    if indexed {
      item.indexes = [
        FetchIndexDescription(name: "bySize", elements: [FetchIndexElementDescription(property: size)])
      ]
    }
    let container = PersistentContainer(
      name: "Items", managedObjectModel: ManagedObjectModel(entities: [item]))
    let description = PersistentStoreDescription(url: folder.store)
    description.fileSystem = FaultInjectingFileSystem(base: PosixFileSystem())
    description.shouldMigrateStoreAutomatically = migrates
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container.newBackgroundContext()
  }

  private func save(_ size: Int64, in context: ManagedObjectContext) throws {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    let item = ManagedObject(entity: try #require(model.entitiesByName["Item"]), insertInto: context)
    item.setValue(size, forKey: "size")
    try context.save()
  }

  private func count(_ size: Int, in context: ManagedObjectContext) throws -> Int {
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.predicate = try FormatPredicate("size == %d", size)
    return try context.fetch(request).count
  }

  private func findings(_ context: ManagedObjectContext) throws -> [String] {
    try #require(context.persistentStoreCoordinator).verify().findings
  }

  @Test func `a container maintains an index that another container has built meanwhile`() throws {
    let plain = try open(indexed: false)
    try save(1, in: plain)
    let indexed = try open(indexed: true)
    try save(2, in: plain)
    #expect(try count(1, in: indexed) == 1)
    #expect(try count(2, in: indexed) == 1)
    #expect(try findings(indexed) == [])
    #expect(try findings(plain) == [])
  }

  @Test func `a container does not search an index that another container has dropped meanwhile`() throws {
    let indexed = try open(indexed: true)
    try save(1, in: indexed)
    #expect(try count(1, in: indexed) == 1)
    let plain = try open(indexed: false)
    try save(2, in: plain)
    #expect(try count(1, in: indexed) == 1)
    #expect(try count(2, in: indexed) == 1)
    try save(3, in: indexed)
    #expect(try count(3, in: plain) == 1)
    #expect(try findings(indexed) == [])
  }

  @Test func `a container reads a generation from before an index was built`() throws {
    let plain = try open(indexed: false)
    try save(1, in: plain)
    let coordinator = try #require(plain.persistentStoreCoordinator)
    let before = try #require(try coordinator.generations().last).generation
    let indexed = try open(indexed: true)
    try save(2, in: indexed)
    let token = try #require(indexed.persistentStoreCoordinator)
      .queryGenerationToken(forGeneration: before.rawValue)
    try indexed.setQueryGenerationFrom(token)
    #expect(try count(1, in: indexed) == 1)
    #expect(try count(2, in: indexed) == 0)
  }

  @Test func `a container whose rows differ is refused, and the store keeps working for the first one`()
    throws
  {
    let first = try open(indexed: false)
    try save(1, in: first)
    let error = heartwoodError { _ = try open(indexed: false, extra: true) }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.message.contains("Item.extra is new") == true)
    try save(2, in: first)
    #expect(try count(2, in: first) == 1)
    #expect(try findings(first) == [])
  }

  // MIG-01
  @Test func `a container of the former model is refused once another container has migrated the store`()
    throws
  {
    let first = try open(indexed: true)
    try save(1, in: first)
    let second = try open(indexed: true, extra: true, migrates: true)
    try save(2, in: second)
    let read = heartwoodError { _ = try count(1, in: first) }
    #expect(read?.code == .persistentStoreIncompatibleVersionHash)
    let saved = heartwoodError { try save(3, in: first) }
    #expect(saved?.code == .persistentStoreIncompatibleVersionHash)
    #expect(try count(1, in: second) == 1 && count(2, in: second) == 1 && count(3, in: second) == 0)
    #expect(try findings(second) == [])
  }
}
