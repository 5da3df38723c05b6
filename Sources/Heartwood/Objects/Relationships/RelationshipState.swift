/// An object's state of one of its to-many relationships: the keys in the store, and the unsaved differences.
///
/// The keys in the store are loaded at the first read of the relationship. Until then, changes by the inverse are recorded
/// as differences only, so that maintaining inverses never loads a relationship.
///
/// - Invariant: No key is both added and removed; added keys are not among the committed ones.
/// - Invariant: An ordered relationship has its keys loaded when one is added that was removed: it is at the end then.
final class RelationshipState {
  let isOrdered: Bool
  /// Whether the relationship is only in memory: what others save does not concern it.
  let isTransient: Bool
  /// The keys in the store: in order if the relationship is ordered, otherwise ascending. Nil until loaded.
  @exclusivity(unchecked) private(set) var committed: [UInt64]?
  /// Keys that were added since the last save, in the order of addition.
  @exclusivity(unchecked) private(set) var added: InsertionOrderedSet<UInt64> = []
  @exclusivity(unchecked) private(set) var removed: Set<UInt64> = []

  /// The differences at the beginning of an event that is not over, which the event has.
  private weak var former: FormerDifferences?

  /// The whole pending order, once an element of an ordered relationship was moved or inserted at an index.
  @exclusivity(unchecked) private var placed: OrderedKeys<UInt64>?
  /// The current keys; computed on demand.
  private var current: [UInt64]? {
    didSet { if current == nil { version &+= 1 } }
  }
  /// Changes with the keys.
  @exclusivity(unchecked) private(set) var version = 0
  /// The keys that have come and gone one by one since `firstStep`, a version, while a collection of them is kept; nil if there are too many.
  @exclusivity(unchecked) private var steps: [Step]?
  @exclusivity(unchecked) private var firstStep = 0
  /// Whether the program has set the destinations on this side since the last save, and not only at the destinations.
  @exclusivity(unchecked) private(set) var isSet = false
  /// The additions that it has made on this side.
  @exclusivity(unchecked) private(set) var set: Set<UInt64> = []
  /// The committed keys as a set, for membership in an ordered relationship; computed on demand.
  @exclusivity(unchecked) private var committedSet: Set<UInt64>?

  /// The object whose relationship this is. Unretained: it holds the state, and what uses the state has the object.
  private let owner: UnownedReference<ManagedObject>
  private let slot: Int

  init(of owner: ManagedObject, _ relationship: RelationshipDescription) {
    self.owner = UnownedReference(owner)
    slot = relationship.slot
    isOrdered = relationship.isOrdered
    isTransient = relationship.isTransient
    if isTransient { committed = [] }
  }

  /// A state of the same object with the same keys and differences.
  func copy() -> RelationshipState { RelationshipState(copying: self) }

  private init(copying other: RelationshipState) {
    (owner, slot, isOrdered, isTransient) = (other.owner, other.slot, other.isOrdered, other.isTransient)
    (committed, added, removed) = (other.committed, other.added, other.removed)
    (isSet, set) = (other.isSet, other.set)
    placed = other.order.map(OrderedKeys.init)
    version = other.version &+ 1
  }

  /// Performs a change of the current keys, which observers of the object are notified of.
  private func change(_ body: () -> Void) {
    owner.with { $0.changeValue(slot, body) }
  }

  var isLoaded: Bool { committed != nil }

  /// Whether a save must write this relationship.
  var hasChanges: Bool {
    !added.isEmpty || !removed.isEmpty || (placed != nil && order != committed)
  }

  /// The whole pending order; nil if it follows from the added and removed keys.
  var order: [UInt64]? { placed?.keys }
  var hasOrder: Bool { placed != nil }

  func load(_ keys: [UInt64]) {
    committed = isOrdered ? keys : keys.sorted()
    committedSet = nil
    keepFormer()
    // Keys that were added without loading may have been added to the store by another save in the meantime.
    if !added.isEmpty { for key in keys { added.remove(key) } }
    // And removed keys may have been removed there, too: they are no differences any more.
    if !removed.isEmpty { removed.formIntersection(keys) }
    if let order { placed = OrderedKeys(laid(order, over: keys)) }
    current = nil
  }

