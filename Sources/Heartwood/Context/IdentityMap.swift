/// The objects of one context by root entity and key: one instance for each row.
///
/// Sixteen consecutive keys share a block, and blocks are found by open addressing. Rows are mostly read in key order,
/// so most lookups hit the last block used. The map holds objects strongly and `sweep` releases them: a weak table would
/// have to be cleared from `deinit`, which may run on any thread and could revive an object that is being deallocated.
///
/// - Invariant: Every block in the table has a member, and every member has the block's root and its own key.
/// - Invariant: At most three quarters of the table are occupied, so every probe ends.
struct IdentityMap: ~Copyable {
  private typealias Member = Unmanaged<ManagedObject>?

  private struct Block {
    /// The common prefix of the keys: a key without its last four bits.
    var number: UInt64 = 0
    var root: UInt16 = 0
    var memberCount: UInt16 = 0
    /// A bit for each member that may have no row: those of others have one for sure.
    var waiting: UInt16 = 0
    /// Indexed by the last four bits of the key; nil if the table entry is empty.
    var members: UnsafeMutablePointer<Member>?

    func holds(_ root: UInt16, _ number: UInt64) -> Bool {
      self.number == number && self.root == root && members != nil
    }
  }

  private static let blockSize = 16
  private static let smallestCapacity = 16
  private static let leastForSweep = 512

  private var table: UnsafeMutablePointer<Block>
  private var capacity = smallestCapacity
  private var blockCount = 0
  /// The table index of the last insertion, checked first.
  private var lastPlace = 0
  private(set) var count = 0
  /// The count after the last sweep. The next sweep is due when the count exceeds twice this.
  private var countAfterSweep = leastForSweep

  init() { table = Self.emptyTable(capacity) }

  deinit {
    // An object may outlive its context, and must not keep a reference to it.
    release { $0.detach() }
    table.deallocate()
  }

  /// Whether enough objects were inserted since the last sweep to justify another.
  var isSweepDue: Bool { count > 2 * countAfterSweep }

  func object(_ root: UInt16, _ key: UInt64) -> ManagedObject? {
    guard let place = place(root, Self.number(key)), let members = table[place].members else { return nil }
    return members[Self.index(key)]?.takeUnretainedValue()
  }

  /// The object with this root and key, and whether nothing else references it.
  func find(_ root: UInt16, _ key: UInt64) -> (object: ManagedObject, isHeldOnce: Bool)? {
    guard let place = place(root, Self.number(key)), let members = table[place].members else { return nil }
    let member = members + Self.index(key)
    guard let object = member.pointee else { return nil }
    let isHeldOnce = Self.isHeldOnce(member)
    return (object.takeUnretainedValue(), isHeldOnce)
  }

  /// - Precondition: The map has no object with this root and key.
  mutating func insert(_ object: ManagedObject, _ root: UInt16, _ key: UInt64) {
    let place = place(root, Self.number(key)) ?? makeBlock(root, Self.number(key))
    table[place].members?[Self.index(key)] = .passRetained(object)
    table[place].memberCount += 1
    table[place].waiting |= 1 << UInt16(Self.index(key))
    lastPlace = place
    count += 1
  }

  /// Releases an object; does nothing if the map does not hold it.
  mutating func remove(_ root: UInt16, _ key: UInt64) {
    guard let place = place(root, Self.number(key)), let members = table[place].members,
      let object = members[Self.index(key)]
    else { return }
    members[Self.index(key)] = nil
    table[place].memberCount -= 1
    count -= 1
    if table[place].memberCount == 0 { removeBlock(at: place) }
    object.release()
  }

  /// Calls `body` for every object, in no particular order. `body` must not change the map.
  func forEach(_ body: (ManagedObject) -> Void) {
    forEachPlace { members, index in
      if let object = members[index] { body(object.takeUnretainedValue()) }
    }
  }

