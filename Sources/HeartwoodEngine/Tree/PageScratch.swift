/// The entries of one or two pages taken apart, with whole keys, to be put together as other pages:
/// how pages are rebuilt, split and merged. One exists per writer; its memory is reused.
final class PageScratch {
  /// One entry: where its key and its value lie in `bytes`, and its payload.
  struct Entry {
    var keyOffset: Int
    var keyBytes: Int
    var inlineBytes: Int
    var reference: UInt64
    var keyCount: UInt64
    var checksum: UInt64
  }

  // Only the writer touches these, one method at a time: checks for overlapping access would find nothing.
  @exclusivity(unchecked) private(set) var entries: [Entry] = []
  @exclusivity(unchecked) private(set) var level = 0
  @exclusivity(unchecked) private var memory: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var memoryBytes: Int
  @exclusivity(unchecked) private var used = 0

  init() {
    memoryBytes = 64 << 10
    memory = .allocate(byteCount: memoryBytes, alignment: 16)
    entries.reserveCapacity(512)
  }

  deinit { memory.deallocate() }

  var count: Int { entries.count }

  /// Forgets everything.
  func begin(level: Int) {
    self.level = level
    entries.removeAll(keepingCapacity: true)
    used = 0
  }

  /// Takes over the entries of a page.
  ///
  /// - Parameter separator: In a branch that follows another: the key of its first entry, which only
  ///   the parent knows.
  func append(_ page: Page, from first: Int = 0, separator: SearchKey? = nil) {
    for index in first..<page.count {
      let inline = page.isLeaf ? Page.inlineBytes(page.reference(index)) : 0
      let isBare = !page.isLeaf && index == 0
      let keyCount = isBare ? separator?.count ?? 0 : page.keyBytes(index)
      let place = reserve(keyCount + inline)
      if !isBare {
        page.copyKey(index, to: memory + place)
      } else if let separator {
        (memory + place).copyMemory(from: separator.base, byteCount: separator.count)
      }
      if inline > 0 {
        (memory + (place + keyCount)).copyMemory(
          from: page.rest(index) + page.restBytes(index), byteCount: inline)
      }
      entries.append(
        Entry(
          keyOffset: place, keyBytes: keyCount, inlineBytes: inline, reference: page.reference(index),
          keyCount: page.isLeaf ? 1 : page.keyCount(index),
          checksum: page.isLeaf ? 0 : page.childChecksum(index)))
    }
  }

  /// Adds an entry, or replaces the one that is there.
  func put(_ key: SearchKey, _ payload: Page.Payload, at index: Int, replacing: Bool) {
    let place = reserve(key.count + payload.inline.count)
    (memory + place).copyMemory(from: key.base, byteCount: key.count)
    if let source = payload.inline.baseAddress, payload.inline.count > 0 {
      (memory + (place + key.count)).copyMemory(from: source, byteCount: payload.inline.count)
    }
    let entry = Entry(
      keyOffset: place, keyBytes: key.count, inlineBytes: payload.inline.count, reference: payload.reference,
      keyCount: level == 0 ? 1 : payload.keyCount, checksum: payload.checksum)
    if replacing { entries[index] = entry } else { entries.insert(entry, at: index) }
  }

  private func reserve(_ count: Int) -> Int {
    let place = used
    used += count
    if used > memoryBytes {
      let larger = max(used, memoryBytes * 2)
      let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
      moved.copyMemory(from: memory, byteCount: place)
      memory.deallocate()
      memory = moved
      memoryBytes = larger
    }
    return place
  }

  /// The key of an entry. Valid until the scratch is changed.
  func key(_ index: Int) -> SearchKey {
    SearchKey(memory + entries[index].keyOffset, entries[index].keyBytes)
  }

  /// The shortest key that parts entry `index` from the one before.
  func separator(before index: Int) -> SearchKey {
    let key = key(index)
    guard level == 0 else { return key }
    return SearchKey(key.base, min(key.count, SearchKey.commonBytes(self.key(index - 1), key) + 1))
  }

  /// How many keys lie in or below some entries.
  func keyCount(_ range: Range<Int>) -> UInt64 {
    var sum: UInt64 = 0
    for index in range { sum &+= entries[index].keyCount }
    return sum
  }