  /// Makes the relationship empty after a failed load, keeping the differences. No save happens until the object is refreshed.
  func loadNothing() {
    committed = []
    committedSet = nil
    current = nil
  }

  /// Merges an order that was set earlier with the keys now in the store: drops keys that were removed there, and appends new ones at the end.
  private func laid(_ order: [UInt64], over keys: [UInt64]) -> [UInt64] {
    let there = Set(keys)
    let placed = Set(order)
    return order.filter { there.contains($0) || added.contains($0) }
      + keys.filter { !placed.contains($0) && !removed.contains($0) }
  }

  /// The current keys.
  ///
  /// - Precondition: The relationship is loaded.
  func keys() -> [UInt64] {
    if let current { return current }
    if placed == nil && added.isEmpty && removed.isEmpty { return committed ?? [] }
    let keys = order ?? (committed ?? []).filter { !removed.contains($0) } + added
    current = keys
    return keys
  }

  /// Whether `key` is among the current keys.
  ///
  /// - Precondition: The relationship is loaded.
  /// - Complexity: Logarithmic in the committed keys. If ordered, constant after a linear first call.
  func contains(_ key: UInt64) -> Bool {
    if added.contains(key) { return true }
    return !removed.contains(key) && isCommitted(key)
  }

  /// Whether `key` is in the store, or was added on this side: it is replaced where a whole set of destinations takes its place.
  func isReplaceable(_ key: UInt64) -> Bool { isCommitted(key) || set.contains(key) }

  /// Whether what is known of `key` is what the store had: it was read as a destination, or removed as one.
  func isKnownOfStore(_ key: UInt64) -> Bool { removed.contains(key) || isCommitted(key) }

  private func isCommitted(_ key: UInt64) -> Bool {
    guard let committed else { return false }
    guard isOrdered else {
      let place = committed.partitioningIndex { $0 >= key }
      return place < committed.count && committed[place] == key
    }
    let known = committedSet ?? Set(committed)
    committedSet = known
    return known.contains(key)
  }

  /// The number of current keys.
  ///
  /// - Precondition: The relationship is loaded.
  var count: Int { placed?.count ?? (committed?.count ?? 0) - removed.count + added.count }

  /// - Precondition: The relationship is loaded, and `index` is less than the count.
  func key(at index: Int) -> UInt64 { placed.map { $0[index] } ?? keys()[index] }

  /// - Precondition: The relationship is loaded.
  func index(of key: UInt64) -> Int? {
    if let placed { return placed.index(of: key) }
    return keys().firstIndex(of: key)
  }

  /// Adds `key`.
  ///
  /// - Precondition: `key` is not among the current keys.
  func add(_ key: UInt64) { change { insert(key) } }

  /// Removes `key`.
  ///
  /// - Precondition: `key` is among the current keys.
  func remove(_ key: UInt64) { change { takeOut(key) } }

  /// Notes that the program sets the destinations on this side.
  ///
  /// - Parameter key: The key that it adds; nil if it adds nothing, or if all of `keys` are noted already.
  func noteSetting(_ key: UInt64? = nil) {
    isSet = true
    if let key { set.insert(key) }
  }

  /// The same for what a child context has noted.
  func noteSetting(_ differences: Differences) {
    guard differences.isSet else { return }
    isSet = true
    set.formUnion(differences.set)
  }

  /// Takes back that `key` was removed: it is where it was before. Another key is added.
  func putBack(_ key: UInt64) {
    change {
      guard removed.contains(key) else { return insert(key) }
      former?.noteAddition(of: key)
      removed.remove(key)
      placed?.append(key)
      current = nil
    }
  }

  /// Forgets that `key` was removed, as others have taken it out as well: adding it is a change again.
  func dropRemoval(of key: UInt64) {
    guard removed.contains(key) else { return }
    keepFormer()
    removed.remove(key)
    current = nil
  }

