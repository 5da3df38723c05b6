/// One page of the tree: 4096 bytes, the same in memory and on disk, searched in place.
///
/// `Documentation.docc/Format.md` describes the layout.
///
///     header, 64 bytes | prefix | heads | references | (counts | checksums |) slots | free | heap
///
/// All keys of a page begin with the same *prefix*, which is stored once. The remainder of a key is its
/// *suffix*. The first eight bytes of the suffix, as a big-endian number padded with zeros, are its *head*;
/// the bytes after them are its *rest*. The rest is stored in the *heap*, which grows down from the end of
/// the page, followed by the value if the value is inline. A slot contains the entry's heap offset and the
/// length of its suffix. The arrays have room for `capacity` entries. Only branches have counts and
/// checksums.
///
/// A leaf has no slots if all suffixes have the same length of at most eight bytes and no value is inline:
/// then no entry uses the heap. A leaf is built without slots when its entries allow it, and rebuilt with
/// slots when an entry arrives that needs one.
///
/// In a branch, entry 0 has no key: it covers every key before entry 1's separator.
struct Page {
  let memory: PageBytes

  static let byteCount = PageBytes.count
  static let headerBytes = 64
  /// Bytes of one entry in the arrays: of a leaf with slots, of a leaf without, of a branch.
  static let leafEntryBytes = 20
  static let slotlessEntryBytes = 16
  static let branchEntryBytes = 36
  /// Flag of a reference: the value is in the heap, and the lowest bits are its length.
  static let inlineMark: UInt64 = 1 << 63
  /// Value of `uniform` if the suffixes have different lengths.
  static let mixedLengths: UInt16 = 0xFFFF

  @inline(__always)
  init(_ memory: PageBytes) { self.memory = memory }

  @inline(__always)
  var bytes: Bytes { memory.bytes }

  // MARK: Header

  var level: Int {
    @inline(__always) get { Int(memory.field8(0)) }
    nonmutating set { memory.setField(0, UInt8(newValue)) }
  }
  /// False for a leaf whose suffixes all have `uniform` bytes, at most eight, and which has no inline values.
  var hasSlots: Bool {
    @inline(__always) get { memory.field8(1) == 0 }
    nonmutating set { memory.setField(1, UInt8(newValue ? 0 : 1)) }
  }
  var count: Int {
    @inline(__always) get { Int(memory.field16(2)) }
    @inline(__always) nonmutating set { memory.setField(2, UInt16(newValue)) }
  }
  var capacity: Int {
    @inline(__always) get { Int(memory.field16(4)) }
    nonmutating set { memory.setField(4, UInt16(newValue)) }
  }
  var prefixBytes: Int {
    @inline(__always) get { Int(memory.field16(6)) }
    nonmutating set { memory.setField(6, UInt16(newValue)) }
  }
  /// Offset of the lowest heap byte in use.
  var heapStart: Int {
    @inline(__always) get { Int(memory.field16(8)) }
    @inline(__always) nonmutating set { memory.setField(8, UInt16(newValue)) }
  }
  /// Heap bytes that no entry refers to any more.
  var heapDead: Int {
    @inline(__always) get { Int(memory.field16(10)) }
    @inline(__always) nonmutating set { memory.setField(10, UInt16(newValue)) }
  }
  /// The length of every suffix if all have the same length, otherwise `mixedLengths`.
  var uniform: UInt16 {
    @inline(__always) get { memory.field16(12) }
    @inline(__always) nonmutating set { memory.setField(12, newValue) }
  }
  var arraysOffset: Int {
    @inline(__always) get { Int(memory.field16(14)) }
    nonmutating set { memory.setField(14, UInt16(newValue)) }
  }
  /// The generation that created the page, and the only one that may change it; 0 on disk.
  var birth: UInt64 {
    @inline(__always) get { memory.field64(16) }
    nonmutating set { memory.setField(16, newValue) }
  }
  /// The head of the first key, repeated beside `scale` so that a search begins with one cache line.
  var firstHead: UInt64 {
    @inline(__always) get { memory.field64(24) }
    @inline(__always) nonmutating set { memory.setField(24, newValue) }
  }
  /// Entries per half unit of head: the slope of the interpolation search.
  var scale: Double {
    @inline(__always) get { Double(bitPattern: memory.field64(32)) }
    @inline(__always) nonmutating set { memory.setField(32, newValue.bitPattern) }
  }

  var isLeaf: Bool { level == 0 }
  @inline(__always)
  var prefix: Bytes { bytes.bytes(Page.headerBytes, prefixBytes) }

  static func arraysOffset(prefixBytes: Int) -> Int { headerBytes + (prefixBytes + 7) & ~7 }

  static func entryBytes(level: Int, hasSlots: Bool = true) -> Int {
    level > 0 ? branchEntryBytes : hasSlots ? leafEntryBytes : slotlessEntryBytes
  }

  // MARK: Arrays

  @inline(__always)
  var heads: Bytes { bytes.bytes(from: arraysOffset) }
  @inline(__always)
  var references: WritableBytes { memory.writable.bytes(from: arraysOffset &+ 8 &* capacity) }
  @inline(__always)
  var slots: WritableBytes { memory.writable.bytes(from: slotsOffset) }
  @inline(__always)
  var slotsOffset: Int { arraysOffset &+ (level == 0 ? 16 : 32) &* capacity }
  /// Offset of the end of the arrays, where free space begins.
  var arraysEnd: Int { arraysOffset + capacity * entryBytes }
  private var entryBytes: Int { Page.entryBytes(level: level, hasSlots: hasSlots) }

