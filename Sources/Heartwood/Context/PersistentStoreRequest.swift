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

/// The base of the requests that a context executes in its store: fetches, and batches, which are one transaction each. A program that has
/// an ``IncrementalStore`` may derive requests of its own.
open class PersistentStoreRequest {
  /// The stores of the context that execute the request; nil for all. A request that names none of them throws.
  public final var affectedStores: [PersistentStore]?

  /// The kind of the request.
  open var requestType: PersistentStoreRequestType { .fetchRequestType }

  /// A request of a class of the program.
  public init() {}
}
