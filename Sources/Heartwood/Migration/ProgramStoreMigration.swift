import Foundation

/// How a custom store, atomic or incremental, is brought to another model.
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

/// The migration of custom stores, with the model that the class keeps among the metadata.
extension PersistentStore {
  /// Compares the model of a store with that of the coordinator.
  ///
  /// - Parameter metadata: The store's metadata; has the values of the new model if the store is to be migrated.
  /// - Returns: nil if the store has the model, or keeps none.
  /// - Throws: The refusals of `MigrationDecision`, `.inferredMappingModel` if nothing can be inferred, `NeedsStages`.
  final func beginMigration(
    of metadata: inout [String: any Sendable], to model: ManagedObjectModel
  ) throws -> ProgramStoreMigration? {
    let migration: ProgramStoreMigration
    let former: [String]
    switch try MigrationDecision(of: version(metadata, model), settings, to: model) {
    case .open: return nil
    case .stages(let manager): throw ProgramStoreMigration.NeedsStages(manager: manager)
    case .map(let mapping, let source, let models):
      (migration, former) = (.mapped(mapping, source: source), models)
    case .infer(let source, let models):
      (migration, former) = (.inferred(try inferred(from: source, to: model)), models)
    }
    metadata[MetadataKey.formerModelVersionChecksums] = former
    metadata[MetadataKey.modelVersionHashes] = model.entityVersionHashesByName
    metadata[MetadataKey.modelData] = Data(try model.encoded())
    metadata[MetadataKey.pendingMigrationStage] = settings.pendingStage
    return migration
  }

  /// The model that the store was written with, as its metadata describe it, beside another one.
  final func version(_ metadata: [String: any Sendable], _ model: ManagedObjectModel) -> StoreVersion {
    StoreVersion(
      place: place, difference: difference(metadata, from: model),
      pendingStage: metadata[MetadataKey.pendingMigrationStage] as? String,
      formerModels: metadata[MetadataKey.formerModelVersionChecksums] as? [String] ?? []
    ) { try self.formerModel(metadata) }
  }

  /// Why the store cannot be opened with a model as it is; nil if it can, or if its class does not keep the hashes of the model.
  final func difference(_ metadata: [String: any Sendable], from model: ManagedObjectModel) -> HeartwoodError?
  {
    guard let stored = metadata[MetadataKey.modelVersionHashes] as? [String: Data],
      !model.hasVersionHashes(stored)
    else { return nil }
    let entities = model.entitiesByName
    let names = Set(stored.keys).union(entities.keys).filter { name in
      guard configuration.storedNames?.contains(name) != false else { return false }
      return stored[name].map { entities[name]?.hasVersionHash($0) != true } ?? true
    }.sorted()
    // A change of entities that other stores have does not concern this one.
    return names.isEmpty ? nil : .otherModel(place, "\(names.joined(separator: ", ")) differ")
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

  private final func inferred(
    from source: ManagedObjectModel, to model: ManagedObjectModel
  ) throws -> InferredMigration {
    let migration = try InferredMigration(from: source, to: model)
    if !joinsRelationshipsInMigrations, let first = migration.joinedRelationships.first {
      throw HeartwoodError(
        .inferredMappingModel,
        "no mapping can be inferred: \(first.displayName) gets the inverse \(first.inverseRelationship?.displayName ?? "?"), and a store of the "
          + "class \(Swift.type(of: self)) does not put the links of two sides together; map them",
        property: first.name)
    }
    for change in migration.changes { migrationLog.note(change) }
    return migration
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
