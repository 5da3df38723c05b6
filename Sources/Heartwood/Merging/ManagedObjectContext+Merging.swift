import Foundation
import HeartwoodBytes

/// Merging what others have saved: other contexts, coordinators or processes.
///
/// A merge never replaces an unsaved value: only properties that were not edited here take the saved ones. Where both sides changed a property to
/// different values, the save meets the conflict. An object that was deleted elsewhere becomes a deleted one, with the values that it had.
extension ManagedObjectContext {
  /// Whether the context merges by itself what others save: for a context over a coordinator, saves of the coordinator's other contexts; for a
  /// child, saves of its parent, those of siblings that arrive there, and what the parent merges. False by default.
  ///
  /// The merge runs on the context's queue some time after the save. See `mergeChanges(fromContextDidSave:)`.
  public var automaticallyMergesChangesFromParent: Bool {
    get { following != .none }
    set { following = !newValue ? .none : following == .everyone ? .everyone : .coordinator }
  }

  /// Whether the context also merges by itself what other coordinators of the store and other processes save. Implies
  /// `automaticallyMergesChangesFromParent`; without effect on a child context, whose parent should do it.
  ///
  /// It reads the history after each commit of others, on a thread of its own.
  @_disfavoredOverload
  public var automaticallyMergesRemoteChanges: Bool {
    get { following == .everyone }
    set { following = newValue ? .everyone : following == .none ? .none : .coordinator }
  }

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

  /// Merges changes that were saved elsewhere: refreshes the registered ones among the updated objects, registers the inserted ones as faults, and
  /// marks the deleted ones as deleted. Then posts `managedObjectContextObjectsDidChange` and `managedObjectContextDidMergeChangesObjectIDs`.
  ///
  /// A pinned context moves to the newest generation.
  public func merge(_ changes: ObjectIDChanges) {
    beginUse("merging")
    defer { endUse() }
    Merge(self).take(changes)
  }

  private var depth: Int { (parent?.depth ?? -1) + 1 }

  /// Rolls back as `rollback()` does.
  func rollBackChanges() { Refresh(self).rollback() }

  /// Removes all objects as `reset()` does.
  func removeAllObjects() { Refresh(self).reset() }

  /// Refreshes an object from the store. Does nothing to a new object.
  ///
  /// - Parameters:
  ///   - object: An object of this context.
  ///   - mergeChanges: With false, the object becomes a fault and its changes are discarded, on both sides of its relationships. With true, its
  ///     changes are kept on top of the newest row, whose version the next save checks for conflicts. If the row was deleted, an object without
  ///     changes is treated as an inaccessible fault, and the save of one with changes meets a conflict.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    Refresh(self).refresh(object, mergeChanges: mergeChanges)
  }

  /// Refreshes all objects as `refreshAllObjects()` does.
  func refreshEveryObject() { Refresh(self).refreshAllObjects(except: []) }

  /// Makes the next save fail if the row of this unchanged object is no longer the version that was read.
  public func detectConflicts(for object: ManagedObject) { Refresh(self).detectConflicts(for: object) }

  /// Takes a delete back, with the newest row where others have saved one meanwhile.
  func restoreDeleted(_ object: ManagedObject) { Merge(self).restoreDeleted(object) }

  /// Replaces the row of an object by the newest, and keeps its unsaved values on top of it: see `Refresh`.
  func refreshKeepingChanges(_ object: ManagedObject, surfacingConflicts: Bool) {
    Refresh(self).refreshKeepingChanges(object, surfacingConflicts: surfacingConflicts)
  }
}
