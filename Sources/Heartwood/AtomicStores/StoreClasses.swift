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
    try description.checkOptions()
    guard let url = description.place else {
      throw HeartwoodError(
        .persistentStoreOpen, "the store's description has no URL: set the place of the store")
    }
    let model = coordinator.managedObjectModel
    let configuration = try StoreConfiguration(description.configuration, of: model)
    func make<Store: PersistentStore>(_ storeClass: Store.Type) -> Store {
      let made = storeClass.init(
        persistentStoreCoordinator: coordinator, at: url, options: description.options)
      made.description = PersistentStoreDescription(copying: description)
      made.configuration = configuration
      return made
    }
    switch storeClass {
    case let atomic as AtomicStore.Type:
      let store = make(atomic)
      guard let (migration, metadata) = try store.open(model) else { return store }
      let target = make(atomic)
      target.storedMetadata = metadata
      try AtomicStoreMigration(migration, from: store, to: target).run()
      let migrated = make(atomic)
      _ = try migrated.open(model)
      return migrated
    case let incremental as IncrementalStore.Type:
      let store = make(incremental)
      try store.open(model)
      return store
    default:
      throw HeartwoodError(
        .persistentStoreInvalidType,
        "\(storeClass), which is registered for \(description.type.rawValue), derives from neither AtomicStore nor IncrementalStore"
      )
    }
  }

  static func set(_ storeClass: PersistentStore.Type?, _ type: PersistentStore.StoreType) {
    registered.withLock { $0[type] = storeClass }
  }
}

/// Kinds of stores of the program.
extension PersistentStoreCoordinator {
  /// The kinds of stores that can be opened, with their classes.
  @_disfavoredOverload
  public static var registeredStoreTypes: [PersistentStore.StoreType: PersistentStore.Type] {
    var types = StoreClasses.all
    for type in StoreClasses.builtIn { types[type] = PersistentStore.self }
    return types
  }

  /// Registers a class of stores of the program for a kind. Stores of the kind can be added from now on, to any coordinator.
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

extension PersistentStore {
  /// Adds what is missing to the metadata of a store of the program, and compares the model.
  ///
  /// - Parameter newIdentifier: Makes the identifier of a new store.
  /// - Returns: The store's identifier.
  final func complete(
    _ metadata: inout [String: any Sendable], _ model: ManagedObjectModel, _ newIdentifier: () -> UUID
  ) throws -> UUID {
    typealias Key = MetadataKey
    let hashes = model.entityVersionHashesByName
    if let stored = metadata[Key.modelVersionHashes] as? [String: Data], stored != hashes {
      let names = Set(stored.keys).union(hashes.keys).filter { stored[$0] != hashes[$0] }.sorted()
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the store at \(place) was written with another model: \(names.joined(separator: ", ")) differ")
    }
    let uuid = (metadata[Key.storeUUID] as? String).flatMap(UUID.init(uuidString:)) ?? newIdentifier()
    metadata[Key.storeUUID] = uuid.uuidString
    metadata[Key.storeType] = type.rawValue
    metadata[Key.modelVersionHashes] = hashes
    metadata[Key.modelData] = Data(try model.encoded())
    return uuid
  }
}
