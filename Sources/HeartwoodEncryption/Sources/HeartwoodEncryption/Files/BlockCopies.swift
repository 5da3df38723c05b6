/// Where the copies of blocks are that a writer changes in part, and which of them it needs.
///
/// A block whose bytes may be durable is never written over its only copy: the new version goes to a slot, and the next one to the block's own
/// place, or to another slot. Of each block two copies are kept: the newest one that is known to be durable, because a crash may lose all
/// others; and the newest one, because a killed process loses none that was written.
///
/// Invariant: a copy that `isNeeded` is not overwritten.
struct BlockCopies {
  struct Copy {
    var version: UInt64
    /// When it was written: a sync that began later makes it durable.
    var stamp: UInt64
    /// Whether it was found: then it may be the only durable one.
    var wasFound = false
  }

  enum Place: Hashable {
    case home
    case slot(Int)
  }

  /// The blocks in the slots.
  private(set) var slots: [(block: Int64, copy: Copy)?]
  /// The copies in their own places: of blocks in slots, and of those that were written or read last. Nil inside: there is none.
  private(set) var homes: [Int64: Copy?] = [:]
  private var stamp: UInt64 = 0
  private var durable: UInt64 = 0

  init(slots: Int) { self.slots = Array(repeating: nil, count: slots) }

  // MARK: Noting

  /// The stamp of the writes that a sync which begins now has made durable when it ends.
  var beginningSync: UInt64 { stamp }

  /// A sync that began at `stamp` has ended.
  mutating func noteSync(_ stamp: UInt64) { durable = max(durable, stamp) }

  mutating func noteFound(_ header: BlockHeader?, inSlot slot: Int) {
    stamp += 1
    slots[slot] = header.map { ($0.block, Copy(version: $0.version, stamp: stamp, wasFound: true)) }
  }

  mutating func noteFound(_ header: BlockHeader?, inPlaceOf block: Int64) {
    stamp += 1
    homes[block] = .some(header.map { Copy(version: $0.version, stamp: stamp, wasFound: true) })
  }

  mutating func noteWritten(_ block: Int64, _ version: UInt64, _ place: Place) {
    stamp += 1
    let copy = Copy(version: version, stamp: stamp)
    switch place {
    case .home: homes[block] = .some(copy)
    case .slot(let slot): slots[slot] = (block, copy)
    }
  }

  mutating func noteErased(slot: Int) { slots[slot] = nil }

  /// Forgets the homes of blocks that are in no slot, but for one.
  mutating func prune(keeping block: Int64) {
    guard homes.count > 4 * slots.count else { return }
    let used = Set(slots.compactMap { $0?.block } + [block])
    homes = homes.filter { used.contains($0.key) }
  }

  // MARK: Choosing

  /// A version above those of all known copies of a block.
  func nextVersion(_ block: Int64) -> UInt64 { (copies(block).map(\.copy.version).max() ?? 0) &+ 1 }

  /// Where the next version of a block may be written; nil if every place is needed.
  ///
  /// - Precondition: It is known what is in the block's own place.
  func place(for block: Int64) -> Place? {
    let needed = needed(block)
    if !needed.contains(.home) { return .home }
    return slots.indices.first { isFree($0) }.map { .slot($0) }
  }

  /// A slot whose block should be copied to its own place, so that the slot becomes free; nil if enough are.
  func slotToSettle(except block: Int64, isUrgent: Bool) -> Int? {
    guard isUrgent || slots.indices.filter({ isFree($0) }).count <= slots.count / 2 else { return nil }
    return slots.indices.first { index in
      guard let (other, copy) = slots[index], isUrgent || other != block, isDurable(copy) else {
        return false
      }
      let newest = copies(other).map(\.copy.version).max()
      return copy.version == newest
        && !copies(other).contains { $0.place == .home && $0.copy.version == newest }
    }
  }

  /// Whether nothing is lost when a slot is overwritten.
  private func isFree(_ slot: Int) -> Bool {
    guard let (block, _) = slots[slot] else { return true }
    return !needed(block).contains(.slot(slot))
  }

  /// The places with copies of a block that must stay.
  private func needed(_ block: Int64) -> Set<Place> {
    let all = copies(block)
    guard let newest = all.max(by: { $0.copy.version < $1.copy.version }) else { return [] }
    let durable = all.filter { isDurable($0.copy) }.max { first, second in
      // Of the same version twice, the copy in its own place counts, so that the slot becomes free.
      (first.copy.version, first.place == .home ? 1 : 0) < (
        second.copy.version, second.place == .home ? 1 : 0
      )
    }
    guard let durable else {
      return Set(all.filter { $0.copy.wasFound }.map(\.place) + [newest.place])
    }
    var places: Set = [durable.place]
    if newest.copy.version > durable.copy.version { places.insert(newest.place) }
    for (place, copy) in all where copy.wasFound && copy.version > durable.copy.version {
      places.insert(place)
    }
    return places
  }

  private func copies(_ block: Int64) -> [(place: Place, copy: Copy)] {
    var found: [(place: Place, copy: Copy)] = []
    if let home = homes[block], let copy = home { found.append((.home, copy)) }
    for (index, slot) in slots.enumerated() {
      if let slot, slot.block == block { found.append((.slot(index), slot.copy)) }
    }
    return found
  }

  private func isDurable(_ copy: Copy) -> Bool { copy.stamp <= durable }
}
