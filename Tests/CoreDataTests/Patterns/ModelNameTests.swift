import CoreData
import Foundation
import Testing

@Suite struct `Names in models` {
  /// Models that are made in code often give an entity the name of its class.
  @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
  func `an entity may be called like a class with its module`(type: String) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    func open() throws -> NSManagedObjectContext {
      let (owner, pet) = (NSEntityDescription(), NSEntityDescription())
      (owner.name, pet.name) = ("Animals.Owner", "Animals.Pet")
      let pets = Library.relationship("pets", pet, many: true, .nullifyDeleteRule)
      let keeper = Library.relationship("owner", owner, many: false, .nullifyDeleteRule)
      (pets.inverseRelationship, keeper.inverseRelationship) = (keeper, pets)
      owner.properties = [Library.attribute("name", .stringAttributeType), pets]
      pet.properties = [Library.attribute("name", .stringAttributeType), keeper]
      let model = NSManagedObjectModel()
      model.entities = [owner, pet]
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let first = try open()
    let uri = try first.performAndWait {
      let owner = NSEntityDescription.insertNewObject(forEntityName: "Animals.Owner", into: first)
      let pet = NSEntityDescription.insertNewObject(forEntityName: "Animals.Pet", into: first)
      owner.setValue("Ada", forKey: "name")
      pet.setValue("Rex", forKey: "name")
      pet.setValue(owner, forKey: "owner")
      try first.save()
      return pet.objectID.uriRepresentation()
    }
    let second = try open()
    try second.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Animals.Owner")
      request.predicate = NSPredicate(format: "ANY pets.name == 'Rex'")
      #expect(try second.fetch(request).map { $0.value(forKey: "name") as? String } == ["Ada"])
      let found = try #require(
        second.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
      #expect(second.object(with: found).value(forKeyPath: "owner.name") as? String == "Ada")
    }
  }

  @Test func `all entities are the configuration with the name that stores without another one show`() throws
  {
    let model = Library.makeModel()
    model.setEntities([model.entities[0]], forConfigurationName: "One")
    #expect(model.configurations == ["PF_DEFAULT_CONFIGURATION_NAME", "One"])
    for name in model.configurations + [nil] {
      let count = name == "One" ? 1 : model.entities.count
      #expect(model.entities(forConfigurationName: name)?.count == count)
    }
    #expect(model.entities(forConfigurationName: "Two") == nil)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: model.configurations[0], at: nil)
    #expect(store.configurationName == model.configurations[0])
  }

  @Test func `in a model without configurations every name of one means all entities`() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: "Library", at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = Author(name: "A", context: context)
      try context.save()
    }
    let metadata = coordinator.metadata(for: store)
    #expect(Library.makeModel().isConfiguration(withName: "Library", compatibleWithStoreMetadata: metadata))
    let other = NSManagedObjectModel()
    #expect(!other.isConfiguration(withName: "Library", compatibleWithStoreMetadata: metadata))
    let configured = Library.makeModel()
    configured.setEntities(configured.entities, forConfigurationName: "All")
    #expect(throws: (any Error).self) {
      try NSPersistentStoreCoordinator(managedObjectModel: configured).addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: "Library", at: nil)
    }
  }

  @Test func `a renaming identifier that was not set is the name`() {
    let attribute = Library.attribute("title", .stringAttributeType)
    let entity = NSEntityDescription()
    entity.name = "Song"
    #expect(attribute.renamingIdentifier == "title" && entity.renamingIdentifier == "Song")
    (attribute.renamingIdentifier, entity.renamingIdentifier) = ("name", "Track")
    #expect(attribute.renamingIdentifier == "name" && entity.renamingIdentifier == "Track")
    (attribute.renamingIdentifier, entity.renamingIdentifier) = (nil, nil)
    #expect(attribute.renamingIdentifier == "title" && entity.renamingIdentifier == "Song")
  }
}
