import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Opens a store with a model, and migrates it before if it was written with another one.
struct StoreMigration {
  private let url: URL
  private let model: ManagedObjectModel
  private let description: PersistentStoreDescription
  /// The name of the store's configuration; nil for all entities.
  private let configuration: String?
  private let options: LogStoreOptions
  /// The same for a model of the store's entities only.
  private let targetOptions: LogStoreOptions

  /// - Throws: As `LogStoreOptions(_:)`.
  init(
    at url: URL, to model: ManagedObjectModel, _ description: PersistentStoreDescription
  ) throws(HeartwoodError) {
    self.url = url
    self.model = model
    self.description = PersistentStoreDescription(copying: description)
    self.description.configuration = nil
    self.description.stageConfiguration = nil
    configuration = description.configuration
    var options = try LogStoreOptions(description)
    options.migrationLog = MigrationLog(description.migrationLog, progress: description.migrationProgress)
    targetOptions = options
    options.entityNames = try description.storeConfiguration(of: model).storedNames
    self.options = options
  }

  /// The model that the store is migrated to: of the model, the part that it has.
  private var target: ManagedObjectModel {
    get throws(HeartwoodError) { try model.part(options.entityNames) }
  }

  func open() throws -> LogStore {
    let store = try openMigrated()
    if !options.isReadOnly, !url.isOfMemory { removeRemains() }
    return store
  }

  private func openMigrated() throws -> LogStore {
    do {
      let store = try MigrationDecision.reading(url, description) {
        try LogStore.openChecked(at: url, model: model, options: options)
      }
      guard let stage = try store.metadata().pendingStage else { return store }
      let path = LogStore.path(of: url)
      let version = StoreVersion(
        place: path, difference: nil, pendingStage: stage, formerModels: [], model: { self.model })
      guard case .stages = try MigrationDecision(of: version, description, to: target) else {
        return store
      }
      try store.close()
      try migrate()
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      try migrate(because: error)
    }
    let store = try LogStore.openChecked(at: url, model: model, options: options)
    if !description.defersLightweightMigration { try store.finishDeferredMigration() }
    return store
  }

  /// - Parameter error: Why the store cannot be opened as it is, if that was seen.
  private func migrate(because error: HeartwoodError? = nil) throws {
    // A migration that is refused takes no lock.
    _ = try decision(error)
    // Another process may have migrated it meanwhile.
    try MigrationLock.with(at: url, options) { try run(decision(error)) }
  }

  private func decision(_ error: HeartwoodError?) throws -> MigrationDecision {
    let version = try StoreVersion(
      at: url, targetOptions, to: target, difference: error, description.mappingModelFinder?.prepare)
    return try MigrationDecision(of: version, description, to: target)
  }

  private func run(_ decision: MigrationDecision) throws {
    switch decision {
    case .open: break
    case .stages(let manager):
      let store = StagedLogStore(at: url, targetOptions)
      try StagedMigration(manager, of: store, to: target, description, configuration: configuration).run()
    case .map(let mapping, _, _):
      let migration = try MappedMigration(
        url: url, model: target, description: description, options: targetOptions)
      try migration.run(mapping)
    case .infer:
      _ = try LogStore.migrate(
        at: url, to: try target, options: targetOptions,
        allowsFormerModel: description.allowsMigrationToFormerModel)
    }
  }

  /// Removes the folders beside the store in which its successor was being made by a process that has ended, or was killed, before it was
  /// done. The store is open, so that it is not being replaced.
  private func removeRemains() {
    if options.format != nil { PlaceLock.removeRemains(at: LogStore.path(of: url), options.fileSystem) }
    for folder in [HiddenFolder(beside: url, "migrating"), HiddenFolder(beside: url, "replacing")] {
      // The next opening tries again.
      try? folder.remove(busyTimeout: 0, description.fileSystem)
    }
  }
}

/// The lock of a store's migration, of whatever way: one is under way at a time, and the next one finds what that has made. Others may read and
/// save the store meanwhile, as far as the migration allows.
enum MigrationLock {
  /// - Throws: The error of `body`; `.persistentStoreTimeout` if another migration of the store takes longer than the timeout.
  static func with<Result>(at url: URL, _ options: LogStoreOptions, _ body: () throws -> Result) throws
    -> Result
  {
    // Of a store in memory there is no other opening.
    guard !url.isOfMemory else { return try body() }
    let path = LogStore.path(of: url)
    guard options.format == nil else {
      let lock = try PlaceLock.acquire(at: path, timeout: options.engine.busyTimeout, options.fileSystem)
      defer { lock.release() }
      return try body()
    }
    // Of what is no store, `body` says so.
    guard (try? Engine.containsStore(at: path, fileSystem: options.fileSystem)) == true else {
      return try body()
    }
    let lock: FolderLock
    do {
      lock = try FolderLock(
        at: path, busyTimeout: options.engine.busyTimeout, fileSystem: options.fileSystem)
    } catch {
      throw HeartwoodError.engine(
        error, "the store at \(path) could not be migrated",
        error.code == .locked ? .persistentStoreTimeout : .migration)
    }
    defer { lock.release() }
    return try body()
  }
}

