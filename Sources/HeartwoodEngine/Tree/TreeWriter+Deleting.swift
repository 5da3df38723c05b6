/// Deletes keys and rebalances the tree.
///
/// An empty page is removed. A page less than a quarter full is merged with a sibling under the same branch
/// if both fit into three quarters of a page. A root with one child is replaced by the child.
extension TreeWriter {
  private static let sparse = Page.byteCount / 4
  private static let joined = Page.byteCount * 3 / 4

  /// Deletes a key.
  ///
  /// - Complexity: O(log n).
  ///
  /// - Returns: Whether the key existed.
  func delete(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard root.reference != .none, try locate(SearchKey(bytes)) else { return false }
    try ownPath()
    path[0].page.remove(path[0].index)
    addToCounts(above: 0, 0 &- 1)
    try rebalance(0)
    return true
  }

  /// Deletes the keys of a range, leaf by leaf.
  ///
  /// - Complexity: O(k + log n) for k keys.
  ///
  /// - Returns: Number of deleted keys.
  func deleteRange(_ range: KeyRange) throws(EngineError) -> UInt64 {
    let (from, to) = range.halfOpen
    var deleted: UInt64 = 0
    while root.reference != .none {
      let count = try (from ?? []).withBytes { (from) throws(EngineError) in
        try (to ?? []).withBytes { (end) throws(EngineError) in
          try deleteInOneLeaf(from: SearchKey(from), to: to == nil ? nil : SearchKey(end))
        }
      }
      if count == 0 { break }
      deleted += count
    }
    return deleted
  }

  /// Deletes the keys of the range that are in the first leaf with any of them; returns how many.
  private func deleteInOneLeaf(from: SearchKey, to: SearchKey?) throws(EngineError) -> UInt64 {
    _ = try locate(from)
    if path[0].index == path[0].page.count {
      guard try moveToNextLeaf() else { return 0 }
    }
    let page = path[0].page
    let start = path[0].index
    let end = to.map { page.search($0).index } ?? page.count
    guard end > start else { return 0 }
    // Computed before anything is removed, because `remove` may change the page in place.
    let isWhole = start == 0 && end == page.count
    if isWhole {
      try ownPath(above: 0)
    } else {
      try ownPath()
      for index in stride(from: end - 1, through: start, by: -1) { path[0].page.remove(index) }
    }
    addToCounts(above: 0, 0 &- UInt64(end - start))
    try rebalance(0, isEmpty: isWhole)
    return UInt64(end - start)
  }

  private func ownPath(above level: Int) throws(EngineError) {
    if level < root.level { try ownPath(from: level + 1) }
  }

  /// Moves the path to the first entry of the next leaf; returns false if there is none.
  private func moveToNextLeaf() throws(EngineError) -> Bool {
    pathHolds = false
    var level = 1
    while level <= root.level, path[level].index + 1 >= path[level].page.count { level += 1 }
    guard level <= root.level else { return false }
    path[level].index += 1
    while level > 0 {
      let step = path[level]
      path[level - 1] = Step(
        page: try space.child(step.index, of: step.page), reference: step.page.child(step.index), index: 0)
      level -= 1
    }
    return true
  }

  /// Rebalances after entries were removed from the path's page at `level`.
  func rebalance(_ level: Int) throws(EngineError) {
    try rebalance(level, isEmpty: path[level].page.count == 0)
  }

  private func rebalance(_ level: Int, isEmpty: Bool) throws(EngineError) {
    if isEmpty {
      try removePage(level)
    } else if level == root.level {
      try lowerRoot()
    } else if path[level].page.usedBytes < Self.sparse {
      try mergeSiblings(level)
    }
  }

  /// Removes an empty page from the branch above it.
  private func removePage(_ level: Int) throws(EngineError) {
    pathHolds = false
    discard(path[level].reference, path[level].page)
    if level == root.level {
      root = .empty
    } else {
      path[level + 1].page.remove(path[level + 1].index)
      try rebalance(level + 1)
    }
  }

