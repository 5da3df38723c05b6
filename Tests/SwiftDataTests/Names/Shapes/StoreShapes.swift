import Foundation
import SwiftData

private typealias Request = DataStoreSaveChangesRequest<DefaultSnapshot>
private typealias Result = DataStoreSaveChangesResult<DefaultSnapshot>
private typealias Fetched = DataStoreFetchResult<Book, DefaultSnapshot>

private func requests() {
  sent(DataStoreFetchRequest<Book>.self)
  sent(Fetched.self)
  sent(Request.self)
  sent(DataStoreBatchDeleteRequest<Book>.self)
  sent(Result.self)
  object(Result.self)
  read(\Request.inserted, [DefaultSnapshot].self)
  read(\Request.editingState, EditingState.self)
  read(\Fetched.relatedSnapshots, [PersistentIdentifier: DefaultSnapshot].self)
  read(\Result.snapshotsToReregister, [PersistentIdentifier: DefaultSnapshot].self)
  read(\DataStoreBatchDeleteRequest<Book>.predicate, Predicate<Book>?.self)
}

private func contexts() {
  sent(EditingState.self)
  read(\EditingState.id, UUID.self)
  write(\EditingState.author, String?.self)
  write(\ModelContext.editingState, EditingState.self)
}

private func snapshots(_ key: DataStoreSnapshotCodingKey) {
  switch key {
  case .persistentIdentifier, .modeledProperty: break
  }
  let _: any DataStoreSnapshotValue = 1
}

private func defaultStore(_ configuration: ModelConfiguration) throws {
  let store = try DefaultStore(configuration)
  _ = try DefaultStore(configuration, migrationPlan: nil)
  read(\DefaultStore.name, String.self)
  let _: DefaultHistoryTransaction.Type = DefaultStore.historyType
  let _: DefaultHistoryToken.Type = DefaultStore.TokenType.self
  let _: [DefaultHistoryTransaction] = try store.fetchHistory(.init())
}
