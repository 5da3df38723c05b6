import Dispatch
import Foundation
import HeartwoodFiles

/// The whole stack: model, coordinator, stores and contexts.
///
/// ```swift
/// let container = try PersistentContainer(name: "World", types: [Country.self, City.self])
/// let context = container.newBackgroundContext()
/// ```
///
/// A subclass may override `defaultDirectoryURL()`, for example to keep stores in a folder that applications share.
open class PersistentContainer: @unchecked Sendable {
  /// The container's name, and the name of the store's folder unless a description sets another.
  public let name: String
  /// The coordinator of the stores.
  public let persistentStoreCoordinator: PersistentStoreCoordinator

  /// The stores that `loadPersistentStores` opens: by default one store in the default folder.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { descriptions.withLock { $0 } }
    set { descriptions.withLock { $0 = newValue } }
  }

  /// The context of the main queue. Its fetches see what other contexts have saved. Objects that it has already read keep
  /// their values until they are refreshed.
  public let viewContext: ManagedObjectContext

  private let descriptions = Guarded<[PersistentStoreDescription]>([])
  /// The stores in memory, by the descriptions that they were opened with: they have no place to find them by.
  private let storesInMemory = Guarded<[ObjectIdentifier: PersistentStore]>([:])

  /// A container without an open store: call `loadPersistentStores` next.
  ///
  /// - Precondition: The model is valid.
  public init(name: String, managedObjectModel: ManagedObjectModel) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    viewContext = ManagedObjectContext(.mainQueue, coordinator: persistentStoreCoordinator)
    let url = type(of: self).defaultDirectoryURL().appending(path: "\(name).heartwood")
    persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
  }

  /// A container of the model with this name, without an open store: call `loadPersistentStores` next.
  ///
  /// The model is `NAME.xcdatamodeld`, `NAME.xcdatamodel` or `NAME.json` among the resources of the bundles, or of the bundles of packages
  /// that are beside or in them. Its objects are of the classes that it names, where the program has them.
  ///
  /// - Parameters:
  ///   - name: The name of the model and of the container, and the name of the store's folder unless a description sets another.
  ///   - bundles: Where to look; by default in the main bundle.
  /// - Throws: `.coreData` if there is no such model, or it is not valid.
  public convenience init(name: String, bundles: [Bundle] = [.main]) throws {
    let model = try ManagedObjectModel(named: name, in: bundles)
    try model.checkForUse()
    self.init(name: name, managedObjectModel: model)
  }

  /// A container of the model that these classes declare, with its store open.
  ///
  /// - Parameters:
  ///   - name: The container's name, and the name of the store's folder if `url` is nil.
  ///   - types: All classes of the model.
  ///   - url: The store's folder; `/dev/null` for a store in memory, nil for the default folder.
  /// - Throws: An error in the classes' declarations, or the reason why the store cannot be opened.
  public convenience init(name: String, types: [ManagedObject.Type], at url: URL? = nil) throws {
    let model = try ManagedObjectModel(types: types)
    try model.checkForUse()
    self.init(name: name, managedObjectModel: model)
    if let url { persistentStoreDescriptions = [PersistentStoreDescription(url: url)] }
    try loadPersistentStores()
  }

  /// The default parent folder of stores: the user's application support folder, or the current directory if there is none.
  /// Subclasses may override it.
  open class func defaultDirectoryURL() -> URL {
    let manager = FileManager.default
    let folders = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return folders.first ?? URL(fileURLWithPath: manager.currentDirectoryPath)
  }

  /// The model of the coordinator.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// Opens the stores of the descriptions that are not open yet, and waits for them.
  ///
  /// - Throws: The first error; stores that were opened before it stay open.
  @_disfavoredOverload
  public func loadPersistentStores() throws {
    for description in unloadedDescriptions { try load(description) }
  }

  /// Opens the stores of the descriptions that are not open yet, on another thread.
  ///
  /// - Throws: The first error; stores that were opened before it stay open.
  @_disfavoredOverload
  public func loadPersistentStores() async throws {
    try await handedOver(
      { Result { try self.loadPersistentStores() } }, through: { DispatchQueue.global().async(execute: $0) }
    ).get()
  }

  /// Opens the stores of the descriptions that are not open yet. Calls `block` for each, with the error or nil: before this
  /// method returns, or later on another thread for a description that says `shouldAddStoreAsynchronously`.
  ///
  /// - Parameter block: Called once for each description.
  public func loadPersistentStores(
    completionHandler block: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in unloadedDescriptions {
      PersistentStoreCoordinator.run(description) {
        try self.load(description)
      } completionHandler: {
        block(description, $0)
      }
    }
  }

  /// A new context with a queue of its own.
  public func newBackgroundContext() -> ManagedObjectContext {
    ManagedObjectContext(.privateQueue, coordinator: persistentStoreCoordinator)
  }

  /// Schedules `block` with a new context on that context's queue and returns at once.
  @_disfavoredOverload
  public func performBackgroundTask(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` with a new context on that context's queue and returns its result.
  ///
  /// - Throws: The error of `block`.
  public func performBackgroundTask<Result: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }

  /// Closes the stores. Contexts of this container throw at their next read or save.
  ///
  /// - Throws: If changes in memory cannot be written; the stores are closed all the same.
  @_disfavoredOverload
  public func close() throws { try persistentStoreCoordinator.close() }

  private var unloadedDescriptions: [PersistentStoreDescription] {
    let stores = persistentStoreCoordinator.persistentStores
    return persistentStoreDescriptions.filter { description in
      guard let place = description.place else { return true }
      guard place.isOfMemory else {
        return persistentStoreCoordinator.persistentStore(for: place) == nil
      }
      let known = storesInMemory.withLock { $0[ObjectIdentifier(description)] }
      return known.map { !stores.contains($0) } ?? true
    }
  }

  private func load(_ description: PersistentStoreDescription) throws {
    let isOnThisMachine = description.fileSystem.isOnThisMachine
    if let url = description.place, url.isFileURL, description.createsStore, isOnThisMachine,
      !url.isOfMemory
    {
      try makeParent(of: url)
    }
    let store = try persistentStoreCoordinator.addPersistentStore(with: description)
    if store.isInMemory { storesInMemory.withLock { $0[ObjectIdentifier(description)] = store } }
  }

  private func makeParent(of url: URL) throws(HeartwoodError) {
    let parent = url.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    } catch {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the folder \(parent.path) for the store \(url.lastPathComponent) could not be created: "
          + error.localizedDescription,
        underlying: error)
    }
  }
}
