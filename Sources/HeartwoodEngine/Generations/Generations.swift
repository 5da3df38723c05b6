import Synchronization

/// The newest generation, the generations that readers pin, and the retired pages that wait until no pin
/// needs them.
///
/// Readers take no lock. A reader announces a generation in its own slot, and then checks whether it is still
/// the newest. The writer publishes a generation before it reads the slots. Both are sequentially consistent,
/// so at least one of the two sees the other.
///
/// A page born in generation *b* and retired in generation *r* is free once no pin *p* has b ≤ p < r: a
/// long-lived pin keeps the pages of its own generation and no others.
final class Generations: @unchecked Sendable {
  /// A pinned generation.
  struct Pin: @unchecked Sendable {
    let generation: UInt64
    let root: TreeRoot
    fileprivate let slot: ReaderSlots.Slot

    /// Releases the pin. Called once per pin, while the space with the slot exists.
    @inline(__always)
    func release() { slot.pointee.store(0, ordering: .releasing) }
  }

  /// A page that newer generations do not contain.
  struct RetiredPage {
    let index: UInt32
    let born: UInt64
    let retired: UInt64
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

  private let space: PageSpace
  private let readers: ReaderSlots
  private let newestNumber: Atomic<UInt64>
  private let ring: UnsafeMutablePointer<RingEntry>

  /// The newest transaction that was written, and its root: the next one begins from it. It may not be
  /// published yet.
  ///
  /// Guarded by the writer lock.
  private(set) var tip: (generation: UInt64, root: TreeRoot)
  @exclusivity(unchecked) private var fresh = PlainList<RetiredPage>()
  @exclusivity(unchecked) private var waiting = PlainList<RetiredPage>()
  /// The pinned generations in ascending order, at the last check.
  @exclusivity(unchecked) private var pins: [UInt64] = []
  /// Number of pages added to `waiting` since all of it was checked.
  private var addedSincePass = 0

  init(space: PageSpace, generation: UInt64, root: TreeRoot) {
    self.space = space
    readers = space.readers
    newestNumber = Atomic(generation)
    tip = (generation, root)
    ring = .allocate(capacity: Int(Self.ringCount))
    for index in 0..<Int(Self.ringCount) { (ring + index).initialize(to: RingEntry()) }
    store(generation, root)
  }

  deinit {
    ring.deinitialize(count: Int(Self.ringCount))
    ring.deallocate()
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
      slot.pointee.store(generation &+ 1, ordering: .sequentiallyConsistent)
    }
  }

  private func root(of generation: UInt64) -> TreeRoot? {
    let entry = ring + Int(generation % Self.ringCount)
    guard entry.pointee.generation.load(ordering: .acquiring) == generation else { return nil }
    let root = TreeRoot(
      reference: PageReference(rawValue: entry.pointee.reference.load(ordering: .acquiring)),
      checksum: entry.pointee.checksum.load(ordering: .acquiring),
      level: entry.pointee.level.load(ordering: .acquiring),
      count: entry.pointee.count.load(ordering: .acquiring))
    return entry.pointee.generation.load(ordering: .acquiring) == generation ? root : nil
  }

  // MARK: The writer

  private func store(_ generation: UInt64, _ root: TreeRoot) {
    let entry = ring + Int(generation % Self.ringCount)
    entry.pointee.generation.store(.max, ordering: .sequentiallyConsistent)
    entry.pointee.reference.store(root.reference.rawValue, ordering: .releasing)
    entry.pointee.checksum.store(root.checksum, ordering: .releasing)
    entry.pointee.level.store(root.level, ordering: .releasing)
    entry.pointee.count.store(root.count, ordering: .releasing)
    entry.pointee.generation.store(generation, ordering: .sequentiallyConsistent)
  }

  /// Records a written generation: the next transaction begins from it.
  func commit(_ generation: UInt64, _ root: TreeRoot) {
    assert(generation > tip.generation, "A generation is written after a later one.")
    tip = (generation, root)
  }

  /// Makes a generation the newest. One thread at a time, in the order of the generations.
  func publish(_ generation: UInt64, _ root: TreeRoot) {
    assert(generation > newest && generation <= tip.generation, "A generation is published out of order.")
    store(generation, root)
    newestNumber.store(generation, ordering: .sequentiallyConsistent)
  }

  /// Records a page that generation `page.retired` and later ones do not contain.
  func retire(_ page: RetiredPage) { fresh.append(page) }

  /// Frees the pages that no pin needs. Pages retired by a generation that is not published yet must wait:
  /// until then readers still pin the previous one.
  func reclaim() {
    guard !fresh.isEmpty || !waiting.isEmpty else { return }
    // Loaded before the slots are read: a later reader pins this generation or a newer one.
    let published = newestNumber.load(ordering: .sequentiallyConsistent)
    inspectPins()
    let held = waiting.count
    let limit = lastReady(published)
    fresh.removeAll { page in
      guard page.retired <= limit else { return false }
      if !freeUnlessNeeded(page) { waiting.append(page) }
      return true
    }
    addedSincePass += waiting.count - held
    // Checks all of them only now and then, so that the cost per page is constant.
    if pins.isEmpty || addedSincePass > held / 2 + 32 { scanSlots() }
  }

  private func inspectPins() {
    if !pins.isEmpty { pins.removeAll(keepingCapacity: true) }
    readers.forEach { pins.append($0 - 1) }
    if pins.count > 1 { pins.sort() }
  }

  /// Pages retired up to this generation are not in any generation that a reader can still pin from now on.
  private func lastReady(_ published: UInt64) -> UInt64 {
    return published
  }

  private func scanSlots() {
    addedSincePass = 0
    waiting.removeAll { freeUnlessNeeded($0) }
  }

  /// - Returns: Whether the page was freed.
  private func freeUnlessNeeded(_ page: RetiredPage) -> Bool {
    guard !isNeeded(page) else { return false }
    space.free(page.index)
    return true
  }

  /// Whether a pin is in the range from birth to retirement.
  private func isNeeded(_ page: RetiredPage) -> Bool {
    var low = 0
    var high = pins.count
    while low < high {
      let middle = (low + high) / 2
      if pins[middle] < page.born { low = middle + 1 } else { high = middle }
    }
    return low < pins.count && pins[low] < page.retired
  }

  /// The oldest pinned generation; nil if none is pinned. Any thread.
  var oldestPinned: UInt64? {
    var oldest: UInt64?
    readers.forEach { oldest = min(oldest ?? .max, $0 - 1) }
    return oldest
  }
}
