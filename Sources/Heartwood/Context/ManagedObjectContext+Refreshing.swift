import Foundation
import HeartwoodBytes

/// Undoing changes, and looking at the store again.
extension ManagedObjectContext {
  /// Undoes every change since the last save: inserted objects leave the context, deleted ones come
  /// back, edited ones have their last committed values again. The store is not asked.
  public func rollback() {
    beginUse("rollback")
    defer { endUse() }
    for object in Array(changes.inserted) + discarded {
      object.state = []
      forget(object)
    }
    for object in changes.updated { undoEdits(of: object) }
    for object in changes.deleted {
      object.state.remove([.deleted, .inaccessible])
      undoEdits(of: object)
    }
    for object in watched { object.state.remove(.watched) }
    discarded = []
    watched = []
    unpropagatedDeletes = []
    changes = PendingChanges()
  }

  /// Forgets everything: no object of this context may be used any more, no change is kept.
  public func reset() {
    beginUse("reset")
    defer { endUse() }
    for object in identities.objects + discarded {
      object.state = []
      object.turnIntoFault()
      object.detach()
    }
    identities.removeAll()
    discarded = []
    watched = []
    unpropagatedDeletes = []
    permanentKeys = KeyMap()
    unreadable = [:]
    changes = PendingChanges()
    if view.pinned != nil {
      view.pinned = nil
      view.pinsAtNextRead = true
    }
    view.held = nil
  }

  /// Looks at the object's row again.
  ///
  /// - Parameter mergeChanges: with false the object becomes a fault and its changes are gone. With
  ///   true its changes are kept and laid over the newest row, against which a save is then judged.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    beginUse("refreshing", object)
    defer { endUse() }
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be refreshed by a context that it does not belong to")
    unreadable[object.identifier] = nil
    object.state.remove(.unreadable)
    guard !object.identifier.isTemporaryID else { return }
    if mergeChanges {
      refreshKeepingChanges(object)
    } else {
      changes.updated.remove(object)
      object.state.remove(.updated)
      object.turnIntoFault()
    }
  }

  /// Refreshes every registered object, keeping changes. Unchanged objects become faults.
  public func refreshAllObjects() {
    beginUse("refreshing all objects")
    defer { endUse() }
    // A list of its own: the hooks of faulting may bring in further objects.
    for object in identities.objects {
      refresh(object, mergeChanges: !object.state.isDisjoint(with: [.inserted, .updated, .deleted]))
    }
  }

  /// Makes the next save fail if the row of an unchanged object is no longer the one that was read.
  public func detectConflicts(for object: ManagedObject) {
    beginUse("watching", object)
    defer { endUse() }
    guard !object.state.contains(.watched), !object.identifier.isTemporaryID else { return }
    object.willRead()
    object.state.insert(.watched)
    watched.append(object)
  }

  private func refreshKeepingChanges(_ object: ManagedObject) {
    do {
      guard let row = try readingView().row(object.entity.rootEntity, object.identifier.key) else { return }
      try object.adopt(row: row.bytes)
      reloadRelationships(of: object)
    } catch {
      noteUnreadable(error, object)
    }
  }

  private func undoEdits(of object: ManagedObject) {
    object.dropEdits()
    object.forEachRelationshipState { $0.forgetDifferences() }
    object.state.remove(.updated)
  }
}
