import Foundation
import Heartwood
import HeartwoodFiles

/// Opens a custom store beneath a container.
enum DataStoreOpening {
  static func open(
    _ configuration: any DataStoreConfiguration, _ name: String?, _ plan: (any SchemaMigrationPlan.Type)?,
    _ models: ModelRegistry, _ coordinator: PersistentStoreCoordinator, _ stores: OpenModelStores
  ) throws {
    var configuration = configuration
    if configuration.schema == nil { configuration.schema = models.schema }
    let store = try make(configuration, plan)
    let place = URL(string: "swiftdata-store:\(UUID().uuidString)") ?? URL(filePath: "/dev/null")
    BridgedStore.register()
    BridgedStore.waiting.withLock { $0[place] = StoreHolder(store) }
    defer { BridgedStore.waiting.withLock { $0[place] = nil } }
    let description = PersistentStoreDescription(url: place)
    description.type = BridgedStore.kind
    description.configuration = name
    stores.add(try coordinator.addPersistentStore(with: description), configuration)
    stores.add(store)
  }

  private static func make<Configuration: DataStoreConfiguration>(
    _ configuration: Configuration, _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> any DataStore { try Configuration.Store(configuration, migrationPlan: plan) }
}

/// A custom store, which its container's contexts use one after the other as the program's class requires.
struct StoreHolder: @unchecked Sendable {
  let store: any DataStore
  init(_ store: any DataStore) { self.store = store }
}
