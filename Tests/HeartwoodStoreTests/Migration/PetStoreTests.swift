import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Tests of stores with persons and pets that are opened with other models.
protocol PetStoreTests {
  var folder: TemporaryFolder { get }
}

extension PetStoreTests {
  /// A model of persons and pets; `edit` changes it by the names of its entities.
  func model(_ edit: (EntityDescription, EntityDescription) -> Void = { _, _ in })
    -> ManagedObjectModel
  {
    let name = AttributeDescription(name: "name", type: .string)
    let age = AttributeDescription(name: "age", type: .integer16)
    let person = EntityDescription(name: "Person", properties: [name, age])
    let pet = EntityDescription(
      name: "Pet", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
    person.indexes = [
      FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(property: name)])
    ]
    let pets = RelationshipDescription(name: "pets", destination: pet, isToMany: true)
    let owner = RelationshipDescription(name: "owner", destination: person, isToMany: false)
    (pets.inverseRelationship, owner.inverseRelationship) = (owner, pets)
    person.ownProperties.append(pets)
    pet.ownProperties.append(owner)
    edit(person, pet)
    return ManagedObjectModel(entities: [person, pet])
  }

  func open(
    _ model: ManagedObjectModel, _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: folder.store)
    edit(description)
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  func close(_ context: ManagedObjectContext) throws {
    try context.persistentStoreCoordinator?.close()
  }

  func insert(_ entity: String, _ values: [String: Any?], in context: ManagedObjectContext) throws
    -> ManagedObject
  {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    let object = ManagedObject(entity: try #require(model.entitiesByName[entity]), insertInto: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }

  func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
  }

  /// Ada and Bob, and Ada's cat.
  func fill() throws {
    let context = try open(model())
    let ada = try insert("Person", ["name": "Ada", "age": 36], in: context)
    _ = try insert("Person", ["name": "Bob", "age": nil], in: context)
    _ = try insert("Pet", ["name": "Cat", "owner": ada], in: context)
    try context.save()
    try close(context)
  }

  func checkUnchanged() throws {
    let context = try open(model()) { $0.shouldMigrateStoreAutomatically = false }
    #expect(
      Set(try all("Person", in: context).map { $0.value(forKey: "name") as? String }) == ["Ada", "Bob"])
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try close(context)
  }
}
