/// Decodes the entries of up to three pages, with whole keys, and encodes them as other pages. The writer
/// uses it to rebuild, split, merge and redistribute pages.
///
/// Each writer has one and reuses its memory. An entry's `place` is an offset in that memory.
final class PageBuilder {
  /// One entry: the offset and lengths of its key and inline value in `memory`, and its payload.
  struct Entry {
    private let place: UInt32
    private let lengths: (key: UInt16, inline: UInt16)
    var reference: UInt64
    var keyCount: UInt64
    var checksum: UInt64

    @inline(__always)
    init(
      keyOffset: Int, keyBytes: Int, inlineBytes: Int, reference: UInt64, keyCount: UInt64, checksum: UInt64
    ) {
      place = UInt32(truncatingIfNeeded: keyOffset)
      lengths = (UInt16(truncatingIfNeeded: keyBytes), UInt16(truncatingIfNeeded: inlineBytes))
      self.reference = reference
      self.keyCount = keyCount
      self.checksum = checksum
    }

    var keyOffset: Int { Int(place) }
    var keyBytes: Int { Int(lengths.key) }
    var inlineBytes: Int { Int(lengths.inline) }
  }

  // Only the writer uses these, one method at a time: checks for overlapping access would find nothing.
  private let entries = FixedArray<Entry>(count: entryLimit)
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private(set) var level = 0
  @exclusivity(unchecked) private var memory = OwnedBytes(count: 64 << 10)
  @exclusivity(unchecked) private var used = 0
  /// Whether all entries are of a leaf, without inline values, with keys of one length. Sizes are then
  /// computed without visiting each entry.
  @exclusivity(unchecked) private var isUniform = true
  /// Length of the last key that was added; nil before the first.
  @exclusivity(unchecked) private var lastLength: Int?

  /// The entries of three pages, and a new one.
  private static let entryLimit = 3 * (Page.byteCount / Page.slotlessEntryBytes) + 2
  /// Copying whole words may write this many bytes past the reserved ones.
  private static let slack = 16

  /// Discards all entries.
  func begin(level: Int) {
    self.level = level
    count = 0
    used = 0
    isUniform = level == 0
    lastLength = nil
  }

  /// Appends the entries of a page.
  ///
  /// - Parameter separator: For a branch that follows another: the key of its first entry, which only the
  ///   parent stores.
  func append(_ page: Page, from first: Int = 0, separator: SearchKey? = nil) {
    var first = first
    if !page.isLeaf, first == 0, page.count > 0 {
      appendBare(page, separator)
      first = 1
    }
    precondition(
      count + page.count - first <= Self.entryLimit, "A page builder holds the entries of three pages.")
    guard page.hasSlots else { return appendSlotless(page, from: first) }
    for index in first..<max(first, page.count) { append(page, index) }
  }

  /// Appends the entries of a leaf without slots: each key consists of the prefix and the head.
  private func appendSlotless(_ page: Page, from first: Int) {
    let (number, prefixBytes) = (page.count &- first, page.prefixBytes)
    guard number > 0 else { return }
    let keyBytes = prefixBytes &+ Int(page.uniform)
    let place = reserve(number &* keyBytes)
    let keys = memory.writable.bytes(from: place)
    let (heads, references) = (
      page.heads.bytes(from: 8 &* first), page.references.bytes.bytes(from: 8 &* first)
    )
    var index = 0
    while index < number {
      let key = keys.bytes(from: index &* keyBytes)
      copyPrefix(of: page, prefixBytes, to: key)
      key.setField(prefixBytes, heads.field64(index &* 8).byteSwapped)
      entries[count &+ index] = Entry(
        keyOffset: place &+ index &* keyBytes, keyBytes: keyBytes, inlineBytes: 0,
        reference: references.field64(index &* 8), keyCount: 1, checksum: 0)
      index &+= 1
    }
    noteLength(of: entries[count])
    count &+= number
  }

