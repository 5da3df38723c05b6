/// Compacts leaves that splits and deletes have left partly empty.
extension TreeWriter {
  /// Target size of a compacted leaf in bytes: some room is left for changes.
  private static let packed = Page.byteCount * 15 / 16

  /// Fills the leaf of a key from the leaves to the right of it under the same branch.
  func compactLeaf(at bytes: UnsafeRawBufferPointer) throws(EngineError) {
    guard root.reference != .none else { return }
    repeat { _ = try locate(SearchKey(bytes)) } while try fillFromRight()
  }

  /// Moves entries from the next leaf into the path's leaf.
  ///
  /// - Returns: Whether the next leaf was emptied and removed.
  private func fillFromRight() throws(EngineError) -> Bool {
    guard root.level > 0, path[1].index + 1 < path[1].page.count, path[0].page.usedBytes < Self.packed else {
      return false
    }
    let next = path[1].index + 1
    let (reference, sibling) = (path[1].page.child(next), try space.child(next, of: path[1].page))
    gather(sibling, separator: separator(of: next, in: path[1].page))
    let cut = mostThatFits(Self.packed)
    guard cut > path[0].page.count else { return false }

    try ownPath()
    let parent = path[1]
    pathHolds = false
    discard(reference, sibling)
    parent.page.remove(next)
    pageBuilder.build(0..<cut, into: path[0].page, birth: generation)
    guard cut < pageBuilder.count else {
      parent.page.setKeyCount(parent.index, UInt64(cut))
      try rebalance(1)
      return true
    }
    try addRight(0, from: cut, leftCount: UInt64(cut))
    return false
  }

  private func gather(_ sibling: Page, separator: SearchKey) {
    pageBuilder.begin(level: 0)
    pageBuilder.append(path[0].page)
    pageBuilder.append(sibling, separator: separator)
  }

  /// The number of the builder's entries that make a page of at most this many bytes.
  private func mostThatFits(_ bytes: Int) -> Int {
    var (low, high) = (0, pageBuilder.count)
    while low < high {
      let middle = (low + high + 1) / 2
      if pageBuilder.pageBytes(0..<middle) <= bytes { low = middle } else { high = middle - 1 }
    }
    return low
  }
}
