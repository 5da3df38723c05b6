import CoreData
import Testing

@Suite struct `Lower bounds of relationships` {
  /// A model of a box with things, of which it is one side.
  private func model(_ change: (NSRelationshipDescription, NSRelationshipDescription) -> Void)
    -> NSManagedObjectModel
  {
    let (box, thing) = (NSEntityDescription(), NSEntityDescription())
    (box.name, thing.name) = ("Box", "Thing")
    let things = Library.relationship("things", thing, many: true, .nullifyDeleteRule)
    let home = Library.relationship("home", box, many: false, .nullifyDeleteRule)
    (things.inverseRelationship, home.inverseRelationship) = (home, things)
    change(things, home)
    box.properties = [Library.attribute("name", .stringAttributeType), things]
    thing.properties = [home]
    let model = NSManagedObjectModel()
    model.entities = [box, thing]
    return model
  }

  private func code(_ name: String, _ model: NSManagedObjectModel, _ type: String) throws -> Int? {
    let url = FileManager.default.temporaryDirectory.appending(path: "bounds-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : url)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      do {
        try context.save()
        return nil
      } catch {
        return (error as NSError).code
      }
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType, NSBinaryStoreType, NSXMLStoreType])
  func `a to-many relationship that is not optional may be empty without a minimum`(type: String) throws {
    let free = model { things, _ in things.isOptional = false }
    #expect(try code("Box", free, type) == nil)
    let bound = model { things, _ in
      things.isOptional = false
      things.minCount = 1
    }
    #expect(try code("Box", bound, type) == NSValidationRelationshipLacksMinimumCountError)
    let optional = model { things, _ in things.minCount = 2 }
    #expect(try code("Box", optional, type) == nil)
    let toOne = model { _, home in home.isOptional = false }
    #expect(try code("Thing", toOne, type) == NSValidationMissingMandatoryPropertyError)
  }

  @Test func `a batch insert asks for the same`() throws {
    let context = try Library.makeContext(model { things, _ in things.isOptional = false })
    try context.performAndWait {
      let request = NSBatchInsertRequest(entityName: "Box", objects: [["name": "a"], ["name": "b"]])
      request.resultType = .count
      let result = try context.execute(request) as? NSBatchInsertResult
      #expect(result?.result as? Int == 2)
    }
  }
}
