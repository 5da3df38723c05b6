import Foundation

/// Identifiers and generations.
extension PersistentStoreCoordinator {
  /// The identifier of a URI; nil if it is not a permanent identifier, or belongs to another store or to an entity that
  /// the model does not have.
  ///
  /// The entity may have its name, or one that it had before a migration in place, if no other entity has that now. The row need not exist. If it does, and is one of another entity of the same family, the identifier has the entity of the row.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    guard let parts = ManagedObjectID.parts(of: url) else { return nil }
    return persistentStores.first { $0.objectStore.identity.uuid == parts.store }?.managedObjectID(of: parts)
  }

  /// The identifier of the text of a URI; nil as for `managedObjectID(forURIRepresentation:)`.
  public func managedObjectID(for text: String) -> ManagedObjectID? {
    URL(string: text).flatMap { managedObjectID(forURIRepresentation: $0) }
  }

  /// A token of a past generation, by the number of its transaction.
  ///
  /// - Throws: If there is no store, or several, or the number is greater than the newest generation's.
  public func queryGenerationToken(forGeneration number: UInt64) throws -> QueryGenerationToken {
    let store = try openStore()
    try store.require(.generations)
    let newest = store.newestGeneration
    guard number <= newest else {
      throw HeartwoodError(
        .persistentStoreOperation, "there is no generation \(number) yet: the newest is \(newest)")
    }
    return QueryGenerationToken(generation: number, storeID: store.identity.text)
  }

  /// A token of the newest generation that was made at a date or before it, by the times in the history, the clocks of the machines that saved.
  ///
  /// - Throws: As `queryGenerationToken(forGeneration:)`, and if the store has no generation of that time any more.
  /// - Complexity: Linear in the generations that can still be read, and in the history.
  public func queryGenerationToken(asOf date: Date) throws -> QueryGenerationToken {
    // A date has about a tenth of a microsecond less than a time of the store.
    let time = min(date.nanosecondsSince1970, .max - 1_000) + 1_000
    var times: [UInt64: Int64] = [:]
    let view = try historyStore(nil).newestView()
    try view.history(after: view.newestDeletedHistory()) { record in
      times[record.number] = record.nanoseconds
      return true
    }
    let found = try generations().last { (times[$0.generation.rawValue] ?? $0.time) <= time }
    guard let found else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the store has no generation of \(date) or before it any more: it was made later, or its space was reclaimed"
      )
    }
    return try queryGenerationToken(forGeneration: found.generation.rawValue)
  }

  /// A token of the generation of each store that is newest now.
  ///
  /// - Throws: If there is no store.
  @_disfavoredOverload
  public func newestQueryGenerationToken() throws -> QueryGenerationToken {
    let stores = try openStores()
    for store in stores { try store.require(.generations) }
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