  /// Copies a prefix; a short one as two words, whatever its length.
  @inline(__always)
  private func copyPrefix(of page: Page, _ count: Int, to key: WritableBytes) {
    let source = page.bytes.bytes(from: Page.headerBytes)
    guard count <= 16 else { return key.copy(source.bytes(0, count), to: 0) }
    key.setField(0, source.field64(0))
    key.setField(8, source.field64(8))
  }

  @inline(__always)
  private func add(_ entry: Entry) {
    entries[count] = entry
    count &+= 1
    noteLength(of: entry)
  }

  @inline(__always)
  private func noteLength(of entry: Entry) {
    if entry.keyBytes != lastLength ?? entry.keyBytes || entry.inlineBytes > 0 { isUniform = false }
    lastLength = entry.keyBytes
  }

  /// Appends the first entry of a branch, whose key the branch does not store.
  private func appendBare(_ page: Page, _ separator: SearchKey?) {
    precondition(count < Self.entryLimit, "A page builder holds the entries of three pages.")
    let keyBytes = separator?.count ?? 0
    let place = reserve(keyBytes)
    if let separator { memory.writable.copy(separator.bytes, to: place) }
    add(
      Entry(
        keyOffset: place, keyBytes: keyBytes, inlineBytes: 0, reference: page.reference(0),
        keyCount: page.keyCount(0), checksum: page.childChecksum(0)))
  }

  /// Appends an entry that has a key, by whole words if the key is short.
  @inline(__always)
  private func append(_ page: Page, _ index: Int) {
    let (isLeaf, reference, suffix) = (page.isLeaf, page.reference(index), page.suffixBytes(index))
    let inline = isLeaf ? Page.inlineBytes(reference) : 0
    let keyBytes = page.prefixBytes &+ suffix
    let place = reserve(keyBytes &+ inline)
    let key = memory.writable.bytes(from: place)
    copyPrefix(of: page, page.prefixBytes, to: key)
    key.setField(page.prefixBytes, page.head(index).byteSwapped)
    let rest = max(0, suffix &- 8)
    if rest &+ inline > 0 {
      key.copy(page.bytes.bytes(page.heapOffset(index), rest &+ inline), to: keyBytes &- rest)
    }
    add(
      Entry(
        keyOffset: place, keyBytes: keyBytes, inlineBytes: inline, reference: reference,
        keyCount: isLeaf ? 1 : page.keyCount(index), checksum: isLeaf ? 0 : page.childChecksum(index)))
  }

  /// Inserts an entry at `index`, or replaces the one there.
  func put(_ key: SearchKey, _ payload: Page.Payload, at index: Int, replacing: Bool) {
    let place = reserve(key.count + payload.inline.count)
    memory.writable.copy(key.bytes, to: place)
    if payload.inline.count > 0 { memory.writable.copy(payload.inline, to: place + key.count) }
    let entry = Entry(
      keyOffset: place, keyBytes: key.count, inlineBytes: payload.inline.count, reference: payload.reference,
      keyCount: level == 0 ? 1 : payload.keyCount, checksum: payload.checksum)
    if !replacing {
      precondition(count < Self.entryLimit, "A page builder holds the entries of three pages.")
      entries.move(index..<count, to: index + 1)
      count += 1
    }
    entries[index] = entry
    noteLength(of: entry)
  }

  /// Replaces the child of a branch's entry.
  func setChild(_ index: Int, _ payload: Page.Payload) {
    entries[index].reference = payload.reference
    entries[index].keyCount = payload.keyCount
    entries[index].checksum = payload.checksum
  }

  func remove(_ range: Range<Int>) {
    entries.move(range.upperBound..<count, to: range.lowerBound)
    count -= range.count
  }

  @inline(__always)
  private func reserve(_ count: Int) -> Int {
    let place = used
    used &+= count
    if used &+ Self.slack > memory.bytes.count { grow(keeping: place) }
    return place
  }

  @inline(never)
  private func grow(keeping kept: Int) {
    let larger = OwnedBytes(count: max(used + Self.slack, memory.bytes.count * 2))
    larger.writable.copy(memory.bytes.bytes(0, kept), to: 0)
    memory = larger
  }

  /// The key of an entry. Valid until the builder changes.
  func key(_ index: Int) -> SearchKey {
    SearchKey(memory.bytes.bytes(entries[index].keyOffset, entries[index].keyBytes))
  }

