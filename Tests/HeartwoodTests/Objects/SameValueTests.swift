import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Values that are equal to those in the store and not the same.
@Suite struct SameValueTests {
  private let folder: TemporaryFolder
  private let context: ManagedObjectContext
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    model = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Point",
        properties: [
          AttributeDescription(name: "x", type: .double, isOptional: false, defaultValue: 0.0),
          AttributeDescription(name: "y", type: .float),
          AttributeDescription(name: "name", type: .string),
        ])
    ])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func isNegativeZero(_ value: Any?) -> Bool { (value as? Double)?.sign == .minus }

  // OBJ-20
  @Test func `a zero of the other sign and a text of other scalars are changes, and saved`() throws {
    let point = ManagedObject(entity: try #require(model.entitiesByName["Point"]), insertInto: context)
    point.setValue(Float(0), forKey: "y")
    point.setValue("\u{e9}", forKey: "name")
    try context.save()
    point.setValue(-0.0, forKey: "x")
    point.setValue(-Float(0), forKey: "y")
    point.setValue("e\u{301}", forKey: "name")
    #expect(Set(point.changedValues().keys) == ["name", "x", "y"])
    try context.save()
    context.reset()
    let found = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Point")).first)
    #expect(isNegativeZero(found.value(forKey: "x")))
    #expect((found.value(forKey: "y") as? Float)?.sign == .minus)
    #expect((found.value(forKey: "name") as? String).map { Array($0.unicodeScalars).count } == 2)
    found.setValue(-0.0, forKey: "x")
    #expect(found.changedValues().isEmpty)
    try context.persistentStoreCoordinator?.close()
  }

  // MIG-09
  @Test func `a mapping keeps the sign of zero, over a default too`() throws {
    let point = ManagedObject(entity: try #require(model.entitiesByName["Point"]), insertInto: context)
    point.setValue(-0.0, forKey: "x")
    point.setValue(-Float(0), forKey: "y")
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let newer = ManagedObjectModel(entities: [
      EntityDescription(
        name: "Point",
        properties: [
          AttributeDescription(name: "x", type: .double, isOptional: false, defaultValue: 0.0),
          AttributeDescription(name: "y", type: .double, isOptional: false, defaultValue: 0.0),
        ])
    ])
    let mapping = EntityMapping(from: "Point", to: "Point")
    mapping.attributeMappings = [
      PropertyMapping(name: "x") { source, _ in source.value(forKey: "x") },
      PropertyMapping(name: "y", from: "y"),
    ]
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = MappingModel(entityMappings: [mapping])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(with: description)
    let migrated = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let found = try #require(try migrated.fetch(FetchRequest<ManagedObject>(entityName: "Point")).first)
    #expect(isNegativeZero(found.value(forKey: "x")) && isNegativeZero(found.value(forKey: "y")))
    try coordinator.close()
  }
}
