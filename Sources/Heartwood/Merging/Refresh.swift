import Foundation
import HeartwoodBytes

/// Undoing changes, and refreshing from the store.
extension ManagedObjectContext {
  /// Undoes every change since the last save: inserted objects leave the context, deleted objects are restored, edited
  /// objects get back their last committed values. Does not read the store. Clears the undo manager.
  public func rollback() {
    beginUse("rollback")
    defer { endUse() }
    for object in Array(changes.inserted) + Array(discarded) {
      note(object)
      object.state = [.inserted, .deleted, .noted]
    }
    let restored = Array(changes.updated) + Array(changes.deleted) + Array(changes.gone)
    for object in restored {
      note(object)
      let former = object.state
      object.state.remove(.ofDeletes)
      undoEdits(of: object)
      if former.contains(.deleted) {
        // Merges pass over deleted objects.
        object.forEachRelationshipState { $0.unload() }
        if former.contains(.changedWhileDeleted) { object.turnIntoFault() }
      }
      event.refreshed.append(object)
    }
    for object in watched { object.state.remove(.watched) }
    let leaving = Array(changes.inserted) + Array(discarded)
    discarded = ObjectList()
    watched = []
    unpropagatedDeletes = []
    changes = PendingChanges()
    assignedStores = [:]
    authorsOfChildren = []
    forgetShownChanges()
    undoManager?.removeAllActions()
    lostEdit = nil
    endEvent(registeringUndo: false)
    for object in leaving {
      object.state = []
      forget(object)
    }
    for object in restored { object.awake(fromSnapshotEvents: .rollback) }
  }

  /// Removes all objects and discards all changes. Objects of this context must not be used after it. Clears the undo
  /// manager.
  ///
  /// A pinned context is pinned again at its next read, to the generation that is newest then.
  public func reset() {
    beginUse("reset")
    defer { endUse() }
    for object in identities.objects + Array(discarded) {
      object.state = []
      object.turnIntoFault()
      object.detach()
    }
    renamedByParent = []
    transientOwners = []
    identities.removeAll()
    usedObjects?.end()
    fetchBatches = FetchBatches()
    discarded = ObjectList()
    watched = []
    unpropagatedDeletes = []
    permanentKeys = KeyMap()
    assignedStores = [:]
    authorsOfChildren = []
    unreadable = [:]
    lostEdit = nil
    changes = PendingChanges()
    forgetShownChanges()
    event = ContextEvent()
    lastRead = nil
    undoManager?.removeAllActions()
    if view.pinned != nil {
      view.pinned = nil
      view.pinsAtNextRead = true
    }
    view.held = nil
    resetTrackers()
    var summary = ContextChanges()
    summary.isInvalidatingAll = true
    post(.managedObjectContextObjectsDidChange, summary)
  }

  /// Refreshes an object from the store. Does nothing to a new object.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - mergeChanges: With false, the object becomes a fault and its changes are discarded, on both sides of its
  ///     relationships. With true, its changes are kept on top of the newest row, whose version the next save checks for
  ///     conflicts. If the row was deleted, an object without changes is treated as an inaccessible fault, and the save of
  ///     one with changes meets a conflict.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    beginUse("refreshing", object)
    defer { endUse() }
    let object = object.standing
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be refreshed by a context that it does not belong to")
    unreadable[object.identifier] = nil
    object.state.remove(.unreadable)
    guard !object.state.contains(.inserted) else { return }
    if mergeChanges {
      refreshKeepingChanges(object)
    } else {
      dropChanges(of: object)
    }
  }

  /// Refreshes every registered object. Changed objects keep their changes, unchanged ones become faults.
  public func refreshAllObjects() { refreshAllObjects(except: []) }

  /// - Parameter kept: Objects that stay as they are.
  func refreshAllObjects(except kept: [ManagedObject]) {
    beginUse("refreshing all objects")
    defer { endUse() }
    view.held = nil
    // Iterates over a copy: the hooks of faulting may register further objects.
    let kept = Set(kept.map(ObjectIdentifier.init))
    for object in identities.objects where !kept.contains(ObjectIdentifier(object)) {
      refresh(object, mergeChanges: object.hasChanges)
    }
    // Others may have related objects to deleted ones.
    for object in changes.deleted { RowConflictResolution(self).applyDeleteRules(of: object) }
    processPendingChanges()
    refreshTrackers()
  }

  /// Makes the next save fail if the row of this unchanged object is no longer the version that was read.
  public func detectConflicts(for object: ManagedObject) {
    beginUse("watching", object)
    defer { endUse() }
    guard object.state.isDisjoint(with: [.watched, .inserted]) else { return }
    object.willRead()
    object.state.insert(.watched)
    watched.append(object)
  }

  /// Replaces the row of an object by the newest, and keeps its unsaved values on top of it.
  ///
  /// - Parameter surfacingConflicts: Whether the next save meets a conflict if the store has another value for an edited
  ///   property than before. Without, the unsaved values win.
  func refreshKeepingChanges(_ object: ManagedObject, surfacingConflicts: Bool = false) {
    do {
      let view = try readingView().forOneReader()
      defer { withExtendedLifetime(view) {} }
      guard let row = try view.row(object.entity.rootEntity, object.identifier.key) else {
        if object.hasNothingWithoutRow { handleInaccessible(object) }
        return
      }
      event.refreshed.append(object)
      editCount &+= 1
      object.dropEqualEdits()
      let former = object.committedPartners
      let owners = object.committedOwners
      let base = object.conflictBase ?? object.storedRow
      try object.adopt(row: row.bytes)
      object.conflictBase = surfacingConflicts && object.isConflicting(with: base) ? base : nil
      reloadRelationships(of: object)
      RelationshipRestoring(self).leaveNewPartners(of: object, former)
      RelationshipRestoring(self).stayWithOwners(of: object)
      RelationshipRestoring(self).unloadOwners(of: object, owners)
      if object.isRealised { object.awake(fromSnapshotEvents: .refresh) }
    } catch {
      noteUnreadable(error, object)
    }
  }

  /// Discards the changes of an object, and turns it into a fault.
  private func dropChanges(of object: ManagedObject) {
    guard object.hasUnsavedValues else { return becomeFault(object) }
    // What was edited before can be undone; what the other sides of relationships lose here cannot.
    processPendingChanges()
    let deleted = RelationshipRestoring(self).deletedPartners(of: object)
    RelationshipRestoring(self).restoreInverses(of: object)
    becomeFault(object)
    // The discarded changes include what the delete rules of others have changed.
    for partner in deleted { RowConflictResolution(self).applyDeleteRules(of: partner) }
    endEvent(registeringUndo: false)
  }

  private func becomeFault(_ object: ManagedObject) {
    editCount &+= 1
    changes.updated.remove(object)
    object.state.remove(.updated)
    event.refreshed.append(object)
    object.turnIntoFault()
  }

  private func undoEdits(of object: ManagedObject) {
    object.dropEdits()
    object.forEachRelationshipState { $0.forgetDifferences() }
    object.state.remove(.updated)
  }
}
