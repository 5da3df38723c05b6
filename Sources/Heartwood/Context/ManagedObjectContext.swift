import Dispatch
import Foundation
import HeartwoodBytes

/// A scratch pad of managed objects: what has been fetched, and what has been changed and not saved.
///
/// In one context there is one instance for each row. Changes stay in the context until `save()`
/// writes them as one transaction. Objects belong to their context and its queue; their identifiers
/// may go anywhere.
///
/// - Invariant: an object is in at most one of the inserted, updated and deleted objects.
/// - Invariant: a changed object is held until its change is saved or undone; any other only until
///   nobody else holds it.
public final class ManagedObjectContext: @unchecked Sendable {
  /// The queue on which every use of the context's objects belongs.
  public let concurrencyType: ConcurrencyType

  /// The coordinator whose store holds the rows.
  @exclusivity(unchecked) public private(set) var persistentStoreCoordinator: PersistentStoreCoordinator?

  /// A name for people; every transaction of this context carries it in the history.
  public var name: String?

  /// Who changes; every transaction of this context carries it in the history.
  public var transactionAuthor: String?

  /// Free for the program's own use.
  public var userInfo: [String: Any] = [:]

  /// Whether the deletes that follow from delete rules happen when pending changes are processed
  /// (the default), or only when the context is saved.
  public var propagatesDeletesAtEndOfEvent = true

  /// What happens to an object whose row turns out to be gone when it is first touched: with true,
  /// the default, it becomes a deleted object with empty values; with false it is unreadable and the
  /// next fetch or save throws.
  public var shouldDeleteInaccessibleFaults = true

  /// Which thread is inside; nil where nothing is checked.
  let occupancy = ContextOccupancy(ManagedObjectContext.concurrencyChecking)

  private(set) lazy var queue = Self.makeQueue(concurrencyType, for: self)

  // These are touched for every object and every edit. All use of a context is on its queue, so the checks for
  // overlapping access would find nothing that is not a mistake of the queue.
  @exclusivity(unchecked) var identities = IdentityMap()
  @exclusivity(unchecked) var changes = PendingChanges()
  /// Deleted objects whose delete rules have not been applied yet, in the order of deletion.
  var unpropagatedDeletes: [ManagedObject] = []
  /// Objects that were inserted and deleted again before they ever were rows.
  var discarded: [ManagedObject] = []
  /// Counts edits, so that a save knows when `willSave` has come to rest.
  @exclusivity(unchecked) var editCount = 0
  /// Unchanged objects whose row must still be the one that was read when the context is saved.
  var watched: [ManagedObject] = []
  /// Temporary keys that were replaced, so that values which still hold them resolve.
  @exclusivity(unchecked) var permanentKeys = KeyMap()
  /// The rows that could not be read since the last refresh of them.
  var unreadable: UnreadableObjects = [:]
  @exclusivity(unchecked) var view = ViewHolder()
  /// Where the next row is copied to.
  @exclusivity(unchecked) var rowSlab: RowSlab?

  /// A context without a store; give it a coordinator with `init(coordinator:)` instead to save.
  ///
  /// - Parameter concurrencyType: the queue that the context lives on.
  public init(_ concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
  }

  /// A context over the coordinator's store.
  public convenience init(_ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator) {
    self.init(concurrencyType)
    persistentStoreCoordinator = coordinator
  }

  /// Puts a new object under this context's care; it becomes a row at the next save.
  ///
  /// - Precondition: the object belongs to no other context.
  public func insert(_ object: ManagedObject) {
    beginUse("inserting", object)
    defer { endUse() }
    if object.managedObjectContext === self {
      if object.isDeleted { undelete(object) }
      return
    }
    require(
      object.managedObjectContext == nil,
      "\(object.entity.displayName) belongs to another context: pass its objectID and ask for the object here"
    )
    adoptInserted(object)
  }

  /// Marks an object for deletion at the next save. Delete rules are applied when pending changes are
  /// processed, so that relationships are still whole in `prepareForDeletion`.
  public func delete(_ object: ManagedObject) {
    beginUse("deleting", object)
    defer { endUse() }
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be deleted through a context that it does not belong to")
    markDeleted(object)
  }

  /// The object with this identifier: the registered instance, or a fault that is not looked up
  /// before it is touched. An identifier whose row does not exist gives a fault that turns out to be
  /// inaccessible (`shouldDeleteInaccessibleFaults`).
  ///
  /// - Precondition: the identifier is temporary or of this context's store. `existingObject(with:)` throws
  ///   instead.
  public func object(with objectID: ManagedObjectID) -> ManagedObject {
    beginUse("asking for an object")
    defer { endUse() }
    require(isOfStore(objectID), "\(objectID) is an object of another store than this context's")
    return object(objectID.entity, objectID.key)
  }

  /// The object with this identifier, if the context knows it already.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    beginUse("asking for an object")
    defer { endUse() }
    return isOfStore(objectID) ? registered(objectID.entity.rootEntity, objectID.key) : nil
  }

  /// The object with this identifier, read from the store if the context does not hold it yet.
  ///
  /// - Throws: `HeartwoodError` with code `.managedObjectReferentialIntegrity` when there is no such
  ///   row, it is of another store, or it has been deleted in this context.
  public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    beginUse("asking for an object")
    defer { endUse() }
    if let object = registeredObject(for: objectID), !object.isFault || object.isInserted {
      if object.isDeleted { throw HeartwoodError.noRow(objectID) }
      return object
    }
    guard !objectID.isTemporaryID, isOfStore(objectID) else { throw HeartwoodError.noRow(objectID) }
    let root = objectID.entity.rootEntity
    guard let row = try readingView().row(root, objectID.key) else { throw HeartwoodError.noRow(objectID) }
    let factory = try root.entity(numbered: row.entityNumber).factory
    let object = materialise(factory, objectID.key, in: storeIdentity, row: row.bytes)
    if object.isDeleted { throw HeartwoodError.noRow(objectID) }
    object.willRead()
    try throwIfUnreadable()
    return object
  }

  /// Where the store has been closed, its identifiers are taken, and reading throws.
  private func isOfStore(_ objectID: ManagedObjectID) -> Bool {
    objectID.isTemporaryID || storeIdentity == .none || objectID.store == storeIdentity
  }

  /// Objects that the next save will write as new rows.
  public var insertedObjects: Set<ManagedObject> { listing { Set(changes.inserted) } }
  /// Objects that were changed since they were fetched or saved.
  public var updatedObjects: Set<ManagedObject> { listing { Set(changes.updated) } }
  /// Objects that the next save will delete.
  public var deletedObjects: Set<ManagedObject> { listing { Set(changes.deleted) } }
  /// Every object that the context holds now. Linear in their number.
  public var registeredObjects: Set<ManagedObject> { listing { Set(identities.objects) } }

  /// Whether there is anything to save or to roll back. Setting a property to the value that it has
  /// counts; such a save writes nothing.
  public var hasChanges: Bool { listing { !changes.isEmpty } }

  private func listing<Result>(_ list: () -> Result) -> Result {
    beginUse("looking at the objects")
    defer { endUse() }
    return list()
  }
}
