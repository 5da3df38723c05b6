import Heartwood
import HeartwoodFiles

/// The contents of a container. Contexts keep it, and the container keeps its main context, so that none keeps itself.
final class ContainerContents: @unchecked Sendable {
  let models: ModelRegistry
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  /// Unchecked: configurations are values that are not changed.
  let configurations: [any DataStoreConfiguration]
  let coordinator: PersistentStoreCoordinator
  let stores: OpenModelStores
  /// Those of the stores that are of programs: none is added later.
  let bridged: [BridgedStore]
  /// The container, while the program has it.
  private weak var knownContainer: ModelContainer?
  private let lock = Guarded(())
  /// The main context, while there is one.
  @MainActor weak var mainContext: ModelContext?

  var schema: Schema { models.schema }

  init(
    models: ModelRegistry, plan: (any SchemaMigrationPlan.Type)?,
    configurations: [any DataStoreConfiguration],
    coordinator: PersistentStoreCoordinator, stores: OpenModelStores
  ) {
    self.models = models
    migrationPlan = plan
    self.configurations = configurations
    self.coordinator = coordinator
    self.stores = stores
    bridged = stores.bridged
    stores.begin(self)
  }

  /// The container of the contents: the one that the program has, or another one.
  var container: ModelContainer {
    lock.withLock { _ in
      if let knownContainer { return knownContainer }
      let made = ModelContainer(self)
      knownContainer = made
      return made
    }
  }

  func note(_ container: ModelContainer) { lock.withLock { _ in knownContainer = container } }
}
