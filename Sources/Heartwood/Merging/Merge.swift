import HeartwoodBytes

/// A merge of what others have saved into a context.
struct Merge {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Refreshes, registers and marks the objects of the changes, and posts the notifications.
  func take(_ changes: ObjectIDChanges) {
    let observation = context.observation
    context.takeAssignedIdentifiers()
    context.processPendingChanges()
    let wasPinned = context.view.pinned != nil
    if context.view.pinned != nil {
      context.view.pinned = nil
      context.view.pinsAtNextRead = true
    }
    context.view.held = nil
    for identifier in changes.deletedObjectIDs where context.isOfStore(identifier) { mergeDelete(identifier) }
    let owners = RelationshipRestoring(context).unloadRelationships(to: changes.deletedObjectIDs)
    // A batch names only what it has deleted.
    for object in owners where !changes.updatedObjectIDs.contains(object.objectID) {
      takeNewestRow(of: object)
    }
    var refreshed: [ManagedObjectID] = []
    for identifier in changes.updatedObjectIDs.union(changes.refreshedObjectIDs)
    where context.isOfStore(identifier) {
      if mergeUpdate(identifier) { refreshed.append(identifier) }
    }
    var inserted: [ManagedObject] = []
    for identifier in changes.insertedObjectIDs where context.isOfStore(identifier) {
      guard let object = context.registeredObject(for: identifier) else {
        inserted.append(context.object(with: identifier))
        continue
      }
      bringBack(object)
    }
    context.event.insertedElsewhere += inserted
    if !context.trackers.isEmpty { noteTouchedElsewhere(changes) }
    context.endEvent()
    if wasPinned { context.trackers.refresh() }
    var shown = changes
    shown.refreshedObjectIDs.formUnion(refreshed)
    context.post(.managedObjectContextDidMergeChangesObjectIDs, shown)
    context.children.notify(changes, from: nil)
    context.sweepIfDue()
    observation?.tell {
      .merged(
        MergedChanges(
          contextName: context.name, inserted: changes.insertedObjectIDs.count,
          updated: changes.updatedObjectIDs.union(changes.refreshedObjectIDs).count,
          deleted: changes.deletedObjectIDs.count, duration: $0))
    }
  }

  private func noteTouchedElsewhere(_ changes: ObjectIDChanges) {
    for identifiers in [
      changes.insertedObjectIDs, changes.updatedObjectIDs, changes.refreshedObjectIDs,
      changes.deletedObjectIDs,
    ] {
      context.event.touchedElsewhere += identifiers.compactMap { identifier in
        context.localKey(of: identifier).map {
          ManagedObjectID(entity: identifier.entity, key: $0, store: context.storeIdentity)
        }
      }
    }
  }

  private func mergeDelete(_ identifier: ManagedObjectID) {
    guard let object = context.registeredObject(for: identifier), !object.state.contains(.inserted) else {
      return
    }
    guard !object.state.contains(.deleted) else {
      // Deleted on both sides: the save has nothing to write for it.
      if context.changes.deleted.contains(object) { context.markInaccessible(object) }
      return
    }
    object.willRead()
    context.markInaccessible(object)
    object.state.insert(.deletedElsewhere)
  }

  /// Shows an object again whose row others have deleted and then inserted, or that had none when it was read.
  private func bringBack(_ object: ManagedObject) {
    guard !object.state.isDisjoint(with: [.deletedElsewhere, .withoutRow]) else { return }
    context.undelete(object)
    takeNewestRow(of: object)
  }

  /// Takes a delete back. Merges pass over deleted objects, so others may have saved newer values meanwhile: those replace the values
  /// that were not edited here.
  func restoreDeleted(_ object: ManagedObject) {
    let isOutdated = object.state.contains(.changedWhileDeleted)
    context.undelete(object)
    if isOutdated { takeNewestRow(of: object) }
  }

  /// Whether a read waits for the main thread, which may wait for this context meanwhile.
  private var readsWaitForMainThread: Bool {
    !MainQueue.shared.isHere
      && sequence(first: context, next: \.parent).contains {
        $0 !== context && $0.concurrencyType == .mainQueue
      }
  }

  private func takeNewestRow(of object: ManagedObject) {
    if object.hasUnsavedValues || object.isRealised && !readsWaitForMainThread {
      Refresh(context).refreshKeepingChanges(object, surfacingConflicts: true)
    } else {
      object.turnIntoFault()
      context.event.refreshed.append(object)
    }
  }

  /// - Returns: Whether an object of the context has the newest values now.
  private func mergeUpdate(_ identifier: ManagedObjectID) -> Bool {
    guard let object = context.registeredObject(for: identifier), !object.state.contains(.inserted) else {
      return false
    }
    if object.state.contains(.withoutRow) { context.undelete(object) }
    guard !object.state.contains(.deleted) else {
      object.state.insert(.changedWhileDeleted)
      return false
    }
    takeNewestRow(of: object)
    return true
  }
}
