/// The kinds of requests to a store. The raw values are Core Data's.
public enum PersistentStoreRequestType: Int, Sendable {
  /// A fetch.
  case fetchRequestType = 1
  /// The save of a context.
  case saveRequestType = 2
  /// A batch insert.
  case batchInsertRequestType = 5
  /// A batch update.
  case batchUpdateRequestType = 6
  /// A batch delete.
  case batchDeleteRequestType = 7
}

/// The base of the requests that a context executes in its store: fetches, and batches, which are one transaction each.
open class PersistentStoreRequest {
  /// The stores that execute the request; nil for all. A context has one store: a request for others throws.
  public final var affectedStores: [PersistentStore]?

  /// The kind of the request.
  open var requestType: PersistentStoreRequestType { .fetchRequestType }

  init() {}
}

extension PersistentStoreRequest {
  /// - Throws: `.persistentStoreUnsupportedRequestType` if the store is not among those of the request.
  func check(affects store: any ObjectStore) throws(HeartwoodError) {
    guard let affectedStores, !affectedStores.contains(where: { $0.contents === store }) else { return }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the request names stores in affectedStores that are not the store of the context: name that store, or none"
    )
  }
}
