extension Page {
  /// What makes a page from disk unusable; nil when every later access stays inside the page.
  ///
  /// Searches check nothing: this is looked at once, when a page is first touched, after its checksum
  /// has held.
  func flaw(level expected: Int) -> String? {
    guard level == expected else { return "its level is \(level) where \(expected) belongs" }
    guard count >= 1, count <= capacity else { return "it says to have \(count) entries of \(capacity)" }
    guard prefixBytes <= Format.keyLimit, arraysOffset == Page.arraysOffset(prefixBytes: prefixBytes),
      arraysEnd <= heapStart, heapStart <= Page.byteCount, heapDead <= Page.byteCount - heapStart
    else { return "its parts overlap" }
    guard birth == 0 else { return "it says to be under construction" }
    guard scale >= 0, scale.isFinite else { return "its scale is no number" }
    for index in 0..<count {
      if let flaw = entryFlaw(index) { return "its entry \(index) \(flaw)" }
    }
    return nil
  }

  private func entryFlaw(_ index: Int) -> String? {
    let suffix = suffixBytes(index)
    guard prefixBytes + suffix <= Format.keyLimit else { return "has too long a key" }
    let inline = isLeaf ? Page.inlineBytes(reference(index)) : 0
    guard inline <= TreeEntry.inlineLimit else { return "has too long a value" }
    guard heapOffset(index) >= heapStart, heapOffset(index) + max(0, suffix - 8) + inline <= Page.byteCount
    else { return "points out of the page" }
    guard uniform == Page.mixedLengths || suffix == Int(uniform) || (!isLeaf && index == 0) else {
      return "is not as long as the others"
    }
    return nil
  }
}
