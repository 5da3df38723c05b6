import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

/// Crashes and failing calls during a migration that rewrites rows, links and indexes, and while its deferred work is finished.
@Suite(.serialized) struct `A migration that is interrupted` {
  private static func model(new: Bool) -> ManagedObjectModel {
    let item = EntityDescription(
      name: "Item",
      properties: [
        AttributeDescription(name: new ? "title" : "name", type: .string),
        AttributeDescription(name: "size", type: new ? .integer64 : .integer16),
      ])
    let (tool, toy) = (EntityDescription(name: "Tool"), EntityDescription(name: "Toy"))
    item.subentities = new ? [tool] : [tool, toy]
    let box = EntityDescription(name: "Box")
    let items = RelationshipDescription(name: "items", destination: item, isToMany: true, isOrdered: new)
    let inBox = RelationshipDescription(name: "box", destination: box, isToMany: new)
    box.ownProperties = [items]
    item.ownProperties.append(inBox)
    (items.inverseRelationship, inBox.inverseRelationship) = (inBox, items)
    if new {
      item.ownProperties[0].renamingIdentifier = "name"
      item.uniquenessConstraints = [["title"]]
      item.ownProperties.append(
        AttributeDescription(name: "note", type: .string, isOptional: false, defaultValue: "none"))
    }
    return ManagedObjectModel(entities: new ? [item, tool, box] : [item, tool, toy, box])
  }

  // One of each, as frozen models are kept.
  private static let models = [model(new: false), model(new: true)]

  private static func open(
    _ fileSystem: any FileSystem, _ version: Int, migrates: Bool = false
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: models[version])
    let description = PersistentStoreDescription(url: URL(filePath: Session.path))
    description.fileSystem = fileSystem
    description.isBuffered = true
    description.engineOptions = GraphSession.options
    description.shouldMigrateStoreAutomatically = migrates
    try coordinator.addPersistentStore(with: description)
    return coordinator
  }

  private static func prepare(_ fileSystem: any FileSystem) throws {
    let coordinator = try open(fileSystem, 0)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      let entities = coordinator.managedObjectModel.entitiesByName
      func make(_ name: String) -> ManagedObject {
        ManagedObject(entity: entities[name]!, insertInto: context)
      }
      let boxes = (0..<3).map { _ in make("Box") }
      for number in 0..<60 {
        let object = make(["Item", "Tool", "Toy"][number % 3])
        object.setValue("number \(number)", forKey: "name")
        object.setValue(number, forKey: "size")
        object.setValue(boxes[number % 2], forKey: "box")
      }
      try context.save()
    }
    try coordinator.close()
  }

  private static func migrate(_ fileSystem: any FileSystem, _ acknowledge: (Int) -> Void) throws {
    let coordinator = try open(fileSystem, 1, migrates: true)
    acknowledge(1)
    try coordinator.finishDeferredLightweightMigration()
    acknowledge(2)
    try coordinator.close()
  }

  /// The contents of the store, whichever version it is.
  private static func facts(_ coordinator: PersistentStoreCoordinator) throws -> [String] {
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    return try context.performAndWait {
      var lines = try coordinator.verify().findings
      let name =
        coordinator.managedObjectModel.entitiesByName["Item"]?.attributesByName["title"] == nil
        ? "name" : "title"
      for item in try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) {
        let values = item.entity.attributesByName.keys.sorted().map { "\(item.value(forKey: $0) ?? "nil")" }
        lines.append("\(item.objectID.key) \(item.entity.name ?? "") \(values)")
        lines.append("\(item.value(forKey: name) ?? "") is in \(keys(item.value(forKey: "box")))")
      }
      for box in try context.fetch(FetchRequest<ManagedObject>(entityName: "Box")) {
        lines.append("\(box.objectID.key) has \(keys(box.value(forKey: "items")))")
      }
      return lines
    }
  }

  private static func keys(_ value: Any?) -> [UInt64] {
    let objects = (value as? [ManagedObject]) ?? (value as? Set<ManagedObject>).map(Array.init)
    return (objects ?? (value as? ManagedObject).map { [$0] } ?? []).map(\.objectID.key).sorted()
  }

  /// The facts of the store before and after.
  private static func expected() throws -> [[String]] {
    let fileSystem = MemoryFileSystem()
    try prepare(fileSystem)
    let before = try open(fileSystem, 0)
    let old = try facts(before)
    try before.close()
    try migrate(fileSystem) { _ in }
    let after = try open(fileSystem, 1)
    let new = try facts(after)
    try after.close()
    #expect(old.count == 123 && new.count == 83 && new.contains { $0.contains(#"["none", "#) })
    return [old, new]
  }

  private struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  /// - Returns: The version that the store has.
  @discardableResult
  private static func check(_ fileSystem: any FileSystem, atLeast least: Int, _ expected: [[String]]) throws
    -> Int
  {
    for version in [1, 0] {
      let coordinator: PersistentStoreCoordinator
      do {
        coordinator = try open(fileSystem, version)
      } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
        continue
      }
      let found = try facts(coordinator)
      try coordinator.close()
      guard version >= least, found == expected[version] else {
        throw Wrong(
          description:
            "version \(version): \(Set(found).symmetricDifference(expected[version]).sorted().prefix(5))")
      }
      return version
    }
    throw Wrong(description: "neither the old model nor the new one")
  }

  // MIG-17
  @Test func `a crash at any call leaves the store before the migration, or after it`() throws {
    let expected = try Self.expected()
    var limits = CrashImageLimits()
    limits.imageCount = 3
    let report = try CrashExplorer(seed: 25, limits: limits).run(
      acknowledging: Int.self, prepare: Self.prepare,
      workload: { fileSystem, acknowledge in try Self.migrate(fileSystem, acknowledge) },
      verify: { fileSystem, acknowledged in
        try Self.check(fileSystem, atLeast: acknowledged.isEmpty ? 0 : 1, expected)
      })
    print("migration: \(report)")
    try report.check()
    #expect(report.calls > 5 && report.images > report.calls)
  }

  // MIG-17
  @Test func `a call that fails, or a full disk, leaves the store before the migration, or after it`() throws
  {
    let expected = try Self.expected()
    let calls = try FailingCall.all(over: Self.copy()) { fileSystem in try Self.migrate(fileSystem) { _ in } }
    #expect(calls.count > 5)
    var failed = 0
    for (number, call) in calls.enumerated() {
      let disk = try Self.copy()
      let faulty = FaultInjectingFileSystem(
        base: disk, plan: call.plan(WayToFail.usual[number % WayToFail.usual.count]))
      var least = 0
      do { try Self.migrate(faulty) { _ in least = 1 } } catch { failed += 1 }
      try Self.check(disk, atLeast: least, expected)
    }
    #expect(failed > 0)
    var refused = 0
    for room in stride(from: Int64(0), to: 60_000, by: 4_000) {
      let disk = try Self.copy()
      let full = FaultInjectingFileSystem(base: disk, plan: FaultPlan(spaceLimit: room))
      var least = 0
      do { try Self.migrate(full) { _ in least = 1 } } catch { refused += 1 }
      try Self.check(disk, atLeast: least, expected)
    }
    #expect(refused > 0)
  }

  private static func copy() throws -> SimulatedFileSystem {
    let disk = SimulatedFileSystem()
    try prepare(disk)
    return disk
  }
}
