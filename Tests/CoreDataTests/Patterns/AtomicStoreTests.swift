import CoreData
import Foundation
import Testing

/// A store of a program's own, which has its objects in a dictionary.
final class ShelfStore: NSAtomicStore, @unchecked Sendable {
  nonisolated(unsafe) static var texts: [String] = ["first"]

  override func load() throws {
    guard let entity = managedObjectModel.entitiesByName["Note"] else { return }
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for (index, text) in Self.texts.enumerated() {
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: "\(index)"))
      node.setValue(text, forKey: "text")
      nodes.insert(node)
    }
    addCacheNodes(nodes)
  }

  override func save() throws {
    Self.texts = cacheNodes().compactMap { $0.value(forKey: "text") as? String }.sorted()
  }
}

@Suite struct `Atomic stores by Core Data's names` {
  @Test func `a class of stores is registered by the name of its type, loaded and saved`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: "Shelf")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let store = try coordinator.addPersistentStore(
      ofType: "Shelf", configurationName: nil, at: URL(fileURLWithPath: "/tmp/shelf-\(UUID().uuidString)"),
      options: nil)
    #expect(store is ShelfStore)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      #expect(notes.compactMap { $0.value(forKey: "text") as? String } == ["first"])
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("second", forKey: "text")
      try context.save()
      #expect(ShelfStore.texts == ["first", "second"])
    }
  }
}
