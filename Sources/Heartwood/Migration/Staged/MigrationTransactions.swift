import Foundation

extension StoreMetadata {
  /// The transactions that migrations have saved: handlers of stages, and mapping models in the store that they have made.
  var migrationTransactions: TransactionNumbers {
    get {
      guard case .list(let list)? = values[PersistentStore.MetadataKey.migrationTransactions] else {
        return TransactionNumbers()
      }
      return TransactionNumbers(
        texts: list.compactMap { value in
          if case .scalar(.string(let text)) = value { return text }
          return nil
        })
    }
    set {
      let list = newValue.texts.map { MetadataValue.scalar(.string($0)) }
      values[PersistentStore.MetadataKey.migrationTransactions] = list.isEmpty ? nil : .list(list)
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
