/// One page of the tree: 4096 bytes that are the same in memory and on disk, searched where they lie.
///
/// This file alone knows the layout; `Documentation.docc/Format.md` describes it.
///
///     header, 64 bytes | prefix | heads | references | (counts | checksums |) slots | free | heap
///
/// All keys of a page begin with the same *prefix*, kept once. A key's *suffix* is what follows. Its first eight
/// bytes, as a big-endian number padded with zeros, are its *head*; what follows them is its *rest*, which lies in
/// the *heap* that grows down from the page's end, followed by the value where that lies in the page. A slot holds
/// the place in the heap and the length of the suffix. The arrays have room for `capacity` entries.
///
/// A leaf needs no slots where all suffixes have one length, of eight bytes at most, and no value lies in it: nothing of
/// its entries lies in the heap. It is made so where its entries allow it, and made anew where one comes that does not.
///
/// In a branch, entry 0 stands for every key before entry 1's separator, and has no key of its own.
struct Page {
  let base: UnsafeMutableRawPointer

  static let byteCount = 4096
  static let headerBytes = 64
  /// What one entry takes in the arrays of a leaf, and of a branch.
  static let leafEntryBytes = 20
  static let slotlessEntryBytes = 16
  static let branchEntryBytes = 36
  /// In a reference: the value lies in the heap, and the lowest bits are its length.
  static let inlineMark: UInt64 = 1 << 63
  /// In `uniform`: the suffixes have different lengths.
  static let mixedLengths: UInt16 = 0xFFFF

  @inline(__always)
  init(_ base: UnsafeMutableRawPointer) { self.base = base }

  /// A page that is only read.
  @inline(__always)
  init(_ base: UnsafeRawPointer) { self.base = UnsafeMutableRawPointer(mutating: base) }

  @inline(__always)
  var raw: UnsafeRawPointer { UnsafeRawPointer(base) }

  // MARK: Header

  var level: Int {
    @inline(__always) get { Int(raw.field8(0)) }
    nonmutating set { base.setField(0, UInt8(newValue)) }
  }
  /// False for a leaf whose suffixes all have `uniform` bytes, at most eight, and which has no values in it.
  var hasSlots: Bool {
    @inline(__always) get { raw.field8(1) == 0 }
    nonmutating set { base.setField(1, UInt8(newValue ? 0 : 1)) }
  }
  var count: Int {
    @inline(__always) get { Int(raw.field16(2)) }
    @inline(__always) nonmutating set { base.setField(2, UInt16(newValue)) }
  }
  var capacity: Int {
    @inline(__always) get { Int(raw.field16(4)) }
    nonmutating set { base.setField(4, UInt16(newValue)) }
  }
  var prefixBytes: Int {
    @inline(__always) get { Int(raw.field16(6)) }
    nonmutating set { base.setField(6, UInt16(newValue)) }
  }
  /// The lowest byte of the heap in use.
  var heapStart: Int {
    @inline(__always) get { Int(raw.field16(8)) }
    @inline(__always) nonmutating set { base.setField(8, UInt16(newValue)) }
  }
  /// Bytes of the heap that nothing refers to any more.
  var heapDead: Int {
    @inline(__always) get { Int(raw.field16(10)) }
    @inline(__always) nonmutating set { base.setField(10, UInt16(newValue)) }
  }
  /// The length of every suffix, where they all have the same.
  var uniform: UInt16 {
    @inline(__always) get { raw.field16(12) }
    @inline(__always) nonmutating set { base.setField(12, newValue) }
  }
  var arraysOffset: Int {
    @inline(__always) get { Int(raw.field16(14)) }
    nonmutating set { base.setField(14, UInt16(newValue)) }
  }
  /// The generation that made the page; it alone may change it.
  var birth: UInt64 {
    @inline(__always) get { raw.field64(16) }
    nonmutating set { base.setField(16, newValue) }
  }
  /// The first head, repeated here beside `scale` so that a search begins with one line of memory.
  var firstHead: UInt64 {
    @inline(__always) get { raw.field64(24) }
    @inline(__always) nonmutating set { base.setField(24, newValue) }
  }
  /// Entries per half unit of head: where an interpolating search looks first.
  var scale: Double {
    @inline(__always) get { Double(bitPattern: raw.field64(32)) }
    @inline(__always) nonmutating set { base.setField(32, newValue.bitPattern) }
  }

  var isLeaf: Bool { level == 0 }
  @inline(__always)
  var prefix: UnsafeRawPointer { raw + Page.headerBytes }

  static func arraysOffset(prefixBytes: Int) -> Int { headerBytes + (prefixBytes + 7) & ~7 }

  static func entryBytes(level: Int, hasSlots: Bool = true) -> Int {
    level > 0 ? branchEntryBytes : hasSlots ? leafEntryBytes : slotlessEntryBytes
  }

  // MARK: Arrays

  @inline(__always)
  var heads: UnsafeRawPointer { raw + arraysOffset }
  @inline(__always)
  var references: UnsafeMutableRawPointer { base + (arraysOffset &+ 8 &* capacity) }
  @inline(__always)
  private var counts: UnsafeMutableRawPointer { base + (arraysOffset &+ 16 &* capacity) }
  @inline(__always)
  private var checksums: UnsafeMutableRawPointer { base + (arraysOffset &+ 24 &* capacity) }
  @inline(__always)
  var slots: UnsafeMutableRawPointer {
    base + (arraysOffset &+ (level == 0 ? 16 : 32) &* capacity)
  }
  /// Where the arrays end and free space begins.
  var arraysEnd: Int { arraysOffset + capacity * entryBytes }
  private var entryBytes: Int { Page.entryBytes(level: level, hasSlots: hasSlots) }

