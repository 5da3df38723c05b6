import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// The values that a mapping makes, and the errors about those that do not fit.
@Suite struct MappedValuesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static var widened: [(name: String, from: AttributeType, to: AttributeType, value: Any)] {
    [
      ("a", .integer16, .string, Int64(12)), ("b", .boolean, .string, true),
      ("c", .boolean, .integer32, true), ("d", .double, .string, 1.5),
      ("e", .uuid, .string, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
      ("f", .integer64, .decimal, Int64.max), ("g", .float, .double, Float(0.1)),
      ("h", .date, .string, Date(timeIntervalSinceReferenceDate: 5)),
      ("i", .integer32, .double, Int64(-7)), ("j", .uri, .string, URL(fileURLWithPath: "/x")),
    ]
  }

  /// Items with an attribute of each type that widens, and one that becomes mandatory.
  private static func model(_ version: Int, _ edit: (EntityDescription) -> Void = { _ in })
    -> ManagedObjectModel
  {
    let item = EntityDescription(name: "Item")
    item.properties = widened.map {
      AttributeDescription(name: $0.name, type: version == 1 ? $0.from : $0.to)
    }
    item.ownProperties.append(
      AttributeDescription(name: "size", type: .integer64, isOptional: version == 1, defaultValue: Int64(7)))
    edit(item)
    return ManagedObjectModel(entities: [item])
  }

  private func open(_ model: ManagedObjectModel, _ url: URL, _ mapping: MappingModel? = nil) throws
    -> ManagedObjectContext
  {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: url)
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func fill() throws {
    let context = try open(Self.model(1), folder.store)
    let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Item"])
    for number in 0..<3 {
      let item = ManagedObject(entity: entity, insertInto: context)
      item.setValue(number == 0 ? nil : Int64(number), forKey: "size")
      guard number > 0 else { continue }
      for attribute in Self.widened { item.setValue(attribute.value, forKey: attribute.name) }
    }
    try context.save()
    try context.persistentStoreCoordinator?.close()
  }

  private func values(_ url: URL) throws -> [String] {
    let context = try open(Self.model(2), url)
    defer { try? context.persistentStoreCoordinator?.close() }
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).map { item in
      (Self.widened.map(\.name) + ["size"]).map { "\($0)=\(item.value(forKey: $0) ?? "-")" }.joined(
        separator: " ")
    }.sorted()
  }

  // MIG-15, MIG-04, MIG-09
  @Test func `an inferred mapping gives the same values object by object as by the store itself`() throws {
    try fill()
    let (source, destination) = (Self.model(1), Self.model(2))
    var results: [[String]] = []
    for isInStore in [true, false] {
      let manager = MigrationManager(sourceModel: source, destinationModel: destination)
      manager.usesStoreSpecificMigrationManager = isInStore
      let mapping = try MappingModel.inferredMappingModel(
        forSourceModel: source, destinationModel: destination)
      let copy = folder.url.appending(path: "\(isInStore).heartwood")
      try manager.migrateStore(from: folder.store, withMapping: mapping, to: copy)
      results.append(try values(copy))
    }
    #expect(results[0] == results[1])
    #expect(results[0].contains { $0.hasPrefix("a=- ") && $0.hasSuffix("size=7") })
    #expect(results[0].contains { $0.hasPrefix("a=12 ") && $0.hasSuffix("size=2") })
  }

  private func mapping(_ names: [String]) -> MappingModel {
    let item = EntityMapping(from: "Item", to: "Item")
    item.attributeMappings = names.map { PropertyMapping(name: $0, from: $0) }
    return MappingModel(entityMappings: [item])
  }

  // MIG-17, MIG-18, VAL-10
  @Test func `an object that the new model does not allow is named, with the mapping that made it`() throws {
    try fill()
    let mandatory = Self.model(2) { $0.ownProperties.first { $0.name == "a" }?.isOptional = false }
    let missing = heartwoodError { _ = try open(mandatory, folder.store, mapping(["a", "size"])) }
    #expect(missing?.code == .validationMissingMandatoryProperty && missing?.property == "a")
    #expect(missing?.message.contains("the mapping Item->Item cannot migrate x-coredata://") == true)
    #expect(missing?.objectIDs.map(\.entity.name) == ["Item"])
    let narrow = Self.model(2) {
      $0.ownProperties.append(AttributeDescription(name: "tiny", type: .integer16))
    }
    let computed = mapping(["size"])
    computed.entityMappings[0].attributeMappings.append(PropertyMapping(name: "tiny") { _, _ in 70_000 })
    let unfitting = heartwoodError { _ = try open(narrow, folder.store, computed) }
    #expect(unfitting?.code == .managedObjectValidation)
    #expect(unfitting?.message.contains("the mapping Item->Item cannot migrate x-coredata://") == true)
    let unique = Self.model(2) { $0.uniquenessConstraints = [["b"]] }
    let equal = heartwoodError { _ = try open(unique, folder.store, mapping(["b", "size"])) }
    #expect(equal?.code == .migrationConstraintViolation && equal?.property == "b")
    #expect(equal?.message.contains("the mapping Item->Item makes several objects with b = \"true\"") == true)
    let long = heartwoodError {
      _ = try PropertyMapping(name: "a", valueExpression: String(repeating: "(", count: 5000))
    }
    #expect((long?.message.count ?? .max) < 1000)
  }
}