  /// Moves `key` to an index of an ordered relationship.
  ///
  /// - Precondition: `key` is among the current keys, and `index` is less than their number.
  /// - Complexity: Linear in the number of keys at the first call, then about its square root.
  func move(_ key: UInt64, to index: Int) {
    let placed = placed ?? OrderedKeys(keys())
    guard placed.index(of: key) != index else { return }
    change {
      placed.remove(key)
      placed.insert(key, at: index)
      self.placed = placed
      current = nil
    }
  }

  /// Sets the whole order of an ordered relationship.
  ///
  /// - Precondition: `keys` is a permutation of the current keys.
  func setOrder(_ keys: [UInt64]) {
    change {
      placed = OrderedKeys(keys)
      current = nil
    }
  }

  /// Makes these the current keys, without informing observers.
  ///
  /// - Precondition: The relationship is loaded.
  func replace(with keys: [UInt64]) {
    let wanted = Set(keys)
    for key in self.keys() where !wanted.contains(key) { takeOut(key) }
    for key in keys where !contains(key) { insert(key) }
    guard isOrdered, keys != self.keys() else { return }
    placed = OrderedKeys(keys)
    current = nil
  }

  private func insert(_ key: UInt64) {
    former?.noteAddition(of: key)
    if removed.contains(key) {
      assert(!isOrdered || isLoaded, "an ordered relationship gets back a key before it is loaded")
      removed.remove(key)
    } else {
      added.append(key)
    }
    if let placed {
      placed.append(key)
    } else if isOrdered && isCommitted(key) {
      // In an ordered relationship, a key that was removed and added again is at the end.
      let others = (committed ?? []).filter { $0 != key && !removed.contains($0) }
      placed = OrderedKeys(others + added + [key])
    }
    current = nil
    if isOrdered || added.last == key { note(Step(key: key, isAdded: true)) }
  }

  private func takeOut(_ key: UInt64) {
    former?.noteRemoval(of: key)
    if !added.remove(key) { removed.insert(key) }
    placed?.remove(key)
    current = nil
    note(Step(key: key, isAdded: false))
  }

  /// A key that has come, as the last one, or gone.
  struct Step {
    let key: UInt64
    let isAdded: Bool
  }

  /// Begins or ends to record steps, for a collection of the current keys.
  func recordSteps(_ isKept: Bool) { (firstStep, steps) = (version, isKept ? [] : nil) }

  /// The steps from the keys of a version to the current ones; nil if they are not known.
  func steps(since former: Int) -> [Step]? {
    guard let steps, firstStep == former, former &+ steps.count == version else { return nil }
    return steps
  }

  private func note(_ step: Step) {
    guard let count = steps?.count else { return }
    if count < 1_000 { steps?.append(step) } else { steps = nil }
  }

  /// The keys that are removed and added; nil if the places of others may differ from those in the store.
  var ownChange: (lost: [UInt64], gained: [UInt64])? {
    guard !hasOrder, !isOrdered || removed.isEmpty else { return nil }
    return (removed.sorted(), Array(added))
  }

  /// The differences as they are now, for an event that may change them.
  func noteFormer() -> FormerDifferences {
    keepFormer()
    let noted = FormerDifferences(of: self)
    former = noted
    return noted
  }

  /// Checks the invariants, in debug builds.
  ///
  /// - Complexity: Linear in the differences, if the committed keys are known as a set.
  func checkInvariants() {
    assert(added.allSatisfy { !removed.contains($0) }, "a key is both added and removed")
    assert(added.allSatisfy { !isCommitted($0) }, "an added key is committed")
  }

  private func keepFormer() {
    former?.keep()
    former = nil
  }

  /// The unsaved differences, as a value.
  struct Differences {
    let added: InsertionOrderedSet<UInt64>
    let removed: Set<UInt64>
    /// The whole order, if it was set.
    let order: [UInt64]?
    /// Whether the program has set the destinations on this side, and what it has added there.
    let isSet: Bool
    let set: Set<UInt64>
  }

  var differences: Differences {
    Differences(added: added, removed: removed, order: order, isSet: isSet, set: set)
  }

  /// Makes the current keys the committed ones, with permanent keys in place of temporary ones.
  func commit(mapping: (UInt64) -> UInt64) {
    if committed != nil {
      let now = keys().map(mapping)
      committed = isOrdered ? now : now.sorted()
      committedSet = nil
    }
    clearDifferences()
  }

