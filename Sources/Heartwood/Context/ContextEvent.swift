/// What has happened in a context since its pending changes were last processed.
///
/// An object is noted once, at its first change in the event, with its state before it. Only objects that had unsaved
/// values then need a copy of them: for all others the committed values are the ones before the event.
struct ContextEvent {
  /// An object's first change in the event.
  struct Change {
    let object: ManagedObject
    /// The object's state before the change.
    let before: ObjectState
    /// Its unsaved values before the change; nil if it had none.
    let values: FormerValues?
  }

  private(set) var changes: [Change] = []
  /// Objects whose values were replaced by the store's.
  var refreshed: [ManagedObject] = []
  /// Objects whose values were dropped.
  var invalidated: [ManagedObject] = []
  /// Faults of objects that others have inserted.
  var insertedElsewhere: [ManagedObject] = []
  /// Identifiers of what others have changed, registered or not; only if there are live results, which may show it.
  var touchedElsewhere: [ManagedObjectID] = []

  /// The index of each object in `changes`; brought up to date on demand.
  private var places: [ObjectIdentifier: Int] = [:]

  /// The first change of an object in this event; nil if it was not changed.
  mutating func change(of object: ManagedObject) -> Change? {
    guard object.state.contains(.noted) else { return nil }
    for place in places.count..<changes.count { places[ObjectIdentifier(changes[place].object)] = place }
    return places[ObjectIdentifier(object)].map { changes[$0] }
  }

  var isEmpty: Bool {
    changes.isEmpty && refreshed.isEmpty && invalidated.isEmpty && insertedElsewhere.isEmpty
      && touchedElsewhere.isEmpty
  }

  mutating func note(_ object: ManagedObject) {
    changes.append(Change(object: object, before: object.state, values: FormerValues(of: object)))
  }

  /// The objects by what happened to them, as of now.
  func summary() -> ContextChanges {
    var summary = ContextChanges()
    summary.insertedObjects.reserveCapacity(changes.count)
    for change in changes {
      let (object, wasLive) = (change.object, change.before.isLive)
      if object.state.isLive {
        let isNew = object.state.contains(.inserted) && !change.before.contains(.inserted)
        if isNew || !wasLive {
          summary.insertedObjects.insert(object)
        } else if object.hasChanges {
          summary.updatedObjects.insert(object)
        }
      } else if wasLive, object.isKnownToStoreOrEarlierEvent(change.before) {
        summary.deletedObjects.insert(object)
      }
    }
    for object in insertedElsewhere where !summary.contains(object) { summary.insertedObjects.insert(object) }
    for object in refreshed where !summary.contains(object) { summary.refreshedObjects.insert(object) }
    for object in invalidated where !summary.contains(object) { summary.invalidatedObjects.insert(object) }
    return summary
  }
}

/// The unsaved values of an object at some time.
final class FormerValues {
  let edits: [(slot: Int, value: Value)]
  /// The unsaved differences of to-many relationships, by slot.
  let relationships: [(slot: Int, state: RelationshipState.Differences)]

  /// - Returns: nil if the object has no unsaved values.
  init?(of object: ManagedObject) {
    guard let pending = object.pending, pending.hasEdits || object.hasRelationshipChanges else { return nil }
    edits = object.editedSlots.compactMap { slot in pending.edit(slot).map { (slot, $0) } }
    relationships = object.changedToManySlots.compactMap { slot in
      object.relationshipState(at: slot).map { (slot, $0.differences) }
    }
  }
}

extension ObjectState {
  /// Whether the object is not deleted.
  var isLive: Bool { !contains(.deleted) }
}

extension ManagedObject {
  /// Whether others may have heard of the object: it has a row, or was inserted in an earlier event.
  fileprivate func isKnownToStoreOrEarlierEvent(_ before: ObjectState) -> Bool {
    before.contains(.inserted) || !state.contains(.inserted)
  }
}

extension ContextChanges {
  fileprivate func contains(_ object: ManagedObject) -> Bool {
    insertedObjects.contains(object) || updatedObjects.contains(object) || deletedObjects.contains(object)
  }
}
