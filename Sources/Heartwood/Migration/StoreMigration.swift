import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Opens a store with a model, and migrates it before if it was written with another one.
struct StoreMigration {
  private let url: URL
  private let model: ManagedObjectModel
  private let description: PersistentStoreDescription
  private let options: LogStoreOptions

  /// - Throws: As `LogStoreOptions(_:)`.
  init(
    at url: URL, to model: ManagedObjectModel, _ description: PersistentStoreDescription
  ) throws(HeartwoodError) {
    self.url = url
    self.model = model
    self.description = description
    var options = try LogStoreOptions(description)
    options.migrationLog = MigrationLog(description.migrationLog)
    self.options = options
  }

  func open() throws -> LogStore {
    let store = try openMigrated()
    if description.mappingModel != nil, !options.isReadOnly { removeRemains() }
    return store
  }

  private func openMigrated() throws -> LogStore {
    do {
      let store = try LogStore.open(at: url, model: model, options: options)
      guard let manager = description.stagedMigrationManager, try store.metadata().pendingStage != nil else {
        return store
      }
      try store.close()
      try StagedMigration(manager, at: url, to: model, description, options).run()
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      try migrate(because: error)
    } catch let error as HeartwoodError
      where error.underlying is NewerSchemaRecord && description.stagedMigrationManager != nil
    {
      throw HeartwoodError(
        .stagedMigrationFrameworkVersionMismatch,
        "the store at \(LogStore.path(of: url)) cannot be migrated in stages: \(error.message)",
        underlying: error)
    }
    let store = try LogStore.open(at: url, model: model, options: options)
    if !description.defersLightweightMigration { try store.finishDeferredMigration() }
    return store
  }

  private func migrate(because error: HeartwoodError) throws {
    guard description.shouldMigrateStoreAutomatically else { throw error }
    let path = LogStore.path(of: url)
    guard !options.isReadOnly else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "\(error.message): it cannot be migrated, because it is opened read-only")
    }
    if let manager = description.stagedMigrationManager {
      return try StagedMigration(manager, at: url, to: model, description, options).run()
    }
    if let mapping = description.mappingModel { return try migrate(by: mapping) }
    guard description.shouldInferMappingModelAutomatically else {
      throw HeartwoodError(
        .migrationMissingMappingModel,
        "the store at \(path) was written with another model, and there is no mapping model: give one, or set "
          + "shouldInferMappingModelAutomatically")
    }
    _ = try LogStore.migrate(
      at: url, to: model, options: options, allowsFormerModel: description.allowsMigrationToFormerModel)
  }

  /// A folder beside the store.
  private func hidden(_ suffix: String) -> URL {
    url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).\(suffix)")
  }

  /// Removes the folders that a migration by mapping has left whose process ended when the new store was in place. The store is open,
  /// so that it is not being replaced; a folder that another process is using stays.
  private func removeRemains() {
    for folder in [hidden("migrating"), hidden("replacing")] {
      // The next opening tries again.
      try? remove(folder, busyTimeout: 0)
    }
  }

  /// Removes a hidden folder with the store in it, or with what is left of one that was being made.
  private func remove(_ folder: URL, busyTimeout: Double) throws {
    let path = LogStore.path(of: folder)
    try HeartwoodError.translating("the folder \(path) could not be removed", .migration) {
      try Engine.destroy(
        at: path, busyTimeout: busyTimeout, isPrivate: true, fileSystem: description.fileSystem)
    }
    if description.fileSystem is PosixFileSystem { try? FileManager.default.removeItem(at: folder) }
  }

  /// Migrates to a store beside this one, which then takes its place.
  private func migrate(by mapping: MappingModel) throws {
    var reading = options
    reading.createsStore = false
    let manager = MigrationManager(
      sourceModel: try LogStore.model(at: url, options: reading), destinationModel: model)
    let source = PersistentStoreDescription(copying: description)
    source.shouldMigrateStoreAutomatically = false
    let beside = hidden("migrating")
    let destination = PersistentStoreDescription(copying: source)
    destination.url = beside
    // Of the store itself, which exists.
    destination.createsStore = true
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    // What a migration left that was interrupted.
    try remove(beside, busyTimeout: options.engine.busyTimeout)
    let newest = try LogStore.newestSave(at: url, options: reading)
    manager.log = options.migrationLog.about(LogStore.path(of: url))
    try manager.migrate(source, mapping, destination)
    guard try LogStore.newestSave(at: url, options: reading) == newest else {
      throw HeartwoodError(
        .migration,
        "the store at \(LogStore.path(of: url)) was changed while it was migrated, and is as it was changed: open it again"
      )
    }
    try coordinator.replacePersistentStore(
      at: url, withPersistentStoreFrom: beside, fileSystem: description.fileSystem)
  }
}

