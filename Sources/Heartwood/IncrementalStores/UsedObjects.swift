import HeartwoodFiles

/// Tells an incremental store which of its objects a context uses.
final class UsedObjects: Sendable {
  private let contents: IncrementalContents
  private let identifiers = Guarded<Set<ManagedObjectID>>([])

  /// - Returns: nil if the store does not count uses.
  init?(_ contents: IncrementalContents) {
    guard (try? contents.openStore())?.countsUses == true else { return nil }
    self.contents = contents
  }

  deinit { end() }

  func add(_ identifier: ManagedObjectID) {
    guard !identifier.isTemporaryID, identifiers.withLock({ $0.insert(identifier).inserted }) else { return }
    try? contents.openStore().managedObjectContextDidRegisterObjects(with: [identifier])
  }

  func remove(_ identifier: ManagedObjectID) {
    guard identifiers.withLock({ $0.remove(identifier) }) != nil else { return }
    try? contents.openStore().managedObjectContextDidUnregisterObjects(with: [identifier])
  }

  /// Ends the use of objects that are not registered any more.
  func keep(_ isRegistered: (ManagedObjectID) -> Bool) {
    remove(identifiers.withLock { $0.filter { !isRegistered($0) } })
  }

  func end() { remove(identifiers.withLock { $0 }) }

  private func remove(_ gone: Set<ManagedObjectID>) {
    guard !gone.isEmpty else { return }
    identifiers.withLock { $0.subtract(gone) }
    try? contents.openStore().managedObjectContextDidUnregisterObjects(with: Array(gone))
  }
}
