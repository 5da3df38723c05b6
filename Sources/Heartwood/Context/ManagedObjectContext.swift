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
open class ManagedObjectContext: NSObject, CustomReflectable, @unchecked Sendable {
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
      unfollow()
      ownCoordinator = newValue
      follow(following)
    }
  }
  @exclusivity(unchecked) private var ownCoordinator: PersistentStoreCoordinator? {
    didSet {
      ownOpenings = ownCoordinator?.openings
      entityOfClass = nil
    }
  }
  /// Those of the coordinator; nil for a child context.
  @exclusivity(unchecked) private(set) final var ownOpenings: OpeningCount?
  /// The class whose entity was asked for last, and that entity, which the frozen model keeps.
  @exclusivity(unchecked) final var entityOfClass:
    (type: ObjectIdentifier, entity: UnownedReference<EntityDescription>)?

  /// The parent context, through which this one reads and to which it saves; nil for a context over a coordinator.
  ///
  /// - Precondition: When it is set, the context has no objects, and is not among the parents of `parent`.
  public var parent: ManagedObjectContext? {
    get { ownParent }
    set {
      require(identities.count == 0, "the parent of a context can be set only before its first use")
      unfollow()
      if ownParent != nil { assignedIdentifiers?.remove(self) }
      ownParent = newValue
      ownOpenings = newValue == nil ? ownCoordinator?.openings : nil
      entityOfClass = nil
      if let newValue { shareIdentifiers(with: newValue) }
      follow(following)
    }
  }
  @exclusivity(unchecked) private var ownParent: ManagedObjectContext?

  let sequences = ContextSequences()

  /// Whose saves the context merges by itself.
  var following = MergedSaves.none { didSet { follow(following) } }
  /// Gets what others save, on any thread, in place of a merge on the context's queue; nil for the merge. Set before the context follows others.
  package final var receivesChanges: (@Sendable (ObjectIDChanges) -> Void)?
  /// The child contexts that merge saves by themselves.
  let children = ContextFollowers()

  /// The identifiers that saves assign in this context's tree; nil until a child is made.
  @exclusivity(unchecked) var assignedIdentifiers: AssignedIdentifiers?
  /// How many of them this context has taken over.
  @exclusivity(unchecked) var takenIdentifiers = 0
  /// Which versions of rows this context has heard of.
  @exclusivity(unchecked) var knownVersions = KnownVersions()
  /// The view with this context's changes that was last made for a child; nil after changes that no event has.
  var shownChanges: ShownChanges?

  /// A name for display; the history records it with every transaction of this context.
  public var name: String?
  /// Whether saves validate: a migration does so at its end.
  final var validatesAtSave = true

  /// The author of the changes; the history records it with every transaction of this context. If it is nil, a transaction with what
  /// children of this context have saved has their author, if all of them have the same one.
  public var transactionAuthor: String?

  /// Values for the program's own use.
  @_disfavoredOverload public var userInfo: [String: Any] = [:]

  /// Whether delete rules are applied each time pending changes are processed (the default), or only at a save.
  @exclusivity(unchecked) public var propagatesDeletesAtEndOfEvent = true

  /// How an object is treated whose row turns out to be deleted when the object is first read. With true, the default,
  /// it becomes a deleted object with the model's default values. With false, it is unreadable and the next fetch or save
  /// throws.
  public var shouldDeleteInaccessibleFaults = true

  /// How a save resolves conflicts with what others have saved. The default throws them.
  @_disfavoredOverload public var mergePolicy = MergePolicy.error

  /// The registrar of the context's changes; nil, the default, if they cannot be undone.
  @_disfavoredOverload public var undoManager: (any UndoRegistering)? {
    willSet { processPendingChanges() }
  }

  /// Whether the context keeps unchanged objects that the program no longer references. The default is false.
  @exclusivity(unchecked) public var retainsRegisteredObjects = false

  /// Core Data's limit for the age of cached rows. Without effect: there is no row cache, and a fault always reads the newest
  /// row, or that of the pinned generation.
  public var stalenessInterval = -1.0

  /// Whether the Observation framework sees reads and changes of the context's objects: `withObservationTracking`,
  /// `Observations` and SwiftUI. The default is true for a context of the main queue, false for others.
  ///
  /// Reading a property of a realised object takes a few nanoseconds more if this is true. The context keeps objects that
  /// were observed until it is reset. A change of this does not end observations that have begun.
  @_disfavoredOverload
  @exclusivity(unchecked) public var isObservable: Bool {
    didSet {
      let mayExpose = !isObservable
      identities.forEach { mayExpose ? $0.exposeRow() : $0.hideRow() }
    }
  }

  /// Tracks the thread that uses the context; nil if nothing is checked.
  let occupancy: ContextOccupancy?

  /// Created at the first use, by any thread.
  var queue: DispatchQueue {
    madeQueue.withLock { made in
      if let made { return made }
      let queue = Self.makeQueue(concurrencyType)
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
  /// The save that runs; nil if none does.
  var saveProgress: SaveProgress?
  /// The to-many properties that were last read or written in this event.
  let lastReads = LastReads()
  /// Releases the collections that relationships were last read or written as.
  package final func forgetLastReads() { lastReads.removeAll() }
  /// The changed objects as fetches look them up; nil until one does, and after changes that no event has.
  var pendingLookup: PendingLookup?
  /// The last event, while observers are notified of it.
  var reportedEvent: ContextEvent?
  /// `editCount` at the end of the last event.
  @exclusivity(unchecked) var editCountOfEvents = 0
  /// Counts edits, so that a save can tell when `willSave` no longer changes anything.
  @exclusivity(unchecked) var editCount = 0
  /// Objects with destinations in relationships that are not stored: nothing else may hold them.
  var transientOwners: Set<ManagedObject> = []
  /// Replacements of temporary keys, for values that still contain the temporary ones.
  @exclusivity(unchecked) var permanentKeys = KeyMap()
  /// Whether the model has to-many relationships without an inverse.
  private(set) lazy var hasOneWayLists =
    persistentStoreCoordinator?.managedObjectModel.entities.contains {
      $0.relationshipsBySlot.contains { $0.isToMany && $0.inverseRelationship == nil }
    } ?? true
  var nextSave = NextSave()
  /// The objects that merge policies have made one since the save began, for children, which may have them too.
  var unitedInSave: [UnitedObjects.Pair] = []
  /// The objects whose rows could not be read and that were not refreshed since.
  @exclusivity(unchecked) var unreadable: UnreadableObjects = [:]
  @exclusivity(unchecked) var view = ViewHolder()
  /// The changes that the next save writes beside the objects that a change set has changed.
  var appliedChanges: AppliedChanges?
  /// The batches of fetches whose rows are not loaded yet.
  var fetchBatches = FetchBatches()
  /// The live results of this context.
  let trackers = ContextTrackers()
  /// Tells an incremental store which objects the context uses; nil for other stores.
  @exclusivity(unchecked) var usedObjects: UsedObjects?
  /// The slab that the next row is copied to.
  @exclusivity(unchecked) var rowSlab: RowSlab?

  /// A context without a store. To fetch and save, use `init(_:coordinator:)`.
  ///
  /// - Parameter concurrencyType: The kind of queue of the context.
  @_disfavoredOverload
  public init(_ concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    isObservable = concurrencyType == .mainQueue
    occupancy = ContextOccupancy(ManagedObjectContext.concurrencyChecking, of: concurrencyType)
  }

  /// A context as Core Data makes it: uses outside of `perform` and `performAndWait` are not checked, whatever `concurrencyChecking` says, unless
  /// the program has the arguments `-com.apple.CoreData.ConcurrencyDebug 1` or such a user default.
  ///
  /// - Parameter concurrencyType: The kind of queue of the context.
  public init(concurrencyType: ConcurrencyType) {
    self.concurrencyType = concurrencyType
    isObservable = concurrencyType == .mainQueue
    occupancy = ContextOccupancy(.ofCoreData, of: concurrencyType)
  }

  /// A context without a store, of a queue of its own, as Core Data makes it.
  @available(*, deprecated, message: "Use init(concurrencyType:)")
  public convenience override init() { self.init(concurrencyType: .privateQueue) }

  /// A context over the coordinator's store.
  public convenience init(_ concurrencyType: ConcurrencyType, coordinator: PersistentStoreCoordinator) {
    self.init(concurrencyType)
    ownCoordinator = coordinator
    // Initialisers call no observers.
    ownOpenings = coordinator.openings
  }

  deinit { if parent != nil { assignedIdentifiers?.remove(self) } }

  /// The name and the kind of queue: objects may be read on that queue only.
  public var customMirror: Mirror {
    Mirror(self, children: ["name": name as Any, "concurrencyType": concurrencyType], displayStyle: .class)
  }

  /// Follows the parent, or the coordinator; again when another one is set.
  private func follow(_ following: MergedSaves) {
    guard following != .none else { return unfollow() }
    if let parent {
      parent.children.add(self, followsOtherProcesses: false)
    } else if let coordinator = persistentStoreCoordinator {
      coordinator.followers.add(self, followsOtherProcesses: following == .everyone)
      if following == .everyone { coordinator.followOtherProcesses() }
    }
  }

  /// Ends following the present parent or coordinator.
  private func unfollow() {
    parent?.children.remove(self)
    persistentStoreCoordinator?.followers.remove(self)
  }

  private func shareIdentifiers(with parent: ManagedObjectContext) {
    for ancestor in sequence(first: parent, next: \.parent) {
      require(ancestor !== self, "a context cannot be its own parent")
    }
    let assigned = parent.waitForQueue { parent.assignedIdentifiersOfTree() }
    assignedIdentifiers = assigned
    takenIdentifiers = assigned.add(self)
    knownVersions = KnownVersions(taken: assigned.versions.count)
  }

  private func assignedIdentifiersOfTree() -> AssignedIdentifiers {
    if let assignedIdentifiers { return assignedIdentifiers }
    let made = AssignedIdentifiers()
    assignedIdentifiers = made
    return made
  }

  /// Inserts a new object into this context; the next save writes its row, and refuses one of an abstract entity. Inserting a
  /// deleted object of this context undoes the deletion. New objects without a context that it is related to are inserted with it; and one is
  /// inserted, too, when it is related to an object of this context.
  ///
  /// - Precondition: The object belongs to no other context.
  public func insert(_ object: ManagedObject) {
    beginUse("inserting", object)
    defer { endUse() }
    if object.managedObjectContext === self {
      if object.isDeleted { restoreDeleted(object) }
      return
    }
    require(
      object.managedObjectContext == nil,
      "\(object.entity.displayName) belongs to another context: pass its objectID and ask for the object here"
    )
    let group = DetachedGroup(of: object)
    adoptInserted(object)
    object.awakeFromInsert()
    guard let group else { return }
    for other in group.objects where other.managedObjectContext == nil {
      adoptInserted(other)
      other.awakeFromInsert()
    }
    group.relate(in: self)
  }

  /// Marks an object for deletion at the next save. Delete rules are applied when pending changes are processed, so
  /// `prepareForDeletion` still sees the relationships unchanged.
  public func delete(_ object: ManagedObject) {
    beginUse("deleting", object)
    defer { endUse() }
    let object = object.standing
    require(
      object.managedObjectContext === self,
      "\(object.entity.displayName) cannot be deleted through a context that it does not belong to")
    markDeleted(object)
  }

  // MARK: To override

  /// Whether there is anything to save or to roll back. Setting a property to the value that it already has counts as a
  /// change, although a save of it writes nothing.
  open var hasChanges: Bool { hasUnsavedChanges }

  /// Ends the current event: applies the delete rules of deleted objects, if `propagatesDeletesAtEndOfEvent`, registers the
  /// changes for undo, and posts `objectsDidChange` if anything has changed.
  ///
  /// Called by a fetch, a save, an undo, and at the end of `perform`. For changes made on the main thread outside of
  /// `perform`, a context of the main queue calls it when the main queue next runs.
  open func processPendingChanges() { endEventWithDeletes() }

  /// Schedules `block` on the context's queue and returns at once; pending changes are processed after the block.
  @_disfavoredOverload
  open func perform(_ block: @escaping @Sendable () -> Void) { schedule(block) }

  /// Runs `block` on the context's queue and waits for it, as `performAndWait(_:)` with a result.
  open func performAndWait(_ block: () -> Void) { runAndWait(block) }

  /// Takes back the last group of changes. Undoing saved changes makes unsaved ones.
  open func undo() { undoChanges() }

  /// Takes back the last undo.
  open func redo() { redoChanges() }

  /// Undoes every change since the last save: inserted objects leave the context, deleted objects are restored, edited
  /// objects get back their last committed values. Does not read the store. Clears the undo manager.
  open func rollback() { rollBackChanges() }

  /// Removes all objects and discards all changes. Objects of this context must not be used after it. Clears the undo
  /// manager.
  ///
  /// A pinned context is pinned again at its next read, to the generation that is newest then.
  open func reset() { removeAllObjects() }

  /// Refreshes every registered object. Changed objects keep their changes, unchanged ones become faults.
  open func refreshAllObjects() { refreshEveryObject() }

  /// Writes all changes as one transaction. It is durable on return, as far as the store's durability setting promises.
  ///
  /// If no value has really changed, writes no objects and makes no transaction. Metadata that was set for the store is written
  /// with the save. After an error the context keeps its changes and can be saved again once the cause is fixed; what a merge
  /// policy has changed for the failed save is taken back.
  ///
  /// - Throws: `HeartwoodError`: validation errors (`.validationMultipleErrors` carries all of them in `details`),
  ///   `.managedObjectMerge` if rows were changed elsewhere since they were read, `.managedObjectConstraintMerge` if a
  ///   uniqueness constraint would be violated, or the store's own error. If `isOutcomeUnknown` is true, the transaction
  ///   may turn out to be committed when the store is opened again.
  open func save() throws {
    do {
      try saveChanges()
    } catch let error as HeartwoodError {
      throw errorTranslator?(error, self) ?? error
    }
  }

  /// Makes errors of the module `CoreData` of Heartwood's; nil for contexts of Heartwood's.
  private final var errorTranslator: ((HeartwoodError, AnyObject) -> any Error)? {
    var top = self
    while let parent = top.parent { top = parent }
    return top.persistentStoreCoordinator?.managedObjectModel.errorTranslator
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
    _ fault: ManagedObject, for objectID: ManagedObjectID, triggeredByProperty property: PropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }
}
