/// Relationships of new objects that have no context: both sides hold each other, until one is inserted into a context and takes the others with it.
extension ManagedObject {
  /// Whether this is a new object that no context has.
  final var isUnattached: Bool { contextReference == nil && identifier.isTemporaryID }

  /// The destinations that the object has without a context, in order.
  final func detachedDestinations(at slot: Int) -> [ManagedObject] { detachedList(slot)?.keys ?? [] }

  final func detachedList(_ slot: Int) -> OrderedKeys<ManagedObject>? { pending?.header.detached[slot] }

  final func setDetached(_ destinations: [ManagedObject], at slot: Int) {
    let former = detachedDestinations(at: slot)
    guard former != destinations else { return }
    for former in former { removeDetached(former, at: slot) }
    for destination in destinations { insertDetached(destination, at: slot) }
  }

  /// Adds a destination; in an ordered relationship at `index`, or at the end if it is nil.
  final func insertDetached(_ destination: ManagedObject, at slot: Int, index: Int? = nil) {
    let relationship = entity.relationship(at: slot)
    relationship.requireFitting(destination)
    if !relationship.isToMany, let former = detachedDestinations(at: slot).first {
      guard former !== destination else { return }
      removeDetached(former, at: slot)
    }
    list(destination, at: slot, index)
    guard let inverse = relationship.inverseRelationship else { return }
    if !inverse.isToMany {
      for former in destination.detachedDestinations(at: inverse.slot) where former !== self {
        former.removeDetached(destination, at: slot)
      }
    }
    destination.list(self, at: inverse.slot, nil)
  }

  final func removeDetached(_ destination: ManagedObject, at slot: Int) {
    changeValues([slot]) { detachedList(slot)?.remove(destination) }
    guard let inverse = entity.relationship(at: slot).inverseRelationship else { return }
    destination.changeValues([inverse.slot]) { destination.detachedList(inverse.slot)?.remove(self) }
  }

  private final func list(_ destination: ManagedObject, at slot: Int, _ index: Int?) {
    let known = detachedList(slot)
    let list = known ?? OrderedKeys([])
    if known == nil { makePendingValues().header.detached[slot] = list }
    changeValues([slot]) {
      if list.contains(destination) {
        guard index != nil else { return }
        list.remove(destination)
      }
      list.insert(destination, at: index ?? list.count)
    }
  }
}

/// A new object without a context, and all that it is related to: they are inserted together.
struct DetachedGroup {
  private(set) var objects: [ManagedObject]
  private var links: [(object: ManagedObject, slot: Int, destinations: [ManagedObject])] = []

  /// Takes the relationships from the objects. Nil for an object that has none.
  init?(of object: ManagedObject) {
    guard let pending = object.pending, !pending.header.detached.isEmpty else { return nil }
    objects = [object]
    var seen: Set = [object]
    var next = 0
    while next < objects.count {
      let object = objects[next]
      next += 1
      guard let lists = object.pending?.header.detached, !lists.isEmpty else { continue }
      object.pending?.header.detached = [:]
      for (slot, list) in lists.sorted(by: { $0.key < $1.key }) {
        let destinations = list.keys
        links.append((object, slot, destinations))
        objects += destinations.filter { seen.insert($0).inserted }
      }
    }
  }

  /// Relates the objects, which the context has now.
  func relate(in context: ManagedObjectContext) {
    for (object, slot, destinations) in links {
      if object.entity.relationship(at: slot).isToMany {
        context.setRelated(object, slot, destinations)
      } else {
        context.setToOne(object, slot, destinations.first)
      }
    }
  }
}
