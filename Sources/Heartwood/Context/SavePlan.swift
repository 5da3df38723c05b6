import Foundation

/// The changes that one save writes, collected from the context before the writer lock is acquired.
struct SavePlan {
  let inserted: [ManagedObject]
  /// Changed objects with something to write: values, to-many differences or both.
  let updated: [ManagedObject]
  let deleted: [ManagedObject]
  let watched: [ManagedObject]

  /// The changed slots of each object in `updated`.
  let changedSlots: [[Int]]

  init(_ context: ManagedObjectContext) {
    inserted = Array(context.changes.inserted)
    deleted = Array(context.changes.deleted)
    // A fault shows no values that could be out of date.
    watched = context.changes.watched.filter {
      $0.storedRow != nil && $0.state.isDisjoint(with: [.updated, .deleted])
    }
    var updated: [ManagedObject] = []
    var changedSlots: [[Int]] = []
    // A parent takes over transient values as well, and to which store an object is assigned.
    let hasParent = context.parent != nil
    for object in context.changes.updated {
      let slots = hasParent ? object.slotsForParent : object.persistentChangedSlots()
      guard
        !slots.isEmpty || object.hasStoredRelationshipChanges
          || hasParent && Self.hasNewsForParent(object, in: context)
      else { continue }
      updated.append(object)
      changedSlots.append(slots)
    }
    self.updated = updated
    self.changedSlots = changedSlots
  }

  /// The part of a plan whose objects satisfy a condition.
  init(_ whole: SavePlan, where isWanted: (ManagedObject) -> Bool) {
    inserted = whole.inserted.filter(isWanted)
    deleted = whole.deleted.filter(isWanted)
    watched = whole.watched.filter(isWanted)
    let kept = zip(whole.updated, whole.changedSlots).filter { isWanted($0.0) }
    updated = kept.map(\.0)
    changedSlots = kept.map(\.1)
  }

  /// All objects of the plan.
  var all: some Sequence<ManagedObject> { [inserted, updated, deleted, watched].joined() }

  /// Reads the rows of deleted objects that are faults: their versions are checked under the writer lock.
  func readDeletedFaults() {
    for object in deleted {
      object.dropStalePrefetch()
      if object.storedRow == nil { object.managedObjectContext?.fire(object) }
    }
  }

  /// Every object that has a row after the save.
  var written: some Sequence<ManagedObject> { [inserted, updated].joined() }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

/// The results of a save in the store; the objects take them over once the transaction is committed.
struct SaveOutcome {
  var identifiers: [(ManagedObject, ManagedObjectID)] = []
  var rows: [(ManagedObject, [UInt8])] = []
  /// Orders that others had changed too, so that the store now has others than the context has saved.
  var corrected: [(relationship: RelationshipDescription, source: UInt64)] = []
  /// Rows whose derived values depend on others that were saved.
  var derived: [DerivedRow] = []
}

extension SavePlan {
  /// Writes all changes, or throws and the transaction is aborted.
  ///
  /// Changes no unsaved value: new identifiers and rows are returned in the outcome. The rows of deleted faults were read
  /// before, by `readDeletedFaults`.
  ///
  /// - Parameter choice: The stores of the objects, where there are several.
  /// - Throws: `.managedObjectMerge` with all conflicts, or the store's error.
  func write(to transaction: any StoreTransaction, _ choice: StoreChoice? = nil) throws -> SaveOutcome {
    var outcome = SaveOutcome()
    var conflicts: [MergeConflict] = []

    let keys = try allocateKeys(in: transaction, choice, &outcome)
    let mapping = keys.permanent

    for object in watched {
      let newest = try transaction.row(object.entity.rootEntity, object.identifier.key)
      if newest?.version != object.baseVersion {
        conflicts.append(MergeConflict(object, newest: newest))
      }
    }
    var orders: [OrderOfDeleted] = []
    for object in deleted {
      let key = object.identifier.key
      orders += try ordersOfDeleted(object, in: transaction)
      try unlink(object, in: transaction)
      if let conflict = try transaction.delete(
        object.entity, key, expectedVersion: object.baseVersion)
      {
        conflicts.append(MergeConflict(object, conflict))
      }
    }
    for object in inserted {
      let key = mapping(object.identifier.key)
      // Others may have inserted a deleted row again, too.
      var version: UInt32 = 1
      if !object.identifier.isTemporaryID {
        if let newest = try transaction.row(object.entity.rootEntity, key) {
          conflicts.append(MergeConflict(object, newest: newest))
          continue
        }
        version = try transaction.versionOfRestoredRow(key)
      }
      let external = try writeExternal(of: object, key, in: transaction)
      var row = object.encodedRow(version: version, mapping: mapping, external: external)
      try transaction.insert(object.entity, key, row: &row)
      outcome.rows.append((object, row))
    }
    for (object, slots) in zip(updated, changedSlots) {
      if let conflict = try update(object, slots, mapping, in: transaction, &outcome) {
        conflicts.append(conflict)
      }
    }
    conflicts += try writeRelationships(mapping, in: transaction, &outcome)
    if conflicts.isEmpty { conflicts = try danglingReferences(mapping, orders, in: transaction) }
    guard conflicts.isEmpty else { throw HeartwoodError.merge(conflicts) }
    outcome.corrected += try transaction.reconcileOrders()
    outcome.derived = try transaction.deriveValues()
    return outcome
  }

