/// A leaf prepared for a scan: values that are the same for all entries are computed once.
struct LeafEntries {
  private let page: Page
  private let heads: Bytes
  private let references: Bytes
  private let prefixBytes: Int
  /// Length of every key; negative if the lengths differ or a key is shorter than a head.
  private let keyBytes: Int
  /// Offset in a key of the eight bytes to compare with its head. If suffixes are shorter than eight bytes,
  /// these begin with the last bytes of the prefix: `beforeHead`, `headShift` bits long at the high end.
  private let headOffset: Int
  private let headShift: UInt64
  private let beforeHead: UInt64
  private let hasHeap: Bool

  @inline(__always)
  init(_ leaf: Page) {
    page = leaf
    heads = leaf.heads
    references = leaf.references.bytes
    prefixBytes = leaf.prefixBytes
    let suffix = Int(leaf.uniform)
    let length = prefixBytes &+ suffix
    keyBytes = leaf.uniform != Page.mixedLengths && length >= 8 && suffix > 0 ? length : -1
    headOffset = suffix < 8 ? length &- 8 : prefixBytes
    let shift = UInt64(truncatingIfNeeded: keyBytes < 0 ? 0 : max(0, 64 &- 8 &* suffix))
    headShift = shift
    hasHeap = leaf.heapStart < Page.byteCount
    beforeHead =
      shift == 0
      ? 0 : leaf.bytes.field64(Page.headerBytes &+ headOffset).byteSwapped & ~(UInt64.max &>> shift)
  }

  /// The position of an entry's value in the log; nil if the value is inline.
  @inline(__always)
  func position(_ index: Int) -> ValueReference? {
    let reference = reference(index)
    return reference & Page.inlineMark == 0 ? ValueReference(rawValue: reference) : nil
  }

  /// The reference of an entry: the position of its value, or the inline flag with the length.
  @inline(__always)
  func reference(_ index: Int) -> UInt64 { references.field64(index &* 8) }

  /// Prefetches the heap bytes of `count` entries.
  @inline(__always)
  func fetchHeap(_ index: Int, _ count: Int, _ step: Int) {
    guard hasHeap else { return }
    for place in 0..<count {
      page.bytes.prefetch(min(page.heapOffset(index &+ place &* step), Page.byteCount &- 1))
    }
  }

  /// The key of an entry, put together in memory that begins with the prefix.
  @inline(__always)
  func completeKey(_ index: Int, in memory: WritableBytes) -> UnsafeRawBufferPointer {
    page.copySuffix(index, to: memory.bytes(from: prefixBytes))
    return memory.bytes.bytes(0, page.keyBytes(index)).buffer
  }

  /// The inline value of an entry.
  func inlineValue(_ index: Int) -> UnsafeRawBufferPointer { page.inlineValue(index) }

  /// Whether a key equals the key of an entry, compared in place.
  @inline(__always)
  func isKey(_ key: Bytes, of index: Int) -> Bool {
    guard key.count == keyBytes else { return isOtherKey(SearchKey(key), of: index) }
    let head = beforeHead | heads.field64(index &* 8) &>> headShift
    guard key.field64(headOffset).byteSwapped == head,
      key.begins(with: page.bytes.bytes(Page.headerBytes, headOffset))
    else {
      return false
    }
    return headShift > 0 || hasRest(key, of: index)
  }

  @inline(never)
  private func hasRest(_ key: Bytes, of index: Int) -> Bool {
    key.bytes(from: prefixBytes &+ 8).begins(with: page.rest(index))
  }

  /// The same comparison if the keys' lengths differ.
  @inline(never)
  private func isOtherKey(_ key: SearchKey, of index: Int) -> Bool {
    let suffix = page.suffixBytes(index)
    guard key.count == prefixBytes &+ suffix, key.bytes.begins(with: page.prefix),
      key.head(from: prefixBytes) == page.head(index)
    else { return false }
    return suffix <= 8 || hasRest(key.bytes, of: index)
  }
}