  /// The shortest key that separates entry `index` from the one before it.
  func separator(before index: Int) -> SearchKey {
    let key = key(index)
    guard level == 0 else { return key }
    return key.prefix(min(key.count, SearchKey.commonBytes(self.key(index - 1), key) + 1))
  }

  /// Number of keys in some entries or below them.
  func keyCount(_ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    for index in range { sum &+= entries[index].keyCount }
    return sum
  }

  // MARK: Building

  /// The entries whose keys a page of this range stores: all in a leaf, all but the first in a branch.
  private func keyed(_ range: Range<Int>) -> Range<Int> {
    level == 0 ? range : min(range.lowerBound + 1, range.upperBound)..<range.upperBound
  }

  private func prefixBytes(_ keyed: Range<Int>) -> Int {
    guard let first = keyed.first, let last = keyed.last else { return 0 }
    return SearchKey.commonBytes(key(first), key(last))
  }

  /// The layout of a page with some of the entries.
  private struct Shape {
    let keyed: Range<Int>
    let prefixBytes: Int
    let heapBytes: Int
    let entryBytes: Int
    let hasSlots: Bool
    /// Size of the page in bytes.
    let bytes: Int
  }

  private func shape(_ range: Range<Int>) -> Shape {
    let keyed = keyed(range)
    let prefix = prefixBytes(keyed)
    let first = keyed.isEmpty ? 0 : entries[keyed.lowerBound].keyBytes
    var (heap, lengths) = (0, 0)
    if isUniform {
      heap = keyed.count &* max(0, first &- prefix &- 8)
    } else {
      for index in keyed {
        heap &+= max(0, entries[index].keyBytes &- prefix &- 8) &+ entries[index].inlineBytes
        lengths |= entries[index].keyBytes ^ first
      }
    }
    let hasSlots = level > 0 || lengths != 0 || heap > 0
    let entryBytes = Page.entryBytes(level: level, hasSlots: hasSlots)
    return Shape(
      keyed: keyed, prefixBytes: prefix, heapBytes: heap, entryBytes: entryBytes, hasSlots: hasSlots,
      bytes: Page.arraysOffset(prefixBytes: prefix) + range.count * entryBytes + heap)
  }

  /// Size in bytes of a page with these entries.
  func pageBytes(_ range: Range<Int>) -> Int { shape(range).bytes }

  /// Whether the entries fit into one page.
  func fits(_ range: Range<Int>) -> Bool { pageBytes(range) <= Page.byteCount }

  /// A split position right after an entry, or right before it, such that both halves fit; nil if neither
  /// works.
  func cut(behind index: Int) -> Int? {
    [index + 1, index].first { $0 > 0 && $0 < count && fits(0..<$0) && fits($0..<count) }
  }

  /// The split position nearest to the middle by size such that both halves fit.
  ///
  /// It always exists if all entries but one came from one page: on one side of the new entry a split leaves
  /// a page that is half empty.
  func cut() -> Int {
    let weight = weight
    var middle = 0
    var sum = 0
    while middle < count - 1, sum + Self.weight(entries[middle]) / 2 < weight / 2 {
      sum += Self.weight(entries[middle])
      middle += 1
    }
    for distance in 0..<count {
      for place in [middle - distance, middle + distance] where place > 0 && place < count {
        if fits(0..<place), fits(place..<count) { return place }
      }
    }
    return max(1, count / 2)
  }

  /// Splits the entries into a number of ranges of about the same size; nil if one of them does not fit into
  /// a page.
  func parts(_ number: Int) -> [Range<Int>]? {
    let ends = isUniform ? (1..<number).map { count * $0 / number } : cuts(into: number)
    let parts = zip([0] + ends, ends + [count]).map { $0..<max($0, $1) }
    return parts.allSatisfy { !$0.isEmpty && fits($0) } ? parts : nil
  }

  private func cuts(into number: Int) -> [Int] {
    let weight = weight
    var (end, sum) = (0, 0)
    return (1..<number).map { part in
      while end < count, sum < weight * part / number {
        sum += Self.weight(entries[end])
        end += 1
      }
      return end
    }
  }