extension LogStore {
  /// As `open`, and refuses a model that exchanges names and has the same version hash.
  static func openChecked(
    at url: URL, model: ManagedObjectModel, options: LogStoreOptions
  ) throws -> LogStore {
    try open(at: url, model: model, options: options) { former in
      try InferredChanges(from: former, to: model.part(options.entityNames)).refuseExchanges(path(of: url))
    }
  }

  /// Migrates a store in place, by what is inferred from the two models.
  ///
  /// - Parameters:
  ///   - findings: Collects objects that the model does not allow, in a rehearsal; nil to throw.
  ///   - allowsFormerModel: Whether the store may have had the model before.
  ///   - pendingStage: The stage whose work is not done with this step.
  ///   - mayReplaceAll: Whether the model may have none of the store's entities.
  ///   - mayLoseOnReturn: Whether a model that the store had may lack something that the store has.
  /// - Returns: A report on the migration, done or rehearsed; nil if the store has the model already.
  /// - Throws: `.inferredMappingModel` if no mapping can be inferred, `.migration` and `.migrationConstraintViolation` for objects
  ///   that the model does not allow, and the errors of opening and saving. The store is as before then.
  static func migrate(
    at url: URL, to model: ManagedObjectModel, options: LogStoreOptions, findings: MigrationFindings? = nil,
    pendingStage: String? = nil, allowsFormerModel: Bool = true, mayReplaceAll: Bool = false,
    mayLoseOnReturn: Bool = true
  ) throws -> MigrationReport? {
    try model.freeze()
    var options = options
    options.createsStore = false
    let path = Self.path(of: url)
    let log = options.migrationLog.about(path)
    return try withEngine(at: url, options: options, isChanging: true) { engine in
      let identity = StoreIdentity(uuid: UUID(engine.storeIdentifier))
      return try HeartwoodError.translating("the store at \(path) could not be migrated", .migration) {
        try log.step("the whole step, with its commit") {
          try engine.write { transaction in
            guard let record = try SchemaRecord(in: transaction) else { throw HeartwoodError.noModel(path) }
            guard try !record.differences(from: SchemaRecord(numbering: model)).isEmpty else { return nil }
            let source = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
            var metadata = try StoreMetadata(in: transaction)
            try metadata.refusePendingStage(path)
            let isReturn = metadata.formerModels.contains(model.versionChecksum)
            try metadata.note(model, after: source, allowsFormerModel, path)
            let changes = try InferredChanges(from: source, to: model)
            try changes.requireInferable(mayReplaceAll: mayReplaceAll)
            if isReturn, !mayLoseOnReturn { try changes.requireNoLoss(path) }
            metadata.noteRenamedEntities(changes)
            try transaction.put(KeySpace.metadataKey, metadata.encoded())
            let report = try InPlaceMigration(changes, transaction, engine.snapshot(), identity, findings)
              .run(log)
            if let pendingStage { try setPendingStage(pendingStage, in: transaction) }
            return report
          }
        }
      }
    }
  }
}

extension StoreMetadata {
  /// Keeps the checksum of the former model, so that a program that knows only that one is told.
  ///
  /// - Throws: `.stagedMigrationBackwardMigration` if the store had the new model before, and that is not allowed.
  mutating func note(
    _ model: ManagedObjectModel, after source: ManagedObjectModel, _ allowsFormerModel: Bool, _ path: String
  ) throws(HeartwoodError) {
    formerModels = try Self.formerModels(formerModels, of: model, after: source, allowsFormerModel, path)
  }

  /// The checksums of a store's former models after a migration.
  ///
  /// - Throws: As `note(_:after:_:_:)`.
  static func formerModels(
    _ known: [String], of model: ManagedObjectModel, after source: ManagedObjectModel,
    _ allowsFormerModel: Bool,
    _ path: String
  ) throws(HeartwoodError) -> [String] {
    var former = known
    if let place = former.firstIndex(of: model.versionChecksum) {
      guard allowsFormerModel else {
        throw HeartwoodError(
          .stagedMigrationBackwardMigration,
          "the store at \(path) had this model, with the checksum \(model.versionChecksum), before, and was migrated to a later one: open it with a newer version of the program, "
            + "or set allowsMigrationToFormerModel, which deletes what the model does not have")
      }
      former.removeSubrange(place...)
    } else {
      former.append(source.versionChecksum)
    }
    return former
  }
}

extension InferredChanges {
  /// - Parameter mayReplaceAll: Whether the model may have none of the store's entities.
  /// - Throws: `.inferredMappingModel` with every reason why no mapping can be inferred.
  func requireInferable(mayReplaceAll: Bool = false) throws(HeartwoodError) {
    if destinations.isEmpty, !source.entities.isEmpty, !mayReplaceAll {
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