  /// Replaces a root that has one child with the child.
  private func lowerRoot() throws(EngineError) {
    while root.level > 0 {
      let page = try space.page(root)
      guard page.count == 1 else { return }
      pathHolds = false
      let old = root.reference
      root.reference = page.child(0)
      root.checksum = page.childChecksum(0)
      root.level -= 1
      discard(old, page)
    }
  }

  /// Merges a page with a sibling if both fit into `joined` bytes.
  private func mergeSiblings(_ level: Int) throws(EngineError) {
    let step = path[level]
    let parent = path[level + 1]
    guard parent.page.count > 1 else { return }
    let isRightOne = parent.index > 0
    let other = isRightOne ? parent.index - 1 : parent.index + 1
    let reference = parent.page.child(other)
    let sibling = try space.child(other, of: parent.page)
    guard step.page.usedBytes + sibling.usedBytes < Self.joined + Page.headerBytes else { return }

    let rightIndex = max(parent.index, other)
    let separator = separator(of: rightIndex, in: parent.page)
    pageBuilder.begin(level: level)
    pageBuilder.append(isRightOne ? sibling : step.page)
    pageBuilder.append(isRightOne ? step.page : sibling, separator: separator)
    guard pageBuilder.pageBytes(0..<pageBuilder.count) <= Self.joined else { return }

    pathHolds = false
    discard(reference, sibling)
    pageBuilder.build(0..<pageBuilder.count, into: step.page, birth: generation)
    let left = rightIndex - 1
    parent.page.setReference(left, step.reference.rawValue)
    parent.page.setChildChecksum(left, 0)
    parent.page.setKeyCount(left, parent.page.keyCount(left) &+ parent.page.keyCount(rightIndex))
    parent.page.remove(rightIndex)
    try rebalance(level + 1)
  }

  func separator(of index: Int, in page: Page) -> SearchKey {
    page.copyKey(index, to: separatorBuffer.writable)
    return SearchKey(separatorBuffer.bytes.bytes(0, page.keyBytes(index)))
  }

  // MARK: Evicting pages

  /// Makes the tree refer to the copies on disk of all pages that have one, so that their memory can be
  /// reused.
  ///
  /// - Precondition: The generation has no changes yet, and gets no others.
  func evictCleanPages() throws(EngineError) {
    guard root.reference.isInArena, root.reference != .none else { return }
    pathHolds = false
    let (reference, checksum) = try evict(root.reference)
    root.reference = reference
    root.checksum = checksum
  }

  private func evict(_ reference: PageReference) throws(EngineError) -> (PageReference, UInt64) {
    let page = space.arenaPage(reference)
    if let place = space.diskAddress(reference.index) {
      discardAll(reference)
      return (PageReference(rawValue: place.reference), place.checksum)
    }
    guard !page.isLeaf else { return (reference, 0) }
    let (copyReference, copy) = try makePage()
    copy.copyAll(of: page)
    copy.birth = generation
    discard(reference, page)
    for index in 0..<copy.count where copy.child(index).isInArena {
      let (child, checksum) = try evict(copy.child(index))
      copy.setReference(index, child.rawValue)
      copy.setChildChecksum(index, checksum)
    }
    return (copyReference, 0)
  }

  /// Replaces the tree under construction with a tree on disk. Nothing of the tree that the generation began
  /// from is kept.
  func replaceWhole(with other: TreeRoot) {
    pathHolds = false
    if root.reference.isInArena, root.reference != .none { discardAll(root.reference) }
    root = other
  }

  private func discardAll(_ reference: PageReference) {
    let page = space.arenaPage(reference)
    if !page.isLeaf {
      for index in 0..<page.count where page.child(index).isInArena { discardAll(page.child(index)) }
    }
    discard(reference, page)
  }
}

extension KeyRange {
  /// The range as a half-open interval. The successor of a key is the key with a zero byte appended.
  fileprivate var halfOpen: (from: [UInt8]?, to: [UInt8]?) {
    (
      lower.map { $0.isInclusive ? $0.key : $0.key + [0] },
      upper.map { $0.isInclusive ? $0.key + [0] : $0.key }
    )
  }
}
