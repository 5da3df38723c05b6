import Foundation

/// Identifiers and generations.
extension PersistentStoreCoordinator {
  /// The identifier of a URI; nil if it is not a permanent identifier, or belongs to another store or to an entity that
  /// the model does not have.
  ///
  /// The entity may have its name, or one that it had before a migration in place, if no other entity has that now. The row need not exist. If it does, and is one of another entity of the same family, the identifier has the entity of the row.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    ManagedObjectID.parts(of: url).flatMap(managedObjectID)
  }

  /// The identifier of these parts; nil as for `managedObjectID(forURIRepresentation:)`.
  package func managedObjectID(of parts: ManagedObjectID.URIParts) -> ManagedObjectID? {
    persistentStores.first { $0.objectStore.identity.uuid == parts.store }?.managedObjectID(of: parts)
  }

  /// The identifier of the text of a URI; nil as for `managedObjectID(forURIRepresentation:)`.
  public func managedObjectID(for text: String) -> ManagedObjectID? {
    URL(string: text).flatMap { managedObjectID(forURIRepresentation: $0) }
  }

  /// A token of the generation of each store that is newest now.
  ///
  /// - Throws: If there is no store.
  @_disfavoredOverload
  public func newestQueryGenerationToken() throws -> QueryGenerationToken {
    let stores = try openStores()
    try objectStore?.require(.generations)
    return QueryGenerationToken(
      StoreGenerations(
        stores.map { StoreGenerations.Member(store: $0.identity, number: $0.newestGeneration) }))
  }

  /// The newest position in the history of each store; nil while no store is open. A fetch of the history after this token does not
  /// return transactions that were saved before it.
  ///
  /// - Parameter stores: Nil or an empty list for all stores. Stores of other coordinators are left out; nil is returned if none is left.
  public func currentPersistentHistoryToken(fromStores stores: [PersistentStore]? = nil)
    -> PersistentHistoryToken?
  {
    let stores = stores.flatMap { $0.isEmpty ? nil : $0 }
    let own = persistentStores.filter { store in
      stores?.contains { $0 === store } ?? true && (try? store.objectStore.require(.history)) != nil
    }
    return PersistentHistoryToken(
      own.compactMap { ($0.objectStore as? any HistorySource)?.currentHistoryToken() })
  }
}
