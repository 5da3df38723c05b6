/// Finds the mapping model between two models, as the module `CoreData` does among those of the program.
package struct MappingModelFinder: Sendable {
  /// Prepares the model of a store, which has no classes.
  package let prepare: @Sendable (ManagedObjectModel) -> Void
  /// The mapping model for the model of a store and the one to migrate to; nil if there is none.
  package let find: @Sendable (ManagedObjectModel, ManagedObjectModel) throws -> MappingModel?
  /// A manager for two models.
  package let makeManager: @Sendable (ManagedObjectModel, ManagedObjectModel) -> MigrationManager

  package init(
    prepare: @escaping @Sendable (ManagedObjectModel) -> Void,
    find: @escaping @Sendable (ManagedObjectModel, ManagedObjectModel) throws -> MappingModel?,
    makeManager: @escaping @Sendable (ManagedObjectModel, ManagedObjectModel) -> MigrationManager
  ) {
    self.prepare = prepare
    self.find = find
    self.makeManager = makeManager
  }
}
