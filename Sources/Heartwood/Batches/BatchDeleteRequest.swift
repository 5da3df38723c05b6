/// A request that deletes rows from a store in one transaction, without making objects.
///
/// ```swift
/// let request = BatchDeleteRequest(fetchRequest: FetchRequest<Track>(where: { $0.rating < 2 }))
/// request.resultType = .count
/// try context.execute(request)
/// ```
///
/// Delete rules are applied in the store: nullify removes the objects from the other side, cascade deletes the destinations too, and
/// deny makes the request fail if destinations are left. No life-cycle methods are called.
public final class BatchDeleteRequest: PersistentStoreRequest {
  /// The kind of the result.
  public var resultType = BatchDeleteRequestResultType.statusOnly
  /// Whether the request fails if an object that stays would lose the destination of a relationship that is not optional.
  public var validates = false

  let selection: Selection

  enum Selection {
    /// Resolved for a context, and for one of its stores.
    case fetch((ManagedObjectContext, StoreIdentity) throws -> ResolvedRequest)
    case identifiers([ManagedObjectID])
  }

  /// A request that deletes what a fetch would find in the store: its predicate, limit, offset, and sort descriptors count.
  ///
  /// - Parameter fetchRequest: The request, whatever its result type.
  public init<Object: FetchRequestResult>(fetchRequest: FetchRequest<Object>) {
    let copy = fetchRequest.copy()
    copy.includesPendingChanges = false
    selection = .fetch { try ObjectFetch($0).resolve(copy, in: $1) }
    super.init()
  }

  /// A request that deletes objects by their identifiers, which must be of one entity or of subentities of one. What is deleted already
  /// is ignored.
  public init(objectIDs: [ManagedObjectID]) {
    selection = .identifiers(objectIDs)
    super.init()
  }

  public override var requestType: PersistentStoreRequestType { .batchDeleteRequestType }
}
