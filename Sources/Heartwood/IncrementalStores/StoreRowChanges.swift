/// The rows that a batch has written, for the class of an ``IncrementalStore`` to write it: `IncrementalStore.execute(_:in:writing:)`.
public struct StoreRowChanges: Sendable {
  /// A row.
  public struct Row: Sendable {
    /// The object, with its own entity.
    public let objectID: ManagedObjectID
    /// The properties that are written: of a new row `EntityDescription.storedProperties`.
    public let properties: [PropertyDescription]
    /// Their values.
    public let values: [StoredValue]
  }

  /// The changes of a to-many relationship.
  public struct Links: Sendable {
    /// An object that has the relationship; its entity may be a superentity of the object's.
    public let objectID: ManagedObjectID
    /// The relationship: one whose inverse is none or to-many too, or one that is ordered.
    public let relationship: RelationshipDescription
    /// The changes. Those of the inverse are there too.
    public let changes: SaveChangesRequest.RelationshipChanges
  }

  /// New rows, in their order.
  public internal(set) var insertedRows: [Row] = []
  /// Changed rows.
  public internal(set) var updatedRows: [Row] = []
  /// Deleted objects. Nothing refers to them any more but by relationships whose delete rule is `noAction`.
  public internal(set) var deletedObjects: [ManagedObjectID] = []
  /// Changed to-many relationships.
  public internal(set) var relationships: [Links] = []
}

/// How a class writes what a batch changes.
public struct StoreBatchWriting {
  let newIdentifiers: (EntityDescription, Int) throws -> [ManagedObjectID]
  let write: (StoreRowChanges) throws -> Void

  /// - Parameters:
  ///   - newIdentifiers: Makes as many identifiers of new objects of an entity.
  ///   - write: Writes changes, which the class's own methods see when they read from then on. Called several times by a large batch.
  public init(
    newIdentifiers: @escaping (EntityDescription, Int) throws -> [ManagedObjectID],
    write: @escaping (StoreRowChanges) throws -> Void
  ) {
    (self.newIdentifiers, self.write) = (newIdentifiers, write)
  }
}

/// The outcome of a batch.
public struct StoreBatchOutcome: Sendable {
  /// The number of objects that the request names.
  public let count: Int
  /// Their identifiers.
  public let objectIDs: [ManagedObjectID]
  /// All changes.
  public let changes: ObjectIDChanges
}
