extension Page {
  /// Checks a page that was read from disk. Searches and changes check nothing, so a page that passes must
  /// keep every later access inside its 4096 bytes and must be possible to rebuild.
  ///
  /// Called once per page, on first access, after its checksum was verified.
  ///
  /// - Complexity: O(n) in the entries.
  /// - Parameter expected: The level that the parent requires.
  /// - Returns: The fault, to follow "the page" in a sentence; nil if the page is valid.
  func validationError(level expected: Int) -> String? {
    if let error = headerError(level: expected) { return error }
    guard hasSoundEntries else { return entriesError() }
    assert(entriesError() == nil, "The two checks of a page's entries do not agree.")
    return nil
  }

  /// Checks what the header states; the entries can be read if it is valid.
  func headerError(level expected: Int) -> String? {
    let isOfLevel = level == expected
    guard isOfLevel else { return "its level is \(level) instead of \(expected)" }
    guard hasSlots || (isLeaf && bytes.field8(1) == 1 && uniform <= 8) else {
      return "it has no slots but needs them"
    }
    guard count >= 1, count <= capacity else {
      return "its entry count is \(count) with a capacity of \(capacity)"
    }
    guard prefixBytes <= Format.keyLimit, arraysOffset == Page.arraysOffset(prefixBytes: prefixBytes),
      arraysEnd <= heapStart, heapStart <= Page.byteCount, heapDead <= Page.byteCount - heapStart
    else { return "its areas overlap" }
    guard birth == 0 else { return "its birth generation is not 0" }
    guard scale >= 0, scale.isFinite else { return "its scale is not a number, or negative" }
    return nil
  }

  /// Whether the entries are valid and in order: what `entriesError` checks, several times as fast, as it finds no
  /// words for what is wrong.
  var hasSoundEntries: Bool {
    let first = isLeaf ? 0 : 1
    guard isLeaf || suffixBytes(0) == 0, firstHead == (count > first ? head(first) : 0) else { return false }
    return hasSlots ? hasSoundSlots : hasSoundSuffixes
  }

  /// The check for a leaf without slots.
  private var hasSoundSuffixes: Bool {
    guard prefixBytes &+ Int(uniform) <= Format.keyLimit else { return false }
    let references = 8 &* capacity
    let padding = uniform < 8 ? UInt64.max >> UInt64(8 &* uniform) : 0
    let start = arraysOffset
    let end = start &+ 8 &* count
    var place = start
    var former: UInt64 = 0
    var isSound = true
    while place < end {
      let head = memory.field64(place)
      let reference = memory.field64(place &+ references)
      let hasInline = reference & Page.inlineMark != 0 && reference & 0xFF != 0
      if head & padding != 0 || hasInline || head <= former && place > start { isSound = false }
      former = head
      place &+= 8
    }
    return isSound
  }

  /// The check for a page with slots.
  private var hasSoundSlots: Bool {
    let (count, isLeaf, heapStart, uniform) = (count, isLeaf, heapStart, uniform)
    let (heads, references, slots) = (arraysOffset, arraysOffset &+ 8 &* capacity, slotsOffset)
    let most = Format.keyLimit &- prefixBytes
    let first = isLeaf ? 0 : 1
    var (heapBytes, former) = (0, UInt64(0))
    for index in 0..<count {
      let head = memory.field64(heads &+ 8 &* index)
      let reference = memory.field64(references &+ 8 &* index)
      let offset = Int(memory.field16(slots &+ 4 &* index))
      let suffix = memory.field16(slots &+ 4 &* index &+ 2)
      let inline = isLeaf ? Page.inlineBytes(reference) : 0
      let bytes = max(0, Int(suffix) &- 8) &+ inline
      heapBytes &+= bytes
      guard Int(suffix) <= most, inline <= TreeEntry.inlineLimit, offset >= heapStart,
        offset &+ bytes <= Page.byteCount,
        suffix >= 8 || head & UInt64.max &>> UInt64(8 &* suffix) == 0,
        isLeaf || !PageReference(rawValue: reference).isInArena,
        suffix == uniform || uniform == Page.mixedLengths || index < first
      else { return false }
      if index > first, head <= former {
        guard head == former, isAscending(index) else { return false }
      }
      former = head
    }
    return heapBytes <= Page.byteCount &- heapStart &- heapDead
  }

  /// The first mistake in the entries or their order; nil if they are valid.
  func entriesError() -> String? {
    var heapBytes = 0
    for index in 0..<count {
      if let validationError = entryError(index) { return "its entry \(index) \(validationError)" }
      heapBytes += self.heapBytes(index)
    }
    guard heapBytes <= Page.byteCount - heapStart - heapDead else { return "its entries share bytes" }
    return orderError()
  }

  private func entryError(_ index: Int) -> String? {
    let suffix = suffixBytes(index)
    guard prefixBytes + suffix <= Format.keyLimit else { return "has a key that is too long" }
    let inline = isLeaf ? Page.inlineBytes(reference(index)) : 0
    guard inline <= TreeEntry.inlineLimit else { return "has an inline value that is too long" }
    guard hasSlots || inline == 0 else { return "has an inline value but no slot" }
    guard heapOffset(index) >= heapStart, heapOffset(index) + max(0, suffix - 8) + inline <= Page.byteCount
    else { return "points outside the heap" }
    guard suffix >= 8 || head(index) << UInt64(8 * suffix) == 0 else {
      return "has bytes in its head after the end of its key"
    }
    guard isLeaf || !child(index).isInArena else { return "does not refer to a page on disk" }
    guard uniform == Page.mixedLengths || suffix == Int(uniform) || (!isLeaf && index == 0) else {
      return "has another length than the page states"
    }
    return nil
  }

  /// Checks the order of the keys, from the first key on: entry 0's in a leaf, entry 1's in a branch.
  private func orderError() -> String? {
    let first = isLeaf ? 0 : 1
    guard isLeaf || suffixBytes(0) == 0 else { return "its first entry has a key" }
    guard firstHead == (count > first ? head(first) : 0) else { return "its copy of the first head is wrong" }
    for index in first..<count where index > first && !isAscending(index) {
      return "its entries \(index - 1) and \(index) are out of order"
    }
    return nil
  }

  /// Whether an entry's key is after the key of the entry before it.
  private func isAscending(_ index: Int) -> Bool {
    let (previous, next) = (head(index &- 1), head(index))
    if previous != next { return previous < next }
    let common = min(restBytes(index &- 1), restBytes(index))
    let order = Bytes.compare(rest(index &- 1), rest(index), common)
    return order != 0 ? order < 0 : suffixBytes(index &- 1) < suffixBytes(index)
  }
}
