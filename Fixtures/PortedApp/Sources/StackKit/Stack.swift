public import CoreData

/// Holds a container; its work is done on a context of its own.
public actor Stack {
  public let container: NSPersistentContainer
  private let background: NSManagedObjectContext

  public init(
    name: String, model: NSManagedObjectModel,
    type: NSPersistentStore.StoreType = .inMemory, shouldInfer: Bool = true
  ) async throws {
    container = NSPersistentContainer(name: name, managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.type = type.rawValue
    description.shouldInferMappingModelAutomatically = shouldInfer
    container.persistentStoreDescriptions = [description]
    let failure: (any Error)? = await withCheckedContinuation { [container] continuation in
      container.loadPersistentStores { continuation.resume(returning: $1) }
    }
    if let failure { throw failure }
    background = container.newBackgroundContext()
  }

  @MainActor public var viewContext: NSManagedObjectContext { container.viewContext }

  public func write<Value: Sendable>(_ work: @Sendable @escaping (NSManagedObjectContext) throws -> Value)
    async throws -> Value
  {
    try await background.perform(schedule: .enqueued) { [background] in
      let value = try work(background)
      if background.hasChanges { try background.save() }
      return value
    }
  }

  public nonisolated func read<Value: Sendable>(
    _ work: @Sendable @escaping (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await container.performBackgroundTask { try work($0) }
  }
}

/// Follows the results of a request.
@MainActor
public final class Results<Object: NSManagedObject>: NSObject, @MainActor NSFetchedResultsControllerDelegate {
  public let controller: NSFetchedResultsController<Object>
  public private(set) var changes: [NSFetchedResultsChangeType] = []

  public init(_ request: NSFetchRequest<Object>, in context: NSManagedObjectContext, section: String? = nil)
    throws
  {
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
    super.init()
    controller.delegate = self
    try controller.performFetch()
  }

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    changes.append(type)
  }
}
