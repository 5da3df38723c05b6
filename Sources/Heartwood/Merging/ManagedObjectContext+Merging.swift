import Foundation
import HeartwoodBytes

/// Merging what others have saved: other contexts, coordinators or processes.
///
/// A merge never replaces an unsaved value: only properties that were not edited here take the saved ones. Where both sides
/// changed a property to different values, the save meets the conflict. An object that was deleted elsewhere becomes a deleted
/// one, with the values that it had.
extension ManagedObjectContext {
  /// Merges a save of another context of the same store.
  ///
  /// - Parameter notification: A `managedObjectContextDidSave` or `managedObjectContextDidSaveObjectIDs` notification, one made
  ///   by `PersistentHistoryTransaction.objectIDNotification()`, or any with the same keys.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    merge(ObjectIDChanges(userInfo: notification.userInfo ?? [:], coordinator: persistentStoreCoordinator))
  }

  /// Merges changes that were saved elsewhere into several contexts, parents before their children.
  ///
  /// - Parameters:
  ///   - changes: Lists or sets of identifiers, URIs or objects under Core Data's keys, as of a batch request's result.
  ///   - contexts: The contexts. Each is changed on its own queue, and this call waits for it.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) {
    let ordered = contexts.sorted { $0.depth < $1.depth }
    for context in ordered {
      let merged = ObjectIDChanges(userInfo: changes, coordinator: context.persistentStoreCoordinator)
      context.waitForQueue { context.merge(merged) }
    }
  }

  /// Merges changes that were saved elsewhere: refreshes the registered ones among the updated objects, registers the inserted
  /// ones as faults, and marks the deleted ones as deleted. Then posts `managedObjectContextObjectsDidChange` and
  /// `managedObjectContextDidMergeChangesObjectIDs`.
  ///
  /// A pinned context moves to the newest generation.
  public func merge(_ changes: ObjectIDChanges) {
    beginUse("merging")
    defer { endUse() }
    takeAssignedIdentifiers()
    processPendingChanges()
    let wasPinned = view.pinned != nil
    if view.pinned != nil {
      view.pinned = nil
      view.pinsAtNextRead = true
    }
    view.held = nil
    for identifier in changes.deletedObjectIDs where isOfStore(identifier) { mergeDelete(identifier) }
    RelationshipRestoring(self).unloadRelationships(to: changes.deletedObjectIDs)
    for identifier in changes.updatedObjectIDs.union(changes.refreshedObjectIDs) where isOfStore(identifier) {
      mergeUpdate(identifier)
    }
    var inserted: [ManagedObject] = []
    for identifier in changes.insertedObjectIDs where isOfStore(identifier) {
      guard let object = registeredObject(for: identifier) else {
        inserted.append(self.object(with: identifier))
        continue
      }
      bringBack(object)
    }
    event.insertedElsewhere += inserted
    if !trackers.isEmpty { noteTouchedElsewhere(changes) }
    endEvent()
    if wasPinned { refreshTrackers() }
    post(.managedObjectContextDidMergeChangesObjectIDs, changes)
    children.notify(changes, from: nil)
    sweepIfDue()
  }

  private func noteTouchedElsewhere(_ changes: ObjectIDChanges) {
    for identifiers in [
      changes.insertedObjectIDs, changes.updatedObjectIDs, changes.refreshedObjectIDs,
      changes.deletedObjectIDs,
    ] {
      event.touchedElsewhere += identifiers.compactMap { identifier in
        localKey(of: identifier).map {
          ManagedObjectID(entity: identifier.entity, key: $0, store: storeIdentity)
        }
      }
    }
  }

  private var depth: Int { (parent?.depth ?? -1) + 1 }

  private func mergeDelete(_ identifier: ManagedObjectID) {
    guard let object = registeredObject(for: identifier), !object.state.contains(.inserted) else { return }
    guard !object.state.contains(.deleted) else {
      // Deleted on both sides: the save has nothing to write for it.
      if changes.deleted.contains(object) { markInaccessible(object) }
      return
    }
    object.willRead()
    markInaccessible(object)
    object.state.insert(.deletedElsewhere)
  }

  /// Shows an object again whose row others have deleted and then inserted.
  private func bringBack(_ object: ManagedObject) {
    guard object.state.contains(.deletedElsewhere) else { return }
    DeletePropagation(self).undelete(object)
    takeNewestRow(of: object)
  }

  /// Takes a delete back. Merges pass over deleted objects, so others may have saved newer values meanwhile: those replace the values
  /// that were not edited here.
  func restoreDeleted(_ object: ManagedObject) {
    let isOutdated = object.state.contains(.changedWhileDeleted)
    DeletePropagation(self).undelete(object)
    if isOutdated { takeNewestRow(of: object) }
  }

  /// Whether a read waits for the main thread, which may wait for this context meanwhile.
  private var readsWaitForMainThread: Bool {
    !MainQueue.shared.isHere
      && sequence(first: self, next: \.parent).contains { $0 !== self && $0.concurrencyType == .mainQueue }
  }

  private func takeNewestRow(of object: ManagedObject) {
    if object.hasUnsavedValues || object.isRealised && !readsWaitForMainThread {
      refreshKeepingChanges(object, surfacingConflicts: true)
    } else {
      object.turnIntoFault()
      event.refreshed.append(object)
    }
  }

  private func mergeUpdate(_ identifier: ManagedObjectID) {
    guard let object = registeredObject(for: identifier), !object.state.contains(.inserted) else { return }
    guard !object.state.contains(.deleted) else {
      object.state.insert(.changedWhileDeleted)
      return
    }
    takeNewestRow(of: object)
  }
}
