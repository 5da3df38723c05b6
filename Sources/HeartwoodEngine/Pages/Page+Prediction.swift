/// Predicts which cache lines of a leaf a search needs.
///
/// A search in an uncached leaf waits for memory twice: for the header, which gives the offsets of the
/// arrays, and then for the head and the reference of the entry. The branch above has enough information to
/// predict these addresses, so that they are prefetched while the header is loaded.
extension Page {
  /// Predicts the index of a key in `leaf`, the child of a branch's entry, and prefetches its lines.
  ///
  /// Assumes that the leaf's keys are evenly distributed between the branch's separators and are all as long
  /// as `key`. A wrong prediction costs time only: nothing read from the predicted lines is used.
  ///
  /// - Returns: The predicted index; nil if there is no prediction.
  @inline(__always)
  func predictIndex(_ leaf: Page, below index: Int, for key: SearchKey) -> Int? {
    guard index &+ 1 < count else { return nil }
    let (low, high) = (head(index), head(index &+ 1))
    let head = key.head(from: prefixBytes)
    guard low <= head, head < high else { return nil }
    let share = Self.share(head, low, high)
    let guess = Int(share * Double(min(keyCount(index), UInt64(Page.byteCount))))
    let shared = prefixBytes &+ (low ^ high).leadingZeroBitCount / 8
    let arrays = Page.arraysOffset(prefixBytes: shared)
    let rest = key.count &- shared &- 8
    let entryBytes = rest > 0 ? Page.leafEntryBytes &+ rest : Page.slotlessEntryBytes
    let capacity = (Page.byteCount &- arrays) / entryBytes
    leaf.prefetchLines(around: arrays &+ 8 &* guess)
    leaf.prefetchLines(around: arrays &+ 8 &* (capacity &+ guess))
    if rest > 0 { leaf.prefetchLines(around: arrays &+ 16 &* capacity &+ 4 &* guess) }
    return guess
  }

  /// Prefetches the lines of a leaf that a scan reads first, assuming the layout of `other`, the leaf before
  /// it.
  func predictEntries(like other: Page, reversed: Bool) {
    let first = reversed ? other.count : 16
    bytes.prefetch(0)
    prefetchLines(around: other.arraysOffset &+ 8 &* first &- 64)
    prefetchLines(around: other.arraysOffset &+ 8 &* (other.capacity &+ first) &- 64)
    guard other.hasSlots else { return }
    prefetchLines(around: other.arraysOffset &+ 16 &* other.capacity &+ 4 &* first &- 64)
    // In a leaf filled in order, the rest of the first key is at the end of the heap.
    prefetchLines(around: reversed ? other.heapStart : Page.byteCount &- 64)
  }

  /// The relative position of a head between `low` and `high`, 0 to 1.
  @inline(__always)
  private static func share(_ head: UInt64, _ low: UInt64, _ high: UInt64) -> Double {
    if isDecimal(head) {
      let (first, last, value) = (decimal(low), decimal(high), decimal(head))
      return max(0, min(1, Double(value &- first) / Double(max(1, last &- first))))
    }
    return Double(Int64(truncatingIfNeeded: (head &- low) >> 1))
      / Double(Int64(truncatingIfNeeded: (high &- low) >> 1 | 1))
  }

  /// Whether a head consists of ASCII decimal digits, up to the end of the key. Decimal numbers in text are
  /// far from evenly distributed if their bytes are taken for a binary number.
  @inline(__always)
  private static func isDecimal(_ head: UInt64) -> Bool {
    (head | 0x3030_3030_3030_3030) & 0xF0F0_F0F0_F0F0_F0F0 == 0x3030_3030_3030_3030
      && ((head & 0x0F0F_0F0F_0F0F_0F0F) &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0 == 0
  }

  /// The value of eight decimal digits, combined in pairs three times.
  @inline(__always)
  private static func decimal(_ head: UInt64) -> Int64 {
    var value = head & 0x0F0F_0F0F_0F0F_0F0F
    value = (value >> 8 & 0x00FF_00FF_00FF_00FF) &* 10 &+ (value & 0x00FF_00FF_00FF_00FF)
    value = (value >> 16 & 0x0000_FFFF_0000_FFFF) &* 100 &+ (value & 0x0000_FFFF_0000_FFFF)
    return Int64(truncatingIfNeeded: (value >> 32) &* 10_000 &+ (value & 0xFFFF_FFFF))
  }

  /// Prefetches all lines of a page that is about to be copied.
  @inline(__always)
  func prefetchAll() {
    var offset = 0
    while offset < Page.byteCount {
      bytes.prefetch(offset)
      offset &+= 64
    }
  }

  /// Prefetches the line at an offset, and its neighbours.
  @inline(__always)
  private func prefetchLines(around offset: Int) {
    bytes.prefetch(min(max(0, offset &- 64), Page.byteCount &- 1))
    bytes.prefetch(min(max(0, offset), Page.byteCount &- 1))
    bytes.prefetch(min(max(0, offset &+ 64), Page.byteCount &- 1))
  }
}