  private var weight: Int {
    var weight = 0
    for index in 0..<count { weight += Self.weight(entries[index]) }
    return weight
  }

  private static func weight(_ entry: Entry) -> Int {
    Page.leafEntryBytes + entry.keyBytes / 2 + entry.inlineBytes
  }

  /// Encodes entries as a page.
  ///
  /// - Precondition: `fits(range)`.
  func build(_ range: Range<Int>, into page: Page, birth: UInt64) {
    let shape = shape(range)
    let free = Page.byteCount - shape.bytes
    precondition(free >= 0, "Entries must fit into the page that is built.")
    let averageHeap = (shape.heapBytes + range.count - 1) / max(1, range.count)

    page.memory.writable.setZero(0, Page.headerBytes)
    page.level = level
    page.hasSlots = shape.hasSlots
    page.count = range.count
    page.capacity = range.count + free / (shape.entryBytes + averageHeap)
    page.prefixBytes = shape.prefixBytes
    page.heapStart = Page.byteCount
    page.arraysOffset = Page.arraysOffset(prefixBytes: shape.prefixBytes)
    page.birth = birth
    page.uniform = Page.mixedLengths
    if let first = shape.keyed.first {
      page.memory.writable.copy(key(first).prefix(shape.prefixBytes).bytes, to: Page.headerBytes)
    }
    if shape.hasSlots {
      write(range, keyed: shape.keyed, prefix: shape.prefixBytes, to: page)
    } else {
      writeSlotless(range, prefix: shape.prefixBytes, to: page)
    }
    page.setInterpolation()
  }

  private func writeSlotless(_ range: Range<Int>, prefix: Int, to page: Page) {
    let (heads, references) = (page.memory.writable.bytes(from: page.arraysOffset), page.references)
    let (first, keys, number) = (range.lowerBound, memory.bytes, range.count)
    var index = 0
    while index < number {
      let entry = entries[first &+ index]
      let key = SearchKey(keys.bytes(entry.keyOffset, entry.keyBytes))
      heads.setField(index &* 8, key.head(from: prefix))
      references.setField(index &* 8, entry.reference)
      index &+= 1
    }
    page.uniform = UInt16(entries[first].keyBytes &- prefix)
  }

  private func write(_ range: Range<Int>, keyed: Range<Int>, prefix: Int, to page: Page) {
    var place = Page.byteCount
    let (arrays, references) = (page.memory.writable.bytes(from: page.arraysOffset), page.references)
    let slots = page.slots
    for index in range {
      let (entry, slot) = (entries[index], index &- range.lowerBound)
      let hasKey = index >= keyed.lowerBound
      let suffix = hasKey ? entry.keyBytes &- prefix : 0
      let rest = max(0, suffix &- 8)
      let heap = rest &+ entry.inlineBytes
      let bytes = memory.bytes.bytes(entry.keyOffset, entry.keyBytes &+ entry.inlineBytes)
      let key = SearchKey(bytes.bytes(0, entry.keyBytes))
      place &-= heap
      if heap > 0 {
        page.memory.writable.copy(bytes.bytes(entry.keyBytes &- rest, heap), to: place)
      }
      arrays.setField(slot &* 8, hasKey ? key.head(from: prefix) : 0)
      references.setField(slot &* 8, entry.reference)
      slots.setField(slot &* 4, UInt16(truncatingIfNeeded: place))
      slots.setField(slot &* 4 &+ 2, UInt16(truncatingIfNeeded: suffix))
      if level > 0 {
        page.setKeyCount(slot, entry.keyCount)
        page.setChildChecksum(slot, entry.checksum)
      }
      if hasKey { noteLength(suffix, isFirst: index == keyed.lowerBound, page) }
    }
    page.heapStart = place
  }

  private func noteLength(_ suffix: Int, isFirst: Bool, _ page: Page) {
    if isFirst {
      page.uniform = UInt16(suffix)
    } else if Int(page.uniform) != suffix {
      page.uniform = Page.mixedLengths
    }
  }
}
