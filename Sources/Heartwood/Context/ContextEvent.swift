/// The changes of a context since its pending changes were last processed.
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
  ///
  /// - Parameter isOver: Whether the event has ended, so that objects do not know any more that it has noted them.
  mutating func change(of object: ManagedObject, isOver: Bool = false) -> Change? {
    guard isOver || object.state.contains(.noted) else { return nil }
    for place in places.count..<changes.count { places[ObjectIdentifier(changes[place].object)] = place }
    return places[ObjectIdentifier(object)].map { changes[$0] }
  }

  /// The objects whose unsaved values, or whose rows below them, may be others.
  var changedObjects: [ManagedObject] { changes.map(\.object) + refreshed }

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
  let relationships: [(slot: Int, differences: FormerDifferences)]

  /// - Returns: nil if the object has no unsaved values.
  init?(of object: ManagedObject) {
    guard let pending = object.pending, pending.hasEdits || object.hasRelationshipChanges else { return nil }
    edits = object.editedSlots.compactMap { slot in pending.edit(slot).map { (slot, $0) } }
    relationships = object.changedToManySlots.compactMap { slot in
      object.relationshipState(at: slot).map { (slot, $0.noteFormer()) }
    }
  }
}

/// The unsaved differences of a relationship at one time.
///
/// They follow from the present ones and the keys that are gained and lost since. They are copied only if something else happens: a copy for
/// each event would take quadratic time where one object gets or loses many destinations, each in an event of its own.
final class FormerDifferences {
  typealias Copy = (added: [UInt64], removed: Set<UInt64>, order: [UInt64]?)

  private let state: RelationshipState
  /// The keys that are there now, and were not.
  private var gained: Set<UInt64> = []
  /// The keys that were there, and are not now.
  private var lost: Set<UInt64> = []
  /// Those of an ordered relationship that were added before: each was the last one.
  private var lostAtEnd: [UInt64] = []
  private var copy: Copy?

  init(of state: RelationshipState) {
    self.state = state
    // Later changes may make another order.
    if let order = state.order { copy = (Array(state.added), state.removed, order) }
  }

  /// The keys of the relationship at that time.
  ///
  /// - Parameter committed: The keys in the store.
  func keys(over committed: [UInt64]) -> [UInt64] {
    let (added, removed, order) = copy ?? present
    return order ?? committed.filter { !removed.contains($0) } + added
  }

  /// Keeps what they are, before they can be distinguished from the present ones no more.
  func keep() { copy = copy ?? present }

  /// Notes that a key is about to be added. One that an ordered relationship gets back has another place than before.
  func noteAddition(of key: UInt64) {
    guard copy == nil else { return }
    if state.isOrdered, state.removed.contains(key) || lost.contains(key) { return keep() }
    if lost.remove(key) == nil { gained.insert(key) }
  }

  /// Notes that a key is about to be removed.
  func noteRemoval(of key: UInt64) {
    guard copy == nil, gained.remove(key) == nil else { return }
    if state.isOrdered, state.added.contains(key) {
      guard state.added.last == key else { return keep() }
      lostAtEnd.append(key)
    }
    lost.insert(key)
  }

  /// The keys that are lost and gained since; nil if the places of keys may differ, too, if they were copied, or if another state has taken the
  /// place of this one. Those that an ordered relationship has lost were its last ones.
  func change(to present: RelationshipState) -> (lost: [UInt64], gained: [UInt64])? {
    guard state === present, copy == nil, !state.hasOrder, !state.isOrdered || lost.count == lostAtEnd.count
    else { return nil }
    return (state.isOrdered ? lostAtEnd.reversed() : lost.sorted(), gained.sorted())
  }

  private var present: Copy {
    let added = state.added.filter { !gained.contains($0) }
    guard !state.isOrdered else {
      return (added + lostAtEnd.reversed(), state.removed.subtracting(lost), nil)
    }
    return (
      added + lost.filter { !state.removed.contains($0) }.sorted(),
      state.removed.subtracting(lost).union(gained.filter { !state.added.contains($0) }), nil
    )
  }
}

/// The view that a context has shown its children last, and the changes since.
struct ShownChanges {
  let view: ParentView
  /// The context's `editCount` when the view was made.
  let stamp: Int
  /// Its `editCount` at the end of the last event whose changes are in the view or noted here.
  private(set) var editCountOfEvents: Int
  /// The objects that events have changed.
  private(set) var changed: [ManagedObject] = []

  init(_ view: ParentView, of context: ManagedObjectContext) {
    self.view = view
    stamp = context.editCount
    editCountOfEvents = context.editCountOfEvents
  }

  /// Notes what an event has changed, if all before it is known.
  mutating func note(_ event: ContextEvent, editCountBefore: Int, after: Int) {
    guard editCountOfEvents == editCountBefore else { return }
    changed += event.changedObjects
    editCountOfEvents = after
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