  /// Replaces temporary keys by their permanent ones.
  func rename(_ newKey: (UInt64) -> UInt64) {
    let mayHaveOthers = !added.isEmpty || placed != nil
    guard
      mayHaveOthers || committed?.contains(where: { !$0.isPermanentKey }) == true
        || removed.contains(where: { !$0.isPermanentKey })
    else { return }
    replaceKeys(newKey)
  }

  /// Replaces the temporary key of one object by its permanent one.
  func rename(_ key: UInt64, to permanent: UInt64) {
    guard placed == nil, added.contains(key) else { return rename { $0 == key ? permanent : $0 } }
    keepFormer()
    _ = added.replace(key, by: permanent)
    if set.remove(key) != nil { set.insert(permanent) }
    current = nil
  }

  /// Replaces keys. Two of them may become one: it stays where the store has it, otherwise where the first one was added.
  func replaceKeys(_ newKey: (UInt64) -> UInt64) {
    if let former = committed {
      let renamed = former.map(newKey).withoutRepetitions
      committed = isOrdered ? renamed : renamed.sorted()
      committedSet = nil
    }
    keepFormer()
    if !removed.isEmpty { removed = Set(removed.map(newKey)) }
    if !set.isEmpty { set = Set(set.map(newKey)) }
    var renamed: InsertionOrderedSet<UInt64> = []
    for key in added.lazy.map(newKey) where removed.remove(key) == nil && !isCommitted(key) {
      renamed.append(key)
    }
    added = renamed
    placed = order.map { OrderedKeys($0.map(newKey).withoutRepetitions) }
    current = nil
  }

  /// Replaces the keys that have a new one.
  func replaceKeys(_ newKeys: [UInt64: UInt64]) {
    let isAffected = { (key: UInt64) in newKeys[key] != nil }
    guard
      added.contains(where: isAffected) || removed.contains(where: isAffected)
        || committed?.contains(where: isAffected) == true
    else { return }
    replaceKeys { newKeys[$0] ?? $0 }
  }

  /// Replaces a current key by another one, at its place; drops it if the other is a destination already.
  ///
  /// - Precondition: `key` is among the current keys. An ordered relationship is loaded.
  func substitute(_ key: UInt64, by other: UInt64) {
    let isThere = added.contains(other) || isCommitted(other) && !removed.contains(other)
    let place = isOrdered ? index(of: key) : nil
    change {
      takeOut(key)
      if !isThere { insert(other) }
    }
    guard !isThere, let place else { return }
    move(other, to: place)
  }

  /// Drops the difference of one key, which the store decides then.
  func forgetDifference(of key: UInt64) {
    change {
      keepFormer()
      if added.remove(key) { placed?.remove(key) } else if removed.remove(key) != nil { placed?.append(key) }
      current = nil
    }
  }

  /// Forgets a key, which is no change: its object has left the context or its values.
  func drop(_ key: UInt64) {
    guard added.contains(key) || removed.contains(key) || isCommitted(key) else { return }
    change {
      keepFormer()
      added.remove(key)
      removed.remove(key)
      committed?.removeAll { $0 == key }
      committedSet = nil
      placed?.remove(key)
      current = nil
    }
  }

  /// Drops an order that was set: the additions are at the end then.
  func forgetOrder() {
    change {
      placed = nil
      current = nil
    }
  }

  func forgetDifferences() {
    if hasChanges { change(clearDifferences) } else { clearDifferences() }
  }

  private func clearDifferences() {
    keepFormer()
    added = []
    removed = []
    placed = nil
    current = nil
    (isSet, set) = (false, [])
  }

  /// Drops the loaded keys, keeping the differences: the next read loads the newest. If an order was set, the keys must be
  /// loaded again before a save.
  func unload() {
    guard !isTransient else { return }
    // An order that was set and is the stored one is no change.
    if placed != nil, isLoaded, !hasChanges { forgetOrder() }
    change {
      committed = nil
      committedSet = nil
      current = nil
    }
  }
}
