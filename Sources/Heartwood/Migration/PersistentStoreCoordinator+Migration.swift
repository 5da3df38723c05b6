import Foundation

/// Finding out about migrations, and finishing them.
extension PersistentStoreCoordinator {
  /// Writes the rows that an inferred migration has left in their former layout again.
  ///
  /// They are converted whenever they are read until then, which costs time and memory. Others may read and save meanwhile.
  /// `PersistentStore.MetadataKey.hasDeferredLightweightMigration` says whether there are any.
  ///
  /// - Throws: `.persistentStoreOperation` if no store is open; `.persistentStoreSave` if it is read-only; `.migration` if the rows
  ///   cannot be written. What was written stays; call it again.
  /// - Complexity: Linear in the number of rows of the entities concerned.
  public func finishDeferredLightweightMigration() throws {
    let stores = try openStores()
    for store in stores where try stores.count == 1 || store.hasDeferredMigration {
      try store.finishDeferredMigration()
    }
  }

  /// Does the work of `finishDeferredLightweightMigration()` in the background, in transactions of up to 4000 rows between which others
  /// read and save.
  ///
  /// Rows that were written stay if the work is cancelled, fails or ends with the process; call it again.
  ///
  /// - Parameter completion: Called at the end on a background thread: with nil if all is done, with `.migrationCancelled` if the progress was
  ///   cancelled or the store closed, or with the error of `finishDeferredLightweightMigration()`.
  /// - Returns: How many of the rows that may have a former layout were read. Cancelling it ends the work after a transaction.
  /// - Throws: `.persistentStoreOperation` if no store is open; `.persistentStoreSave` if it is read-only.
  @discardableResult
  public func finishDeferredLightweightMigration(
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> Progress {
    try finishDeferred(deferredStore(), completion)
  }

  private func finishDeferred(
    _ store: LogStore, _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) throws -> Progress {
    try store.refuseIfReadOnly()
    let progress = Progress(totalUnitCount: Int64(try store.deferredMigrationRows))
    let work = BackgroundMigration(store, progress) { [weak self] in
      self?.persistentStores.contains { $0.log === store } == true
    }
    DispatchQueue.global(qos: .utility).async { completion(work.run()) }
    return progress
  }

  /// The first store with rows of a former layout; the first one if there is none.
  private func deferredStore() throws -> LogStore {
    let stores = try openStores()
    return try stores.first { try $0.hasDeferredMigration } ?? stores[0]
  }

  /// Begins the work that a description asks for, and logs its end.
  func finishDeferred(_ description: PersistentStoreDescription, _ store: PersistentStore) {
    let log = MigrationLog(description.migrationLog).about(description.url.map(LogStore.path) ?? "a store")
    do {
      guard let contents = store.log, try contents.hasDeferredMigration else { return }
      _ = try finishDeferred(contents) { error in
        log.note("rows in the background: \(error.map { "\($0)" } ?? "all are written again")")
      }
    } catch {
      log.note("rows in the background: \(error)")
    }
  }

  /// Does a part of `finishDeferredLightweightMigration()`: the rows of one hierarchy of entities.
  ///
  /// - Returns: Whether work remains.
  /// - Throws: As `finishDeferredLightweightMigration()`.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws -> Bool {
    try deferredStore().continueDeferredMigration()
  }
}

extension ManagedObjectModel {
  /// Whether a store with this metadata can be opened with the model without a migration.
  ///
  /// - Parameters:
  ///   - configuration: The name of the store's configuration; nil for all entities. One that the model does not have is not compatible.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  @_disfavoredOverload
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let wanted = try? StoreConfiguration(configuration, of: self) else { return false }
    guard let hashes = metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data] else {
      return false
    }
    let entities = entitiesByName.filter { wanted.storedNames?.contains($0.key) ?? true }
    return hashes.count == entities.count
      && hashes.allSatisfy { entities[$0.key]?.hasVersionHash($0.value) == true }
  }

  /// The first of several models that a store with this metadata can be opened with, or else one that is put together from their
  /// entities; nil if an entity of the store is in none.
  ///
  /// - Parameters:
  ///   - models: The models to choose from.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  public static func mergedModel(
    from models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) -> ManagedObjectModel? {
    models.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
      ?? merged(models, metadata)
  }
}

/// Migration of stores that are not open in a coordinator, and its rehearsal.
extension PersistentStoreCoordinator {
  /// Migrates a store in place to another model, as opening it would. A model that differs in indexes, defaults or rules only is taken over too.
  ///
  /// - Parameters:
  ///   - url: The folder of the store.
  ///   - model: The model to migrate to.
  ///   - options: Options as for `addPersistentStore(type:configuration:at:options:)`.
  ///   - log: As `PersistentStoreDescription.migrationLog`.
  ///   - progress: Is notified after every thousand rows how far the step is that is done.
  /// - Returns: A report on the migration; nil if the store has the model already.
  /// - Throws: `.inferredMappingModel` if no mapping can be inferred, `.migration` and `.migrationConstraintViolation` for objects that the
  ///   model does not allow; the store is as before then. `.persistentStoreOpen` if there is no store.
  @discardableResult
  public static func migrateStore(
    at url: URL, to model: ManagedObjectModel, options: PersistentStore.Options? = nil,
    log: (@Sendable (String) -> Void)? = nil, progress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) throws -> MigrationReport? {
    try migrateStore(
      at: url, to: model, options: options, mayLoseOnReturn: true, log: log, progress: progress)
  }

