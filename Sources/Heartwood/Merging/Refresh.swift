import Foundation
import HeartwoodBytes

/// Undoing changes, and refreshing from the store.
struct Refresh {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  func rollback() {
    context.beginUse("rollback")
    defer { context.endUse() }
    context.lastReads.removeAll()
    for object in Array(context.changes.inserted) + Array(context.changes.discarded) {
      context.note(object)
      object.state = [.inserted, .deleted, .noted]
    }
    let restored =
      Array(context.changes.updated) + Array(context.changes.deleted) + Array(context.changes.gone)
    for object in restored {
      context.note(object)
      let former = object.state
      object.state.remove(.ofDeletes)
      undoEdits(of: object)
      if former.contains(.deleted) {
        // Merges pass over deleted objects.
        object.forEachRelationshipState { $0.unload() }
        if former.contains(.changedWhileDeleted) { object.turnIntoFault() }
      }
      context.event.refreshed.append(object)
    }
    for object in context.changes.watched { object.state.remove(.watched) }
    let leaving = Array(context.changes.inserted) + Array(context.changes.discarded)
    context.changes = PendingChanges()
    context.nextSave = NextSave()
    context.forgetShownChanges()
    context.undoManager?.removeAllActions()
    context.endEvent(registeringUndo: false)
    for object in leaving {
      object.state = []
      context.forget(object)
    }
    for object in restored { object.awake(fromSnapshotEvents: .rollback) }
  }

  func reset() {
    context.beginUse("reset")
    defer { context.endUse() }
    let former = context.identities.objects
    var summary = ContextChanges()
    summary.isInvalidatingAll = true
    summary.invalidatedAllObjectIDs = former.map(\.objectID)
    for object in former + Array(context.changes.discarded) {
      object.state = []
      object.turnIntoFault()
      object.detach()
      object.state = .leftAsFault
    }
    context.transientOwners = []
    context.identities.removeAll()
    context.usedObjects?.end()
    context.fetchBatches = FetchBatches()
    context.permanentKeys = KeyMap()
    context.nextSave = NextSave()
    context.unreadable = [:]
    context.changes = PendingChanges()
    context.forgetShownChanges()
    context.event = ContextEvent()
    context.lastReads.removeAll()
    context.undoManager?.removeAllActions()
    if context.view.pinned != nil {
      context.view.pinned = nil
      context.view.pinsAtNextRead = true
    }
    context.view.held = nil
    context.trackers.reset()
    context.post(.managedObjectContextObjectsDidChange, summary)
  }

  func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    context.beginUse("refreshing", object)
    defer { context.endUse() }
    let object = object.standing
    require(
      object.managedObjectContext === context,
      "\(object.entity.displayName) cannot be refreshed by a context that it does not belong to")
    context.unreadable[object.identifier] = nil
    object.state.remove(.unreadable)
    object.pending?.header.fetched = [:]
    if object.state.contains(.withoutRow) { context.undelete(object) }
    guard !object.state.contains(.inserted) else { return }
    if mergeChanges {
      refreshKeepingChanges(object)
    } else {
      context.lastReads.removeAll()
      dropChanges(of: object)
    }
  }

  /// - Parameter kept: Objects that stay as they are.
  func refreshAllObjects(except kept: [ManagedObject]) {
    context.beginUse("refreshing all objects")
    defer { context.endUse() }
    context.view.held = nil
    // Iterates over a copy: the hooks of faulting may register further objects.
    let kept = Set(kept.map(ObjectIdentifier.init))
    for object in context.identities.objects where !kept.contains(ObjectIdentifier(object)) {
      refresh(object, mergeChanges: object.hasChanges)
    }
    // Others may have related objects to deleted ones.
    for object in context.changes.deleted { RowConflictResolution(context).applyDeleteRules(of: object) }
    context.processPendingChanges()
    context.trackers.refresh()
  }

  func detectConflicts(for object: ManagedObject) {
    context.beginUse("watching", object)
    defer { context.endUse() }
    guard object.state.isDisjoint(with: [.watched, .inserted]) else { return }
    object.willRead()
    object.state.insert(.watched)
    context.changes.watched.append(object)
  }

  /// Replaces the row of an object by the newest, and keeps its unsaved values on top of it.
  ///
  /// - Parameter surfacingConflicts: Whether the next save meets a conflict if the store has another value for an edited
  ///   property than before. Without, the unsaved values win.
  func refreshKeepingChanges(_ object: ManagedObject, surfacingConflicts: Bool = false) {
    do {
      let view = try context.readingView().forOneReader()
      defer { withExtendedLifetime(view) {} }
      guard let row = try view.row(object.entity.rootEntity, object.identifier.key) else {
        if object.hasNothingWithoutRow { context.handleInaccessible(object) }
        return
      }
      context.event.refreshed.append(object)
      context.editCount &+= 1
      object.dropEqualEdits()
      let former = object.committedPartners
      let owners = object.committedOwners
      let base = object.conflictBase ?? object.storedRow
      try object.adopt(row: row.bytes)
      object.conflictBase = surfacingConflicts && object.isConflicting(with: base) ? base : nil
      context.reloadRelationships(of: object)
      RelationshipRestoring(context).leaveNewPartners(of: object, former)
      RelationshipRestoring(context).stayWithOwners(of: object)
      RelationshipRestoring(context).unloadOwners(of: object, owners)
      if object.isRealised { object.awake(fromSnapshotEvents: .refresh) }
    } catch {
      context.noteUnreadable(error, object)
    }
  }

  /// Discards the changes of an object, and turns it into a fault.
  private func dropChanges(of object: ManagedObject) {
    guard object.hasUnsavedValues else { return becomeFault(object) }
    // Edits made before can be undone; those that the other sides of relationships lose here cannot.
    context.processPendingChanges()
    let deleted = RelationshipRestoring(context).deletedPartners(of: object)
    RelationshipRestoring(context).restoreInverses(of: object)
    becomeFault(object)
    // The discarded changes include what the delete rules of others have changed.
    for partner in deleted { RowConflictResolution(context).applyDeleteRules(of: partner) }
    context.endEvent(registeringUndo: false)
  }

  private func becomeFault(_ object: ManagedObject) {
    context.editCount &+= 1
    context.changes.updated.remove(object)
    object.state.remove(.updated)
    context.event.refreshed.append(object)
    object.turnIntoFault()
  }

  private func undoEdits(of object: ManagedObject) {
    object.dropEdits()
    object.forEachRelationshipState { $0.forgetDifferences() }
    object.state.remove(.updated)
  }
}
