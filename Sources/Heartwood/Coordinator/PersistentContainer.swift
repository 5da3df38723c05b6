import Foundation
import HeartwoodFiles

/// The whole stack in one object: model, coordinator, store and contexts.
///
/// ```swift
/// let container = try PersistentContainer(name: "World", types: [Country.self, City.self])
/// let context = container.newBackgroundContext()
/// ```
public final class PersistentContainer: @unchecked Sendable {
  /// The name: of the store's folder too, unless a description says otherwise.
  public let name: String
  /// The coordinator that has the store.
  public let persistentStoreCoordinator: PersistentStoreCoordinator

  /// What `loadPersistentStores` opens: one store in the default folder, unless it is replaced before.
  public var persistentStoreDescriptions: [PersistentStoreDescription] {
    get { descriptions.withLock { $0.all } }
    set { descriptions.withLock { $0.all = newValue } }
  }

  /// The context of the main queue. Fetches on it see what other contexts have saved; what it shows
  /// already stays as it is until it is refreshed.
  public let viewContext: ManagedObjectContext

  /// Descriptions are plain objects: they belong to whoever sets the container up, before it is shared.
  private struct Descriptions: @unchecked Sendable {
    var all: [PersistentStoreDescription]
  }
  private let descriptions: Guarded<Descriptions>

  /// A container without an open store: call `loadPersistentStores` next.
  ///
  /// - Precondition: the model is sound.
  public init(name: String, managedObjectModel: ManagedObjectModel) {
    self.name = name
    persistentStoreCoordinator = PersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    viewContext = ManagedObjectContext(.mainQueue, coordinator: persistentStoreCoordinator)
    let url = Self.defaultDirectoryURL().appending(path: "\(name).heartwood")
    descriptions = Guarded(Descriptions(all: [PersistentStoreDescription(url: url)]))
  }

  /// A container of the model that these classes declare, with its store open.
  ///
  /// - Parameters:
  ///   - name: a name for people, and of the store's folder if `url` is nil.
  ///   - types: all classes of the model.
  ///   - url: the store's folder; `/dev/null` for a store in memory, nil for the default place.
  /// - Throws: what is wrong in the classes' declarations, or why the store cannot be opened.
  public convenience init(name: String, types: [ManagedObject.Type], at url: URL? = nil) throws {
    let model = try ManagedObjectModel(types: types)
    try model.freeze()
    self.init(name: name, managedObjectModel: model)
    if let url { persistentStoreDescriptions = [PersistentStoreDescription(url: url)] }
    try loadPersistentStores()
  }

  /// The folder for stores that are not told where to be: the user's folder for the program's data.
  public static func defaultDirectoryURL() -> URL {
    let manager = FileManager.default
    let folders = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return folders.first ?? URL(fileURLWithPath: manager.currentDirectoryPath)
  }

  /// The model of the coordinator.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// Opens the stores of the descriptions that are not open yet.
  ///
  /// - Throws: the first error; stores opened before it stay open.
  public func loadPersistentStores() throws {
    for description in unloadedDescriptions { try load(description) }
  }

  /// Opens the stores of the descriptions that are not open yet, and calls `block` for each, before it
  /// returns.
  public func loadPersistentStores(
    completionHandler block: (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in unloadedDescriptions {
      do {
        try load(description)
        block(description, nil)
      } catch {
        block(description, error)
      }
    }
  }

  /// A new context with a queue of its own.
  public func newBackgroundContext() -> ManagedObjectContext {
    ManagedObjectContext(.privateQueue, coordinator: persistentStoreCoordinator)
  }

  /// Runs `block` later with a new context on that context's queue.
  @_disfavoredOverload
  public func performBackgroundTask(_ block: @escaping @Sendable (ManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` with a new context on that context's queue and returns its result.
  ///
  /// - Throws: what `block` throws.
  public func performBackgroundTask<Result: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }

  /// Closes the stores. Contexts of this container throw at their next read or save.
  ///
  /// - Throws: when what is in memory cannot be written; the stores are closed all the same.
  public func close() throws { try persistentStoreCoordinator.close() }

  private var unloadedDescriptions: [PersistentStoreDescription] {
    persistentStoreDescriptions.filter { description in
      description.url.map { persistentStoreCoordinator.persistentStore(for: $0) == nil } ?? true
    }
  }

  private func load(_ description: PersistentStoreDescription) throws {
    let isOnThisMachine = description.fileSystem is PosixFileSystem
    if let url = description.url, description.createsStore, isOnThisMachine, url.path != "/dev/null" {
      try makeParent(of: url)
    }
    try persistentStoreCoordinator.addPersistentStore(with: description)
  }

  private func makeParent(of url: URL) throws(HeartwoodError) {
    let parent = url.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
    } catch {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the folder \(parent.path) for the store \(url.lastPathComponent) could not be made: "
          + error.localizedDescription,
        underlying: error)
    }
  }
}
