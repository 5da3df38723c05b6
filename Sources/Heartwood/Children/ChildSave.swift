import HeartwoodBytes

/// A save of a child context: its changes become unsaved changes of the parent.
struct ChangesForParent {
  /// A changed object.
  struct Changed {
    let entity: EntityDescription
    let identifier: ManagedObjectID
    /// The values that were set, transient ones too. Of a new object these are all that differ from the defaults.
    let values: [(slot: Int, value: Value)]
    /// The slots of values that are defaults which were evaluated for the new object: the program has not set them.
    let madeDefaults: [Int]
    let relationships: [(slot: Int, differences: RelationshipState.Differences)]
    /// The store that a new object is assigned to.
    let assignedStore: StoreIdentity?
    /// The row on which the values were made.
    let base: BaseRow?
  }

  /// The row of the store that an object's values were made on.
  struct BaseRow {
    let bytes: [UInt8]
    let version: UInt32

    /// Nil for an object that is not in the store yet.
    init?(_ object: ManagedObject) {
      guard let row = object.conflictBase ?? object.storedRow, row.view.version > 0 else { return nil }
      bytes = Array(row.bytes)
      version = row.view.version
    }
  }

  typealias Read = (identifier: ManagedObjectID, base: BaseRow?)

  var inserted: [Changed] = []
  var updated: [Changed] = []
  /// With the relationships that were changed before: delete rules are applied in the parent again.
  var deleted: [Changed] = []
  /// Objects that must not have changed.
  var watched: [Read] = []
  /// The authors of the changes.
  var authors: Set<String?> = []
  /// Whether the versions of all rows are those of others' saves, and not of saves of the same tree.
  let knowsVersions: Bool

  init(_ plan: SavePlan, of context: ManagedObjectContext) {
    inserted = plan.inserted.map { Changed($0, slots: $0.slotsForParent) }
    updated = zip(plan.updated, plan.changedSlots).map { Changed($0, slots: $1) }
    deleted = plan.deleted.map { Changed($0, slots: $0.changedReferenceSlots) }
    watched = plan.watched.map { ($0.identifier, BaseRow($0)) }
    knowsVersions = context.knownVersions.isComplete
    authors = context.nextSave.authorsOfChildren
    if authors.isEmpty || context.transactionAuthor != nil { authors = [context.transactionAuthor] }
  }
}

extension ChangesForParent.Changed {
  fileprivate init(_ object: ManagedObject, slots: [Int]) {
    entity = object.entity
    identifier = object.identifier
    values = slots.map { ($0, object.value(at: $0)) }
    madeDefaults = object.pending?.header.madeDefaults ?? []
    relationships = object.entity.relationshipsBySlot.compactMap { relationship in
      let slot = relationship.slot
      guard relationship.isToMany, !relationship.isTransient, let state = object.relationshipState(at: slot),
        state.hasChanges || state.isSet
      else { return nil }
      return (slot, state.differences)
    }
    assignedStore = object.managedObjectContext?.nextSave.assignedStores[object.identifier.key]
    base = ChangesForParent.BaseRow(object)
  }
}

extension EntityDescription {
  /// The slots of attributes and to-one relationships.
  var valueSlots: [Int] { slots.filter { compiled.relationshipBySlot[$0]?.isToMany != true } }
}

extension ManagedObject {
  /// The slots of to-one relationships that have changed, but for transient ones.
  fileprivate final var changedReferenceSlots: [Int] {
    slotsForParent.filter { entity.compiled.relationshipBySlot[$0] != nil }
  }

  /// The slots whose values a save moves to the parent context: those that have changed. Of an object that is not in the store yet also
  /// those that were set to the value that they had, as it may become a stored one with another value. Transient relationships stay in their
  /// context.
  final var slotsForParent: [Int] {
    let slots = rowVersion == 0 ? editedSlots : changedSlots()
    guard !entity.compiled.transientRelationships.isEmpty else { return slots }
    return slots.filter { entity.compiled.relationshipBySlot[$0]?.isTransient != true }
  }
}

struct ChildSave {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Moves the changes of a save to the parent. The values overwrite the parent's. Where others have saved a row since the child has read it,
  /// the parent's save meets the conflict.
  ///
  /// - Throws: `.managedObjectMerge` if the parent has deleted an object that was changed here; nothing is moved then.
  func move(_ plan: SavePlan, to parent: ManagedObjectContext) throws {
    try parent.waitForQueue {
      // On the parent's queue, where no save of it can assign further identifiers in between.
      context.takeAssignedIdentifiers()
      try ChildSave(parent).take(ChangesForParent(plan, of: context))
    }
  }

  /// The author of what the children of a context without one have changed, if all of them have the same.
  var authorOfChildren: String? {
    context.nextSave.authorsOfChildren.count == 1 ? context.nextSave.authorsOfChildren.first ?? nil : nil
  }

  private func take(_ child: ChangesForParent) throws {
    context.beginUse("taking the changes of a child context")
    defer { context.endUse() }
    context.takeAssignedIdentifiers()
    try refuseChangesOfDeleted(child)
    var objects: [ManagedObject] = []
    for changed in child.inserted { objects.append(takeInserted(changed)) }
    for changed in child.updated { objects.append(context.object(changed.entity, changed.identifier.key)) }
    for (object, changed) in zip(objects, child.inserted + child.updated) {
      take(changed, into: object, child.knowsVersions)
    }
    for deleted in child.deleted {
      let object = context.object(deleted.entity, deleted.identifier.key)
      let wasRead = object.isRealised
      object.willRead()
      guard !object.state.contains(.inaccessible) else { continue }
      if !wasRead { noteBase(deleted.base, of: object, [], isStrict: child.knowsVersions) }
      if !deleted.values.isEmpty || !deleted.relationships.isEmpty {
        context.willEdit(object)
        takeRelationships(deleted, into: object)
      }
      context.markDeleted(object)
    }
    for (identifier, base) in child.watched {
      let object = context.object(identifier.entity, identifier.key)
      context.detectConflicts(for: object)
      noteBase(base, of: object, [], isStrict: child.knowsVersions)
    }
    context.nextSave.authorsOfChildren.formUnion(child.authors)
    context.processPendingChanges()
  }

