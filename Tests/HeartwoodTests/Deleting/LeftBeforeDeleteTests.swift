import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Destinations that leave an object before it is deleted, in the same unsaved state.
@Suite struct `Left before a delete` {
  /// A relationship of shelves, and its inverse at the volumes.
  enum Shape: CaseIterable { case one, many, ordered, shared, toOne, oneWay }

  private static func model(_ shape: Shape, _ rule: DeleteRule) -> ManagedObjectModel {
    let (shelf, volume) = (
      EntityDescription(name: "Shelf", properties: []), EntityDescription(name: "Volume", properties: [])
    )
    let volumes = RelationshipDescription(
      name: "volumes", destination: volume, isToMany: shape != .one && shape != .toOne,
      isOrdered: shape == .ordered, deleteRule: rule)
    let shelves = RelationshipDescription(
      name: "shelves", destination: shelf, isToMany: shape == .shared || shape == .toOne)
    shelf.properties = [volumes]
    if shape != .oneWay {
      (volumes.inverseRelationship, shelves.inverseRelationship) = (shelves, volumes)
      volume.properties = [shelves]
    }
    return ManagedObjectModel(entities: [shelf, volume])
  }

  @Test(arguments: Shape.allCases, [DeleteRule.cascade, .deny])
  func `rules of the deleted object do not reach what has left it`(_ shape: Shape, _ rule: DeleteRule) throws
  {
    for depth in 0...2 {
      for refreshes in [false, true] {
        let container = PersistentContainer(
          name: "Shelves", managedObjectModel: Self.model(shape, rule))
        container.persistentStoreDescriptions = [
          PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        ]
        try container.loadPersistentStores()
        let root = container.newBackgroundContext()
        var contexts = [root]
        for _ in 0..<depth {
          contexts.append(ManagedObjectContext(.privateQueue, parent: contexts[contexts.count - 1]))
        }
        let identifiers = try root.performAndWait {
          let shelf = ManagedObject(entity: try root.entity("Shelf"), insertInto: root)
          let volume = ManagedObject(entity: try root.entity("Volume"), insertInto: root)
          try shelf.assign(shape == .one || shape == .toOne ? volume : [volume], forKey: "volumes")
          try root.save()
          return (shelf: shelf.objectID, volume: volume.objectID)
        }

        let context = contexts[depth]
        try context.performAndWait {
          let shelf = context.object(with: identifiers.shelf)
          let volume = context.object(with: identifiers.volume)
          try shelf.assign(shape == .one || shape == .toOne ? nil : [ManagedObject](), forKey: "volumes")
          context.delete(shelf)
          context.processPendingChanges()
          if refreshes { context.refreshAllObjects() }
          #expect(!volume.isDeleted)
        }
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
        let reader = container.newBackgroundContext()
        let counts = try reader.performAndWait {
          try ["Shelf", "Volume"].map { try reader.count(for: FetchRequest<ManagedObject>(entityName: $0)) }
        }
        #expect(counts == [0, 1], "\(depth) \(refreshes)")
      }
    }
  }
}
