import Foundation
import Heartwood

/// A coordinator with a store of dictionaries.
package struct DictionaryWorld {
  package let url: URL
  package let container: PersistentContainer
  package var database: DictionaryStore.Database { DictionaryStore.database(at: url) }

  package init(
    at url: URL = DictionaryStore.newPlace(), types: [ManagedObject.Type] = companyTypes,
    migrates: Bool = true
  ) throws {
    PersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, type: DictionaryStore.kind)
    self.url = url
    container = PersistentContainer(name: "Test", managedObjectModel: try ManagedObjectModel(types: types))
    let description = PersistentStoreDescription(url: url)
    description.type = DictionaryStore.kind
    description.shouldMigrateStoreAutomatically = migrates
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
  }

  package func context() -> ManagedObjectContext { container.newBackgroundContext() }

  /// The calls of the store that `body` makes.
  package func calls(_ body: () throws -> Void) rethrows -> [String] {
    database.calls = []
    try body()
    return database.calls.filter { $0 != "register" && $0 != "unregister" }
  }
}
