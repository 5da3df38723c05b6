import Foundation

/// The migration of stores of a program's classes, atomic and incremental ones: as it is inferred, with the model that the class keeps
/// among the metadata.
extension PersistentStore {
  /// Compares the model of a store with that of the coordinator.
  ///
  /// - Parameter metadata: What the store says about itself; has the values of the new model if the store is to be migrated.
  /// - Returns: nil if the store has the model, keeps none, or its description does not allow automatic migration.
  /// - Throws: `.migrationMissingSourceModel` if its class keeps hashes and no model, `.migrationMissingMappingModel` if the description wants more
  ///   than what is inferred, `.inferredMappingModel` if nothing can be inferred, `.stagedMigrationBackwardMigration` if the store had the model before.
  final func beginMigration(
    of metadata: inout [String: any Sendable], to model: ManagedObjectModel
  ) throws -> InferredMigration? {
    typealias Key = MetadataKey
    let hashes = model.entityVersionHashesByName
    guard let stored = metadata[Key.modelVersionHashes] as? [String: Data], stored != hashes,
      description.shouldMigrateStoreAutomatically
    else { return nil }
    guard !isReadOnly else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the store at \(place) was written with another model, and cannot be migrated, because it is opened read-only; open it for writing"
      )
    }
    guard let data = metadata[Key.modelData] as? Data else {
      throw HeartwoodError(
        .migrationMissingSourceModel,
        "the store at \(place) cannot be migrated: its class \(Swift.type(of: self)) does not keep the model that it was written with"
      )
    }
    let source = try data.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let former = try StoreMetadata.formerModels(
      metadata[Key.formerModelVersionChecksums] as? [String] ?? [], of: model, after: source,
      description.allowsMigrationToFormerModel, "\(place)")
    try requireInferred(from: source, to: model)
    let migration = try InferredMigration(from: source, to: model)
    metadata[Key.formerModelVersionChecksums] = former
    metadata[Key.modelVersionHashes] = hashes
    metadata[Key.modelData] = Data(try model.encoded())
    for change in migration.changes { migrationLog.note(change) }
    return migration
  }

  private final func requireInferred(
    from source: ManagedObjectModel, to model: ManagedObjectModel
  ) throws(HeartwoodError) {
    let isInferred =
      description.mappingModel.map { $0.isInferred(from: source, to: model) }
      ?? description.shouldInferMappingModelAutomatically
    guard isInferred, description.stagedMigrationManager == nil else {
      throw HeartwoodError(
        .migrationMissingMappingModel,
        "the store at \(place) is of type \(type.rawValue), which is migrated as it is inferred only: set "
          + "shouldInferMappingModelAutomatically without a mapping model and without stages, or migrate it to another store with a "
          + "MigrationManager")
    }
  }

  final var migrationLog: MigrationLog {
    MigrationLog(description.migrationLog, progress: description.migrationProgress).about("\(place)")
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
