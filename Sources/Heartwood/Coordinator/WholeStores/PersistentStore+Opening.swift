import Foundation
import HeartwoodFiles

extension PersistentStore {
  convenience init(opening description: PersistentStoreDescription, _ model: ManagedObjectModel) throws {
    guard let url = description.place else {
      throw HeartwoodError(
        .persistentStoreOpen, "the store's description has no URL: set the folder of the store")
    }
    let configuration = try description.storeConfiguration(of: model)
    let contents = try StoreMigration(at: url, to: model, description).open()
    let description = PersistentStoreDescription(copying: description)
    self.init(contents, url: url, type: description.type, description, configuration)
  }
}

extension LogStoreOptions {
  /// The options of a description.
  ///
  /// - Throws: `.persistentStoreInvalidType`, or `.persistentStoreOpen` for an option that does not exist.
  init(_ description: PersistentStoreDescription) throws(HeartwoodError) {
    let format = StoreFileFormat(rawValue: description.type.rawValue)
    let kinds: [PersistentStore.StoreType] = [.log, .inMemory]
    guard format != nil || kinds.contains(description.type) else {
      throw HeartwoodError(
        .persistentStoreInvalidType,
        "unknown store type \(description.type.rawValue): use Log, InMemory, Binary, JSON or XML, or register a "
          + "class for it with PersistentStoreCoordinator.registerStoreClass(_:type:)")
    }
    try description.checkOptions()
    try description.checkPlace()
    self.init(
      isReadOnly: description.isReadOnly, createsStore: description.createsStore,
      durability: description.durability, isBuffered: description.isBuffered)
    self.format = format
    filled = description.filled
    acceptsOtherContent = description.acceptsOtherContent
    program = description.recordsProgramInHistory ? .current : nil
    fileSystem = description.fileSystem
    base = description.engineOptions
    // The engine of a store of one file is a part of its saves.
    if format == nil, let observer = description.observer { events = { observer.tell(.engine($0)) } }
    timeout = description.givenTimeout
    tracksHistory = description.tracksHistory
    retention = description.historyRetention
  }

  /// The options of an operation on a store by its folder.
  init(
    reading type: PersistentStore.StoreType, at url: URL, _ options: PersistentStore.Options?
  ) throws(HeartwoodError) {
    try self.init(PersistentStoreDescription(type: type, url: url, options: options))
  }
}

extension PersistentStoreDescription {
  /// The entities of the store: those of a stage of its migration, or else those of the model's configuration.
  ///
  /// - Throws: As `StoreConfiguration.init(_:of:)`.
  func storeConfiguration(of model: ManagedObjectModel) throws(HeartwoodError) -> StoreConfiguration {
    if let stageConfiguration { return stageConfiguration }
    return try StoreConfiguration(configuration, of: model)
  }

  convenience init(copying other: PersistentStoreDescription) {
    self.init()
    url = other.url
    configuration = other.configuration
    type = other.type
    isReadOnly = other.isReadOnly
    givenTimeout = other.givenTimeout
    shouldAddStoreAsynchronously = other.shouldAddStoreAsynchronously
    refusedOptions = other.refusedOptions
    createsStore = other.createsStore
    acceptsOtherContent = other.acceptsOtherContent
    durability = other.durability
    isBuffered = other.isBuffered
    postsRemoteChangeNotifications = other.postsRemoteChangeNotifications
    tracksHistory = other.tracksHistory
    historyRetention = other.historyRetention
    recordsProgramInHistory = other.recordsProgramInHistory
    fileSystem = other.fileSystem
    engineOptions = other.engineOptions
    shouldMigrateStoreAutomatically = other.shouldMigrateStoreAutomatically
    shouldInferMappingModelAutomatically = other.shouldInferMappingModelAutomatically
    defersLightweightMigration = other.defersLightweightMigration
    finishesDeferredMigrationInBackground = other.finishesDeferredMigrationInBackground
    fetchLog = other.fetchLog
    observer = other.observer
    migrationLog = other.migrationLog
    noteLog = other.noteLog
    migrationProgress = other.migrationProgress
    migration = other.migration
    isInStage = other.isInStage
    stageConfiguration = other.stageConfiguration
    pendingStage = other.pendingStage
    defersWriting = other.defersWriting
    allowsMigrationToFormerModel = other.allowsMigrationToFormerModel
  }

  convenience init(type: PersistentStore.StoreType, url: URL, options: PersistentStore.Options?) {
    self.init(url: url)
    self.type = type
    // As in Core Data: a dictionary of options allows a migration only if it says so.
    shouldMigrateStoreAutomatically = false
    shouldInferMappingModelAutomatically = false
    for (key, value) in options ?? [:] { setOption(value, forKey: key) }
  }
}

extension PersistentStoreCoordinator {
  /// Opens a store of any kind, for this coordinator.
  func opened(_ description: PersistentStoreDescription) throws -> PersistentStore {
    let store =
      try StoreClasses.opened(description, by: self)
      ?? PersistentStore(opening: description, managedObjectModel)
    store.persistentStoreCoordinator = self
    if description.postsRemoteChangeNotifications { store.beginNotices(by: self) }
    return store
  }
}
