import Foundation
import GraphTestSupport
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Rows of former layouts that are written again by several at once.
@Suite struct RewritingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ version: Int) -> ManagedObjectModel {
    let entities = ["Item", "Other"].map { name in
      let entity = EntityDescription(name: name)
      entity.properties = [AttributeDescription(name: "name", type: .string)]
      for (number, added) in ["size", "depth"].enumerated() where version > number + 1 {
        entity.ownProperties.append(
          AttributeDescription(
            name: added, type: .integer64, isOptional: false, defaultValue: Int64(number + 7)))
      }
      return entity
    }
    return ManagedObjectModel(entities: entities)
  }

  private func open(_ version: Int, _ url: URL? = nil) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model(version))
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url ?? folder.store))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill(_ count: Int) throws {
    let context = try open(1)
    let coordinator = try #require(context.persistentStoreCoordinator)
    for entity in coordinator.managedObjectModel.entities {
      for number in 0..<count {
        ManagedObject(entity: entity, insertInto: context).setValue("n\(number)", forKey: "name")
      }
    }
    try context.save()
    try coordinator.close()
    try open(2).persistentStoreCoordinator?.close()
  }

  /// Checks that all objects are as they were filled, in every row.
  private func check(_ version: Int, _ count: Int, _ url: URL? = nil) throws {
    let context = try open(version, url)
    for entity in ["Item", "Other"] {
      let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
      #expect(Set(objects.compactMap { $0.value(forKey: "name") as? String }).count == count)
      #expect(objects.count == count && objects.allSatisfy { $0.value(forKey: "size") as? Int64 == 7 })
      if version > 2 { #expect(objects.allSatisfy { $0.value(forKey: "depth") as? Int64 == 8 }) }
    }
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(try coordinator.verify().findings == [])
    #expect(try !coordinator.openStore().hasDeferredMigration)
    try coordinator.close()
  }

  // MIG-19
  @Test(arguments: [true, false])
  func `rows that several rewrite at once, part by part, stay readable`(inOneEngine: Bool) throws {
    try fill(9000)
    var options = LogStoreOptions()
    options.base = EngineOptions()
    options.base?.sharesInProcess = inOneEngine
    for seed in 1...2 {
      let copy = folder.url.appending(path: "Copy\(seed).heartwood")
      try FileManager.default.copyItem(at: folder.store, to: copy)
      let model = model(2)
      let (one, other) = (
        try LogStore.open(at: copy, model: model, options: options),
        try LogStore.open(at: copy, model: model, options: options)
      )
      // Between two parts of the one, the other does all of its parts at first, then a few.
      var random = Randomness(seed: UInt64(seed))
      var isOtherDone = false
      var isDone = false
      while !isDone {
        isDone = try !one.continueDeferredMigration {
          var parts = seed == 1 ? 20 : random.below(4)
          while parts > 0, !isOtherDone {
            let remains = try? other.continueDeferredMigration {
              parts -= 1
              return parts >= 0
            }
            isOtherDone = remains == false
          }
          return true
        }
      }
      try one.close()
      try other.close()
      try check(2, 9000, copy)
    }
  }

  // MIG-19
  @Test func `rewriting that a migration interrupts begins again`() throws {
    try fill(5000)
    let context = try open(2)
    let store = try #require(context.persistentStoreCoordinator).openStore()
    var parts = 1
    let remains = try store.continueDeferredMigration {
      parts -= 1
      return parts >= 0
    }
    #expect(remains)
    try context.persistentStoreCoordinator?.close()
    let migrated = try open(3)
    try migrated.persistentStoreCoordinator?.finishDeferredLightweightMigration()
    try migrated.persistentStoreCoordinator?.close()
    try check(3, 5000)
  }
}
