import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

/// Migrations that are tried over a layer in memory.
@Suite struct MigrationRehearsalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func model(_ edit: (EntityDescription) -> Void = { _ in }) -> ManagedObjectModel {
    let item = EntityDescription(name: "Item")
    item.properties = [
      AttributeDescription(name: "name", type: .string), AttributeDescription(name: "size", type: .integer64),
      AttributeDescription(name: "note", type: .string),
    ]
    let parts = RelationshipDescription(name: "parts", destination: item, isToMany: true)
    let whole = RelationshipDescription(name: "whole", destination: item, isToMany: false)
    (parts.inverseRelationship, whole.inverseRelationship) = (whole, parts)
    item.ownProperties += [parts, whole]
    edit(item)
    return ManagedObjectModel(entities: [item])
  }

  private func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: folder.store)
    description.shouldMigrateStoreAutomatically = false
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// 300 items: names repeat after 100, sizes are their numbers, every other one has no note, all are parts of the first.
  private func fill(_ context: ManagedObjectContext, _ count: Int = 300) throws {
    let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Item"])
    var first: ManagedObject?
    for number in 0..<count {
      let item = ManagedObject(entity: entity, insertInto: context)
      item.setValue("n\(number % 100)", forKey: "name")
      item.setValue(number, forKey: "size")
      if number % 2 == 0 { item.setValue("note", forKey: "note") }
      first = first ?? item
      item.setValue(first, forKey: "whole")
    }
    try context.save()
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.store.path) {
      files[name] = try Data(contentsOf: folder.store.appending(path: name))
    }
    return files
  }

  private func rehearse(_ model: ManagedObjectModel) throws -> MigrationReport {
    try #require(try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: model))
  }

  /// A model with a rule, a constraint, a maximum and a mandatory attribute that the items do not satisfy.
  private func strict() -> ManagedObjectModel {
    model { item in
      item.uniquenessConstraints = [["name"]]
      item.ownProperties.append(AttributeDescription(name: "rank", type: .integer16, defaultValue: 1))
      for case let attribute as AttributeDescription in item.ownProperties {
        if attribute.name == "size" { attribute.validationRules = [.range(0...149)] }
        if attribute.name == "name" { attribute.validationRules = [.pattern("n[0-9]"), .length(...2)] }
        if attribute.name == "note" { attribute.isOptional = false }
      }
      for case let relationship as RelationshipDescription in item.ownProperties where relationship.isToMany {
        relationship.maxCount = 10
      }
    }
  }

  @Test(arguments: [PersistentStore.StoreType.log, .binary, .json, .xml])
  func `a store that is missing cannot be rehearsed`(type: PersistentStore.StoreType) throws {
    let description = PersistentStoreDescription(url: folder.store)
    description.type = type
    let error = heartwoodError {
      _ = try PersistentStoreCoordinator.rehearseMigration(with: description, to: model())
    }
    #expect(
      error?.code == .persistentStoreOpen && error?.message.contains("no store") == true, "\(error as Any)")
  }

  // MIG-17, MIG-18
  @Test func `a rehearsal lists what the model does not allow, and leaves every byte of the store`() throws {
    let context = try open(model())
    try fill(context)
    try context.persistentStoreCoordinator?.close()
    let before = try files()
    let report = try rehearse(strict())
    #expect(try files() == before)
    let found = report.violations.map {
      "\($0.property ?? "-") \($0.count) \($0.objectIDs.count) \($0.code.rawValue) \($0.preventsMigration)"
    }
    #expect(
      found.sorted() == [
        "name 270 100 1680 false", "name 300 100 134111 true", "note 150 100 134110 true",
        "parts 1 1 1590 false", "size 150 100 1610 false",
      ])
    let size = try #require(report.violations.first { $0.property == "size" })
    #expect(size.objectIDs.first?.key == 151 && size.message.contains("is 150, which must be"))
    #expect(size.description.hasPrefix("Item.size: 150 objects: Item.size of "))
    #expect((report.bytesWritten ?? 0) > 0 && (report.bytesBefore ?? 0) > 0)
    #expect((report.bytesAfter ?? 0) >= (report.bytesBefore ?? 0) && report.seconds > 0)
    // The migration itself refuses what the rehearsal says that it does.
    let error = heartwoodError {
      _ = try PersistentStoreCoordinator.migrateStore(at: folder.store, to: strict())
    }
    #expect(error?.code == .migration && error?.property == "note")
    #expect(try open(model()).count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 300)
  }

  // MIG-17
  @Test func `a store that others write is rehearsed as it was at the beginning, without a lock`() throws {
    let context = try open(model())
    try fill(context)
    let newer = model { item in
      item.ownProperties.append(AttributeDescription(name: "rank", type: .integer16, defaultValue: 1))
    }
    let first = try rehearse(newer)
    #expect(first.violations.isEmpty && first.hasDeferredWork)
    // The store is open for writing, and goes on as before.
    try fill(context, 50)
    let strictReport = try rehearse(strict())
    #expect(strictReport.violations.first { $0.property == "note" }?.count == 175)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Item")) == 350)
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try context.persistentStoreCoordinator?.close()
    // A file system that cannot be written to at all.
    let options = [PersistentStore.OptionKey.readOnly: true]
    let before = try files()
    let read = try PersistentStoreCoordinator.rehearseMigration(
      ofStoreAt: folder.store, to: newer, options: options)
    #expect(read?.changes == ["Item.rank is new, and 1 in objects that exist"])
    #expect(try files() == before)
    #expect(
      try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: folder.store, to: model()) == nil)
  }

  // MIG-17
  @Test func `a store that was not closed is rehearsed, and a missing one is not made`() throws {
    let context = try open(model())
    try fill(context)
    let copy = folder.url.appending(path: "copy")
    try FileManager.default.copyItem(at: folder.store, to: copy)
    let report = try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: copy, to: strict())
    #expect(report?.violations.first { $0.property == "note" }?.count == 150)
    let missing = folder.url.appending(path: "missing")
    let error = heartwoodError {
      _ = try PersistentStoreCoordinator.rehearseMigration(ofStoreAt: missing, to: strict())
    }
    #expect(error?.code == .persistentStoreOpen)
    #expect(!FileManager.default.fileExists(atPath: missing.path))
    try context.persistentStoreCoordinator?.close()
  }
}
