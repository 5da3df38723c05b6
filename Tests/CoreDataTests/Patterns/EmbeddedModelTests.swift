import CoreData
import Foundation
import Testing

/// As the plugin writes it for a folder with two versions.
final class _EmbeddedModel_Garden: CoreData._EmbeddedModel {
  override class var name: String { "Garden" }
  override class var currentVersion: String { "Garden 2" }
  override class var versions: [(name: String, contents: String)] {
    func model(_ attributes: String) -> String {
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
        <entity name="Plant" representedClassName="NSManagedObject" syncable="YES">\(attributes)</entity>
      </model>
      """
    }
    let name = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
    return [
      ("Garden", model(name)),
      ("Garden 2", model(name + "<attribute name=\"height\" optional=\"YES\" attributeType=\"Double\"/>")),
    ]
  }
}

@Suite struct `Models in the program` {
  static func open(_ container: NSPersistentContainer, at url: URL) throws {
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  @Test func `a container finds its model by its name, and it is the current version`() throws {
    let container = NSPersistentContainer(name: "Garden")
    try Self.open(container, at: URL(fileURLWithPath: "/dev/null"))
    let plant = try #require(container.managedObjectModel.entitiesByName["Plant"])
    #expect(plant.attributesByName.keys.sorted() == ["height", "name"])
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Plant", into: context)
      object.setValue(1.5, forKey: "height")
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Plant")) == 1)
    }
  }

  @Test func `the version that wrote a store is found by the metadata of the store`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "garden-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let folder = try #require(Bundle.main.url(forResource: "Garden", withExtension: "momd"))
    let first = try #require(NSManagedObjectModel(contentsOf: folder.appendingPathComponent("Garden.mom")))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    try coordinator.remove(store)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    let found = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    #expect(found?.entitiesByName["Plant"]?.attributesByName.keys.sorted() == ["name"])
    #expect(NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: [:]) == nil)

    // The container migrates it to the current version.
    let container = NSPersistentContainer(name: "Garden")
    try Self.open(container, at: url)
    #expect(container.managedObjectModel.entitiesByName["Plant"]?.attributesByName["height"] != nil)
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
