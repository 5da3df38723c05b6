import HeartwoodEngine

/// The store of which a mapping model has made another one, which took its place.
package struct FormerStore: Equatable, Sendable {
  /// The identifier of the store, which its backups have too.
  package let identifier: String
  /// The number of its last transaction with a history.
  private let newest: UInt64

  /// - Parameter snapshot: The contents of the store when it is migrated.
  init(_ identity: StoreIdentity, _ snapshot: Snapshot) throws {
    identifier = identity.text ?? ""
    newest = try snapshot.number(KeySpace.newestHistoryKey) ?? 0
  }

  /// Nil if the value is none.
  init?(_ value: MetadataValue?) {
    guard case .dictionary(let values)? = value, let identifier = values["store"]?.text,
      case .scalar(.int(let newest))? = values["transaction"]
    else { return nil }
    (self.identifier, self.newest) = (identifier, UInt64(clamping: newest))
  }

  var value: MetadataValue {
    .dictionary([
      "store": .scalar(.string(identifier)), "transaction": .scalar(.int(Int64(clamping: newest))),
    ])
  }

  /// Whether something was saved to the store after a position, and before it was migrated.
  package func isSaved(after position: PersistentHistoryToken?) -> Bool {
    newest > position?.transactionNumbersByStore[identifier] ?? 0
  }
}

extension StoreMetadata {
  /// Nil if no mapping model has made the store.
  var formerStore: FormerStore? {
    get { FormerStore(values[PersistentStore.MetadataKey.formerStore]) }
    set { values[PersistentStore.MetadataKey.formerStore] = newValue?.value }
  }
}

extension PersistentStoreCoordinator {
  /// The store of which a mapping model has made the only store; nil if none has.
  package func formerStore() throws -> FormerStore? {
    try persistentStores.first?.log?.metadata().formerStore
  }
}
