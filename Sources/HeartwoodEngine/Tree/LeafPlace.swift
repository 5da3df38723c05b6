/// An entry of a leaf, and the branch above it: what a scan needs to go on among neighbouring leaves. Unlike a cursor it is on the stack of
/// who scans.
struct LeafPlace {
  private(set) var leaf: Page
  fileprivate(set) var index: Int
  /// The branch above the leaf, and the entry of the leaf in it; the leaf itself if it is the root.
  private var branch: Page
  private var entry: Int

  init(_ leaf: Page, _ index: Int, below branch: Page, _ entry: Int) {
    (self.leaf, self.index, self.branch, self.entry) = (leaf, index, branch, entry)
  }

  /// The entries of the leaf from this one to the end of a range, in the direction of a scan.
  @inline(__always)
  func span(within range: KeyRange, reversed: Bool) -> Range<Int> {
    if reversed {
      let end = index &+ 1
      return min(range.lower.map(leaf.firstIndex(within:)) ?? 0, end)..<end
    }
    return index..<max(range.upper.map(leaf.endIndex(within:)) ?? leaf.count, index)
  }

  /// Prefetches the leaf that a scan goes on with.
  func prefetchNeighbour(in view: TreeView, reversed: Bool) {
    let next = reversed ? entry &- 1 : entry &+ 1
    guard view.root.level > 0, next >= 0, next < branch.count,
      let page = view.space.readyPage(branch.child(next), level: 0)
    else { return }
    // Hardware prefetches consecutive pages, but not pages with several separate areas in use.
    if leaf.hasSlots || !page.memory.follows(leaf.memory) {
      page.predictEntries(like: leaf, reversed: reversed)
    }
  }

  /// Moves to the first entry of the next leaf, or the last one of the previous leaf.
  ///
  /// - Returns: False if there is none.
  mutating func moveToNeighbour(in view: TreeView, reversed: Bool) throws(EngineError) -> Bool {
    guard view.root.level > 0 else { return false }
    let next = reversed ? entry &- 1 : entry &+ 1
    guard next >= 0, next < branch.count else { return try moveToOtherBranch(in: view, reversed: reversed) }
    leaf = try view.space.child(next, of: branch)
    (entry, index) = (next, reversed ? leaf.count &- 1 : 0)
    return true
  }

  /// The same where the branch ends: descends from the root.
  @inline(never)
  private mutating func moveToOtherBranch(in view: TreeView, reversed: Bool) throws(EngineError) -> Bool {
    let cursor = TreeCursor(view)
    let isThere = try leaf.key(0).withBytes { (key) throws(EngineError) in try cursor.seek(key) }
    guard isThere, try reversed ? cursor.moveToPreviousLeaf() : cursor.moveToNextLeaf() else { return false }
    self = cursor.place
    return true
  }
}

extension TreeView {
  /// The first entry in a range; nil if there is none at or after its beginning.
  func start(of range: KeyRange) throws(EngineError) -> LeafPlace? {
    guard let lower = range.lower else {
      let cursor = TreeCursor(self)
      return try cursor.moveToFirst() ? cursor.place : nil
    }
    guard let found = try place(of: lower.key) else { return nil }
    var place = found.place
    if found.isFound, !lower.isInclusive { place.index &+= 1 }
    if place.index == place.leaf.count, try !place.moveToNeighbour(in: self, reversed: false) { return nil }
    return place
  }

  /// The last entry in a range; nil if there is none at or before its end.
  func end(of range: KeyRange) throws(EngineError) -> LeafPlace? {
    guard let upper = range.upper else {
      let cursor = TreeCursor(self)
      return try cursor.moveToLast() ? cursor.place : nil
    }
    guard let found = try place(of: upper.key) else { return nil }
    var place = found.place
    if found.isFound, upper.isInclusive { return place }
    place.index &-= 1
    if place.index < 0, try !place.moveToNeighbour(in: self, reversed: true) { return nil }
    return place
  }

  /// The first entry at or after a key; nil if there is none.
  func start(at key: SearchKey) throws(EngineError) -> LeafPlace? {
    guard var place = try place(of: key)?.place else { return nil }
    if place.index == place.leaf.count, try !place.moveToNeighbour(in: self, reversed: false) { return nil }
    return place
  }

  /// Where a key is, or would be inserted: then the index may be that after the last entry of the leaf. Nil if the tree is empty.
  private func place(of bytes: [UInt8]) throws(EngineError) -> (place: LeafPlace, isFound: Bool)? {
    try bytes.withBytes { (bytes) throws(EngineError) in try place(of: SearchKey(bytes)) }
  }

  private func place(of key: SearchKey) throws(EngineError) -> (place: LeafPlace, isFound: Bool)? {
    guard root.reference != .none else { return nil }
    var page = try space.page(root)
    var (branch, entry) = (page, 0)
    var level = root.level
    var guess: Int?
    while level > 0 {
      (branch, entry) = (page, page.childIndex(key))
      page = try space.child(entry, of: branch, toward: key, foreseeing: &guess)
      level &-= 1
    }
    let (index, isFound) = page.search(key, near: guess)
    return (LeafPlace(page, index, below: branch, entry), isFound)
  }
}

extension Page {
  /// Index of the first entry that is within a lower bound.
  fileprivate func firstIndex(within lower: KeyRange.Bound) -> Int {
    let (index, isFound) = lower.key.withBytes { search(SearchKey($0)) }
    return isFound && !lower.isInclusive ? index + 1 : index
  }

  /// Index after the last entry that is within an upper bound.
  fileprivate func endIndex(within upper: KeyRange.Bound) -> Int {
    let (index, isFound) = upper.key.withBytes { search(SearchKey($0)) }
    return isFound && upper.isInclusive ? index + 1 : index
  }
}
