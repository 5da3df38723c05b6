/// A position among the keys of a tree that moves in both directions. Invalid until moved for the first time.
///
/// Used by one thread at a time, while the tree's generation is pinned.
final class TreeCursor {
  let view: TreeView
  /// The pages from the leaf (0) up to the root, and the chosen entry of each.
  private let path = FixedArray<Place>(count: TreeRoot.levelLimit + 1)
  /// Allocated when a key is first asked for: most scans are short and need no key.
  @exclusivity(unchecked) private var keyBuffer: OwnedBytes?
  /// Whether the cursor is on an entry.
  private(set) var isValid = false

  private struct Place {
    var page: Page
    var index: Int
  }

  init(_ view: TreeView) { self.view = view }

  // MARK: Position

  /// The key. The cursor owns the bytes; they are valid until the next call of `key` or the next move.
  var key: UnsafeRawBufferPointer { key(inLeaf: path[0].index) }

  /// The key of another entry of the same leaf; valid as for `key`.
  func key(inLeaf index: Int) -> UnsafeRawBufferPointer {
    let page = path[0].page
    let buffer = keyMemory()
    page.copyKey(index, to: buffer)
    return buffer.bytes.bytes(0, page.keyBytes(index)).buffer
  }

  @inline(__always)
  private func keyMemory() -> WritableBytes {
    if let memory = keyBuffer?.writable { return memory }
    let made = OwnedBytes(count: Format.keyLimit)
    let memory = made.writable
    keyBuffer = consume made
    return memory
  }

  /// The entry of the key.
  var entry: TreeEntry { path[0].page.entry(path[0].index) }

  var leaf: Page { path[0].page }

  /// The entry without the path to it.
  var place: LeafPlace {
    let branch = path[min(1, view.root.level)]
    return LeafPlace(leaf, indexInLeaf, below: branch.page, branch.index)
  }

  /// Index of the current entry in its leaf, and number of entries of the leaf.
  var indexInLeaf: Int { path[0].index }
  var leafCount: Int { path[0].page.count }

  // MARK: Moving; each method returns whether the cursor is on an entry then

  func moveToFirst() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in 0 }
    return updateValidity()
  }

  func moveToLast() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in page.count - 1 }
    return updateValidity()
  }

  /// Moves to the first key at or after `bytes`.
  ///
  /// - Complexity: O(log n).
  func seek(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if path[0].index == path[0].page.count { return try moveToNextLeaf() }
    return updateValidity()
  }

  /// Moves to the last key before `bytes`.
  ///
  /// - Complexity: O(log n).
  func seekBefore(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if path[0].index == 0 { return try moveToPreviousLeaf() }
    path[0].index -= 1
    return updateValidity()
  }

  /// Moves to the key with `rank` keys before it.
  ///
  /// - Complexity: O(log n).
  func seek(rank: UInt64) throws(EngineError) -> Bool {
    guard rank < view.count else {
      isValid = false
      return false
    }
    var remaining = rank
    try begin { (page) throws(EngineError) in
      if page.isLeaf { return Int(min(remaining, UInt64(page.count))) }
      return page.childIndex(rank: &remaining)
    }
    if path[0].index >= leafCount { throw TreeView.wrongCounts }
    return updateValidity()
  }

  /// Moves to the next key.
  @inline(__always)
  func next() throws(EngineError) -> Bool {
    guard isValid else { return false }
    if path[0].index &+ 1 < path[0].page.count {
      path[0].index &+= 1
      return true
    }
    return try moveToNextLeaf()
  }

  /// Moves to the previous key.
  @inline(__always)
  func previous() throws(EngineError) -> Bool {
    guard isValid else { return false }
    if path[0].index > 0 {
      path[0].index &-= 1
      return true
    }
    return try moveToPreviousLeaf()
  }

  // MARK: Paths

  private func updateValidity() -> Bool {
    isValid = view.root.reference != .none
    return isValid
  }

  /// Descends from the root through the entries that `choose` returns.
  private func begin(_ choose: (Page) throws(EngineError) -> Int) throws(EngineError) {
    isValid = false
    guard view.root.reference != .none else { return }
    path[view.root.level].page = try view.space.page(view.root)
    try descend(from: view.root.level, choose)
  }

  private func descend(from level: Int, _ choose: (Page) throws(EngineError) -> Int) throws(EngineError) {
    var level = level
    while true {
      path[level].index = try choose(path[level].page)
      if level == 0 { return }
      path[level - 1].page = try view.space.child(path[level].index, of: path[level].page)
      level -= 1
    }
  }

  /// Descends to the leaf that covers a key; returns false if the tree is empty.
  private func descend(to key: SearchKey) throws(EngineError) -> Bool {
    isValid = false
    guard view.root.reference != .none else { return false }
    var page = try view.space.page(view.root)
    var level = view.root.level
    var guess: Int?
    while level > 0 {
      let index = page.childIndex(key)
      path[level].page = page
      path[level].index = index
      page = try view.space.child(index, of: page, toward: key, foreseeing: &guess)
      level &-= 1
    }
    path[0].page = page
    path[0].index = page.search(key, near: guess).index
    return true
  }

  func moveToNextLeaf() throws(EngineError) -> Bool {
    isValid = false
    var level = 1
    while level <= view.root.level, path[level].index + 1 >= path[level].page.count { level += 1 }
    guard level <= view.root.level else { return false }
    path[level].index += 1
    path[level - 1].page = try view.space.child(path[level].index, of: path[level].page)
    try descend(from: level - 1) { (page) throws(EngineError) in 0 }
    return updateValidity()
  }

  func moveToPreviousLeaf() throws(EngineError) -> Bool {
    isValid = false
    var level = 1
    while level <= view.root.level, path[level].index == 0 { level += 1 }
    guard level <= view.root.level else { return false }
    path[level].index -= 1
    path[level - 1].page = try view.space.child(path[level].index, of: path[level].page)
    try descend(from: level - 1) { (page) throws(EngineError) in page.count - 1 }
    return updateValidity()
  }
}
