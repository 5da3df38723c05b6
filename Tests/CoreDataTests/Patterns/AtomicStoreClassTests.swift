import CoreData
import Foundation
import Testing

/// A store of a program's own, which has its objects in a property list in memory.
final class ShelfStore: NSAtomicStore, @unchecked Sendable {
  nonisolated(unsafe) static var rows: [String: [String: Any]] = ["first": ["text": "first"]]
  nonisolated(unsafe) static var removed = 0

  override var type: String { "Shelf" }

  override func loadMetadata() throws { metadata = [NSStoreTypeKey: "Shelf", "shelf": 7] }

  override func load() throws {
    guard let entity = managedObjectModel.entitiesByName["Note"] else { return }
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for (name, values) in Self.rows {
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: name))
      for (key, value) in values { node.setValue(value, forKey: key) }
      nodes.insert(node)
    }
    addCacheNodes(nodes)
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    managedObject.value(forKey: "text") as? String ?? "?"
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = super.newCacheNode(for: managedObject)
    node.setValue("made", forKey: "note")
    return node
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    super.updateCacheNode(node, from: managedObject)
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    Self.removed += cacheNodes.count
  }

  override func save() throws {
    Self.rows = [:]
    for node in cacheNodes() {
      Self.rows[referenceObject(for: node.objectID) as! String] = [
        "text": node.value(forKey: "text") as Any, "count": node.value(forKey: "count") as Any,
      ]
    }
  }
}

@Suite struct `Atomic stores by Core Data's names` {
  @Test func `a class of stores is registered by the name of its type, loaded and saved`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: "Shelf")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let store = try coordinator.addPersistentStore(
      ofType: "Shelf", configurationName: nil, at: URL(fileURLWithPath: "/tmp/shelf-\(UUID().uuidString)"),
      options: nil)
    #expect((store as? ShelfStore)?.metadata["shelf"] as? Int == 7)
    #expect(store.type == "Shelf")
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
      #expect(notes.compactMap { $0.value(forKey: "text") as? String } == ["first"])
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("second", forKey: "text")
      note.setValue(4, forKey: "count")
      try context.save()
      #expect(ShelfStore.rows.keys.sorted() == ["first", "second"])
      #expect(ShelfStore.rows["second"]?["count"] as? Int64 == 4)
      #expect((store as? ShelfStore)?.referenceObject(for: note.objectID) as? String == "second")
      context.delete(note)
      try context.save()
      #expect(ShelfStore.rows.keys.sorted() == ["first"])
      #expect(ShelfStore.removed == 1)
    }
  }
}
