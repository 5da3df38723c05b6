import Synchronization

/// The newest published generation, and the generations that readers pin.
///
/// Readers take no lock. A reader announces a generation in its own slot, and then checks whether it is still
/// the newest. The writer publishes a generation before it reads the slots. Both are sequentially consistent,
/// so at least one of the two sees the other.
final class Generations: @unchecked Sendable {
  /// A pinned generation.
  struct Pin: Sendable {
    let generation: UInt64
    let root: TreeRoot
    fileprivate let slot: ReaderSlots.Slot

    /// Releases the pin. Called once per pin, while the space with the slot exists.
    @inline(__always)
    func release() { slot.release() }
  }

  /// One published generation. Readers copy it and check that it did not change meanwhile.
  private struct RingEntry: ~Copyable {
    let generation = Atomic<UInt64>(.max)
    let reference = Atomic<UInt64>(0)
    let checksum = Atomic<UInt64>(0)
    let level = Atomic<Int>(0)
    let count = Atomic<UInt64>(0)
  }

  private static let ringCount: UInt64 = 64

  private let readers: ReaderSlots
  private let newestNumber: Atomic<UInt64>
  private let ring = FixedArray(count: Int(ringCount)) { _ in RingEntry() }

  init(space: PageSpace, generation: UInt64, root: TreeRoot) {
    readers = space.readers
    newestNumber = Atomic(generation)
    store(generation, root)
  }

  // MARK: Readers

  /// The number of the newest generation. Any thread.
  var newest: UInt64 { newestNumber.load(ordering: .acquiring) }

  /// Pins the newest generation. Any thread, no lock.
  func pin() -> Pin {
    var generation = newestNumber.load(ordering: .acquiring)
    let slot = readers.claim(generation &+ 1)
    while true {
      let now = newestNumber.load(ordering: .sequentiallyConsistent)
      if now == generation, let root = root(of: generation) {
        return Pin(generation: generation, root: root, slot: slot)
      }
      generation = now
      slot.announce(generation &+ 1)
    }
  }

  private func root(of generation: UInt64) -> TreeRoot? {
    let index = Int(generation % Self.ringCount)
    guard ring[index].generation.load(ordering: .acquiring) == generation else { return nil }
    let root = TreeRoot(
      reference: PageReference(rawValue: ring[index].reference.load(ordering: .acquiring)),
      checksum: ring[index].checksum.load(ordering: .acquiring),
      level: ring[index].level.load(ordering: .acquiring),
      count: ring[index].count.load(ordering: .acquiring))
    return ring[index].generation.load(ordering: .acquiring) == generation ? root : nil
  }

  // MARK: Publishing

  private func store(_ generation: UInt64, _ root: TreeRoot) {
    let index = Int(generation % Self.ringCount)
    ring[index].generation.store(.max, ordering: .sequentiallyConsistent)
    ring[index].reference.store(root.reference.rawValue, ordering: .releasing)
    ring[index].checksum.store(root.checksum, ordering: .releasing)
    ring[index].level.store(root.level, ordering: .releasing)
    ring[index].count.store(root.count, ordering: .releasing)
    ring[index].generation.store(generation, ordering: .sequentiallyConsistent)
  }

  /// Makes a generation the newest. One thread at a time, in the order of the generations.
  func publish(_ generation: UInt64, _ root: TreeRoot) {
    assert(generation > newest, "A generation is published out of order.")
    store(generation, root)
    newestNumber.store(generation, ordering: .sequentiallyConsistent)
  }

  // MARK: Pins

  /// The newest generation, and the pinned ones in no order. The newest is loaded before the slots are read: a later
  /// reader pins this generation or a newer one. Any thread.
  ///
  /// - Parameter pins: Gets the pinned generations.
  func newest(pins: inout [UInt64]) -> UInt64 {
    let published = newestNumber.load(ordering: .sequentiallyConsistent)
    if !pins.isEmpty { pins.removeAll(keepingCapacity: true) }
    readers.forEach { pins.append($0 - 1) }
    return published
  }

  /// The oldest pinned generation; nil if none is pinned. Any thread.
  var oldestPinned: UInt64? {
    var oldest: UInt64?
    readers.forEach { oldest = min(oldest ?? .max, $0 - 1) }
    return oldest
  }
}
