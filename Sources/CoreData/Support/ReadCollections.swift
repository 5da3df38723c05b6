import Foundation
import Heartwood

/// A collection of destinations that was read once.
private struct ReadOnce {}

extension RelatedObjects {
  /// All destinations as a collection, which may be the one that was read before.
  func collection<Collection>(_ make: () -> Collection) -> Collection {
    if let last = lastCollection, type(of: last) == Collection.self, let known = last as? Collection {
      return known
    }
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
    if !(last is NSMutableOrderedSet) { lastCollection = last is ReadOnce ? collection : ReadOnce() }
  }
}