  @inline(__always)
  func head(_ index: Int) -> UInt64 { memory.field64(arraysOffset &+ 8 &* index) }
  @inline(__always)
  func setHead(_ index: Int, _ head: UInt64) { memory.setField(arraysOffset &+ 8 &* index, head) }

  /// In a leaf: the value reference or inline flag with length. In a branch: the child.
  @inline(__always)
  func reference(_ index: Int) -> UInt64 { memory.field64(arraysOffset &+ 8 &* (capacity &+ index)) }
  @inline(__always)
  func setReference(_ index: Int, _ value: UInt64) {
    memory.setField(arraysOffset &+ 8 &* (capacity &+ index), value)
  }

  /// Number of keys below an entry of a branch.
  @inline(__always)
  func keyCount(_ index: Int) -> UInt64 { memory.field64(arraysOffset &+ 8 &* (2 &* capacity &+ index)) }
  @inline(__always)
  func setKeyCount(_ index: Int, _ value: UInt64) {
    memory.setField(arraysOffset &+ 8 &* (2 &* capacity &+ index), value)
  }

  /// The checksum of an entry's child if the child is on disk; 0 if it is in the arena.
  @inline(__always)
  func childChecksum(_ index: Int) -> UInt64 { memory.field64(arraysOffset &+ 8 &* (3 &* capacity &+ index)) }
  @inline(__always)
  func setChildChecksum(_ index: Int, _ value: UInt64) {
    memory.setField(arraysOffset &+ 8 &* (3 &* capacity &+ index), value)
  }

  @inline(__always)
  func heapOffset(_ index: Int) -> Int {
    hasSlots ? Int(memory.field16(slotsOffset &+ 4 &* index)) : Page.byteCount
  }
  @inline(__always)
  func suffixBytes(_ index: Int) -> Int {
    Int(hasSlots ? memory.field16(slotsOffset &+ 4 &* index &+ 2) : uniform)
  }
  /// - Precondition: The page has slots.
  @inline(__always)
  func setSlot(_ index: Int, heapOffset: Int, suffixBytes: Int) {
    memory.setField(slotsOffset &+ 4 &* index, UInt16(truncatingIfNeeded: heapOffset))
    memory.setField(slotsOffset &+ 4 &* index &+ 2, UInt16(truncatingIfNeeded: suffixBytes))
  }

  // MARK: Entries

  @inline(__always)
  func restBytes(_ index: Int) -> Int { max(0, suffixBytes(index) &- 8) }
  @inline(__always)
  func rest(_ index: Int) -> Bytes { bytes.bytes(heapOffset(index), restBytes(index)) }

  /// Length of the inline value that a reference stands for; 0 if the value is in the log.
  @inline(__always)
  static func inlineBytes(_ reference: UInt64) -> Int {
    reference & inlineMark == 0 ? 0 : Int(truncatingIfNeeded: reference & 0xFF)
  }

  /// Heap bytes that belong to an entry.
  func heapBytes(_ index: Int) -> Int {
    restBytes(index) + (isLeaf ? Page.inlineBytes(reference(index)) : 0)
  }

  /// The value of a leaf's entry, or its position in the log.
  @inline(__always)
  func entry(_ index: Int) -> TreeEntry {
    let reference = reference(index)
    if reference & Page.inlineMark == 0 { return .position(ValueReference(rawValue: reference)) }
    return .inline(inlineValue(index))
  }

  /// The inline value of an entry.
  ///
  /// - Precondition: The entry has one.
  @inline(__always)
  func inlineValue(_ index: Int) -> UnsafeRawBufferPointer {
    bytes.bytes(heapOffset(index) &+ restBytes(index), Page.inlineBytes(reference(index))).buffer
  }

  @inline(__always)
  func child(_ index: Int) -> PageReference { PageReference(rawValue: reference(index)) }

  /// Length of an entry's key, including the prefix.
  @inline(__always)
  func keyBytes(_ index: Int) -> Int { prefixBytes &+ suffixBytes(index) }

  /// A copy of an entry's key, including the prefix.
  func key(_ index: Int) -> [UInt8] {
    [UInt8](count: keyBytes(index)) { copyKey(index, to: $0) }
  }

  /// Copies an entry's key, including the prefix, to `target`, which must have room for `keyBytes(index)`
  /// bytes.
  @inline(__always)
  func copyKey(_ index: Int, to target: WritableBytes) {
    target.copy(prefix, to: 0)
    copySuffix(index, to: target.bytes(from: prefixBytes))
  }

  @inline(__always)
  func copySuffix(_ index: Int, to target: WritableBytes) {
    let suffix = suffixBytes(index)
    let head = head(index)
    if suffix >= 8 {
      target.setField(0, head.byteSwapped)
      if suffix > 8 { target.copy(rest(index), to: 8) }
    } else {
      var byte = 0
      while byte < suffix {
        target.setField(
          byte, UInt8(truncatingIfNeeded: head >> UInt64(truncatingIfNeeded: 56 &- 8 &* byte)))
        byte &+= 1
      }
    }
  }

  /// Makes the page equal to another one.
  func copyAll(of other: Page) { memory.writable.copy(other.bytes, to: 0) }

  /// The fewest bytes that a page with these entries can take while it keeps its prefix.
  var usedBytes: Int {
    arraysOffset + count * entryBytes + (Page.byteCount - heapStart - heapDead)
  }

  /// Whether these entries and one more need more than a page with the current prefix.
  func isTooFull(for key: SearchKey, _ payload: Payload) -> Bool {
    let heapBytes = max(0, key.count - prefixBytes - 8) + payload.inline.count
    return usedBytes + entryBytes + heapBytes > Page.byteCount
  }
}