  /// Calls `body` with the objects of the same entity family whose keys are next to this one, and that may have no row: at most sixteen. An
  /// object for which it returns false is left out until `noteWaiting`.
  func forEachNeighbour(_ root: UInt16, _ key: UInt64, _ body: (ManagedObject) -> Bool) {
    guard let place = place(root, Self.number(key)), let members = table[place].members else { return }
    for index in 0..<Self.blockSize where table[place].waiting & 1 << UInt16(index) != 0 {
      guard members[index]?._withUnsafeGuaranteedRef(body) != true else { continue }
      table[place].waiting &= ~(1 << UInt16(index))
    }
  }

  /// Notes that an object has no row any more.
  func noteWaiting(_ root: UInt16, _ key: UInt64) {
    if let place = place(root, Self.number(key)) { table[place].waiting |= 1 << UInt16(Self.index(key)) }
  }

  /// All objects, in no particular order.
  var objects: [ManagedObject] {
    var all: [ManagedObject] = []
    all.reserveCapacity(count)
    forEach { all.append($0) }
    return all
  }

  /// The objects that something else references too, or for which `isKept` returns true.
  func objectsInUse(_ isKept: (ManagedObject) -> Bool) -> [ManagedObject] {
    var found: [ManagedObject] = []
    forEachPlace { members, index in
      guard let object = members[index] else { return }
      if !Self.isHeldOnce(members + index) || object._withUnsafeGuaranteedRef(isKept) {
        found.append(object.takeUnretainedValue())
      }
    }
    return found
  }

  /// Releases every object that only the map references and that `isKept` returns false for.
  mutating func sweep(keeping isKept: (ManagedObject) -> Bool) {
    var leaving: [Unmanaged<ManagedObject>] = []
    for place in 0..<capacity {
      guard let members = table[place].members else { continue }
      for index in 0..<Self.blockSize {
        guard let object = members[index], Self.isHeldOnce(members + index),
          !object._withUnsafeGuaranteedRef(isKept)
        else { continue }
        leaving.append(object)
        members[index] = nil
        table[place].memberCount -= 1
      }
    }
    count -= leaving.count
    countAfterSweep = max(count, Self.leastForSweep)
    rebuild(Self.smallestCapacity)
    // Released last, because an object's `deinit` may run code of the program.
    for object in leaving { object.release() }
  }

  mutating func removeAll() {
    let old = table
    let oldCapacity = capacity
    capacity = Self.smallestCapacity
    table = Self.emptyTable(capacity)
    (blockCount, lastPlace, count, countAfterSweep) = (0, 0, 0, Self.leastForSweep)
    Self.release(old, oldCapacity) { _ in }
    old.deallocate()
  }

  /// Checks the invariants, in debug builds.
  ///
  /// - Complexity: Linear in the size of the table.
  func checkInvariants() {
    var (blocks, objects) = (0, 0)
    for place in 0..<capacity {
      guard let members = table[place].members else { continue }
      let block = table[place]
      var memberCount = 0
      for index in 0..<Self.blockSize {
        guard let object = members[index]?.takeUnretainedValue() else { continue }
        memberCount += 1
        let key = block.number << 4 | UInt64(index)
        assert(
          object.identifier.key == key && object.entity.rootEntity.number == block.root,
          "\(object.identifier) is registered under the key \(key) of root \(block.root)")
      }
      assert(
        memberCount > 0 && memberCount == Int(block.memberCount), "a block has not as many members as it says"
      )
      assert(self.place(block.root, block.number) == place, "a block is not found")
      (blocks, objects) = (blocks + 1, objects + memberCount)
    }
    assert(objects == count && blocks == blockCount, "an identity map has not as many objects as it says")
    assert(blocks * 4 <= capacity * 3, "an identity map is more than three quarters full")
  }

  // MARK: Blocks

  @inline(__always)
  private func place(_ root: UInt16, _ number: UInt64) -> Int? {
    if table[lastPlace].holds(root, number) { return lastPlace }
    var place = home(root, number)
    while table[place].members != nil {
      if table[place].holds(root, number) { return place }
      place = (place &+ 1) & (capacity &- 1)
    }
    return nil
  }