  @inline(__always)
  func head(_ index: Int) -> UInt64 { heads.field64(index &* 8) }
  @inline(__always)
  func setHead(_ index: Int, _ head: UInt64) { base.setField(arraysOffset &+ index &* 8, head) }

  /// A leaf's value reference or inline mark; a branch's child.
  @inline(__always)
  func reference(_ index: Int) -> UInt64 { UnsafeRawPointer(references).field64(index &* 8) }
  @inline(__always)
  func setReference(_ index: Int, _ value: UInt64) { references.setField(index &* 8, value) }

  /// How many keys lie below an entry of a branch.
  @inline(__always)
  func keyCount(_ index: Int) -> UInt64 { UnsafeRawPointer(counts).field64(index &* 8) }
  @inline(__always)
  func setKeyCount(_ index: Int, _ value: UInt64) { counts.setField(index &* 8, value) }

  /// The checksum of an entry's child, where that lies on disk.
  @inline(__always)
  func childChecksum(_ index: Int) -> UInt64 { UnsafeRawPointer(checksums).field64(index &* 8) }
  @inline(__always)
  func setChildChecksum(_ index: Int, _ value: UInt64) { checksums.setField(index &* 8, value) }

  @inline(__always)
  func heapOffset(_ index: Int) -> Int {
    hasSlots ? Int(UnsafeRawPointer(slots).field16(index &* 4)) : Page.byteCount
  }
  @inline(__always)
  func suffixBytes(_ index: Int) -> Int {
    Int(hasSlots ? UnsafeRawPointer(slots).field16(index &* 4 &+ 2) : uniform)
  }
  /// In a page that has slots.
  @inline(__always)
  func setSlot(_ index: Int, heapOffset: Int, suffixBytes: Int) {
    slots.setField(index &* 4, UInt16(truncatingIfNeeded: heapOffset))
    slots.setField(index &* 4 &+ 2, UInt16(truncatingIfNeeded: suffixBytes))
  }

  // MARK: Entries

  @inline(__always)
  func restBytes(_ index: Int) -> Int { max(0, suffixBytes(index) &- 8) }
  @inline(__always)
  func rest(_ index: Int) -> UnsafeRawPointer { raw + heapOffset(index) }

  /// How many bytes of value lie in the page for a reference.
  @inline(__always)
  static func inlineBytes(_ reference: UInt64) -> Int {
    reference & inlineMark == 0 ? 0 : Int(truncatingIfNeeded: reference & 0xFF)
  }

  /// The bytes in the heap that belong to an entry.
  func heapBytes(_ index: Int) -> Int {
    restBytes(index) + (isLeaf ? Page.inlineBytes(reference(index)) : 0)
  }

  /// What a leaf holds for an entry.
  @inline(__always)
  func entry(_ index: Int) -> TreeEntry {
    let reference = reference(index)
    if reference & Page.inlineMark == 0 { return .position(ValueReference(rawValue: reference)) }
    return .inline(inlineValue(index))
  }

  /// The value of an entry that has it in the heap.
  @inline(__always)
  func inlineValue(_ index: Int) -> UnsafeRawBufferPointer {
    (rest(index) + restBytes(index)).bytes(Page.inlineBytes(reference(index)))
  }

  @inline(__always)
  func child(_ index: Int) -> PageReference { PageReference(rawValue: reference(index)) }

  /// How long the key of an entry is, the prefix included.
  @inline(__always)
  func keyBytes(_ index: Int) -> Int { prefixBytes &+ suffixBytes(index) }

  /// Writes the key of an entry, prefix included, to memory that has room for it.
  @inline(__always)
  func copyKey(_ index: Int, to target: UnsafeMutableRawPointer) {
    let prefixCount = prefixBytes
    target.copyMemory(from: prefix, byteCount: prefixCount)
    copySuffix(index, to: target + prefixCount)
  }

  @inline(__always)
  func copySuffix(_ index: Int, to target: UnsafeMutableRawPointer) {
    let suffix = suffixBytes(index)
    let head = head(index)
    if suffix >= 8 {
      target.storeBytes(of: head.bigEndian, as: UInt64.self)
      if suffix > 8 { (target + 8).copyMemory(from: rest(index), byteCount: suffix &- 8) }
    } else {
      var byte = 0
      while byte < suffix {
        target.storeBytes(
          of: UInt8(truncatingIfNeeded: head >> UInt64(truncatingIfNeeded: 56 &- 8 &* byte)),
          toByteOffset: byte,
          as: UInt8.self)
        byte &+= 1
      }
    }
  }

  /// The bytes that a page with the same entries needs at least.
  var usedBytes: Int {
    arraysOffset + count * entryBytes + (Page.byteCount - heapStart - heapDead)
  }

  /// Whether these entries and one more need more than a page, with the prefix that it has.
  func isTooFull(for key: SearchKey, _ payload: Payload) -> Bool {
    let heapBytes = max(0, key.count - prefixBytes - 8) + payload.inline.count
    return usedBytes + entryBytes + heapBytes > Page.byteCount
  }
}
