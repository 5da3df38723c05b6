/// The objects of one context by root entity and key: one instance for each row.
///
/// Open addressing over one block of memory. Objects are held strongly and let go by `sweep`: a weak
/// table would have to be cleared from `deinit`, which may run on any thread and could revive an
/// object that is already dying.
///
/// - Invariant: every entry's object answers to the entry's root and key.
/// - Invariant: fewer than three quarters of the places are taken, so that a probe always ends.
struct IdentityMap: ~Copyable {
  private struct Entry {
    var key: UInt64
    var root: UInt16
    var object: ManagedObject?
  }

  private var entries: UnsafeMutablePointer<Entry>
  private var capacity: Int
  private(set) var count = 0
  /// The count after the last sweep: the next one is due when it has doubled.
  private var countAfterSweep = 512

  init() {
    capacity = 64
    entries = Self.emptyTable(capacity)
  }

  deinit {
    entries.deinitialize(count: capacity)
    entries.deallocate()
  }

  /// Whether enough objects came in since the last sweep to make one worth its time.
  var isSweepDue: Bool { count > 2 * countAfterSweep }

  func object(_ root: UInt16, _ key: UInt64) -> ManagedObject? {
    var place = home(root, key)
    while let object = entries[place].object {
      if entries[place].key == key && entries[place].root == root { return object }
      place = (place &+ 1) & (capacity &- 1)
    }
    return nil
  }

  /// Takes in an object that is not there yet.
  mutating func insert(_ object: ManagedObject, _ root: UInt16, _ key: UInt64) {
    if (count + 1) * 4 > capacity * 3 { grow() }
    place(object, root, key)
    count += 1
  }

  /// Lets an object go. Later entries of its run move up, so that no probe ends too early.
  mutating func remove(_ root: UInt16, _ key: UInt64) {
    var hole = home(root, key)
    while entries[hole].key != key || entries[hole].root != root {
      if entries[hole].object == nil { return }
      hole = (hole &+ 1) & (capacity &- 1)
    }
    guard entries[hole].object != nil else { return }
    count -= 1
    closeGap(at: hole)
  }

  /// Calls `body` for every object, in no particular order. The map must not change meanwhile.
  func forEach(_ body: (ManagedObject) -> Void) {
    for place in 0..<capacity {
      if let object = entries[place].object { body(object) }
    }
  }

  /// Lets go every object that nobody else holds and that `isKept` does not claim.
  mutating func sweep(keeping isKept: (ManagedObject) -> Bool) {
    var leaving: [(UInt16, UInt64)] = []
    for place in 0..<capacity where entries[place].object != nil {
      guard isKnownUniquelyReferenced(&entries[place].object) else { continue }
      if let object = entries[place].object, !isKept(object) {
        leaving.append((entries[place].root, entries[place].key))
      }
    }
    for (root, key) in leaving { remove(root, key) }
    countAfterSweep = max(count, 512)
  }

  mutating func removeAll() {
    entries.deinitialize(count: capacity)
    entries.deallocate()
    capacity = 64
    entries = Self.emptyTable(capacity)
    count = 0
    countAfterSweep = 512
  }

  private mutating func grow() {
    let old = entries
    let oldCapacity = capacity
    capacity *= 2
    entries = Self.emptyTable(capacity)
    for index in 0..<oldCapacity {
      if let object = old[index].object { place(object, old[index].root, old[index].key) }
    }
    old.deinitialize(count: oldCapacity)
    old.deallocate()
  }

  private mutating func place(_ object: ManagedObject, _ root: UInt16, _ key: UInt64) {
    var place = home(root, key)
    while entries[place].object != nil { place = (place &+ 1) & (capacity &- 1) }
    entries[place] = Entry(key: key, root: root, object: object)
  }

  private mutating func closeGap(at start: Int) {
    var hole = start
    var next = (hole &+ 1) & (capacity &- 1)
    while let object = entries[next].object {
      let wanted = home(entries[next].root, entries[next].key)
      let distance = (next &- wanted) & (capacity &- 1)
      let gap = (next &- hole) & (capacity &- 1)
      if distance >= gap {
        entries[hole] = Entry(key: entries[next].key, root: entries[next].root, object: object)
        hole = next
      }
      next = (next &+ 1) & (capacity &- 1)
    }
    entries[hole] = Entry(key: 0, root: 0, object: nil)
  }

  /// Keys of one entity are consecutive numbers, which a multiplication by an odd constant spreads.
  private func home(_ root: UInt16, _ key: UInt64) -> Int {
    let mixed = (key ^ (UInt64(root) << 48)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (capacity &- 1)
  }

  private static func emptyTable(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    let table = UnsafeMutablePointer<Entry>.allocate(capacity: capacity)
    table.initialize(repeating: Entry(key: 0, root: 0, object: nil), count: capacity)
    return table
  }
}