  /// Allocates a permanent key for every new object: a run of keys for each root entity.
  private func allocateKeys(
    in transaction: any StoreTransaction, _ choice: StoreChoice?, _ outcome: inout SaveOutcome
  ) throws -> KeyMap {
    var keys = KeyMap()
    keys.reserve(inserted.count)
    outcome.identifiers.reserveCapacity(inserted.count)
    var runs = KeyRuns()
    let naming = inserted.first?.managedObjectContext?.persistentStoreCoordinator?.namingStores ?? [:]
    for object in inserted {
      guard object.identifier.isTemporaryID else {
        try transaction.noteGivenKey(object.identifier.key, object.entity.rootEntity)
        continue
      }
      let store = choice?.number(of: object) ?? 0
      if naming[store] == nil { runs.count(object.entity.rootEntity, in: store) }
    }
    try runs.begin { root, count, store in try transaction.newKeys(root, count, in: store) }
    for object in inserted where object.identifier.isTemporaryID {
      let store = choice?.number(of: object) ?? 0
      let key =
        try naming[store]?.newKey(for: object, inStore: store)
        ?? runs.next(object.entity.rootEntity, in: store)
      keys.insert(key, for: object.identifier.key)
      let identifier = ManagedObjectID(entity: object.entity, key: key, store: transaction.identity)
      outcome.identifiers.append((object, identifier))
    }
    // Values may still contain a temporary key that `obtainPermanentIDs` has replaced.
    if let context = inserted.first?.managedObjectContext ?? updated.first?.managedObjectContext {
      keys.merge(context.permanentKeys)
    }
    return keys
  }

  private func update(
    _ object: ManagedObject, _ slots: [Int], _ mapping: (UInt64) -> UInt64,
    in transaction: any StoreTransaction, _ outcome: inout SaveOutcome
  ) throws -> MergeConflict? {
    let version = object.baseVersion
    var row: [UInt8]?
    // A row that stays refers to the data that it had.
    if !slots.isEmpty {
      let external = try writeExternal(of: object, object.identifier.key, in: transaction)
      row = object.encodedRow(version: version &+ 1, mapping: mapping, external: external)
    }
    let conflict = try transaction.update(
      object.entity, object.identifier.key, expectedVersion: version, row: &row,
      changedSlots: slots, changedToMany: object.changedStoredToManySlots)
    if let conflict { return MergeConflict(object, conflict) }
    if let row { outcome.rows.append((object, row)) }
    return nil
  }

  /// Writes the unsaved values of an object that are too large for its row.
  private func writeExternal(
    of object: ManagedObject, _ key: UInt64, in transaction: any StoreTransaction
  ) throws -> [Int: ExternalReference] {
    var references: [Int: ExternalReference] = [:]
    for slot in object.entity.layout.externalSlots {
      guard case .data(let data)? = object.pending?.edit(slot), data.count > ExternalReference.largestInRow,
        let attribute = object.entity.attribute(at: slot)
      else { continue }
      references[slot] = try transaction.putExternal(data, of: attribute, key)
    }
    return references
  }

  /// Whether an object without changed values was assigned to a store, or has relationships that were set to what they were and may
  /// replace those of a stored object.
  private static func hasNewsForParent(
    _ object: ManagedObject, in context: ManagedObjectContext
  ) -> Bool {
    if !context.nextSave.assignedStores.isEmpty, context.nextSave.assignedStores[object.identifier.key] != nil
    {
      return true
    }
    guard object.rowVersion == 0 else { return false }
    var isSet = false
    object.forEachRelationshipState { isSet = isSet || $0.isSet }
    return isSet
  }
}
