import Foundation
import HeartwoodBytes
import HeartwoodFiles

/// The classes of stores that the program has registered.
enum StoreClasses {
  private static let registered = Guarded<[PersistentStore.StoreType: PersistentStore.Type]>([:])
  static let builtIn: Set<PersistentStore.StoreType> = [.log, .inMemory, .binary, .json, .xml]

  static var all: [PersistentStore.StoreType: PersistentStore.Type] { registered.withLock { $0 } }

  /// Opens a store whose kind the program has registered; nil for a kind of this library.
  static func opened(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator
  ) throws -> PersistentStore? {
    guard let storeClass = all[description.type] else { return nil }
    // A stage opens the store under the lock of its migration.
    guard storeClass.isWhole, !description.isInStage, let url = description.url, url.isFileURL
    else { return try openedInStages(description, by: coordinator) }
    do {
      return try openedWithoutStages(description, by: coordinator, mayMigrate: false)
    } catch is ProgramStoreMigration.IsDue {
      // Others may have migrated it meanwhile.
      let lock = try PlaceLock.acquire(
        at: LogStore.path(of: url), timeout: description.timeout, description.fileSystem)
      defer { lock.release() }
      return try openedInStages(description, by: coordinator)
    }
  }

  private static func openedInStages(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator
  ) throws -> PersistentStore {
    let model = coordinator.managedObjectModel
    do {
      return try openedWithoutStages(description, by: coordinator)
    } catch let need as ProgramStoreMigration.NeedsStages {
      let store = StagedProgramStore(description, readBy: model)
      try StagedMigration(need.manager, of: store, to: model, description).run()
      return try openedWithoutStages(description, by: coordinator)
    }
  }

  /// - Throws: `IsDue` if the store has to be migrated, and may not be.
  private static func openedWithoutStages(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator,
    mayMigrate: Bool = true
  ) throws -> PersistentStore {
    try unopened(description, by: coordinator).opened(description, by: coordinator, mayMigrate: mayMigrate)
  }

  /// A store of the class that is registered for the kind of a description, before it is opened.
  static func unopened(
    _ description: PersistentStoreDescription, by coordinator: PersistentStoreCoordinator
  ) throws -> PersistentStore {
    try description.checkOptions()
    guard let storeClass = all[description.type] else {
      throw HeartwoodError(
        .persistentStoreInvalidType, "no class is registered for \(description.type.rawValue)")
    }
    guard let url = description.place else {
      throw HeartwoodError(
        .persistentStoreOpen, "the store's description has no URL: set the place of the store")
    }
    let made = storeClass.init(
      persistentStoreCoordinator: coordinator, at: url, options: description.options)
    try prepare(made, description, by: coordinator)
    return made
  }

  /// Gives a store that was made the settings of a description.
  static func prepare(
    _ store: PersistentStore, _ description: PersistentStoreDescription,
    by coordinator: PersistentStoreCoordinator
  ) throws {
    store.settings = PersistentStoreDescription(copying: description)
    if type(of: store).isReadOnlyClass { store.settings.isReadOnly = true }
    store.configuration = try description.storeConfiguration(of: coordinator.managedObjectModel)
  }

  /// Calls `body` with a store that is not opened and what it says about itself.
  ///
  /// - Parameter model: Any model, with which its class reads the metadata.
  static func withMetadata<Result>(
    of description: PersistentStoreDescription, readBy model: ManagedObjectModel,
    _ body: (PersistentStore, [String: any Sendable]) throws -> Result
  ) throws -> Result {
    let coordinator = try PersistentStoreCoordinator(checkingStoredProperties: model)
    let store = try unopened(description, by: coordinator)
    return try store.withMetadata(readBy: model) { try body(store, $0) }
  }

  /// The kind and the class that know a file as a store of theirs; nil if none does.
  static func recognising(_ url: URL) -> (type: PersistentStore.StoreType, storeClass: PersistentStore.Type)?
  {
    let known = all.filter { $0.value.recognises(url) }.min { $0.key.rawValue < $1.key.rawValue }
    return known.map { ($0.key, $0.value) }
  }

  static func set(_ storeClass: PersistentStore.Type?, _ type: PersistentStore.StoreType) {
    registered.withLock { $0[type] = storeClass }
  }
}

/// Custom stores.
extension PersistentStoreCoordinator {
  /// The kinds of stores that can be opened, with their classes.
  @_disfavoredOverload
  public static var registeredStoreTypes: [PersistentStore.StoreType: PersistentStore.Type] {
    var types = StoreClasses.all
    for type in StoreClasses.builtIn { types[type] = PersistentStore.self }
    return types
  }

  /// Registers a class of custom stores for a kind. Stores of the kind can be added from now on, to any coordinator.
  ///
  /// - Parameters:
  ///   - storeClass: A class that derives from ``AtomicStore`` or ``IncrementalStore``; nil to register none any more. Open stores stay open.
  ///   - type: A name that is none of the kinds that come with this library.
  /// - Precondition: The kind does not come with this library.
  public static func registerStoreClass(_ storeClass: PersistentStore.Type?, type: PersistentStore.StoreType)
  {
    if StoreClasses.builtIn.contains(type) {
      programError(
        "\(type.rawValue) is a kind of store that comes with Heartwood: register the class for another name")
    }
    StoreClasses.set(storeClass, type)
  }
}

extension PersistentStoreDescription {
  /// Whether the program has registered the class of such stores.
  var isOfRegisteredClass: Bool { registeredClass != nil }

  /// The class that the program has registered for such stores.
  var registeredClass: PersistentStore.Type? { StoreClasses.all[type] }
}

extension PersistentStore {
  /// Adds what is missing to the metadata of a custom store, and compares the model.
  ///
  /// - Parameter newIdentifier: Makes the identifier of a new store.
  /// - Returns: The store's identifier.
  final func complete(
    _ metadata: inout [String: any Sendable], _ model: ManagedObjectModel, _ newIdentifier: () -> UUID
  ) throws -> UUID {
    typealias Key = MetadataKey
    if let difference = difference(metadata, from: model) { throw difference }
    let uuid = (metadata[Key.storeUUID] as? String).flatMap(UUID.init(uuidString:)) ?? newIdentifier()
    metadata[Key.storeUUID] = uuid.uuidString
    metadata[Key.storeType] = type.rawValue
    metadata[Key.modelVersionHashes] = model.entityVersionHashesByName
    metadata[Key.modelData] = Data(try model.encoded())
    return uuid
  }
}
