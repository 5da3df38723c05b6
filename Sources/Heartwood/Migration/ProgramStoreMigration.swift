import Foundation

/// How a store of a program's class, atomic or incremental, is brought to another model.
enum ProgramStoreMigration {
  case inferred(InferredMigration)
  case mapped(MappingModel, source: ManagedObjectModel)

  var sourceModel: ManagedObjectModel {
    switch self {
    case .inferred(let migration): migration.sourceModel
    case .mapped(_, let source): source
    }
  }

  /// Thrown by the opening of a store that has to be migrated under a lock.
  struct IsDue: Error {}

  /// Thrown by the opening of a store that has to go through stages first.
  struct NeedsStages: Error {
    let manager: StagedMigrationManager
  }
}

/// The migration of stores of a program's classes, with the model that the class keeps among the metadata.
extension PersistentStore {
  /// Compares the model of a store with that of the coordinator.
  ///
  /// - Parameter metadata: What the store says about itself; has the values of the new model if the store is to be migrated.
  /// - Returns: nil if the store has the model, keeps none, or its description does not allow automatic migration.
  /// - Throws: `.migrationMissingSourceModel` if its class keeps hashes and no model, `.migrationMissingMappingModel` if there is no mapping
  ///   and none may be inferred, `.inferredMappingModel` if nothing can be inferred, `.stagedMigrationBackwardMigration` if the store had
  ///   the model before, `NeedsStages`.
  final func beginMigration(
    of metadata: inout [String: any Sendable], to model: ManagedObjectModel
  ) throws -> ProgramStoreMigration? {
    typealias Key = MetadataKey
    let pending = metadata[Key.pendingMigrationStage] as? String
    if let pending, !isReadOnly, !settings.isInStage {
      guard settings.shouldMigrateStoreAutomatically, let manager = settings.stagedMigrationManager
      else { throw HeartwoodError.unfinishedStage(pending, place) }
      throw ProgramStoreMigration.NeedsStages(manager: manager)
    }
    let hashes = model.entityVersionHashesByName
    guard let stored = metadata[Key.modelVersionHashes] as? [String: Data], !model.hasVersionHashes(stored),
      settings.shouldMigrateStoreAutomatically
    else { return nil }
    guard !isReadOnly else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the store at \(place) was written with another model, and cannot be migrated, because it is opened read-only; open it for writing"
      )
    }
    if let manager = settings.stagedMigrationManager {
      throw ProgramStoreMigration.NeedsStages(manager: manager)
    }
    let source = try formerModel(metadata)
    let former = try StoreMetadata.formerModels(
      metadata[Key.formerModelVersionChecksums] as? [String] ?? [], of: model, after: source,
      settings.allowsMigrationToFormerModel, place)
    let migration = try migration(from: source, to: model)
    metadata[Key.formerModelVersionChecksums] = former
    metadata[Key.modelVersionHashes] = hashes
    metadata[Key.modelData] = Data(try model.encoded())
    metadata[Key.pendingMigrationStage] = settings.pendingStage
    return migration
  }

  /// The model that the store was written with.
  ///
  /// - Throws: `.migrationMissingSourceModel` if its class does not keep it.
  final func formerModel(_ metadata: [String: any Sendable]) throws -> ManagedObjectModel {
    guard let data = metadata[MetadataKey.modelData] as? Data else {
      throw HeartwoodError(
        .migrationMissingSourceModel,
        "the store at \(place) cannot be migrated: its class \(Swift.type(of: self)) does not keep the model that it was written with"
      )
    }
    return try data.withUnsafeBytes {
      try ManagedObjectModel(decoding: $0, prepare: settings.mappingModelFinder?.prepare)
    }
  }

  private final func migration(
    from source: ManagedObjectModel, to model: ManagedObjectModel
  ) throws -> ProgramStoreMigration {
    let mapping = try settings.mappingModel ?? settings.mappingModelFinder?.find(source, model)
    if let mapping, !mapping.isInferred(from: source, to: model) {
      try mapping.requireEntities(of: source, in: model, place)
      return .mapped(mapping, source: source)
    }
    guard mapping != nil || settings.shouldInferMappingModelAutomatically else {
      throw HeartwoodError(
        .migrationMissingMappingModel,
        "the store at \(place) was written with another model, and there is no mapping model: give one, or set "
          + "shouldInferMappingModelAutomatically")
    }
    let migration = try InferredMigration(from: source, to: model)
    if !joinsRelationshipsInMigrations, let first = migration.joinedRelationships.first {
      throw HeartwoodError(
        .inferredMappingModel,
        "no mapping can be inferred: \(first.displayName) gets the inverse \(first.inverseRelationship?.displayName ?? "?"), and a store of the "
          + "class \(Swift.type(of: self)) does not put the links of two sides together; map them",
        property: first.name)
    }
    for change in migration.changes { migrationLog.note(change) }
    return .inferred(migration)
  }

  /// Makes a store at another place by a mapping model.
  ///
  /// - Parameters:
  ///   - source: Where the store is found meanwhile.
  ///   - place: Where the new store is made: there is none.
  final func copy(
    by mapping: MappingModel, from sourceModel: ManagedObjectModel, at source: URL,
    to model: ManagedObjectModel, at place: URL
  ) throws {
    let from = settings.migrationSource
    from.url = source
    try settings.migrationManager(from: sourceModel, to: model, migrationLog).migrate(
      from, mapping, settings.migrationDestination(at: place))
  }

  /// The same, to a store that is open, and that saves do not write.
  final func copy(
    by mapping: MappingModel, from sourceModel: ManagedObjectModel, to coordinator: PersistentStoreCoordinator
  ) throws {
    let source = try PersistentStoreCoordinator(checking: sourceModel)
    try source.addPersistentStore(with: settings.migrationSource)
    defer { try? source.close() }
    try settings.migrationManager(from: sourceModel, to: coordinator.managedObjectModel, migrationLog)
      .migrate(source, mapping, coordinator)
  }

  final var migrationLog: MigrationLog {
    MigrationLog(settings.migrationLog, progress: settings.migrationProgress).about(place)
  }

  /// Runs a migration; errors that are not this library's become ones that say what failed.
  final func migrating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as HeartwoodError {
      throw error
    } catch {
      throw HeartwoodError(
        .migration, "the store at \(place) could not be migrated: \(error)", underlying: error)
    }
  }
}
