import HeartwoodBytes

/// Resolving conflicts with rows that others have changed or deleted since they were read.
extension ManagedObjectContext {
  /// Changes the conflicting object so that a save on the newest row can succeed.
  ///
  /// - Parameter conflicting: All objects with conflicts.
  func resolve(_ conflict: MergeConflict, by type: MergePolicyType, _ conflicting: Set<ObjectIdentifier>) {
    let object = conflict.sourceObject
    guard object.managedObjectContext === self else { return }
    note(object)
    editCount &+= 1
    switch conflict.cause {
    case .row(let newest?) where object.state.contains(.inserted): resolveInserted(object, newest, by: type)
    case .row(let newest?): resolve(object, newest, by: type, conflicting)
    case .row(nil): resolveDeleted(object, by: type)
    case .order(let slot): resolveOrder(of: object, slot, by: type)
    case .dangling(let slot, let key): dropReference(of: object, slot, key)
    case .partner(let slot, let key): rejoin(object, slot, key, by: type)
    case .referenced: applyDeleteRules(of: object)
    }
    if object.managedObjectContext != nil { object.awake(fromSnapshotEvents: .mergePolicy) }
  }

  // MARK: Changed rows

  private func resolve(
    _ object: ManagedObject, _ newest: [UInt8], by type: MergePolicyType, _ conflicting: Set<ObjectIdentifier>
  ) {
    if object.state.contains(.deleted) {
      // What was edited before the delete goes with it.
      if type.storeWins {
        takeBackEdits(of: object)
      }
      take(newest, by: object)
      if type.storeWins {
        undelete(object)
        rejoinPartners(of: object)
      }
      return
    }
    if type != .error, type != .overwrite { object.dropEqualEdits() }
    switch type {
    case .error: return
    case .mergeByPropertyStoreTrump:
      dropEdits(of: object, equalTo: newest)
      dropEdits(of: object, changedIn: newest)
    case .mergeByPropertyObjectTrump: break
    case .overwrite: editEverything(of: object)
    case .rollback:
      dropEdits(of: object, equalTo: newest)
      takeBackOwnChanges(of: object, over: newest, conflicting)
      if !object.hasUnsavedValues {
        changes.updated.remove(object)
        object.state.remove(.updated)
      }
    }
    take(newest, by: object)
    if type.storeWins { leaveTakenPartners(of: object) }
  }

  private func take(_ newest: [UInt8], by object: ManagedObject) {
    let former = object.state.contains(.deleted) ? [] : object.committedPartners
    let owners = object.state.contains(.deleted) ? [] : object.committedOwners
    let pairs = object.committedPairs
    object.conflictBase = nil
    do {
      try newest.withUnsafeBytes { try object.adopt(row: $0) }
      reloadRelationships(of: object)
      refreshPartners(of: object, pairs)
      leaveNewPartners(of: object, former)
      stayWithOwners(of: object)
      unloadOwners(of: object, owners)
    } catch {
      noteUnreadable(error, object)
    }
  }

  /// Drops the unsaved values of properties that the newest row has changed, too.
  private func dropEdits(of object: ManagedObject, changedIn newest: [UInt8]) {
    forEachEdit(of: object, over: newest) { slot, value in
      guard value != object.baseValue(at: slot) else { return }
      restoreInverses(of: object, slot: slot)
      object.dropEdit(slot)
    }
  }

  /// Drops the unsaved values that the newest row has, too: the other sides of relationships stay as they are.
  private func dropEdits(of object: ManagedObject, equalTo newest: [UInt8]) {
    forEachEdit(of: object, over: newest) { slot, value in
      if object.pending?.edit(slot)?.isStored(as: value) == true { object.dropEdit(slot) }
    }
  }

  /// Calls `body` with the slot of each unsaved value, and the property's value in the newest row.
  private func forEachEdit(of object: ManagedObject, over newest: [UInt8], _ body: (Int, Value) -> Void) {
    let layout = object.entity.layout
    newest.withUnsafeBytes { bytes in
      guard let row = try? RowView(validating: bytes, layout: layout) else { return }
      for slot in object.editedSlots {
        body(slot, row.value(layout.columns[slot], layout: layout, store: object.identifier.store))
      }
    }
  }

