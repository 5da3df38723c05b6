extension Page {
  /// What makes a page from disk unusable; nil when every later access stays inside the page, and the page can
  /// be taken apart and put together again.
  ///
  /// Searches and changes check nothing: this is looked at once, when a page is first touched, after its
  /// checksum has held.
  func validationError(level expected: Int) -> String? {
    let isOfLevel = level == expected
    guard isOfLevel else { return "its level is \(level) where \(expected) belongs" }
    guard hasSlots || (isLeaf && raw.field8(1) == 1 && uniform <= 8) else {
      return "it can't be without slots"
    }
    guard count >= 1, count <= capacity else { return "it says to have \(count) entries of \(capacity)" }
    guard prefixBytes <= Format.keyLimit, arraysOffset == Page.arraysOffset(prefixBytes: prefixBytes),
      arraysEnd <= heapStart, heapStart <= Page.byteCount, heapDead <= Page.byteCount - heapStart
    else { return "its parts overlap" }
    guard birth == 0 else { return "it says to be under construction" }
    guard scale >= 0, scale.isFinite else { return "its scale is no number" }
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
    guard prefixBytes + suffix <= Format.keyLimit else { return "has too long a key" }
    let inline = isLeaf ? Page.inlineBytes(reference(index)) : 0
    guard inline <= TreeEntry.inlineLimit else { return "has too long a value" }
    guard hasSlots || inline == 0 else { return "has a value for which there is no slot" }
    guard heapOffset(index) >= heapStart, heapOffset(index) + max(0, suffix - 8) + inline <= Page.byteCount
    else { return "points out of the page" }
    guard suffix >= 8 || head(index) << UInt64(8 * suffix) == 0 else { return "has more key than it says" }
    guard isLeaf || !child(index).isInArena else { return "leads to no page of a file" }
    guard uniform == Page.mixedLengths || suffix == Int(uniform) || (!isLeaf && index == 0) else {
      return "is not as long as the others"
    }
    return nil
  }

  /// Searches begin at the first key, which in a branch is entry 1's.
  private func orderError() -> String? {
    let first = isLeaf ? 0 : 1
    guard isLeaf || suffixBytes(0) == 0 else { return "its first entry has a key" }
    guard firstHead == (count > first ? head(first) : 0) else { return "its first head is another" }
    for index in first..<count where index > first && !isAscending(index) {
      return "its entries \(index - 1) and \(index) are out of order"
    }
    return nil
  }

  /// Whether the key of an entry comes behind that of the entry before.
  private func isAscending(_ index: Int) -> Bool {
    let (previous, next) = (head(index &- 1), head(index))
    if previous != next { return previous < next }
    let common = min(restBytes(index &- 1), restBytes(index))
    let order = SearchKey.compare(rest(index &- 1), rest(index), common)
    return order != 0 ? order < 0 : suffixBytes(index &- 1) < suffixBytes(index)
  }
}
