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
    end(
      identifiers.withLock { all in
        let gone = all.filter { !isRegistered($0) }
        all.subtract(gone)
        return gone
      })
  }

  func end() {
    end(
      identifiers.withLock { all in
        defer { all = [] }
        return all
      })
  }

  /// Tells the store of uses that are not among the identifiers any more: each is told once, whichever thread ends it.
  private func end(_ gone: Set<ManagedObjectID>) {
    if !gone.isEmpty { store.end(using: Array(gone)) }
  }
}
