import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

@Suite struct `Changes of types in PostgreSQL` {
  private static let changes: [(AttributeType, [AttributeType])] = [
    (.boolean, [.integer16, .integer32, .integer64, .string]),
    (.integer16, [.integer32, .integer64, .float, .double, .decimal, .string]),
    (.integer32, [.integer64, .double, .decimal, .string]), (.integer64, [.decimal, .string]),
    (.float, [.double, .string]), (.double, [.string]), (.decimal, [.string]), (.uuid, [.string]),
    (.uri, [.string]), (.date, [.string]),
  ]

  private static func values(_ type: AttributeType) -> [Any] {
    switch type {
    case .boolean: [true, false]
    case .integer16: [Int16.min, Int16.max, Int16(7)]
    case .integer32: [Int32.min, Int32.max, Int32(7)]
    case .integer64: [Int64.min, Int64.max, Int64(7)]
    case .float: [Float(0.1), Float(1e30), Float(-5), Float.infinity]
    case .double: [0.1, 1e-7, 5.0, 1e300, -0.0, Double.nan]
    case .decimal: [Decimal(string: "12345.670") ?? 0, Decimal(-1) / 8, Decimal(5)]
    case .uuid: [UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 171, 205, 239, 16))]
    case .uri: [URL(string: "https://example.org/a?b=c") as Any]
    case .date: [Date(timeIntervalSinceReferenceDate: 0.25), Date(timeIntervalSinceReferenceDate: -1e9)]
    default: []
    }
  }

  private static func model(_ isNew: Bool) -> ManagedObjectModel {
    var attributes = [AttributeDescription(name: "number", type: .integer64)]
    for (former, all) in changes {
      for type in all {
        for isOptional in [true, false] {
          let attribute = AttributeDescription(
            name: "a\(former)\(type)\(isOptional)".filter { $0.isLetter || $0.isNumber },
            type: isNew ? type : former)
          attribute.isOptional = isNew ? isOptional : true
          if isNew, !isOptional {
            attribute.defaultValue =
              type == .string ? "none" : type == .decimal ? Decimal(3) as Any : 3 as Any
          }
          attributes.append(attribute)
        }
      }
    }
    return ManagedObjectModel(entities: [EntityDescription(name: "Thing", properties: attributes)])
  }

  private func open(_ url: URL, _ type: PersistentStore.StoreType, _ model: ManagedObjectModel) throws
    -> ManagedObjectContext
  {
    PostgresStore.register()
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    description.type = type
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  @Test func `every change of a type that can be inferred gives what the log store gives`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    var results: [[String]] = []
    for (url, type) in [
      (folder, PersistentStore.StoreType.log), (try PostgresServer.shared.get().url(), .postgres),
    ] {
      let context = try open(url, type, Self.model(false))
      let coordinator = try #require(context.persistentStoreCoordinator)
      let entity = try #require(coordinator.managedObjectModel.entitiesByName["Thing"])
      for number in 0..<8 {
        let thing = ManagedObject(entity: entity, insertInto: context)
        thing.setValue(number, forKey: "number")
        for (name, attribute) in entity.attributesByName where name != "number" {
          let values = Self.values(attribute.type)
          if number < values.count { thing.setValue(values[number], forKey: name) }
        }
      }
      try context.save()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      let migrated = try open(url, type, Self.model(true))
      let things = try migrated.fetch(FetchRequest<ManagedObject>(entityName: "Thing"))
      results.append(
        things.map { thing in
          let names = thing.entity.attributesByName.keys.sorted()
          let number = thing.value(forKey: "number") ?? -1
          return "\(number) "
            + names.map { "\($0)=\(thing.value(forKey: $0).map { "\($0)" } ?? "nil")" }.joined(separator: " ")
        }.sorted())
    }
    #expect(results[1].difference(from: results[0]).map { "\($0)" } == [])
    #expect(results[0].count == 8 && results[0][7].contains("none"))
  }
}
