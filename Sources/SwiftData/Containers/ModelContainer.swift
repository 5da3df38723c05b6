import Foundation
import Heartwood
import HeartwoodFiles

/// The models of a program and the stores that they are in.
public final class ModelContainer: Equatable, @unchecked Sendable {
  /// The models.
  public var schema: Schema { contents.schema }
  /// The stages that lead from earlier versions of the schema; nil where each is inferred.
  public var migrationPlan: (any SchemaMigrationPlan.Type)? { contents.migrationPlan }
  /// The configurations of the stores.
  public var configurations: Set<ModelConfiguration> {
    Set(contents.configurations.compactMap { $0 as? ModelConfiguration })
  }
  let contents: ContainerContents

  /// Posted when something was saved to a store of a container: by one of its contexts, another container or another process. The object is the
  /// container. It is posted on a background thread.
  public static let remoteChange = Notification.Name("SwiftDataModelContainerRemoteChange")

  /// Made and used on the main actor.
  @MainActor private var keptMainContext: ModelContext?

  // MARK: Making

  /// A container of models in the default store.
  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(schema: Schema(forTypes), plan: migrationPlan, configurations: configurations)
  }

  /// A container of models in stores of any kind.
  public convenience init(
    for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(schema: Schema(forTypes), plan: migrationPlan, configurations: configurations)
  }

  /// A container of a schema in the default store.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(schema: givenSchema, plan: migrationPlan, configurations: configurations)
  }

  /// A container of a schema in stores.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    try self.init(schema: givenSchema, plan: migrationPlan, configurations: configurations)
  }

  /// A container of a schema in stores of any kind.
  public convenience init(
    for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    try self.init(schema: givenSchema, plan: migrationPlan, configurations: configurations)
  }

  private convenience init(
    schema: Schema, plan: (any SchemaMigrationPlan.Type)?, configurations: [any DataStoreConfiguration]
  ) throws {
    let models = try ModelRegistry(schema)
    let given: [any DataStoreConfiguration] = configurations.isEmpty ? [ModelConfiguration()] : configurations
    if given.count > 1, let own = given.first(where: { !($0 is ModelConfiguration) }) {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "a store of a program (\(type(of: own))) is the only one of its container: give it a container of its own"
      )
    }
    let opening = try ContainerOpening(models, plan, given)
    self.init(
      ContainerContents(
        models: models, plan: plan, configurations: given, coordinator: opening.coordinator,
        stores: opening.stores))
    contents.note(self)
  }

  init(_ contents: ContainerContents) { self.contents = contents }

  // MARK: Contexts

  /// The context of the main actor. It saves by itself: see `ModelContext.autosaveEnabled`.
  @MainActor public var mainContext: ModelContext {
    if let keptMainContext { return keptMainContext }
    let context = contents.mainContext ?? ModelContext(contents, isMain: true)
    contents.mainContext = context
    keptMainContext = context
    return context
  }

  // MARK: Whole stores

  /// Deletes all models of all stores. Contexts lose theirs: those that the program still has keep their values, without a context.
  @available(*, deprecated, renamed: "erase")
  public func deleteAllData() { try? erase() }

  /// Deletes all models of all stores, and their history. Identifiers are not used again. Contexts lose their models: those that the program
  /// still has keep their values, without a context.
  ///
  /// - Throws: If a store cannot be written.
  public func erase() throws { try contents.stores.erase(in: contents) }

  /// Whether both are the same container.
  public static func == (left: ModelContainer, right: ModelContainer) -> Bool {
    left.contents === right.contents
  }
}
