import HeartwoodBytes

/// A save of a child context: its changes become unsaved changes of the parent.
struct ChangesForParent {
  /// A changed object.
  struct Changed {
    let entity: EntityDescription
    let identifier: ManagedObjectID
    /// All values of a new object, the changed ones of another; without transient ones, which stay in their context.
    let values: [(slot: Int, value: Value)]
    let relationships: [(slot: Int, differences: RelationshipState.Differences)]
    /// The store that a new object is assigned to.
    let assignedStore: StoreIdentity?
  }

  var inserted: [Changed] = []
  var updated: [Changed] = []
  var deleted: [ManagedObjectID] = []

  init(_ plan: SavePlan) {
    for object in plan.inserted {
      inserted.append(Changed(object, slots: object.entity.storedValueSlots))
    }
    for object in plan.updated { updated.append(Changed(object, slots: object.persistentChangedSlots())) }
    deleted = plan.deleted.map(\.identifier)
  }
}

extension ChangesForParent.Changed {
  fileprivate init(_ object: ManagedObject, slots: [Int]) {
    entity = object.entity
    identifier = object.identifier
    values = slots.map { ($0, object.value(at: $0)) }
    relationships = object.changedToManySlots.compactMap { slot in
      object.relationshipState(at: slot).map { (slot, $0.differences) }
    }
    assignedStore = object.managedObjectContext?.assignedStores[object.identifier.key]
  }
}

extension EntityDescription {
  /// The slots of attributes and to-one relationships.
  var valueSlots: [Int] { slots.filter { compiled.relationshipBySlot[$0]?.isToMany != true } }

  /// The slots of what a row has values of.
  var storedValueSlots: [Int] { valueSlots.filter { !property(at: $0).isTransient } }
}

extension ManagedObjectContext {
  /// Moves the changes of a save to the parent. The values overwrite the parent's, without a check of versions.
  ///
  /// - Throws: `.managedObjectMerge` if the parent has deleted an object that was changed here; nothing is moved then.
  func move(_ plan: SavePlan, to parent: ManagedObjectContext) throws {
    try parent.waitForQueue {
      // On the parent's queue, where no save of it can assign further identifiers in between.
      takeAssignedIdentifiers()
      try parent.take(ChangesForParent(plan))
    }
  }

  private func take(_ child: ChangesForParent) throws {
    beginUse("taking the changes of a child context")
    defer { endUse() }
    takeAssignedIdentifiers()
    try refuseChangesOfDeleted(child)
    var objects: [ManagedObject] = []
    for changed in child.inserted { objects.append(takeInserted(changed)) }
    for changed in child.updated { objects.append(object(changed.entity, changed.identifier.key)) }
    for (object, changed) in zip(objects, child.inserted + child.updated) { take(changed, into: object) }
    for identifier in child.deleted {
      let object = object(identifier.entity, identifier.key)
      if !object.state.contains(.inaccessible) { markDeleted(object) }
    }
    processPendingChanges()
  }

  private func refuseChangesOfDeleted(_ child: ChangesForParent) throws {
    let lost = try child.updated.compactMap { changed -> MergeConflict? in
      let (root, key) = (changed.entity.rootEntity, changed.identifier.key)
      if let object = registered(root, key) {
        return object.isDeleted ? MergeConflict(object, newest: nil) : nil
      }
      // The parent may have saved the delete.
      guard key.isPermanentKey, try readingView().row(root, key) == nil else { return nil }
      return MergeConflict(object(changed.entity, key), newest: nil)
    }
    if !lost.isEmpty { throw HeartwoodError.merge(lost) }
  }

  private func takeInserted(_ changed: ChangesForParent.Changed) -> ManagedObject {
    let key = permanentKeys.permanent(changed.identifier.key)
    if let store = changed.assignedStore { assignedStores[changed.identifier.key] = store }
    // An object whose save in the child has failed after it came here may be there already, and one whose delete the child has
    // saved and undone is among the deleted ones.
    if let object = registered(changed.entity.rootEntity, key) {
      if object.isDeleted { restoreDeleted(object) }
      return object
    }
    let object = changed.entity.factory.makeObject()
    note(object)
    object.attach(to: self, as: changed.identifier, isNew: true)
    object.state = [.inserted, .noted]
    identities.insert(object, changed.entity.rootEntity.number, changed.identifier.key)
    changes.inserted.append(object)
    editCount &+= 1
    return object
  }

  private func take(_ changed: ChangesForParent.Changed, into object: ManagedObject) {
    willEdit(object)
    for (slot, value) in changed.values {
      leavePartner(object, slot, for: value)
      object.setEdit(slot, value)
    }
    for (slot, differences) in changed.relationships {
      let state = state(object, slot)
      for key in differences.removed where !state.isLoaded || state.contains(key) { state.remove(key) }
      for key in differences.added where !state.contains(key) { state.add(key) }
      guard let order = differences.order else { continue }
      let loaded = loadedState(object, slot)
      let (there, ordered) = (Set(loaded.keys()), Set(order))
      let merged = order.filter(there.contains) + loaded.keys().filter { !ordered.contains($0) }
      if merged != loaded.keys() { loaded.setOrder(merged) }
    }
  }

  /// Takes an object out of the other side of a to-one relationship that gets another value. The child knows only the partner
  /// that it saw, and this context may have set another one since.
  private func leavePartner(_ object: ManagedObject, _ slot: Int, for value: Value) {
    guard let inverse = object.entity.compiled.relationshipBySlot[slot]?.inverseRelationship,
      let former = toOne(object, slot)
    else { return }
    if case .object(let id) = value, permanentKeys.permanent(id.key) == former.identifier.key { return }
    forget(object, in: inverse, of: former)
  }
}
