/// What one object knows of one of its to-many relationships: keys as they are in the store, and the
/// differences made since.
///
/// The keys in the store are loaded when somebody reads the relationship. Until then an object that
/// comes or goes because the other side was set is noted as a difference only, so that keeping
/// inverses never loads a relationship.
///
/// - Invariant: no key is both added and removed; added keys are not among the committed ones.
final class RelationshipState {
  let isOrdered: Bool
  /// The keys in the store: in their order where the relationship has one, else ascending.
  private(set) var committed: [UInt64]?
  /// Keys that came since the last save, in the order in which they came.
  private(set) var added: [UInt64] = []
  private(set) var removed: Set<UInt64> = []
  /// The whole pending order, once somebody has moved or placed an element of an ordered relationship.
  private(set) var order: [UInt64]?

  /// Membership of `added`, so that adding many stays linear.
  private var addedSet: Set<UInt64> = []
  /// The keys as they stand now; made on demand.
  private var current: [UInt64]?

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  var isLoaded: Bool { committed != nil }

  /// Whether a save has anything to write for this relationship.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || (order != nil && order != committed)
  }

  func load(_ keys: [UInt64]) {
    committed = isOrdered ? keys : keys.sorted()
    // What was added blindly may have come into the store from elsewhere in the meantime.
    let known = Set(keys)
    added.removeAll { known.contains($0) && addedSet.remove($0) != nil }
    current = nil
  }

  /// The keys as they stand now.
  ///
  /// - Precondition: the relationship is loaded.
  func keys() -> [UInt64] {
    if let current { return current }
    var keys = order ?? committed ?? []
    if order == nil {
      if !removed.isEmpty { keys.removeAll(where: removed.contains) }
      keys += added
    }
    current = keys
    return keys
  }

  /// Whether `key` is among the keys now; logarithmic in what is in the store.
  ///
  /// - Precondition: the relationship is loaded.
  func contains(_ key: UInt64) -> Bool {
    if addedSet.contains(key) { return true }
    if removed.contains(key) { return false }
    guard let committed else { return false }
    return isOrdered ? committed.contains(key) : committed.containsInAscendingOrder(key)
  }

  /// Notes that `key` came; it must not be there already.
  func add(_ key: UInt64) {
    if removed.remove(key) == nil {
      if addedSet.insert(key).inserted { added.append(key) }
    }
    order?.append(key)
    // In an ordered relationship one that went and came back stands at the end.
    if isOrdered && order == nil && committed?.contains(key) == true { order = keysWith(key) }
    current = nil
  }

  /// Notes that `key` went; it must be there.
  func remove(_ key: UInt64) {
    if addedSet.remove(key) != nil {
      added.removeAll { $0 == key }
    } else {
      removed.insert(key)
    }
    order?.removeAll { $0 == key }
    current = nil
  }

  /// Fixes the whole order of an ordered relationship; the same keys as now, placed otherwise.
  func setOrder(_ keys: [UInt64]) {
    order = keys
    current = nil
  }

  /// Takes what is now as what is in the store, with keys given at save in place of temporary ones.
  func commit(mapping: (UInt64) -> UInt64) {
    if committed != nil {
      let now = keys().map(mapping)
      committed = isOrdered ? now : now.sorted()
    }
    forgetDifferences()
  }

  /// Gives keys that were replaced their new values.
  func rename(_ newKey: (UInt64) -> UInt64) {
    guard !added.isEmpty else { return }
    added = added.map(newKey)
    addedSet = Set(added)
    order = order?.map(newKey)
    current = nil
  }

  func forgetDifferences() {
    added = []
    addedSet = []
    removed = []
    order = nil
    current = nil
  }

  /// Forgets the keys in the store, keeping the differences: the next read loads the newest.
  func unload() {
    committed = nil
    current = nil
  }

  private func keysWith(_ key: UInt64) -> [UInt64] {
    (committed ?? []).filter { $0 != key && !removed.contains($0) } + added + [key]
  }
}

extension Array where Element == UInt64 {
  /// Binary search.
  fileprivate func containsInAscendingOrder(_ key: UInt64) -> Bool {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == key
  }
}
