import Foundation

extension Notification.Name {
  /// Posted by a context at the start of `save()`, also if there is nothing to save. The object is the context.
  public static let managedObjectContextWillSave = Notification.Name("HeartwoodManagedObjectContextWillSave")
  /// Posted by a context after a save that wrote something. The object is the context; the `userInfo` has the sets of objects
  /// `inserted`, `updated` and `deleted`, and the query generation that reads see from now on.
  public static let managedObjectContextDidSave = Notification.Name("HeartwoodManagedObjectContextDidSave")
  /// Posted with `managedObjectContextDidSave`, with identifiers in place of objects. Any thread may use them.
  public static let managedObjectContextDidSaveObjectIDs = Notification.Name(
    "HeartwoodManagedObjectContextDidSaveObjectIDs")
  /// Posted by a context when pending changes were processed, and after merges, refreshes, rollbacks and resets. The object
  /// is the context; the `userInfo` has the sets of objects that were changed since the last such notification.
  public static let managedObjectContextObjectsDidChange = Notification.Name(
    "HeartwoodManagedObjectContextObjectsDidChange")
  /// Posted by a context after it has merged changes, with the identifiers of the objects that were affected.
  public static let managedObjectContextDidMergeChangesObjectIDs = Notification.Name(
    "HeartwoodManagedObjectContextDidMergeChangesObjectIDs")
}

extension ManagedObjectContext {
  /// Core Data's name of `Notification.Name.managedObjectContextWillSave`.
  public static var willSaveObjectsNotification: Notification.Name { .managedObjectContextWillSave }
  /// Core Data's name of `Notification.Name.managedObjectContextDidSave`.
  public static var didSaveObjectsNotification: Notification.Name { .managedObjectContextDidSave }
  /// Core Data's name of `Notification.Name.managedObjectContextDidSaveObjectIDs`.
  public static var didSaveObjectIDsNotification: Notification.Name { .managedObjectContextDidSaveObjectIDs }
  /// Core Data's name of `Notification.Name.managedObjectContextObjectsDidChange`.
  public static var didChangeObjectsNotification: Notification.Name { .managedObjectContextObjectsDidChange }
  /// Core Data's name of `Notification.Name.managedObjectContextDidMergeChangesObjectIDs`.
  public static var didMergeChangesObjectIDsNotification: Notification.Name {
    .managedObjectContextDidMergeChangesObjectIDs
  }

  /// The keys in the `userInfo` of a context's notifications, by their raw values, which are Core Data's.
  public enum NotificationKey: String, Hashable, Sendable, CaseIterable {
    /// Inserted objects, a `Set<ManagedObject>`.
    case insertedObjects = "inserted"
    /// Updated objects, a `Set<ManagedObject>`.
    case updatedObjects = "updated"
    /// Deleted objects, a `Set<ManagedObject>`.
    case deletedObjects = "deleted"
    /// Unchanged objects whose values were replaced by the store's, a `Set<ManagedObject>`.
    case refreshedObjects = "refreshed"
    /// Objects whose values were dropped, a `Set<ManagedObject>`.
    case invalidatedObjects = "invalidated"
    /// Whether the context was reset: `true`.
    case invalidatedAllObjects = "invalidatedAll"
    /// Identifiers of inserted objects, a `Set<ManagedObjectID>`.
    case insertedObjectIDs = "inserted_objectIDs"
    /// Identifiers of updated objects, a `Set<ManagedObjectID>`.
    case updatedObjectIDs = "updated_objectIDs"
    /// Identifiers of deleted objects, a `Set<ManagedObjectID>`.
    case deletedObjectIDs = "deleted_objectIDs"
    /// Identifiers of refreshed objects, a `Set<ManagedObjectID>`.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// Identifiers of invalidated objects, a `Set<ManagedObjectID>`.
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// The `QueryGenerationToken` of the saved generation.
    case queryGeneration = "newQueryGeneration"
  }
}

/// Posting to the default notification center.
extension ManagedObjectContext {
  /// Posts a notification of changed objects, unless there are none.
  func post(_ name: Notification.Name, _ changes: ContextChanges) {
    guard !changes.isEmpty else { return }
    NotificationCenter.default.post(name: name, object: self, userInfo: changes.userInfo)
  }

  func post(_ name: Notification.Name, _ changes: ObjectIDChanges) {
    NotificationCenter.default.post(name: name, object: self, userInfo: changes.userInfo)
  }
}

/// The changes of a context, as asynchronous sequences.
///
/// Each use of a property is a sequence of its own, which begins with the call and ends when its iteration ends or the context
/// is released. Elements that are not consumed yet are kept. The sequences do not keep the context.
extension ManagedObjectContext {
  /// The changes of each save of this context that has written something.
  @_disfavoredOverload
  public var saves: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextDidSaveObjectIDs) { ObjectIDChanges(userInfo: $0.userInfo ?? [:]) }
  }

  /// The changes of each event: edits that are not saved yet, merges, refreshes, rollbacks and resets. New objects have
  /// temporary identifiers.
  @_disfavoredOverload
  public var objectChanges: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextObjectsDidChange) { ContextChanges($0)?.objectIDs ?? ObjectIDChanges() }
  }

  /// The changes that each merge brings.
  @_disfavoredOverload
  public var merges: AsyncStream<ObjectIDChanges> {
    changes(of: .managedObjectContextDidMergeChangesObjectIDs) {
      ObjectIDChanges(userInfo: $0.userInfo ?? [:])
    }
  }

  private func changes(
    of name: Notification.Name, _ element: @escaping @Sendable (Notification) -> ObjectIDChanges
  ) -> AsyncStream<ObjectIDChanges> {
    let (stream, continuation) = AsyncStream<ObjectIDChanges>.makeStream()
    let observer = SequenceObserver(
      NotificationCenter.default.addObserver(forName: name, object: self, queue: nil) { notification in
        let changes = element(notification)
        if !changes.isEmpty { continuation.yield(changes) }
      })
    continuation.onTermination = { _ in observer.end() }
    sequences.add(continuation)
    return stream
  }
}