extension LogStore {
  /// Migrates a store in place, by what is inferred from the two models.
  ///
  /// - Parameters:
  ///   - findings: What collects objects that the model does not allow, in a rehearsal; nil to throw.
  ///   - allowsFormerModel: Whether the store may have had the model before.
  ///   - pendingStage: The stage whose work is not done with this step.
  /// - Returns: What was done, or would be; nil if the store has the model already.
  /// - Throws: `.inferredMappingModel` if no mapping can be inferred, `.migration` and `.migrationConstraintViolation` for objects
  ///   that the model does not allow, and the errors of opening and saving. The store is as before then.
  static func migrate(
    at url: URL, to model: ManagedObjectModel, options: LogStoreOptions, findings: MigrationFindings? = nil,
    pendingStage: String? = nil, allowsFormerModel: Bool = true
  ) throws -> MigrationReport? {
    try model.freeze()
    var options = options
    options.createsStore = false
    let path = Self.path(of: url)
    let log = options.migrationLog.about(path)
    return try withEngine(at: url, options: options) { engine in
      let identity = StoreIdentity(uuid: UUID(engine.storeIdentifier))
      return try HeartwoodError.translating("the store at \(path) could not be migrated", .migration) {
        try log.step("the whole step, with its commit") {
          try engine.write { transaction in
            guard let record = try SchemaRecord(in: transaction) else { throw HeartwoodError.noModel(path) }
            guard try !record.differences(from: SchemaRecord(numbering: model)).isEmpty else { return nil }
            let source = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
            try noteModel(model, after: source, in: transaction, allowsFormerModel, path)
            let changes = try InferredChanges(from: source, to: model)
            try changes.requireInferable()
            let report = try InPlaceMigration(changes, transaction, engine.snapshot(), identity, findings)
              .run(log)
            if let pendingStage { try notePendingStage(pendingStage, in: transaction) }
            return report
          }
        }
      }
    }
  }

  /// Keeps the checksum of the former model, so that a program that knows only that one is told.
  private static func noteModel(
    _ model: ManagedObjectModel, after source: ManagedObjectModel, in transaction: WriteTransaction,
    _ allowsFormerModel: Bool, _ path: String
  ) throws {
    var metadata = try StoreMetadata(in: transaction)
    var former = metadata.formerModels
    if let place = former.firstIndex(of: model.versionChecksum) {
      guard allowsFormerModel else {
        throw HeartwoodError(
          .stagedMigrationBackwardMigration,
          "the store at \(path) had this model before, and was migrated to a later one: open it with a newer version of the program, "
            + "or set allowsMigrationToFormerModel, which deletes what the model does not have")
      }
      former.removeSubrange(place...)
    } else {
      former.append(source.versionChecksum)
    }
    metadata.formerModels = former
    try transaction.put(KeySpace.metadataKey, metadata.encoded())
  }

  /// The number of the newest save of a store; nil if there is none.
  static func newestSave(at url: URL, options: LogStoreOptions) throws -> UInt64? {
    try withEngine(at: url, options: options) { engine in
      let bytes = try engine.snapshot().get(KeySpace.newestHistoryKey)
      return try bytes.map { try $0.withUnsafeBytes { try KeySpace.number(inValue: $0) } }
    }
  }
}

extension InferredChanges {
  /// - Throws: `.inferredMappingModel` with every reason why no mapping can be inferred.
  func requireInferable() throws(HeartwoodError) {
    if destinations.isEmpty, !source.entities.isEmpty {
      let names = sorted(source).prefix(5).map(\.displayName).joined(separator: ", ")
      throw HeartwoodError(
        .inferredMappingModel,
        "no mapping can be inferred: the model has none of the store's entities, such as \(names), and everything would be deleted"
      )
    }
    guard let first = problems.first else { return }
    throw HeartwoodError(
      .inferredMappingModel,
      "no mapping can be inferred: \(problems.map(\.description).joined(separator: "; "))",
      property: first.property)
  }
}
