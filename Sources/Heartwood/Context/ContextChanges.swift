import Foundation

/// Changed objects of one context, as its notifications report them. Use them on the context's queue only.
public struct ContextChanges {
  /// Objects that were inserted.
  public var insertedObjects: Set<ManagedObject> = []
  /// Objects that were changed.
  public var updatedObjects: Set<ManagedObject> = []
  /// Objects that were deleted.
  public var deletedObjects: Set<ManagedObject> = []
  /// Unchanged objects whose values were replaced by the store's.
  public var refreshedObjects: Set<ManagedObject> = []
  /// Objects whose values were dropped.
  public var invalidatedObjects: Set<ManagedObject> = []
  /// Whether the context was reset, so that none of its former objects may be used.
  public var isInvalidatingAll = false
  /// The identifiers of all former objects if the context was reset. In notifications they are the value of Core Data's key.
  public var invalidatedAllObjectIDs: [ManagedObjectID] = []

  /// No changes.
  public init() {}

  /// The changes in a notification of a context; nil for any other notification.
  public init?(_ notification: Notification) {
    guard notification.object is ManagedObjectContext else { return nil }
    func objects(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObject> {
      notification.userInfo?[key.rawValue] as? Set<ManagedObject> ?? []
    }
    insertedObjects = objects(.insertedObjects)
    updatedObjects = objects(.updatedObjects)
    deletedObjects = objects(.deletedObjects)
    refreshedObjects = objects(.refreshedObjects)
    invalidatedObjects = objects(.invalidatedObjects)
    let all = notification.userInfo?[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue]
    isInvalidatingAll = all != nil
    invalidatedAllObjectIDs = all as? [ManagedObjectID] ?? []
  }

  /// Whether nothing changed.
  public var isEmpty: Bool {
    insertedObjects.isEmpty && updatedObjects.isEmpty && deletedObjects.isEmpty && refreshedObjects.isEmpty
      && invalidatedObjects.isEmpty && !isInvalidatingAll
  }

  /// The identifiers of the objects.
  public var objectIDs: ObjectIDChanges {
    func identifiers(_ objects: Set<ManagedObject>) -> Set<ManagedObjectID> {
      Set(objects.lazy.map(\.objectID))
    }
    return ObjectIDChanges(
      insertedObjectIDs: identifiers(insertedObjects), updatedObjectIDs: identifiers(updatedObjects),
      deletedObjectIDs: identifiers(deletedObjects), refreshedObjectIDs: identifiers(refreshedObjects),
      invalidatedObjectIDs: identifiers(invalidatedObjects), isInvalidatingAll: isInvalidatingAll)
  }

  /// The sets that are not empty, under Core Data's keys.
  var userInfo: [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    for (key, objects) in [
      (ManagedObjectContext.NotificationKey.insertedObjects, insertedObjects),
      (.updatedObjects, updatedObjects),
      (.deletedObjects, deletedObjects), (.refreshedObjects, refreshedObjects),
      (.invalidatedObjects, invalidatedObjects),
    ] where !objects.isEmpty { info[key.rawValue] = objects }
    if isInvalidatingAll {
      info[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] = invalidatedAllObjectIDs
    }
    return info
  }
}

/// Identifiers of changed objects: what a save or a merge changed, in a form that any thread may use.
public struct ObjectIDChanges: Hashable, Sendable {
  /// Identifiers of inserted objects.
  public var insertedObjectIDs: Set<ManagedObjectID>
  /// Identifiers of updated objects.
  public var updatedObjectIDs: Set<ManagedObjectID>
  /// Identifiers of deleted objects.
  public var deletedObjectIDs: Set<ManagedObjectID>
  /// Identifiers of unchanged objects whose values were replaced by the store's.
  public var refreshedObjectIDs: Set<ManagedObjectID>
  /// Identifiers of objects whose values were dropped.
  public var invalidatedObjectIDs: Set<ManagedObjectID>
  /// Whether the context was reset.
  public var isInvalidatingAll: Bool
  /// The generation that a save made; nil for other changes.
  public var queryGeneration: QueryGenerationToken?

