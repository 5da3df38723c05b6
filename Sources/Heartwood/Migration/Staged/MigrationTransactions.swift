import Foundation

extension StoreMetadata {
  /// The transactions that migrations have saved: handlers of stages, and mapping models in the store that they have made.
  var migrationTransactions: TransactionNumbers {
    get {
      TransactionNumbers(texts: values[PersistentStore.MetadataKey.migrationTransactions]?.texts ?? [])
    }
    set {
      values[PersistentStore.MetadataKey.migrationTransactions] = MetadataValue(texts: newValue.texts)
    }
  }
}

extension PersistentStoreCoordinator {
  /// The transactions of the only store that migrations have saved.
  package func transactionsOfMigrations() throws -> TransactionNumbers {
    guard let store = persistentStores.first?.log else { return TransactionNumbers() }
    return try store.metadata().migrationTransactions
  }
}