  /// Makes every value of the object an unsaved one.
  func editEverything(of object: ManagedObject) {
    for slot in object.entity.slots where object.entity.compiled.relationshipBySlot[slot]?.isToMany != true {
      object.setEdit(slot, object.value(at: slot))
    }
  }

  /// Drops all unsaved values and differences of relationships, also at the other sides.
  private func takeBackEdits(of object: ManagedObject) {
    restoreInverses(of: object)
    object.dropEdits()
    object.forEachRelationshipState { $0.forgetDifferences() }
  }

  // MARK: Deleted rows

  private func resolveDeleted(_ object: ManagedObject, by type: MergePolicyType) {
    guard !object.state.contains(.deleted) else { return }
    guard !type.storeWins else {
      restoreInverses(of: object)
      unloadPartners(of: object)
      view.held = nil
      return markInaccessible(object)
    }
    insertAgain(object)
  }

  /// Makes an object whose row is gone a new one under the same identifier.
  func insertAgain(_ object: ManagedObject) {
    editEverything(of: object)
    object.conflictBase = nil
    object.dropRow()
    // The links went with the row.
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot) else { continue }
      let keys = state.isLoaded ? state.keys() : Array(state.added)
      let new = RelationshipState(of: object, relationship)
      new.load([])
      for key in keys { new.add(key) }
      object.setRelationshipState(new, at: relationship.slot)
    }
    changes.updated.remove(object)
    object.state.remove(.updated)
    object.state.insert(.inserted)
    changes.inserted.append(object)
    joinRelationships(with: object)
  }

  // MARK: Inserted rows

  /// Makes an object that others have inserted under the same identifier, too, one of their row: both have taken back its delete.
  private func resolveInserted(_ object: ManagedObject, _ newest: [UInt8], by type: MergePolicyType) {
    if type == .overwrite { editEverything(of: object) }
    changes.inserted.remove(object)
    object.state.remove(.inserted)
    object.state.insert(.updated)
    changes.updated.append(object)
    take(newest, by: object)
    object.forEachRelationshipState { $0.unload() }
    guard type.storeWins else { return leaveFormerDestinations(object) }
    takeBackEdits(of: object)
  }

  // MARK: Relationships

  private func resolveOrder(of object: ManagedObject, _ slot: Int, by type: MergePolicyType) {
    guard let state = object.relationshipState(at: slot) else { return }
    if type.storeWins { state.forgetOrder() }
    reloadRelationships(of: object)
  }

  /// Drops a reference to an object whose row is gone.
  private func dropReference(of object: ManagedObject, _ slot: Int, _ key: UInt64) {
    let relationship = object.entity.relationship(at: slot)
    if relationship.isToMany {
      if let state = object.relationshipState(at: slot), state.contains(key) { state.remove(key) }
    } else {
      object.setEdit(slot, .null)
    }
    if let destination = registered(relationship.destinationEntity.rootEntity, key),
      destination.state.isDisjoint(with: [.deleted, .inserted])
    {
      markInaccessible(destination)
    }
  }

  /// Applies the delete rules of an object again, which others reference since they were applied.
  func applyDeleteRules(of object: ManagedObject) {
    view.held = nil
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      // What it has in the store counts: an object that left it with its own delete may have been kept.
      let state = object.relationshipState(at: relationship.slot)
      state?.forgetDifferences()
      state?.unload()
      guard relationship.inverseRelationship?.isToMany == false else { continue }
      for key in relatedKeys(object, relationship.slot) { refreshPartner(relationship, key) }
    }
    // The partners are those of the newest row.
    for (relationship, partner) in object.committedPairs {
      object.dropEdit(relationship.slot)
      refreshPartner(relationship, partner)
    }
    unpropagatedDeletes.append(object)
    propagateDeletes()
  }
}
