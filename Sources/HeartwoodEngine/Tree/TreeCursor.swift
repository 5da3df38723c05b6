/// A place among the keys of a tree, which can be moved both ways. Stands nowhere at first.
///
/// For one thread at a time, and as long as the tree's generation is pinned.
final class TreeCursor {
  let view: TreeView
  /// The pages from the leaf (0) up to the root, and the entry taken in each.
  private let path: UnsafeMutablePointer<(page: Page, index: Int)>
  /// Made when a key is asked for: short scans are many, and most need none.
  private var keyBuffer: UnsafeMutableRawPointer?
  /// Whether it stands on an entry.
  private(set) var isValid = false

  private static let levels = TreeRoot.levelLimit + 1

  init(_ view: TreeView) {
    self.view = view
    path = .allocate(capacity: Self.levels)
  }

  deinit {
    path.deallocate()
    keyBuffer?.deallocate()
  }

  // MARK: Where it stands

  /// The key; the bytes are the cursor's, until it is asked again or moved.
  var key: UnsafeRawBufferPointer { key(inLeaf: path[0].index) }

  /// The key of an entry of the same leaf; the bytes are the cursor's, as above.
  func key(inLeaf index: Int) -> UnsafeRawBufferPointer {
    let page = path[0].page
    let buffer = keyBuffer ?? .allocate(byteCount: Format.keyLimit, alignment: 8)
    keyBuffer = buffer
    page.copyKey(index, to: buffer)
    return UnsafeRawPointer(buffer).bytes(page.keyBytes(index))
  }

  /// What the tree holds for the key.
  var entry: TreeEntry { path[0].page.entry(path[0].index) }

  var leaf: Page { path[0].page }

  /// Which entry of its leaf it stands on, and how many the leaf has.
  var indexInLeaf: Int { path[0].index }
  var leafCount: Int { path[0].page.count }

  // MARK: Moving; each returns whether it now stands on an entry

  func moveToFirst() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in 0 }
    return updateValidity()
  }

  func moveToLast() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in page.count - 1 }
    return updateValidity()
  }

  /// To the first key at or behind `bytes`.
  func seek(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if path[0].index == path[0].page.count { return try moveToNextLeaf() }
    return updateValidity()
  }

  /// To the last key before `bytes`.
  func seekBefore(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if path[0].index == 0 { return try moveToPreviousLeaf() }
    path[0].index -= 1
    return updateValidity()
  }

  /// To the key with `rank` keys before it.
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

  /// To the next key.
  @inline(__always)
  func next() throws(EngineError) -> Bool {
    guard isValid else { return false }
    if path[0].index &+ 1 < path[0].page.count {
      path[0].index &+= 1
      return true
    }
    return try moveToNextLeaf()
  }

  /// To the key before.
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

  /// Goes down from the root, taking the entry that `choose` names in each page.
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

  /// To the leaf that a key belongs to; false where there is none.
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

  /// Has the leaf beside the cursor's fetched, to which it moves next.
  func prefetchPredictedLeaf(reversed: Bool) {
    guard view.root.level > 0 else { return }
    let (branch, index) = path[1]
    let next = reversed ? index &- 1 : index &+ 1
    guard next >= 0, next < branch.count, let page = view.space.readyPage(branch.child(next), level: 0) else {
      return
    }
    // The hardware foresees pages that lie one behind the other, but not what lies in four places of them.
    if leaf.hasSlots || page.base != leaf.base + Page.byteCount {
      page.predictEntries(like: leaf, reversed: reversed)
    }
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
