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
  private(set) var added: InsertionOrderedSet<UInt64> = []
  private(set) var removed: Set<UInt64> = []

  /// The whole pending order, once somebody has moved or placed an element of an ordered relationship; among
  /// it still what has left since.
  private var placed: [UInt64]?
  private var left: Set<UInt64> = []
  /// The keys as they stand now; made on demand.
  private var current: [UInt64]?
  /// Membership of the keys in the store, of which an ordered relationship knows the places only; made on demand.
  private var committedSet: Set<UInt64>?

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  var isLoaded: Bool { committed != nil }

  /// Whether a save has anything to write for this relationship.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || (placed != nil && order != committed)
  }

  /// The whole pending order; nil where it follows from what came and went.
  var order: [UInt64]? {
    left.isEmpty ? placed : placed?.filter { !left.contains($0) }
  }

  func load(_ keys: [UInt64]) {
    committed = isOrdered ? keys : keys.sorted()
    committedSet = nil
    // What was added blindly may have come into the store from elsewhere in the meantime.
    if !added.isEmpty { for key in keys { added.remove(key) } }
    if let order { placed = laid(order, over: keys) }
    left = []
    current = nil
  }

  /// What a load that failed leaves: differences, which no save takes over.
  func loadNothing() {
    committed = []
    committedSet = nil
    current = nil
  }

  /// An order that was set before, without what has gone from the store since, and with what has come at its
  /// end.
  private func laid(_ order: [UInt64], over keys: [UInt64]) -> [UInt64] {
    let there = Set(keys)
    let placed = Set(order)
    return order.filter { there.contains($0) || added.contains($0) }
      + keys.filter { !placed.contains($0) && !removed.contains($0) }
  }

  /// The keys as they stand now.
  ///
  /// - Precondition: the relationship is loaded.
  func keys() -> [UInt64] {
    if let current { return current }
    if placed == nil && added.isEmpty && removed.isEmpty { return committed ?? [] }
    let keys = order ?? (committed ?? []).filter { !removed.contains($0) } + added
    current = keys
    return keys
  }

  /// Whether `key` is among the keys now; at most logarithmic in what is in the store.
  ///
  /// - Precondition: the relationship is loaded.
  func contains(_ key: UInt64) -> Bool {
    if added.contains(key) { return true }
    return !removed.contains(key) && isCommitted(key)
  }

  private func isCommitted(_ key: UInt64) -> Bool {
    guard let committed else { return false }
    guard isOrdered else { return committed.containsInAscendingOrder(key) }
    let known = committedSet ?? Set(committed)
    committedSet = known
    return known.contains(key)
  }

  /// Notes that `key` came; it must not be there already.
  func add(_ key: UInt64) {
    if removed.remove(key) == nil { added.append(key) }
    // In an ordered relationship one that went and came back stands at the end.
    if isOrdered && placed == nil && isCommitted(key) {
      placed = (committed ?? []).filter { $0 != key && !removed.contains($0) } + added
    }
    if left.contains(key) { clearPlaces() }
    placed?.append(key)
    current = nil
  }

  /// Notes that `key` went; it must be there.
  func remove(_ key: UInt64) {
    if !added.remove(key) { removed.insert(key) }
    if placed != nil { left.insert(key) }
    current = nil
  }

  /// Fixes the whole order of an ordered relationship; the same keys as now, placed otherwise.
  func setOrder(_ keys: [UInt64]) {
    placed = keys
    left = []
    current = nil
  }

  private func clearPlaces() {
    placed = order
    left = []
  }

  /// Takes what is now as what is in the store, with keys given at save in place of temporary ones.
  func commit(mapping: (UInt64) -> UInt64) {
    if committed != nil {
      let now = keys().map(mapping)
      committed = isOrdered ? now : now.sorted()
      committedSet = nil
    }
    forgetDifferences()
  }

  /// Gives keys that were replaced their new values.
  func rename(_ newKey: (UInt64) -> UInt64) {
    guard !added.isEmpty else { return }
    var renamed: InsertionOrderedSet<UInt64> = []
    for key in added { renamed.append(newKey(key)) }
    added = renamed
    placed = order?.map(newKey)
    left = []
    current = nil
  }

  func forgetDifferences() {
    added = []
    removed = []
    placed = nil
    left = []
    current = nil
  }

  /// Forgets the keys in the store, keeping the differences: the next read loads the newest. An order that was
  /// set has to be loaded again before a save.
  func unload() {
    committed = nil
    committedSet = nil
    current = nil
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
