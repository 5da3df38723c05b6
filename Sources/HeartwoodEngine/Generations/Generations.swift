import Synchronization

/// The newest generation, the generations that readers hold, and the pages that wait until nobody
/// holds what they belong to.
///
/// Readers take no lock: a reader says in a slot of its own which generation it takes, and looks again
/// whether that is still the newest. The writer publishes a generation before it looks at the slots.
/// Both are sequentially consistent, so one of the two sees the other.
///
/// A page born in generation *b* and retired in generation *r* is free once no pin *p* has b ≤ p < r:
/// a long pin keeps the pages of its own generation and nothing else.
final class Generations: @unchecked Sendable {
  /// A held generation.
  struct Pin: @unchecked Sendable {
    let generation: UInt64
    let root: TreeRoot
    fileprivate let slot: ReaderSlots.Slot

    /// Once for each pin, while the space is there that has the slot.
    @inline(__always)
    func release() { slot.pointee.store(0, ordering: .releasing) }
  }

  /// A page that no new generation has.
  struct RetiredPage {
    let index: UInt32
    let born: UInt64
    let retired: UInt64
  }

  /// One published generation; readers copy it and look whether it changed meanwhile.
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

  /// The newest transaction that was written, and its root: what the next one begins from. It may not be
  /// published yet. The writer's.
  private(set) var tip: (generation: UInt64, root: TreeRoot)
  @exclusivity(unchecked) private var fresh = PlainList<RetiredPage>()
  @exclusivity(unchecked) private var waiting = PlainList<RetiredPage>()
  /// The generations that are held, in order, when they were last looked at.
  @exclusivity(unchecked) private var pins: [UInt64] = []
  /// How many pages were added to `waiting` since all of it was looked at.
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

  /// Holds the newest generation. Any thread, no lock.
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

  /// Takes note of a generation that is written: the next transaction begins from it.
  func commit(_ generation: UInt64, _ root: TreeRoot) { tip = (generation, root) }

  /// Makes a generation the newest. One thread at a time, in the order of the generations.
  func publish(_ generation: UInt64, _ root: TreeRoot) {
    store(generation, root)
    newestNumber.store(generation, ordering: .sequentiallyConsistent)
  }

  /// Takes note of a page that the generation of its end and later ones do not have.
  func retire(_ page: RetiredPage) { fresh.append(page) }

  /// Frees the pages that no pin needs. Those retired by a generation that is not published yet have to
  /// wait: until then readers go on taking the one before it.
  func reclaim() {
    guard !fresh.isEmpty || !waiting.isEmpty else { return }
    // Asked before the slots are looked at: whoever comes later takes this generation or a newer one.
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
    // Now and then all of them, so that it costs a constant for each page that was ever added.
    if pins.isEmpty || addedSincePass > held / 2 + 32 { lookAtAll() }
  }

  private func inspectPins() {
    if !pins.isEmpty { pins.removeAll(keepingCapacity: true) }
    readers.forEach { pins.append($0 - 1) }
    if pins.count > 1 { pins.sort() }
  }

  /// The generation up to which readers don't take those any more that have what it has retired.
  private func lastReady(_ published: UInt64) -> UInt64 {
    return published
  }

  private func lookAtAll() {
    addedSincePass = 0
    waiting.removeAll { freeUnlessNeeded($0) }
  }

  /// - Returns: whether the page was freed.
  private func freeUnlessNeeded(_ page: RetiredPage) -> Bool {
    guard !isNeeded(page) else { return false }
    space.free(page.index)
    return true
  }

  /// Whether a pin lies between birth and retirement.
  private func isNeeded(_ page: RetiredPage) -> Bool {
    var low = 0
    var high = pins.count
    while low < high {
      let middle = (low + high) / 2
      if pins[middle] < page.born { low = middle + 1 } else { high = middle }
    }
    return low < pins.count && pins[low] < page.retired
  }

  /// The oldest generation that is held now; nil when none is. Any thread.
  var oldestPinned: UInt64? {
    var oldest: UInt64?
    readers.forEach { oldest = min(oldest ?? .max, $0 - 1) }
    return oldest
  }
}
