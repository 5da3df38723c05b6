import Dispatch
import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// A scratch pad of managed objects: fetched objects and unsaved changes.
///
/// A context has one instance for each row. Changes stay in the context until `save()` writes them as one transaction.
/// Objects may be used on their context's queue only; their identifiers may be used anywhere.
///
/// - Invariant: An object is in at most one of the inserted, updated and deleted objects.
/// - Invariant: The context keeps a changed object until its change is saved or undone. It keeps an unchanged object
///   only while the program references it.
open class ManagedObjectContext: @unchecked Sendable {
  /// The kind of queue on which the context and its objects must be used.
  public let concurrencyType: ConcurrencyType

  /// The coordinator whose store holds the rows; for a child context, that of its parent.
  ///
  /// - Precondition: When it is set, the context has no objects and no parent.
  public var persistentStoreCoordinator: PersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? ownCoordinator }
    set {
      require(
        identities.count == 0 && parent == nil,
        "the coordinator of a context can be set only before its first use, and not of a child context")
      ownCoordinator = newValue
    }
  }
  @exclusivity(unchecked) private var ownCoordinator: PersistentStoreCoordinator?

  /// The parent context, through which this one reads and to which it saves; nil for a context over a coordinator.
  ///
  /// - Precondition: When it is set, the context has no objects, and is not among the parents of `parent`.
  public var parent: ManagedObjectContext? {
    get { ownParent }
    set {
      require(identities.count == 0, "the parent of a context can be set only before its first use")
      if ownParent != nil { assignedIdentifiers?.remove(self) }
      ownParent = newValue
      if let newValue { follow(newValue) }
    }
  }
  @exclusivity(unchecked) private var ownParent: ManagedObjectContext?

  let sequences = ContextSequences()

  /// Whose saves the context merges by itself.
  var following = Following.nothing { didSet { follow(following) } }
  /// The child contexts that merge saves by themselves.
  let children = ContextFollowers()

  /// The identifiers that saves assign in this context's tree; nil until a child is made.
  @exclusivity(unchecked) var assignedIdentifiers: AssignedIdentifiers?
  /// How many of them this context has taken over.
  @exclusivity(unchecked) var takenIdentifiers = 0
  /// The view with this context's changes that was last made for a child, and `editCount` then.
  var viewOfChanges: (stamp: Int, view: ParentView)?

  /// A name for display; the history records it with every transaction of this context.
  public var name: String?

  /// The author of the changes; the history records it with every transaction of this context.
  public var transactionAuthor: String?

  /// Values for the program's own use.
  public var userInfo: [String: Any] = [:]

  /// Whether delete rules are applied each time pending changes are processed (the default), or only at a save.
  public var propagatesDeletesAtEndOfEvent = true

  /// How an object is treated whose row turns out to be deleted when the object is first read. With true, the default,
  /// it becomes a deleted object with the model's default values. With false, it is unreadable and the next fetch or save
  /// throws.
  public var shouldDeleteInaccessibleFaults = true

  /// How a save resolves conflicts with what others have saved. The default throws them.
  public var mergePolicy = MergePolicy.error

  /// What the context registers its changes with; nil, the default, if they cannot be undone.
  public var undoManager: (any UndoRegistering)? {
    willSet { processPendingChanges() }
  }

  /// Whether the context keeps unchanged objects that the program no longer references. The default is false.
  public var retainsRegisteredObjects = false

  /// Core Data's limit for the age of cached rows. Without effect: there is no row cache, and a fault always reads the newest
  /// row, or that of the pinned generation.
  public var stalenessInterval = -1.0

  /// Whether the Observation framework sees reads and changes of the context's objects: `withObservationTracking`,
  /// `Observations` and SwiftUI. The default is true for a context of the main queue, false for others.
  ///
  /// Reading a property of a realised object takes a few nanoseconds more if this is true. The context keeps objects that
  /// were observed until it is reset. A change of this does not end observations that have begun.
  public var isObservable: Bool {
    didSet {
      let mayExpose = !isObservable
      identities.forEach { mayExpose ? $0.exposeRow() : $0.hideRow() }
    }
  }

  /// Tracks the thread that uses the context; nil if nothing is checked.
  let occupancy = ContextOccupancy(ManagedObjectContext.concurrencyChecking)

  /// Created at the first use, by any thread.
  var queue: DispatchQueue {
    madeQueue.withLock { made in
      if let made { return made }
      let queue = Self.makeQueue(concurrencyType, for: self)
      made = queue
      return queue
    }
  }

  private let madeQueue = Guarded<DispatchQueue?>(nil)

  // Accessed for every object and every edit. A context is used on its queue only, so exclusivity checks could find
  // nothing but misuse of the queue.
  @exclusivity(unchecked) var identities = IdentityMap()
  @exclusivity(unchecked) var changes = PendingChanges()
  @exclusivity(unchecked) var event = ContextEvent()
  /// Whether edits do not mark objects as changed: while `awakeFromFetch` runs.
  @exclusivity(unchecked) var ignoresEdits = false
  /// Whether a save runs, which hooks must not begin again.
  var isSaving = false
  /// The events since a merge policy began to resolve the conflicts of a save; nil while none does.
  var eventsOfResolution: [ContextEvent]?
  /// What these events have changed, until the save succeeds.
  var undoOfResolution: [ChangeRecord] = []
  /// The to-many property that was last read or written in this event.
  var lastRead: LastRead?
  /// The changed objects as fetches look them up; nil until one does, and after changes that no event has.
  var pendingLookup: PendingLookup?
  /// `editCount` at the end of the last event.
  @exclusivity(unchecked) var editCountOfEvents = 0
  /// Deleted objects whose delete rules have not been applied yet, in the order of deletion.
  var unpropagatedDeletes: [ManagedObject] = []
  /// Objects that were inserted and deleted again before they were saved.
  var discarded = ObjectList()
  /// Counts edits, so that a save can tell when `willSave` no longer changes anything.
  @exclusivity(unchecked) var editCount = 0
  /// Unchanged objects whose row must not have changed when the context is saved.
  var watched: [ManagedObject] = []
  /// Replacements of temporary keys, for values that still contain the temporary ones.
  @exclusivity(unchecked) var permanentKeys = KeyMap()
  /// The objects whose rows could not be read and that were not refreshed since.
  var unreadable: UnreadableObjects = [:]
  @exclusivity(unchecked) var view = ViewHolder()
  /// The slab that the next row is copied to.
  @exclusivity(unchecked) var rowSlab: RowSlab?

  /// A context without a store. To fetch and save, use `init(_:coordinator:)`.
  ///
  /// - Parameter concurrencyType: The kind of queue of the context.
  public init(_ concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    isObservable = concurrencyType == .mainQueue
  }

  /// A context over the coordinator's store.
  public convenience init(_ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator) {
    self.init(concurrencyType)
    ownCoordinator = coordinator
  }

  deinit { if parent != nil { assignedIdentifiers?.remove(self) } }

  private func follow(_ parent: ManagedObjectContext) {
    for ancestor in sequence(first: parent, next: \.parent) {
      require(ancestor !== self, "a context cannot be its own parent")
    }
    let assigned = parent.waitForQueue { parent.assignedIdentifiersOfTree() }
    assignedIdentifiers = assigned
    takenIdentifiers = assigned.add(self)
  }

  private func assignedIdentifiersOfTree() -> AssignedIdentifiers {
    if let assignedIdentifiers { return assignedIdentifiers }
    let made = AssignedIdentifiers()
    assignedIdentifiers = made
    return made
  }

  /// Inserts a new object into this context; the next save writes its row. Inserting a deleted object of this context
  /// undoes the deletion.
  ///
  /// - Precondition: The object belongs to no other context.
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
    require(
      !object.entity.isAbstract, "\(object.entity.displayName) is abstract: make objects of a subentity")
    adoptInserted(object)
    object.awakeFromInsert()
  }

  /// Marks an object for deletion at the next save. Delete rules are applied when pending changes are processed, so
  /// `prepareForDeletion` still sees the relationships unchanged.
  public func delete(_ object: ManagedObject) {
    beginUse("deleting", object)
    defer { endUse() }
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be deleted through a context that it does not belong to")
    markDeleted(object)
  }

  /// The object with this identifier: the registered instance, or a fault whose row is read at its first use. If the row
  /// does not exist, the fault turns out to be inaccessible (`shouldDeleteInaccessibleFaults`).
  ///
  /// - Precondition: The identifier is temporary or belongs to this context's store. `existingObject(with:)` throws
  ///   instead.
  public func object(with objectID: ManagedObjectID) -> ManagedObject {
    beginUse("getting an object")
    defer { endUse() }
    require(isOfStore(objectID), "\(objectID) is an object of another store than this context's")
    takeAssignedIdentifiers()
    return object(objectID.entity, objectID.key)
  }

  /// The object with this identifier, as `object(with:)`, in its class.
  ///
  /// - Parameters:
  ///   - objectID: The identifier.
  ///   - type: The class.
  /// - Precondition: As of `object(with:)`, and the object is of the class.
  public func object<Object: ManagedObject>(
    with objectID: ManagedObjectID, as type: Object.Type = Object.self
  ) -> Object {
    let object: ManagedObject = object(with: objectID)
    guard let typed = object as? Object else {
      programError(HeartwoodError.otherClass(object, Object.self).message)
    }
    return typed
  }

  /// The object with this identifier if it is registered, otherwise nil. Does not read the store.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    beginUse("getting an object")
    defer { endUse() }
    takeAssignedIdentifiers()
    return isOfStore(objectID) ? registered(objectID.entity.rootEntity, objectID.key) : nil
  }

  /// The object with this identifier, read from the store if it is not registered or is a fault.
  ///
  /// An object that was deleted in this context, and whose delete is not saved yet, is returned as it is.
  ///
  /// - Throws: `HeartwoodError` with code `.managedObjectReferentialIntegrity` if the row does not exist or belongs to
  ///   another store; the store's error if the row cannot be read.
  public func existingObject(with objectID: ManagedObjectID) throws -> ManagedObject {
    beginUse("getting an object")
    defer { endUse() }
    if let object = registeredObject(for: objectID), !object.isFault || object.hasChanges {
      if object.state.contains(.inaccessible) { throw HeartwoodError.noRow(objectID) }
      return object
    }
    guard isOfStore(objectID) else { throw HeartwoodError.noRow(objectID) }
    let (root, view) = (objectID.entity.rootEntity, try readingView())
    let key = permanentKeys.permanent(objectID.key)
    guard let row = try view.row(root, key) else { throw HeartwoodError.noRow(objectID) }
    let factory = try root.entity(numbered: row.entityNumber).factory
    let object = materialise(factory, key, in: storeIdentity, row: row.bytes)
    if object.isDeleted { throw HeartwoodError.noRow(objectID) }
    object.willRead()
    try throwIfUnreadable()
    return object
  }

  /// The object with this identifier, as `existingObject(with:)`, in its class.
  ///
  /// ```swift
  /// let artist: Artist = try context.existingObject(with: id)
  /// ```
  ///
  /// - Parameters:
  ///   - objectID: The identifier.
  ///   - type: The class.
  /// - Throws: As `existingObject(with:)`; `.managedObjectReferentialIntegrity` also if the object is of another class.
  public func existingObject<Object: ManagedObject>(
    with objectID: ManagedObjectID, as type: Object.Type = Object.self
  ) throws -> Object {
    let object: ManagedObject = try existingObject(with: objectID)
    guard let typed = object as? Object else { throw HeartwoodError.otherClass(object, Object.self) }
    return typed
  }

  /// Decides what becomes of an object whose row turns out to be deleted when the object is read. Not called by
  /// `existingObject(with:)`, which throws.
  ///
  /// - Parameters:
  ///   - fault: The object.
  ///   - objectID: Its identifier.
  ///   - property: The property that was read; nil if it is not known.
  /// - Returns: True if the object becomes a deleted one; false if it is unreadable, so that the next fetch or save throws. By
  ///   default `shouldDeleteInaccessibleFaults`.
  open func shouldHandleInaccessibleFault(
    _ fault: ManagedObject, for objectID: ManagedObjectID, triggeredBy property: PropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }

  /// While no store is open, the identifiers of any store are accepted, and reading throws.
  func isOfStore(_ objectID: ManagedObjectID) -> Bool {
    objectID.isTemporaryID || storeIdentity == .none || objectID.store == storeIdentity
  }

  /// Objects that the next save will write as new rows.
  public var insertedObjects: Set<ManagedObject> { listing { Set(changes.inserted) } }
  /// Objects that were changed since they were fetched or saved.
  public var updatedObjects: Set<ManagedObject> { listing { Set(changes.updated) } }
  /// Objects that the next save will delete.
  public var deletedObjects: Set<ManagedObject> { listing { Set(changes.deleted) } }
  /// Every object that the context holds now.
  ///
  /// - Complexity: Linear in the number of objects.
  public var registeredObjects: Set<ManagedObject> { listing { Set(identities.objects) } }

  /// Whether there is anything to save or to roll back. Setting a property to the value that it already has counts as a
  /// change, although a save of it writes nothing.
  public var hasChanges: Bool { listing { !changes.isEmpty } }

  private func listing<Result>(_ list: () -> Result) -> Result {
    beginUse("listing objects")
    defer { endUse() }
    return list()
  }
}
