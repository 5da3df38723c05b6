import HeartwoodFiles

/// A store that is told which of its objects contexts use.
protocol ObjectUses: AnyObject, Sendable {
  func begin(using objects: [ManagedObjectID])
  func end(using objects: [ManagedObjectID])
}

/// Tells a store which of its objects a context uses.
final class UsedObjects: Sendable {
  private let store: any ObjectUses
  private let identifiers = Guarded<Set<ManagedObjectID>>([])

  init(_ store: any ObjectUses) { self.store = store }

  deinit { end() }

  func add(_ identifier: ManagedObjectID) {
    guard !identifier.isTemporaryID, identifiers.withLock({ $0.insert(identifier).inserted }) else { return }
    store.begin(using: [identifier])
  }

  func remove(_ identifier: ManagedObjectID) {
    guard identifiers.withLock({ $0.remove(identifier) }) != nil else { return }
    store.end(using: [identifier])
  }

  /// Ends the use of objects that are not registered any more.
  func keep(_ isRegistered: (ManagedObjectID) -> Bool) {
    remove(identifiers.withLock { $0.filter { !isRegistered($0) } })
  }

  func end() { remove(identifiers.withLock { $0 }) }

  private func remove(_ gone: Set<ManagedObjectID>) {
    guard !gone.isEmpty else { return }
    identifiers.withLock { $0.subtract(gone) }
    store.end(using: Array(gone))
  }
}
