import Foundation

/// The parts of identifiers, for modules of this package that have identifiers of their own.
extension ManagedObjectID {
  /// The identifier of the store; nil for a temporary identifier.
  package var storeUUID: UUID? { store.uuid }
  /// Whether both are of the same store, or of none: takes less time than to compare the UUIDs.
  package func isInStore(of other: ManagedObjectID) -> Bool { store == other.store }
  /// The key in its own store.
  package var keyInItsStore: UInt64 { key.keyInStore }
  /// The same identifier with that key; itself if it is temporary.
  package var inItsStore: ManagedObjectID {
    isTemporaryID ? self : ManagedObjectID(entity: entity, key: key.keyInStore, store: store)
  }
}
