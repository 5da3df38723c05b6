import Foundation
import Heartwood

/// The kind of a request. The raw values are Core Data's.
public typealias NSPersistentStoreRequestType = PersistentStoreRequestType

/// What contexts and stores execute.
open class NSPersistentStoreRequest {
  /// The stores that the request reads or changes; nil for all of the context.
  public final var affectedStores: [NSPersistentStore]?

  /// A request.
  public init() {}

  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}

/// The result of a request.
open class NSPersistentStoreResult {
  /// A result.
  public init() {}
}

/// The result of a request that is executed in the background.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request.
  public final let managedObjectContext: NSManagedObjectContext
  /// Why the request has failed; nil otherwise.
  public internal(set) final var operationError: (any Error)?
  /// How far the request is.
  public internal(set) final var progress: Progress?

  init(_ context: NSManagedObjectContext) { managedObjectContext = context }

  /// Cancels the request.
  open func cancel() { progress?.cancel() }
}

extension ManagedObjectContext {
  /// Executes any request.
  ///
  /// - Returns: The result, of the class that belongs to the request.
  /// - Throws: What is wrong with the request, or the store's error.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    guard let executable = request as? any ExecutableRequest else {
      // A store of the program may know it.
      return try asCocoa(in: self) {
        let results: [Any] = try execute(ProgramRequest(request))
        guard let result = results.first as? NSPersistentStoreResult else {
          throw HeartwoodError(
            .persistentStoreOperation,
            "the store must return an NSPersistentStoreResult for a \(type(of: request)), and returned \(results)"
          )
        }
        return result
      }
    }
    return try asCocoa(in: self) { try executable.execute(in: self) }
  }
}

/// A request that a context executes.
protocol ExecutableRequest: NSPersistentStoreRequest {
  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
