/// A search in a leaf that no cache holds waits for memory twice: for the header, which says where the arrays lie, and
/// then for the head and the reference of the entry. The branch above knows enough to guess where these are; what is
/// loaded at the guess while the header comes is there when the search gets to it.
extension Page {
  /// Guesses which entry of `leaf`, the child of a branch's entry, a key is, as if the leaf's keys were spread evenly
  /// between those of the branch and all as long as this one, and loads its lines of the leaf. Nothing of them is
  /// believed.
  ///
  /// - Returns: the guess; nil where there is none.
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

  /// Loads the lines of a leaf that a scan begins with, as if it were laid out like `other`, the leaf before.
  func predictEntries(like other: Page, reversed: Bool) {
    let first = reversed ? other.count : 16
    raw.prefetch(0)
    prefetchLines(around: other.arraysOffset &+ 8 &* first &- 64)
    prefetchLines(around: other.arraysOffset &+ 8 &* (other.capacity &+ first) &- 64)
    guard other.hasSlots else { return }
    prefetchLines(around: other.arraysOffset &+ 16 &* other.capacity &+ 4 &* first &- 64)
    // Of keys in order, the first one's rest lies at the end.
    prefetchLines(around: reversed ? other.heapStart : Page.byteCount &- 64)
  }

  /// How far a head lies on the way from `low` to `high`, 0 to 1.
  @inline(__always)
  private static func share(_ head: UInt64, _ low: UInt64, _ high: UInt64) -> Double {
    if isDecimal(head) {
      let (first, last, value) = (decimal(low), decimal(high), decimal(head))
      return max(0, min(1, Double(value &- first) / Double(max(1, last &- first))))
    }
    return Double(Int64(truncatingIfNeeded: (head &- low) >> 1))
      / Double(Int64(truncatingIfNeeded: (high &- low) >> 1 | 1))
  }

  /// Whether a head is of decimal digits in ASCII, as far as the key goes. Numbers as text are anything but spread
  /// evenly where their bytes are taken for a number.
  @inline(__always)
  private static func isDecimal(_ head: UInt64) -> Bool {
    (head | 0x3030_3030_3030_3030) & 0xF0F0_F0F0_F0F0_F0F0 == 0x3030_3030_3030_3030
      && ((head & 0x0F0F_0F0F_0F0F_0F0F) &+ 0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0 == 0
  }

  /// The number that eight digits are, two and two taken together three times.
  @inline(__always)
  private static func decimal(_ head: UInt64) -> Int64 {
    var value = head & 0x0F0F_0F0F_0F0F_0F0F
    value = (value >> 8 & 0x00FF_00FF_00FF_00FF) &* 10 &+ (value & 0x00FF_00FF_00FF_00FF)
    value = (value >> 16 & 0x0000_FFFF_0000_FFFF) &* 100 &+ (value & 0x0000_FFFF_0000_FFFF)
    return Int64(truncatingIfNeeded: (value >> 32) &* 10_000 &+ (value & 0xFFFF_FFFF))
  }

  /// All lines of the page: it is about to be copied.
  @inline(__always)
  func prefetchAll() {
    var offset = 0
    while offset < Page.byteCount {
      raw.prefetch(offset)
      offset &+= 64
    }
  }

  /// The line of an offset, and its neighbours.
  @inline(__always)
  private func prefetchLines(around offset: Int) {
    raw.prefetch(min(max(0, offset &- 64), Page.byteCount &- 1))
    raw.prefetch(min(max(0, offset), Page.byteCount &- 1))
    raw.prefetch(min(max(0, offset &+ 64), Page.byteCount &- 1))
  }
}
