import Foundation
import Heartwood

/// Notifications of contexts and coordinators, under Core Data's names.
extension NSNotification.Name {
  /// The notification of this name.
  public static let NSManagedObjectContextWillSave = Notification.Name.managedObjectContextWillSave
  /// The notification of this name.
  public static let NSManagedObjectContextDidSave = Notification.Name.managedObjectContextDidSave
  /// The notification of this name.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name
    .managedObjectContextObjectsDidChange
  /// The notification of this name.
  public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name
    .managedObjectContextDidSaveObjectIDs
  /// The notification of this name.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name
    .managedObjectContextDidMergeChangesObjectIDs
  /// Never posted: Core Data posts it for stores in iCloud only.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// The notification of this name.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name
    .persistentStoreCoordinatorStoresDidChange
  /// Posted before a store is removed. The object is the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name
    .persistentStoreWillBeRemoved
  /// The notification of this name.
  public static let NSPersistentStoreRemoteChange = Notification.Name.persistentStoreRemoteChange
}

/// The keys in the user info of contexts' notifications.
public let NSInsertedObjectsKey = "inserted"
/// A key in the user info of notifications.
public let NSUpdatedObjectsKey = "updated"
/// A key in the user info of notifications.
public let NSDeletedObjectsKey = "deleted"
/// A key in the user info of notifications.
public let NSRefreshedObjectsKey = "refreshed"
/// A key in the user info of notifications.
public let NSInvalidatedObjectsKey = "invalidated"
/// A key in the user info of notifications.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// A key in the user info of notifications.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// A key in the user info of notifications.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// A key in the user info of notifications.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// A key in the user info of notifications.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// A key in the user info of notifications.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// A key in the user info of notifications.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
/// The snapshot events of `awake(fromSnapshotEvents:)`.
public typealias NSSnapshotEventType = SnapshotEventType
