/// The save of a context, as an ``IncrementalStore`` executes it. The objects may be used during the call, on the context's queue.
public final class SaveChangesRequest: PersistentStoreRequest {
  /// The changes of a to-many relationship of an object.
  public struct RelationshipChanges: Sendable {
    /// New destinations.
    public let added: [ManagedObjectID]
    /// Former destinations.
    public let removed: Set<ManagedObjectID>
    /// All destinations in their order, if the relationship is ordered and its order was set or is known; nil to append what was added.
    public let order: [ManagedObjectID]?
  }

  /// New objects. They have the identifiers of `IncrementalStore.obtainPermanentIDs(for:)`.
  public let insertedObjects: Set<ManagedObject>?
  /// Changed objects, also those with changed to-many relationships only.
  public let updatedObjects: Set<ManagedObject>?
  /// Deleted objects. They may not exist any more.
  public let deletedObjects: Set<ManagedObject>?
  /// Unchanged objects whose versions must be the store's: those of `ManagedObjectContext.detectConflicts(for:)`.
  public let lockedObjects: Set<ManagedObject>?

  /// The records of consumers of the history that the save writes, in its own transaction.
  public internal(set) var consumerChanges: [StoreConsumerChange] = []

  /// The same objects in the order of their changes.
  let plan: SavePlan
  private let changedRows: [ObjectIdentifier: [Int]]
  let slots = StoredSlots()
  /// Rows whose derived values depend on others of the save: see ``StoreDerivation``.
  var derived: [DerivedRow] = []

  init(_ plan: SavePlan) {
    func set(_ objects: [ManagedObject]) -> Set<ManagedObject>? { objects.isEmpty ? nil : Set(objects) }
    self.plan = plan
    insertedObjects = set(plan.inserted)
    updatedObjects = set(plan.updated)
    deletedObjects = set(plan.deleted)
    lockedObjects = set(plan.watched)
    changedRows = Dictionary(
      uniqueKeysWithValues: zip(plan.updated, plan.changedSlots).lazy.filter { !$1.isEmpty }
        .map { (ObjectIdentifier($0), $1) })
    super.init()
  }

  /// `.saveRequestType`.
  public override var requestType: PersistentStoreRequestType { .saveRequestType }

  /// The new objects in the order in which they were made.
  public var insertedInOrder: [ManagedObject] { plan.inserted }

  /// The to-many relationships of an object that have changed.
  public func changedToMany(of object: ManagedObject) -> [PropertyDescription] {
    object.entity.relationshipsBySlot.filter {
      $0.isToMany && !$0.isTransient && object.relationshipState(at: $0.slot)?.hasChanges == true
    }
  }

  /// The attributes and to-one relationships of an updated object that have changed; empty if only to-many relationships have.
  public func changedProperties(of object: ManagedObject) -> [PropertyDescription] {
    changedRows[ObjectIdentifier(object)]?.map(object.entity.property(at:)) ?? []
  }

  /// The version that the store must have of a changed, deleted or locked object, on which its changes were made; 0 for a new one.
  public func version(of object: ManagedObject) -> UInt64 { UInt64(object.baseVersion) }

  /// The version that the node of a new or changed object has after the save: 1 for a new one, and one more than before if attributes or to-one
  /// relationships have changed.
  public func newVersion(of object: ManagedObject) -> UInt64 {
    if object.isInserted { return 1 }
    let version = object.baseVersion
    return UInt64(changedRows[ObjectIdentifier(object)] == nil ? version : version &+ 1)
  }

  /// The changes of a to-many relationship of a new or changed object; nil if it has none.
  public func changes(
    of relationship: RelationshipDescription, in object: ManagedObject
  ) -> RelationshipChanges? {
    guard relationship.isToMany, let state = object.relationshipState(at: relationship.slot),
      state.hasChanges,
      let context = object.managedObjectContext, let destination = relationship.destinationEntity
    else { return nil }
    let (keys, store) = (context.permanentKeys, context.storeIdentity)
    func identifier(_ key: UInt64) -> ManagedObjectID {
      let key = keys.permanent(key)
      return context.registered(destination.rootEntity, key)?.identifier
        ?? ManagedObjectID(entity: destination, key: key, store: store)
    }
    let order = relationship.isOrdered && (state.order != nil || state.isLoaded) ? state.keys() : nil
    return RelationshipChanges(
      added: state.added.map(identifier), removed: Set(state.removed.map(identifier)),
      order: order?.map(identifier))
  }
}

/// The error of an ``IncrementalStore`` for a save that does not fit what is in the store now. Merge policies resolve it.
public struct IncrementalStoreConflicts: Error {
  /// Values that must be unique and are not.
  public struct Violation: Sendable {
    let objectID: ManagedObjectID
    let constraint: [String]
    let existing: ManagedObjectID

    /// - Parameters:
    ///   - objectID: An object of the save.
    ///   - constraint: The names of the attributes whose values together must be unique.
    ///   - existing: Another object that has the same values: one in the store, or one of the save.
    public init(_ objectID: ManagedObjectID, constraint: [String], existing: ManagedObjectID) {
      (self.objectID, self.constraint, self.existing) = (objectID, constraint, existing)
    }
  }

  /// Objects of the save whose version in the store is another one, or that are not there any more.
  public var changedObjects: [ManagedObjectID]
  /// The violations of uniqueness constraints.
  public var violations: [Violation]

  /// Whether uniqueness constraints are violated, and the store does not know by which objects: they are found by fetches.
  public var isUniquenessViolated: Bool

  /// Whether an object of the save refers to one that others have deleted, or others refer to one that it deletes, and the store does not know
  /// which: they are found by reading.
  public var isReferenceViolated = false

  /// Conflicts.
  public init(
    changedObjects: [ManagedObjectID] = [], violations: [Violation] = [], isUniquenessViolated: Bool = false
  ) {
    self.changedObjects = changedObjects
    self.violations = violations
    self.isUniquenessViolated = isUniquenessViolated
  }
}
