import Foundation
import Heartwood
import HeartwoodBytes

/// A model, its stores, and a context for the main queue.
///
/// Threads share it: its parts do not change, and the list of descriptions is under a lock.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  /// The name.
  open var name: String { givenName }
  /// The coordinator of the stores.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }
  /// The model.
  open var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }
  /// The context of the main queue.
  open var viewContext: NSManagedObjectContext { context }
  /// The descriptions of the stores that `loadPersistentStores` opens.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { lock.withLock { descriptions } }
    set { lock.withLock { descriptions = newValue } }
  }

  private let givenName: String
  private var coordinator: NSPersistentStoreCoordinator
  private var context: NSManagedObjectContext
  private let lock = NSLock()
  private var descriptions: [NSPersistentStoreDescription]

  /// A container of the model with this name: one that the build plugin has put into the program, or a `.xcdatamodeld` folder beside it.
  ///
  /// - Precondition: There is such a model.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: Self.model(named: name))
  }

  static func model(named name: String) -> NSManagedObjectModel {
    guard let place = EmbeddedModels.url(ofModel: name, for: self),
      let model = NSManagedObjectModel(contentsOf: place)
    else {
      programError(
        "NSPersistentContainer: there is no model called \"\(name)\" in this program (it has \(EmbeddedModels.names)) or beside it"
          + (NSManagedObjectModel.loadingProblem.map { ": \($0)" }
            ?? ": give the target the plugin of Heartwood, or pass a model"))
    }
    return model
  }

  /// A container of a model.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    givenName = name
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    descriptions = [
      NSPersistentStoreDescription(url: Self.defaultDirectoryURL().appending(path: "\(name).sqlite"))
    ]
    super.init()
  }

  /// The container of a handler of a staged migration.
  convenience init(_ container: PersistentContainer) {
    self.init(name: container.name, managedObjectModel: container.managedObjectModel)
    (coordinator, context) = (container.persistentStoreCoordinator, container.viewContext)
    persistentStoreDescriptions = []
  }

  /// The folder of stores whose descriptions were not changed: the folder of the system for support files.
  open class func defaultDirectoryURL() -> URL { PersistentContainer.defaultDirectoryURL() }

  /// Opens the stores of `persistentStoreDescriptions`, and calls the block for each.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let open = Set(persistentStoreCoordinator.persistentStores.map(\.anyURL.placeOfStore))
    for description in persistentStoreDescriptions {
      if let url = description.url, !url.isOfMemory,
        open.contains(url.placeOfStore) || open.contains(AppleStores.copy(ofStoreAt: url).placeOfStore)
      {
        continue
      }
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// A context with a queue of its own.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs a block in a new context with a queue of its own.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs a block in a new context with a queue of its own, and waits for its result.
  public nonisolated(nonsending) func performBackgroundTask<Result, Failure: Error>(
    _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }
}