  /// The same, and refuses to lose something on the way back to a model that the store had, unless that is wanted.
  ///
  /// - Throws: `.stagedMigrationBackwardMigration` with what would be lost.
  package static func migrateStore(
    at url: URL, to model: ManagedObjectModel, options: PersistentStore.Options? = nil,
    mayLoseOnReturn: Bool, log: (@Sendable (String) -> Void)?,
    progress: (@Sendable (MigrationProgress) -> Void)?
  ) throws -> MigrationReport? {
    let reading = try Self.options(url, options, log, progress)
    return try MigrationLock.with(at: url, reading) {
      try LogStore.migrate(at: url, to: model, options: reading, mayLoseOnReturn: mayLoseOnReturn)
        ?? LogStore.adopt(model, at: url, options: reading)
    }
  }

  /// Why `migrateStore` refuses to migrate a store back to a model that it had; nil if it had another one, or loses nothing.
  package static func refusalOfReturn(ofStoreAt url: URL, to model: ManagedObjectModel) throws
    -> HeartwoodError?
  {
    let options = try Self.options(url, nil, nil, nil)
    let (record, metadata, _) = try LogStore.metadata(at: url, options: options)
    guard metadata.formerModels.contains(model.versionChecksum) else { return nil }
    let source = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let changes = try InferredChanges(from: source, to: model)
    do {
      try changes.requireNoLoss(LogStore.path(of: url))
      return nil
    } catch {
      return error
    }
  }

  /// Tries a migration, and leaves the store as it is.
  ///
  /// The migration is run in memory over the files of the store, which are only read, without a lock: a store on a read-only disk will do,
  /// and others may read and write it meanwhile. Then all objects are validated as a save with the new model would. Memory must suffice for
  /// what the migration writes.
  ///
  /// - Parameters:
  ///   - url: The folder of the store.
  ///   - model: The model to migrate to.
  ///   - options: Options as for `addPersistentStore(type:configuration:at:options:)`.
  ///   - log: As `PersistentStoreDescription.migrationLog`.
  ///   - progress: Is notified after every thousand rows how far the step is that is done.
  /// - Returns: A report on the migration that would be made, with the objects that the new model does not allow in `violations`; nil if
  ///   the store has the model already.
  /// - Throws: `.inferredMappingModel` if no mapping can be inferred; `.persistentStoreOpen` if there is no store.
  public static func rehearseMigration(
    ofStoreAt url: URL, to model: ManagedObjectModel, options: PersistentStore.Options? = nil,
    log: (@Sendable (String) -> Void)? = nil, progress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) throws -> MigrationReport? {
    let description = PersistentStoreDescription(type: .ofStore(at: url), url: url, options: options)
    (description.migrationLog, description.migrationProgress) = (log, progress)
    (description.mappingModel, description.stagedMigrationManager) = (nil, nil)
    description.shouldInferMappingModelAutomatically = true
    description.allowsMigrationToFormerModel = true
    return try MigrationRehearsal(description, to: model).run()
  }

  /// Tries the migration that opening a store with a description would do, by its stages, its mapping model or what is inferred, and
  /// leaves the store as it is.
  ///
  /// As `rehearseMigration(ofStoreAt:to:options:log:progress:)`, and:
  /// - Handlers of stages run, on a container over the layer in memory: nothing that they save is in the store. What they do elsewhere,
  ///   such as sending a message or writing a file, is done. If objects prevent a step, the rehearsal ends there.
  /// - Policies and closures of a mapping model run too. The new store is made in a folder in `scratchFolder`, which is removed; there
  ///   must be room for it. Objects that cannot be migrated are in `violations` with their identifiers in the store. In the report, the
  ///   objects of the new store are in `rewrittenObjects`, and those of which nothing is made in `deletedObjects`.
  ///
  /// - Parameters:
  ///   - description: How the store would be opened. Whether it is to be migrated automatically is not asked.
  ///   - model: The model to migrate to.
  ///   - scratchFolder: An existing folder for the store that a mapping model makes; nil for the folder of temporary files.
  /// - Returns: A report on the migration that would be made, with the objects that the new model does not allow in `violations`; nil if
  ///   the store has the model already.
  /// - Throws: The error that opening the store would throw, except for objects that the model does not allow: `.inferredMappingModel`,
  ///   `.migrationMissingMappingModel`, `.stagedMigrationBackwardMigration` and others, and what handlers and policies throw;
  ///   `.persistentStoreOpen` if there is no store.
  /// - Complexity: Linear in the number of objects.
  public static func rehearseMigration(
    with description: PersistentStoreDescription, to model: ManagedObjectModel, scratchFolder: URL? = nil
  ) throws -> MigrationReport? {
    try MigrationRehearsal(
      description, to: model, scratch: scratchFolder ?? FileManager.default.temporaryDirectory
    ).run()
  }

  private static func options(
    _ url: URL, _ options: PersistentStore.Options?, _ log: (@Sendable (String) -> Void)?,
    _ progress: (@Sendable (MigrationProgress) -> Void)?
  ) throws -> LogStoreOptions {
    var reading = try LogStoreOptions(reading: .ofStore(at: url), at: url, options)
    reading.migrationLog = MigrationLog(log, progress: progress)
    return reading
  }
}
