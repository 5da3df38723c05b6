/// How a store of another model is migrated.
extension PersistentStoreDescription {
  /// The mapping by which a store of another model is migrated, to a copy with new identifiers that replaces it; nil to infer it. The
  /// inferred mapping itself migrates the store in place. Needs `shouldMigrateStoreAutomatically`.
  public var mappingModel: MappingModel? {
    get { migration.mapping as? MappingModel }
    set { migration.mapping = newValue }
  }

  /// The stages by which a store of an earlier version is migrated; nil to infer the mapping in one step. Needs
  /// `shouldMigrateStoreAutomatically`.
  public var stagedMigrationManager: StagedMigrationManager? {
    get { migration.stages as? StagedMigrationManager }
    set { migration.stages = newValue }
  }

  /// Finds a mapping where none is given, before one is inferred; nil to look for none.
  package var mappingModelFinder: MappingModelFinder? {
    get { migration.finder as? MappingModelFinder }
    set { migration.finder = newValue }
  }
}
