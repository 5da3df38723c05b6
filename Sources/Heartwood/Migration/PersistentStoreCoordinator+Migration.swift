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
    try openStore().finishDeferredMigration()
  }

  /// Does a part of `finishDeferredLightweightMigration()`: the rows of one hierarchy of entities.
  ///
  /// - Returns: Whether work remains.
  /// - Throws: As `finishDeferredLightweightMigration()`.
  @discardableResult
  public func finishDeferredLightweightMigrationTask() throws -> Bool {
    try openStore().continueDeferredMigration()
  }
}

extension ManagedObjectModel {
  /// Whether a store with this metadata can be opened with the model without a migration.
  ///
  /// - Parameters:
  ///   - configuration: Nil for all entities. A model has no other configurations: the result is false.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard configuration == nil else { return false }
    let hashes = metadata[PersistentStore.MetadataKey.modelVersionHashes] as? [String: Data]
    return hashes == entityVersionHashesByName
  }

  /// The first of several models that a store with this metadata can be opened with; nil if there is none.
  ///
  /// Unlike Core Data, no model is put together from entities of several.
  ///
  /// - Parameters:
  ///   - models: The models to choose from.
  ///   - metadata: As `PersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)` returns it.
  public static func mergedModel(
    from models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) -> ManagedObjectModel? {
    models.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
  }
}
