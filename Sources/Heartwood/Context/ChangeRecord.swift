/// The changes of one event, in a form that can be taken back, also after a save.
///
/// Values are absolute, and references are those to objects, so that neither a save nor new identifiers matter. Of a to-many relationship, the
/// destinations that the event has added and removed are recorded: all of them for each event would take quadratic time and memory.
struct ChangeRecord {
  /// A change of an object.
  enum Kind {
    case inserted
    case updated
    case deleted
    /// A delete was taken back.
    case restored
  }

  struct Entry {
    let object: ManagedObject
    let kind: Kind
    let identifier: ManagedObjectID
    /// The values before the event: of properties that it changed, or all of a deleted object.
    var values: [(slot: Int, value: RecordedValue)] = []
    /// The to-many relationships that it changed; of a deleted object, all of them.
    var relationships: [(slot: Int, destinations: RecordedDestinations)] = []
  }

  /// The destinations of a to-many relationship before the event.
  enum RecordedDestinations {
    /// All, for an object that was deleted and for the places of an ordered relationship.
    case all([ManagedObject])
    /// Those that the event has removed and those that it has added. An ordered relationship has lost its last ones.
    case changed(lost: [ManagedObject], gained: [ManagedObject])
  }

  /// A value whose reference does not depend on the identifier of the object.
  enum RecordedValue {
    case value(Value)
    case object(ManagedObject)
  }

  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  init(_ event: ContextEvent, in context: ManagedObjectContext) {
    for change in event.changes {
      if let entry = Self.entry(change, in: context) { entries.append(entry) }
    }
  }

  private static func entry(_ change: ContextEvent.Change, in context: ManagedObjectContext) -> Entry? {
    let object = change.object
    guard let kind = kind(of: change) else { return nil }
    var entry = Entry(object: object, kind: kind, identifier: object.identifier)
    switch kind {
    case .inserted, .restored: break
    case .deleted:
      entry.values = object.values(before: change).map { ($0, recorded($1, at: $0, object, context)) }
      for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
        // A relationship that was not used is loaded if nothing else has its links.
        guard
          object.relationshipState(at: relationship.slot) != nil || relationship.ownsLinks
            || relationship.isOrdered
        else { continue }
        let state = context.loadedState(object, relationship.slot)
        let keys = object.keys(of: state, at: relationship.slot, before: change)
        entry.relationships.append(
          (relationship.slot, .all(keys.map { context.object(relationship.destinationEntity, $0) })))
      }
      // The row of a fault may be gone: reading it has shown that there is nothing to bring back.
      guard !object.state.contains(.inaccessible) else { return nil }
    case .updated:
      entry.values = object.valuesChanged(since: change).map { ($0, recorded($1, at: $0, object, context)) }
      for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
        let slot = relationship.slot
        guard let state = object.relationshipState(at: slot),
          state.hasChanges || change.values?.relationships.contains(where: { $0.slot == slot }) == true
        else { continue }
        _ = context.loadedState(object, slot)
        let objects = { (keys: [UInt64]) in keys.map { context.object(relationship.destinationEntity, $0) } }
        if let (lost, gained) = object.keysLostAndGained(since: change, at: slot) {
          guard !lost.isEmpty || !gained.isEmpty else { continue }
          entry.relationships.append((slot, .changed(lost: objects(lost), gained: objects(gained))))
        } else if let keys = object.keysChanged(since: change, at: slot) {
          entry.relationships.append((slot, .all(objects(keys))))
        }
      }
      if entry.values.isEmpty, entry.relationships.isEmpty { return nil }
    }
    return entry
  }

  private static func kind(of change: ContextEvent.Change) -> Kind? {
    let (object, wasLive) = (change.object, change.before.isLive)
    guard !object.state.contains(.inaccessible) else { return nil }
    if object.state.isLive {
      if !wasLive { return .restored }
      let isNew = object.state.contains(.inserted) && !change.before.contains(.inserted)
      return isNew ? .inserted : .updated
    }
    let wasThere = change.before.contains(.inserted) || !object.state.contains(.inserted)
    return wasLive && wasThere ? .deleted : nil
  }

  private static func recorded(
    _ value: Value, at slot: Int, _ object: ManagedObject, _ context: ManagedObjectContext
  ) -> RecordedValue {
    guard case .object(let id) = value else { return .value(value) }
    return .object(context.object(object.entity.relationship(at: slot).destinationEntity, id.key))
  }
}