  /// Changes with these identifiers.
  public init(
    insertedObjectIDs: Set<ManagedObjectID> = [], updatedObjectIDs: Set<ManagedObjectID> = [],
    deletedObjectIDs: Set<ManagedObjectID> = [], refreshedObjectIDs: Set<ManagedObjectID> = [],
    invalidatedObjectIDs: Set<ManagedObjectID> = [], isInvalidatingAll: Bool = false,
    queryGeneration: QueryGenerationToken? = nil
  ) {
    self.insertedObjectIDs = insertedObjectIDs
    self.updatedObjectIDs = updatedObjectIDs
    self.deletedObjectIDs = deletedObjectIDs
    self.refreshedObjectIDs = refreshedObjectIDs
    self.invalidatedObjectIDs = invalidatedObjectIDs
    self.isInvalidatingAll = isInvalidatingAll
    self.queryGeneration = queryGeneration
  }

  /// The changes in a notification with Core Data's keys: sets, arrays or lists of objects, identifiers or URIs.
  ///
  /// - Parameters:
  ///   - userInfo: The `userInfo` of a notification, or a dictionary like it, as of a batch request's result.
  ///   - coordinator: Converts URIs; those of other stores are left out. Nil leaves out all URIs.
  public init(userInfo: [AnyHashable: Any], coordinator: PersistentStoreCoordinator? = nil) {
    func identifiers(_ keys: ManagedObjectContext.NotificationKey...) -> Set<ManagedObjectID> {
      Set(keys.flatMap { Self.identifiers(in: userInfo[$0.rawValue], coordinator) })
    }
    self.init(
      insertedObjectIDs: identifiers(.insertedObjectIDs, .insertedObjects),
      updatedObjectIDs: identifiers(.updatedObjectIDs, .updatedObjects),
      deletedObjectIDs: identifiers(.deletedObjectIDs, .deletedObjects),
      refreshedObjectIDs: identifiers(.refreshedObjectIDs, .refreshedObjects),
      invalidatedObjectIDs: identifiers(.invalidatedObjectIDs, .invalidatedObjects),
      isInvalidatingAll: userInfo[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] != nil,
      queryGeneration: userInfo[ManagedObjectContext.NotificationKey.queryGeneration.rawValue]
        as? QueryGenerationToken)
  }

  private static func identifiers(in value: Any?, _ coordinator: PersistentStoreCoordinator?)
    -> [ManagedObjectID]
  {
    switch value {
    case let identifiers as Set<ManagedObjectID>: Array(identifiers)
    case let identifiers as [ManagedObjectID]: identifiers
    case let objects as Set<ManagedObject>: objects.map(\.objectID)
    case let objects as [ManagedObject]: objects.map(\.objectID)
    case let uris as Set<URL>: uris.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
    case let uris as [URL]: uris.compactMap { coordinator?.managedObjectID(forURIRepresentation: $0) }
    default: []
    }
  }

  /// Whether nothing changed.
  public var isEmpty: Bool {
    insertedObjectIDs.isEmpty && updatedObjectIDs.isEmpty && deletedObjectIDs.isEmpty
      && refreshedObjectIDs.isEmpty
      && invalidatedObjectIDs.isEmpty && !isInvalidatingAll
  }

  /// The sets that are not empty, under Core Data's keys.
  var userInfo: [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    for (key, identifiers) in [
      (ManagedObjectContext.NotificationKey.insertedObjectIDs, insertedObjectIDs),
      (.updatedObjectIDs, updatedObjectIDs), (.deletedObjectIDs, deletedObjectIDs),
      (.refreshedObjectIDs, refreshedObjectIDs), (.invalidatedObjectIDs, invalidatedObjectIDs),
    ] where !identifiers.isEmpty { info[key.rawValue] = identifiers }
    if isInvalidatingAll {
      info[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] = Array(invalidatedObjectIDs)
    }
    if let queryGeneration {
      info[ManagedObjectContext.NotificationKey.queryGeneration.rawValue] = queryGeneration
    }
    return info
  }
}
