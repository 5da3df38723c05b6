import HeartwoodBytes

/// Taking back, for an undo or a redo, what an event of a context has changed.
struct UndoStep {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Registers what an event has changed.
  func registerUndo(_ event: ContextEvent) {
    guard context.undoManager?.isUndoRegistrationEnabled == true else { return }
    let record = ChangeRecord(event, in: context)
    guard !record.isEmpty else { return }
    if context.saveProgress?.resolution == nil {
      context.registerUndo(record)
    } else {
      context.saveProgress?.resolution?.undo.append(record)
    }
  }

  func takeBack(_ record: ChangeRecord) {
    context.beginUse("undoing")
    defer { context.endUse() }
    // Objects come back before values that refer to them, and go after them.
    let entries = record.entries.map { $0.kind == .deleted ? restored($0) : $0 }
    let changed = Dictionary(
      entries.lazy.map { (ObjectIdentifier($0.object), $0) }, uniquingKeysWith: { first, _ in first })
    for entry in entries where entry.kind == .updated || entry.kind == .deleted {
      setFormerValues(entry, changed)
    }
    for entry in entries where entry.kind == .inserted || entry.kind == .restored { remove(entry.object) }
    context.endEvent()
    for entry in entries {
      guard entry.object.managedObjectContext === context else { continue }
      entry.object.awake(fromSnapshotEvents: entry.snapshotEvent)
    }
  }

  /// Brings a deleted object back: the delete is not saved yet, or its row is inserted again under the same identifier.
  ///
  /// - Returns: The entry with the values that are still to be set.
  private func restored(_ entry: ChangeRecord.Entry) -> ChangeRecord.Entry {
    let object = entry.object
    if object.managedObjectContext === context {
      guard object.isDeleted else { return entry }
      guard !object.state.contains(.inaccessible) else {
        // Others have deleted the row, too.
        context.undelete(object)
        RowConflictResolution(context).insertAgain(object)
        return entry
      }
      var entry = entry
      // Others may have saved newer values meanwhile: only those that were not saved here are set.
      entry.values.removeAll { object.pending?.edit($0.slot) == nil }
      Merge(context).restoreDeleted(object)
      object.forEachRelationshipState { $0.unload() }
      return entry
    }
    // The delete was saved, or the object was never saved and has left the context.
    guard object.managedObjectContext == nil else { return entry }
    object.dropRow()
    object.dropPending()
    context.adoptInserted(object, as: entry.identifier)
    return entry
  }

  /// The other sides of relationships have entries of their own, so only this side is set. A destination without an entry keeps
  /// the object that it refers to: another context has changed it meanwhile.
  ///
  /// - Parameter changed: All entries, by their objects.
  private func setFormerValues(
    _ entry: ChangeRecord.Entry, _ changed: [ObjectIdentifier: ChangeRecord.Entry]
  ) {
    let object = entry.object
    guard object.managedObjectContext === context, !object.isDeleted else { return }
    context.willEdit(object)
    for (slot, value) in entry.values { object.setEdit(slot, value.value) }
    for (slot, recorded) in entry.relationships {
      let state = context.loadedState(object, slot)
      let relationship = object.entity.relationship(at: slot)
      /// Whether a destination that this undo does not change refers to the object; nil if that decides nothing.
      func refers(_ destination: ManagedObject) -> Bool? {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
          changed[ObjectIdentifier(destination)]?.changes(inverse.slot) != true
        else { return nil }
        return context.toOne(destination, inverse.slot) === object
      }
      let destinations: [ManagedObject]
      switch recorded {
      case .all(let all): destinations = all
      case .changed(let lost, let gained):
        for other in gained.reversed() where other.managedObjectContext === context && refers(other) != true {
          if state.contains(other.identifier.key) { state.remove(other.identifier.key) }
        }
        for other in lost where other.managedObjectContext === context && refers(other) != false {
          if !state.contains(other.identifier.key) { state.add(other.identifier.key) }
        }
        continue
      }
      var keys = destinations.filter { $0.managedObjectContext === context && refers($0) != false }
        .map(\.identifier.key)
      let known = Set(keys)
      keys += state.keys().filter { key in
        !known.contains(key) && refers(context.object(relationship.destinationEntity, key)) == true
      }
      let wanted = Set(keys)
      for key in state.keys() where !wanted.contains(key) { state.remove(key) }
      for key in keys where !state.contains(key) { state.add(key) }
      if state.isOrdered, state.keys() != keys { state.setOrder(keys) }
    }
  }

  /// Takes an object out without applying its delete rules: what they would change has entries of its own.
  private func remove(_ object: ManagedObject) {
    guard object.managedObjectContext === context, !object.isDeleted else { return }
    context.markDeleted(object)
    if context.changes.unpropagatedDeletes.last === object {
      context.changes.unpropagatedDeletes.removeLast()
    }
  }
}

extension ChangeRecord.Entry {
  /// Whether taking the entry back decides the value of a to-one relationship.
  fileprivate func changes(_ slot: Int) -> Bool {
    kind != .updated || values.contains { $0.slot == slot }
  }

  /// The event that `awake(fromSnapshotEvents:)` is told.
  fileprivate var snapshotEvent: SnapshotEventType {
    switch kind {
    case .inserted, .restored: .undoInsertion
    case .updated: .undoUpdate
    case .deleted: .undoDeletion
    }
  }
}

extension ChangeRecord.RecordedValue {
  fileprivate var value: Value {
    switch self {
    case .value(let value): value
    case .object(let object): .object(object.identifier)
    }
  }
}