  private func refuseChangesOfDeleted(_ child: ChangesForParent) throws {
    let lost = try child.updated.compactMap { changed -> MergeConflict? in
      let (root, key) = (changed.entity.rootEntity, changed.identifier.key)
      if let object = context.registered(root, key) {
        return object.isDeleted ? MergeConflict(object, newest: nil) : nil
      }
      // The parent may have saved the delete.
      guard key.isPermanentKey, try context.readingView().row(root, key) == nil else { return nil }
      return MergeConflict(context.object(changed.entity, key), newest: nil)
    }
    if !lost.isEmpty { throw HeartwoodError.merge(lost) }
  }

  private func takeInserted(_ changed: ChangesForParent.Changed) -> ManagedObject {
    let key = context.permanentKeys.permanent(changed.identifier.key)
    // An object whose save in the child has failed after it came here may be there already, and one whose delete the child has
    // saved and undone is among the deleted ones.
    if let object = context.registered(changed.entity.rootEntity, key) {
      // It may be a fault that was made for the identifier here.
      if object.state.isDisjoint(with: [.inserted, .deleted]) { object.willRead() }
      if object.state.contains(.withoutRow) {
        context.undelete(object)
        context.identities.remove(object.entity.rootEntity.number, key)
        context.adoptInserted(object, as: changed.identifier)
      } else if object.isDeleted {
        Merge(context).restoreDeleted(object)
      }
      return object
    }
    let object = changed.entity.factory.makeObject()
    context.adoptInserted(object, as: changed.identifier)
    return object
  }

  /// Makes the next save meet a conflict if others have saved an object since a child has read it: in any property if this context has read
  /// the row after them, otherwise in one that the child has set.
  ///
  /// - Parameters:
  ///   - slots: The properties that the child has set.
  ///   - isStrict: Whether a difference of versions is a conflict.
  private func noteBase(
    _ base: ChangesForParent.BaseRow?, of object: ManagedObject, _ slots: [Int], isStrict: Bool
  ) {
    guard let base, let row = object.row, base.version != row.version, object.conflictBase == nil,
      object.state.isDisjoint(with: [.inserted, .unreadable])
    else { return }
    // The child has read a newer row.
    if base.version > row.version {
      return Refresh(context).refreshKeepingChanges(object, surfacingConflicts: true)
    }
    let former = base.bytes.withUnsafeBytes { StoredRow(copying: $0, into: &context.rowSlab) }
    let isStrict = isStrict && context.following == .none
    if isStrict || object.isConflicting(with: former, in: slots) { object.conflictBase = former }
  }

  private func take(
    _ changed: ChangesForParent.Changed, into object: ManagedObject, _ knowsVersions: Bool
  ) {
    let wasRead = object.isRealised
    context.willEdit(object)
    defer {
      noteBase(changed.base, of: object, changed.values.map(\.slot), isStrict: knowsVersions && !wasRead)
    }
    if let store = changed.assignedStore { context.nextSave.assignedStores[object.identifier.key] = store }
    for (slot, value) in changed.values {
      if object.entity.compiled.relationshipBySlot[slot] != nil { continue }
      let isSet = object.isSet(slot)
      object.setEdit(slot, value)
      if changed.madeDefaults.contains(slot), !isSet {
        object.makePendingValues().noteMadeDefault(slot)
      }
    }
    takeRelationships(changed, into: object)
  }

  private func takeRelationships(_ changed: ChangesForParent.Changed, into object: ManagedObject) {
    for (slot, value) in changed.values where object.entity.compiled.relationshipBySlot[slot] != nil {
      leavePartner(object, slot, for: value)
      object.setEdit(slot, value)
    }
    for (slot, differences) in changed.relationships { take(differences, into: object, slot) }
  }

  private func take(
    _ differences: RelationshipState.Differences, into object: ManagedObject, _ slot: Int
  ) {
    let state = context.state(object, slot)
    for key in differences.removed where !state.isLoaded || state.contains(key) { state.remove(key) }
    for key in differences.added where !state.contains(key) { context.add(key, to: state, object, slot) }
    state.noteSetting(differences)
    guard let order = differences.order else { return }
    let loaded = context.loadedState(object, slot)
    let (there, ordered) = (Set(loaded.keys()), Set(order))
    let merged = order.filter(there.contains) + loaded.keys().filter { !ordered.contains($0) }
    if merged != loaded.keys() { loaded.setOrder(merged) }
  }

  /// Takes an object out of the other side of a to-one relationship that gets another value. The child knows only the partner
  /// that it saw, and this context may have set another one since.
  private func leavePartner(_ object: ManagedObject, _ slot: Int, for value: Value) {
    guard let inverse = object.entity.compiled.relationshipBySlot[slot]?.inverseRelationship,
      let former = context.toOne(object, slot)
    else { return }
    if case .object(let id) = value, context.permanentKeys.permanent(id.key) == former.identifier.key {
      return
    }
    context.forget(object, in: inverse, of: former)
  }
}
