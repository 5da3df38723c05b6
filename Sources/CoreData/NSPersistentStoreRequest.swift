import Foundation
import Heartwood

/// The kind of a request. The raw values are Core Data's.
public typealias NSPersistentStoreRequestType = PersistentStoreRequestType

/// A request that contexts and stores execute.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores that the request reads or changes; nil for all of the context.
  open var affectedStores: [NSPersistentStore]?

  /// A request.
  public override init() {}

  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// The request itself; requests for fetches are copied.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The result of a request.
open class NSPersistentStoreResult: NSObject {
  /// A result.
  public override init() {}
}

/// The result of a request that is executed in the background.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
  /// The context that executes the request.
  public final let managedObjectContext: NSManagedObjectContext
  /// Why the request has failed; nil otherwise.
  public internal(set) final var operationError: (any Error)?
  /// How far the request is, and how it is cancelled.
  public internal(set) final var progress: Progress?

  init(_ context: NSManagedObjectContext) { managedObjectContext = context }

  /// Cancels the request: if it has not begun yet, it ends with an error in the Cocoa domain with the code of a cancelled operation.
  open func cancel() { progress?.cancel() }
}

extension ManagedObjectContext {
  /// Executes any request.
  ///
  /// - Returns: The result, of the class that belongs to the request.
  /// - Throws: An error about the request, or the store's error.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    guard let executable = request as? any ExecutableRequest else {
      return try executeByStores(request, request.affectedStores)
    }
    if let batch = request as? any BatchRequest {
      try asCocoa(in: self) { try batch.findEntity(in: self) }
      let store = try asCocoa(in: self) { try storeOfProgram(for: batch) }
      if let store { return try executeByStores(request, [store]) }
    }
    return try asCocoa(in: self) { try executable.execute(in: self) }
  }

  /// The result of a request that custom stores execute.
  private func executeByStores(
    _ request: NSPersistentStoreRequest, _ stores: [NSPersistentStore]?
  ) throws -> NSPersistentStoreResult {
    try asCocoa(in: self) {
      let program = ProgramRequest(request)
      program.affectedStores = stores
      let results: [Any] = try execute(program)
      guard let result = results.first as? NSPersistentStoreResult else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the store must return an NSPersistentStoreResult for a \(type(of: request)), and returned \(results)"
        )
      }
      return result
    }
  }

  /// The `NSIncrementalStore` that executes a batch; nil if stores that come with Heartwood do.
  ///
  /// - Throws: `.persistentStoreUnsupportedRequestType` if the batch concerns one and other stores.
  private func storeOfProgram(for batch: any BatchRequest) throws -> NSPersistentStore? {
    var context = self
    while let parent = context.parent { context = parent }
    let all = context.persistentStoreCoordinator?.persistentStores ?? []
    guard all.count > 1, all.contains(where: { $0 is NSIncrementalStore }) else {
      return all.first as? NSIncrementalStore
    }
    let named = all.filter { store in batch.affectedStores?.contains(store) ?? true }
    let concerned = batch.stores(among: named)
    guard concerned.count > 1, concerned.contains(where: { $0 is NSIncrementalStore }) else {
      return concerned.first as? NSIncrementalStore
    }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the batch concerns \(concerned.map(\.description).joined(separator: ", ")), of which one is an NSIncrementalStore: its class "
        + "executes batches of its own objects only; name one of the stores in affectedStores")
  }
}

extension NSPersistentStore {
  /// Whether the store may have objects of an entity, or of subentities.
  func mayHave(_ entity: NSEntityDescription?, onlyItself: Bool = false) -> Bool {
    guard let name = anyConfigurationName, let entity else { return true }
    let model = persistentStoreCoordinator?.managedObjectModel
    return model?.entities(forConfigurationName: name)?.contains {
      $0 === entity || !onlyItself && $0.isKindOf(entity: entity)
    } ?? false
  }
}

/// A batch request, which a custom store gets as it is.
protocol BatchRequest: NSPersistentStoreRequest {
  /// Finds the entity, if the request was made with its name.
  func findEntity(in context: NSManagedObjectContext) throws
  /// Those of several stores that the request concerns.
  func stores(among stores: [NSPersistentStore]) -> [NSPersistentStore]
}

extension ManagedObjectContext {
  /// The entity of a batch request.
  func requiredEntity(_ name: String) throws -> NSEntityDescription {
    guard let entity = NSEntityDescription.entity(forEntityName: name, in: self) else {
      throw HeartwoodError(.coreData, "the context's model has no entity called \"\(name)\"")
    }
    return entity
  }
}

/// A request that a context executes.
protocol ExecutableRequest: NSPersistentStoreRequest {
  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
