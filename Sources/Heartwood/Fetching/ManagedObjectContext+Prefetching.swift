/// Loading the rows of several faults at once.
///
/// The faults of one relationship or list mostly have keys close to one another, and are mostly read one after the other. So
/// firing one also loads the rows of the faults in its block of sixteen keys, in one pass. They stay faults, and read the store
/// again if it has a newer generation when they are used: nothing shows older values than without.
extension ManagedObjectContext {
  /// Loads the rows of faults with keys next to that of an object whose row was just read.
  func prefetchSiblings(of object: ManagedObject, in view: any StoreView) {
    // A parent's view scans the store's rows only, and an incremental store finds no neighbours.
    guard parent == nil, view.readsNeighbours else { return }
    let root = object.entity.rootEntity
    var waiting: [UInt64: ManagedObject] = [:]
    identities.forEachNeighbour(root.number, object.identifier.key) { neighbour in
      guard !neighbour.hasRow, !neighbour.isRealised, neighbour.identifier.key.isPermanentKey,
        neighbour.state.isDisjoint(with: [.inserted, .deleted, .unreadable, .inaccessible])
      else { return }
      waiting[neighbour.identifier.key] = neighbour
    }
    guard let first = waiting.keys.min(), let last = waiting.keys.max() else { return }
    // Without a row, or with an error, a sibling reads for itself when it is used, and reports what is wrong then.
    try? view.scanRows(of: root, from: first, reversed: false) { found in
      guard found.key <= last else { return false }
      if let sibling = waiting[found.key], found.row.entityNumber == sibling.entity.number {
        sibling.prefetch(checkedRow: found.row.bytes, stamp: Self.stamp(of: view))
      }
      return found.key < last
    }
  }

  /// The stamp of rows that are loaded now; 0 if the store cannot be read.
  func prefetchStamp() -> UInt32 { (try? readingView()).map(Self.stamp) ?? 0 }

  /// Never 0.
  static func stamp(of view: any StoreView) -> UInt32 {
    UInt32(truncatingIfNeeded: view.generation) | ManagedObject.prefetchMark
  }
}
