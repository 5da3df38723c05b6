import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Values that must be unique in an entity and its subentities.
@Suite struct UniqueSubentityTests {
  private static func model() -> ManagedObjectModel {
    let band = EntityDescription(
      name: "Band", properties: [AttributeDescription(name: "name", type: .string)])
    band.uniquenessConstraints = [["name"]]
    let orchestra = EntityDescription(
      name: "Orchestra", properties: [AttributeDescription(name: "seats", type: .integer64)])
    band.subentities = [orchestra]
    let hall = EntityDescription(name: "Hall")
    hall.properties = [RelationshipDescription(name: "orchestra", destination: orchestra, isToMany: false)]
    return ManagedObjectModel(entities: [band, orchestra, hall])
  }

  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    coordinator = try PersistentStoreCoordinator(checking: Self.model())
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
  }

  private func make(_ name: String, _ value: String? = nil, in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let entity = try #require(coordinator.managedObjectModel.entitiesByName[name])
    let object = ManagedObject(entity: entity, insertInto: context)
    if let value { object.setValue(value, forKey: "name") }
    return object
  }

  private static let policies: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  // MRG-17
  @Test(arguments: policies.indices)
  func `an object does not become one of a superentity, to which others could not refer`(policy: Int) throws {
    let first = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try first.performAndWait {
      _ = try make("Band", "x", in: first)
      try first.save()
    }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      context.mergePolicy = Self.policies[policy]
      let orchestra = try make("Orchestra", "x", in: context)
      let hall = try make("Hall", in: context)
      hall.setValue(orchestra, forKey: "orchestra")
      let error = heartwoodError { try context.save() }
      #expect(error?.constraintConflicts.count == 1)
      // The context can be used further.
      orchestra.setValue("y", forKey: "name")
      try context.save()
      #expect((hall.value(forKey: "orchestra") as? ManagedObject)?.value(forKey: "name") as? String == "y")
    }
    #expect(try coordinator.verify().findings == [])
    try coordinator.close()
  }

  // MRG-17
  @Test(arguments: policies.indices)
  func `an object becomes one of a subentity`(policy: Int) throws {
    let first = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try first.performAndWait {
      _ = try make("Orchestra", "x", in: first)
      try first.save()
    }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      context.mergePolicy = Self.policies[policy]
      _ = try make("Band", "x", in: context)
      try context.save()
      let names = try context.fetch(FetchRequest<ManagedObject>(entityName: "Band")).map(\.entity.name)
      #expect(names == ["Orchestra"])
    }
    #expect(try coordinator.verify().findings == [])
    try coordinator.close()
  }
}
