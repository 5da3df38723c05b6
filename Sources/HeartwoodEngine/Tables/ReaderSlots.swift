import Synchronization

/// Slots in which readers announce their generations. Each reader has its own slot on its own cache lines, so
/// that readers do not slow each other down. Slots are allocated in blocks, as needed.
final class ReaderSlots: @unchecked Sendable {
  /// A slot, in memory of the table: 0 if it is free, otherwise the generation plus one.
  struct Slot: @unchecked Sendable {
    fileprivate let word: UnsafeMutablePointer<Atomic<UInt64>>

    /// Replaces the value of a claimed slot. The writer sees it if it reads the slots afterwards.
    @inline(__always)
    func announce(_ value: UInt64) { word.pointee.store(value, ordering: .sequentiallyConsistent) }

    /// Frees the slot.
    @inline(__always)
    func release() { word.pointee.store(0, ordering: .releasing) }
  }

  private static let slotsPerBlock = 64
  /// Two cache lines, because processors fetch lines in pairs.
  private static let slotBytes = 128

  private final class Block: @unchecked Sendable {
    let memory: UnsafeMutableRawPointer
    /// One bit per slot that was ever claimed, so that scans skip the others.
    let known = Atomic<UInt64>(0)
    /// The next block, which this one retains; 0 if there is none.
    let next = Atomic<UInt>(0)

    init() {
      memory = .allocate(byteCount: slotsPerBlock * slotBytes, alignment: slotBytes)
      for index in 0..<slotsPerBlock { slot(index).word.initialize(to: Atomic(0)) }
    }

    deinit {
      memory.deallocate()
      if let next = UnsafeRawPointer(bitPattern: next.load(ordering: .acquiring)) {
        Unmanaged<Block>.fromOpaque(next).release()
      }
    }

    @inline(__always)
    func slot(_ index: Int) -> Slot {
      Slot(word: (memory + index &* slotBytes).assumingMemoryBound(to: Atomic<UInt64>.self))
    }

    /// Claims a free slot, searching from `start`; nil if there is none.
    @inline(__always)
    func claim(_ value: UInt64, from start: Int) -> Slot? {
      for step in 0..<slotsPerBlock {
        let index = (start &+ step) & (slotsPerBlock &- 1)
        let slot = slot(index)
        guard slot.word.pointee.load(ordering: .relaxed) == 0 else { continue }
        makeKnown(index)
        let (won, _) = slot.word.pointee.compareExchange(
          expected: 0, desired: value, ordering: .sequentiallyConsistent)
        if won { return slot }
      }
      return nil
    }

    /// Sets the bit of a slot before it is claimed. Acquiring: a bit seen here is also seen by every scan
    /// that starts after this claim.
    @inline(__always)
    private func makeKnown(_ index: Int) {
      let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
      guard known.load(ordering: .acquiring) & bit == 0 else { return }
      known.bitwiseOr(bit, ordering: .sequentiallyConsistent)
    }

    @inline(__always)
    func forEach(_ body: (UInt64) -> Void) {
      var left = known.load(ordering: .sequentiallyConsistent)
      while left != 0 {
        let value = slot(left.trailingZeroBitCount).word.pointee.load(ordering: .sequentiallyConsistent)
        if value != 0 { body(value) }
        left &= left &- 1
      }
    }

    /// The next block, created if necessary.
    func following() -> Block {
      if let found = existingNext() { return found }
      let made = Unmanaged.passRetained(Block())
      let bits = UInt(bitPattern: made.toOpaque())
      let (won, other) = next.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing)
      if won { return made.takeUnretainedValue() }
      made.release()
      return existing(other) ?? self
    }

    func existingNext() -> Block? { existing(next.load(ordering: .acquiring)) }

    private func existing(_ bits: UInt) -> Block? {
      UnsafeRawPointer(bitPattern: bits).map { Unmanaged<Block>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  private let first = Block()

  /// Claims a free slot with a value. Lock-free.
  @inline(__always)
  func claim(_ value: UInt64) -> Slot {
    // Without a local variable for the block, which would count a reference that all readers share.
    first.claim(value, from: Self.hint()) ?? claimAfterFirst(value)
  }

  @inline(never)
  private func claimAfterFirst(_ value: UInt64) -> Slot {
    var block = first.following()
    while true {
      if let slot = block.claim(value, from: Self.hint()) { return slot }
      block = block.following()
    }
  }

  /// A first slot that other threads are unlikely to use: derived from the thread's stack address.
  @inline(__always)
  private static func hint() -> Int {
    var marker: UInt8 = 0
    let address = withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    return Int(truncatingIfNeeded: (address >> 16) &* 0x9E37_79B9 >> 16)
  }

  /// Calls `body` with the value of every claimed slot, in no particular order.
  @inline(__always)
  func forEach(_ body: (UInt64) -> Void) {
    first.forEach(body)
    var next = first.existingNext()
    while let block = next {
      block.forEach(body)
      next = block.existingNext()
    }
  }
}