  // MARK: Building

  /// The entries whose keys a page of these would keep: a branch does not keep its first.
  private func keyed(_ range: Range<Int>) -> Range<Int> {
    level == 0 ? range : min(range.lowerBound + 1, range.upperBound)..<range.upperBound
  }

  private func prefixBytes(_ keyed: Range<Int>) -> Int {
    guard let first = keyed.first, let last = keyed.last else { return 0 }
    return SearchKey.commonBytes(key(first), key(last))
  }

  private func heapBytes(_ range: Range<Int>, keyed: Range<Int>, prefix: Int) -> Int {
    var sum = 0
    for index in keyed {
      sum &+= max(0, entries[index].keyBytes &- prefix &- 8) &+ entries[index].inlineBytes
    }
    return sum
  }

  /// How many bytes a page of these entries takes.
  func pageBytes(_ range: Range<Int>) -> Int {
    let keyed = keyed(range)
    let prefix = prefixBytes(keyed)
    return Page.arraysOffset(prefixBytes: prefix) + range.count * Page.entryBytes(level: level)
      + heapBytes(range, keyed: keyed, prefix: prefix)
  }

  /// Whether the entries fit into one page.
  func fits(_ range: Range<Int>) -> Bool { pageBytes(range) <= Page.byteCount }

  /// A cut right behind an entry, or right before it, where both parts fit then.
  func cut(behind index: Int) -> Int? {
    [index + 1, index].first { $0 > 0 && $0 < count && fits(0..<$0) && fits($0..<count) }
  }

  /// Where to cut so that both parts fit, nearest to halves of the same size.
  ///
  /// There always is such a place when all entries but one came from one page: wherever the new one
  /// stands, either of its neighbours' sides leaves it a page half empty.
  func cut() -> Int {
    var weight = 0
    for entry in entries { weight += Self.weight(entry) }
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

  private static func weight(_ entry: Entry) -> Int {
    Page.leafEntryBytes + entry.keyBytes / 2 + entry.inlineBytes
  }

  /// Writes entries as a page, which they have to fit into.
  func build(_ range: Range<Int>, into page: Page, birth: UInt64) {
    let keyed = keyed(range)
    let prefix = prefixBytes(keyed)
    let arrays = Page.arraysOffset(prefixBytes: prefix)
    let entryBytes = Page.entryBytes(level: level)
    let heap = heapBytes(range, keyed: keyed, prefix: prefix)
    let free = Page.byteCount - arrays - range.count * entryBytes - heap
    precondition(free >= 0, "Entries are built into a page only after they were found to fit.")
    let averageHeap = (heap + range.count - 1) / max(1, range.count)

    page.base.initializeMemory(as: UInt8.self, repeating: 0, count: Page.headerBytes)
    page.level = level
    page.count = range.count
    page.capacity = range.count + free / (entryBytes + averageHeap)
    page.prefixBytes = prefix
    page.heapStart = Page.byteCount
    page.arraysOffset = arrays
    page.birth = birth
    page.uniform = Page.mixedLengths
    if let first = keyed.first {
      (page.base + Page.headerBytes).copyMemory(from: key(first).base, byteCount: prefix)
    }
    write(range, keyed: keyed, prefix: prefix, to: page)
    page.setInterpolation()
  }

  private func write(_ range: Range<Int>, keyed: Range<Int>, prefix: Int, to page: Page) {
    var place = Page.byteCount
    for (slot, index) in range.enumerated() {
      let entry = entries[index]
      let hasKey = index >= keyed.lowerBound
      let suffix = hasKey ? entry.keyBytes - prefix : 0
      let rest = max(0, suffix - 8)
      place -= rest + entry.inlineBytes
      let key = SearchKey(memory + entry.keyOffset, entry.keyBytes)
      if rest > 0 { (page.base + place).copyMemory(from: key.base + (prefix + 8), byteCount: rest) }
      if entry.inlineBytes > 0 {
        (page.base + (place + rest)).copyMemory(from: key.base + key.count, byteCount: entry.inlineBytes)
      }
      page.setHead(slot, hasKey ? key.head(from: prefix) : 0)
      page.setReference(slot, entry.reference)
      page.setSlot(slot, heapOffset: place, suffixBytes: suffix)
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