  private mutating func makeBlock(_ root: UInt16, _ number: UInt64) -> Int {
    if (blockCount + 1) * 4 > capacity * 3 { rebuild(capacity * 2) }
    let members = UnsafeMutablePointer<Member>.allocate(capacity: Self.blockSize)
    members.initialize(repeating: nil, count: Self.blockSize)
    blockCount += 1
    return put(Block(number: number, root: root, memberCount: 0, members: members))
  }

  private func put(_ block: Block) -> Int {
    var place = home(block.root, block.number)
    while table[place].members != nil { place = (place &+ 1) & (capacity &- 1) }
    table[place] = block
    return place
  }

  /// Moves later blocks of the run back into the hole, so that no probe ends too early.
  private mutating func removeBlock(at start: Int) {
    table[start].members?.deallocate()
    blockCount -= 1
    var hole = start
    var next = (hole &+ 1) & (capacity &- 1)
    while table[next].members != nil {
      let distance = (next &- home(table[next].root, table[next].number)) & (capacity &- 1)
      if distance >= (next &- hole) & (capacity &- 1) {
        table[hole] = table[next]
        hole = next
      }
      next = (next &+ 1) & (capacity &- 1)
    }
    table[hole] = Block()
  }

  /// Drops blocks without members and resizes the table: at least `least` entries, more if the blocks need them.
  private mutating func rebuild(_ least: Int) {
    let old = table
    let oldCapacity = capacity
    blockCount = (0..<oldCapacity).reduce(0) { $0 + (old[$1].memberCount > 0 ? 1 : 0) }
    capacity = least
    while (blockCount + 1) * 4 > capacity * 3 { capacity *= 2 }
    table = Self.emptyTable(capacity)
    lastPlace = 0
    for place in 0..<oldCapacity {
      if old[place].memberCount > 0 { _ = put(old[place]) } else { old[place].members?.deallocate() }
    }
    old.deallocate()
  }

  private static func number(_ key: UInt64) -> UInt64 { key >> 4 }
  private static func index(_ key: UInt64) -> Int { Int(truncatingIfNeeded: key & 15) }

  /// Blocks of one entity have consecutive numbers; multiplication by an odd constant spreads them.
  private func home(_ root: UInt16, _ number: UInt64) -> Int {
    let mixed = (number ^ (UInt64(root) << 48)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 32) & (capacity &- 1)
  }

  private static func emptyTable(_ capacity: Int) -> UnsafeMutablePointer<Block> {
    let table = UnsafeMutablePointer<Block>.allocate(capacity: capacity)
    table.initialize(repeating: Block(), count: capacity)
    return table
  }

  // MARK: Members

  private func forEachPlace(_ body: (UnsafeMutablePointer<Member>, Int) -> Void) {
    for place in 0..<capacity {
      guard let members = table[place].members else { continue }
      for index in 0..<Self.blockSize { body(members, index) }
    }
  }

  /// Whether the map holds the only reference to a member.
  private static func isHeldOnce(_ member: UnsafeMutablePointer<Member>) -> Bool {
    let reference = UnsafeMutableRawPointer(member).assumingMemoryBound(to: ManagedObject?.self)
    return isKnownUniquelyReferenced(&reference.pointee)
  }

  private func release(_ farewell: (ManagedObject) -> Void) { Self.release(table, capacity, farewell) }

  /// Releases all members and frees their blocks.
  private static func release(
    _ table: UnsafeMutablePointer<Block>, _ capacity: Int, _ farewell: (ManagedObject) -> Void
  ) {
    for place in 0..<capacity {
      guard let members = table[place].members else { continue }
      for index in 0..<blockSize {
        guard let object = members[index] else { continue }
        object._withUnsafeGuaranteedRef(farewell)
        object.release()
      }
      members.deallocate()
    }
  }
}
