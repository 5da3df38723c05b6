import Foundation
import HeartwoodBytes

/// Undoing changes, and refreshing from the store.
extension ManagedObjectContext {
  /// Undoes every change since the last save: inserted objects leave the context, deleted objects are restored, edited
  /// objects get back their last committed values. Does not read the store.
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

  /// Removes all objects and discards all changes. Objects of this context must not be used after it.
  ///
  /// A pinned context is pinned again at its next read, to the generation that is newest then.
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

  /// Refreshes an object from the store.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - mergeChanges: With false, the object becomes a fault and its changes are discarded. With true, its changes
  ///     are kept on top of the newest row, whose version the next save checks for conflicts.
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

  /// Refreshes every registered object. Changed objects keep their changes, unchanged ones become faults.
  public func refreshAllObjects() {
    beginUse("refreshing all objects")
    defer { endUse() }
    // Iterates over a copy: the hooks of faulting may register further objects.
    for object in identities.objects {
      refresh(object, mergeChanges: !object.state.isDisjoint(with: [.inserted, .updated, .deleted]))
    }
  }

  /// Makes the next save fail if the row of this unchanged object is no longer the version that was read.
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
