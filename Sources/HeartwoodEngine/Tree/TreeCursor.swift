/// A place among the keys of a tree, which can be moved both ways. Stands nowhere at first.
///
/// For one thread at a time, and as long as the tree's generation is pinned.
final class TreeCursor {
  let view: TreeView
  /// The pages from the leaf (0) up to the root, and the entry taken in each.
  private let pages: UnsafeMutablePointer<Page>
  private let indices: UnsafeMutablePointer<Int>
  private let keyBuffer: UnsafeMutableRawPointer
  /// Whether it stands on an entry.
  private(set) var isValid = false

  private static let levels = TreeRoot.levelLimit + 1

  init(_ view: TreeView) {
    self.view = view
    pages = .allocate(capacity: Self.levels)
    indices = .allocate(capacity: Self.levels)
    keyBuffer = .allocate(byteCount: Format.keyLimit, alignment: 8)
  }

  deinit {
    pages.deallocate()
    indices.deallocate()
    keyBuffer.deallocate()
  }

  // MARK: Where it stands

  /// The key; the bytes are the cursor's, until it is asked again or moved.
  var key: UnsafeRawBufferPointer { key(inLeaf: indices[0]) }

  /// The key of an entry of the same leaf; the bytes are the cursor's, as above.
  func key(inLeaf index: Int) -> UnsafeRawBufferPointer {
    let page = pages[0]
    page.copyKey(index, to: keyBuffer)
    return UnsafeRawPointer(keyBuffer).bytes(page.keyBytes(index))
  }

  /// What the tree holds for the key.
  var entry: TreeEntry { pages[0].entry(indices[0]) }

  var leaf: Page { pages[0] }

  /// Which entry of its leaf it stands on, and how many the leaf has.
  var indexInLeaf: Int { indices[0] }
  var leafCount: Int { pages[0].count }

  // MARK: Moving; each returns whether it now stands on an entry

  func moveToFirst() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in 0 }
    return settle()
  }

  func moveToLast() throws(EngineError) -> Bool {
    try begin { (page) throws(EngineError) in page.count - 1 }
    return settle()
  }

  /// To the first key at or behind `bytes`.
  func seek(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if indices[0] == pages[0].count { return try moveToNextLeaf() }
    return settle()
  }

  /// To the last key before `bytes`.
  func seekBefore(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
    guard try descend(to: SearchKey(bytes)) else { return false }
    if indices[0] == 0 { return try moveToPreviousLeaf() }
    indices[0] -= 1
    return settle()
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
      var index = 0
      while index < page.count - 1, remaining >= page.keyCount(index) {
        remaining -= page.keyCount(index)
        index += 1
      }
      return index
    }
    if indices[0] >= leafCount { throw Self.wrongCounts }
    return settle()
  }

  private static var wrongCounts: EngineError {
    .damaged("the tree is damaged: the numbers of keys in its branches are wrong; run verify", file: nil)
  }

  /// To the next key.
  @inline(__always)
  func next() throws(EngineError) -> Bool {
    guard isValid else { return false }
    if indices[0] &+ 1 < pages[0].count {
      indices[0] &+= 1
      return true
    }
    return try moveToNextLeaf()
  }

  /// To the key before.
  @inline(__always)
  func previous() throws(EngineError) -> Bool {
    guard isValid else { return false }
    if indices[0] > 0 {
      indices[0] &-= 1
      return true
    }
    return try moveToPreviousLeaf()
  }

  // MARK: Paths

  private func settle() -> Bool {
    isValid = view.root.reference != .none
    return isValid
  }

  /// Goes down from the root, taking the entry that `choose` names in each page.
  private func begin(_ choose: (Page) throws(EngineError) -> Int) throws(EngineError) {
    isValid = false
    guard view.root.reference != .none else { return }
    pages[view.root.level] = try view.space.page(view.root)
    try descend(from: view.root.level, choose)
  }

  private func descend(from level: Int, _ choose: (Page) throws(EngineError) -> Int) throws(EngineError) {
    var level = level
    while true {
      indices[level] = try choose(pages[level])
      if level == 0 { return }
      pages[level - 1] = try view.space.child(indices[level], of: pages[level])
      level -= 1
    }
  }

  /// To the leaf that a key belongs to; false where there is none.
  private func descend(to key: SearchKey) throws(EngineError) -> Bool {
    isValid = false
    guard view.root.reference != .none else { return false }
    var page = try view.space.page(view.root)
    var level = view.root.level
    while level > 0 {
      let index = page.childIndex(key)
      pages[level] = page
      indices[level] = index
      page = try view.space.child(index, of: page)
      level &-= 1
    }
    pages[0] = page
    indices[0] = page.search(key).index
    return true
  }

  func moveToNextLeaf() throws(EngineError) -> Bool {
    isValid = false
    var level = 1
    while level <= view.root.level, indices[level] + 1 >= pages[level].count { level += 1 }
    guard level <= view.root.level else { return false }
    indices[level] += 1
    pages[level - 1] = try view.space.child(indices[level], of: pages[level])
    try descend(from: level - 1) { (page) throws(EngineError) in 0 }
    return settle()
  }

  func moveToPreviousLeaf() throws(EngineError) -> Bool {
    isValid = false
    var level = 1
    while level <= view.root.level, indices[level] == 0 { level += 1 }
    guard level <= view.root.level else { return false }
    indices[level] -= 1
    pages[level - 1] = try view.space.child(indices[level], of: pages[level])
    try descend(from: level - 1) { (page) throws(EngineError) in page.count - 1 }
    return settle()
  }
}
