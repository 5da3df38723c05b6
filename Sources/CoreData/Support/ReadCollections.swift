import Foundation
import Heartwood

/// The destinations of a relationship as a set of Foundation, which objects are added to and removed from as they come and go.
final class ReadSet {
  private let objects: NSMutableSet
  private var copied: NSSet?

  init(_ objects: [ManagedObject]) { self.objects = NSMutableSet(array: objects) }

  /// The set as it is now, which does not change.
  var current: NSSet {
    if let copied { return copied }
    let made = objects.copy() as? NSSet ?? NSSet(array: objects.allObjects)
    copied = made
    return made
  }

  func change(_ object: ManagedObject, isAdded: Bool) {
    // First, as the two share their memory until one of them changes.
    copied = nil
    if isAdded { objects.add(object) } else { objects.remove(object) }
  }
}

extension RelatedObjects {
  /// All destinations as a collection, which may be the one that was read before.
  ///
  /// - Parameter change: Adds or removes an object that has come, as the last one, or gone since; returns whether it could.
  func collection<Collection>(
    _ make: () -> Collection,
    change: (inout Collection, ManagedObject, _ isAdded: Bool) -> Bool
  ) -> Collection {
    if let known = lastCollection(as: Collection.self, change) { return known }
    let made = make()
    noteRead(made)
    return made
  }

  /// Calls `insert` with the objects that are to be inserted into an ordered relationship, and their indexes. A destination stays where it is, and
  /// one behind it is at the end if its index is behind that for this reason only.
  func forEachNew(_ objects: [Element], at indexes: IndexSet, _ insert: (Element, Int) -> Void) {
    var passedOver = 0
    for (object, index) in zip(objects, indexes) {
      let end = count
      if contains(object) {
        passedOver += 1
      } else {
        insert(object, (end...end + passedOver).contains(index) ? end : index)
      }
    }
  }

  /// Keeps a collection of all destinations until the next event or another change, if there was another read before. Most loops read a collection
  /// once, and it keeps its objects. A set that writes through stays: it takes longer to make.
  package func noteRead(_ collection: Any) {
    let last = lastCollection
    if !(last is RelationshipOrderedSet) { lastCollection = last is ReadOnce ? collection : ReadOnce() }
  }
}
