/// The tree of one generation, for reading. Valid as long as the generation is pinned.
struct TreeView {
  let space: PageSpace
  let root: TreeRoot

  /// How many keys there are.
  var count: UInt64 { root.count }

  /// What the tree holds for a key; nil where it has no such key.
  @inline(__always)
  func find(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> TreeEntry? {
    guard root.reference != .none else { return nil }
    let key = SearchKey(bytes)
    var page = try space.page(root)
    var level = root.level
    while level > 0 {
      page = try space.child(page.childIndex(key), of: page)
      level &-= 1
    }
    let (index, isFound) = page.search(key)
    return isFound ? page.entry(index) : nil
  }

  /// How many keys come before a key. O(log n): branches know how many keys lie below their entries.
  func rank(of bytes: UnsafeRawBufferPointer) throws(EngineError) -> UInt64 {
    guard root.reference != .none else { return 0 }
    let key = SearchKey(bytes)
    var page = try space.page(root)
    var level = root.level
    var rank: UInt64 = 0
    while level > 0 {
      let index = page.childIndex(key)
      for before in 0..<index { rank &+= page.keyCount(before) }
      page = try space.child(index, of: page)
      level &-= 1
    }
    return rank &+ UInt64(page.search(key).index)
  }

  /// How many keys lie in a range.
  func count(in range: KeyRange) throws(EngineError) -> UInt64 {
    let (from, to) = range.halfOpen
    let first = try from.map { (key) throws(EngineError) in try rank(of: key) } ?? 0
    let end = try to.map { (key) throws(EngineError) in try rank(of: key) } ?? count
    return end > first ? end - first : 0
  }

  private func rank(of key: [UInt8]) throws(EngineError) -> UInt64 {
    try key.withBytes { (bytes) throws(EngineError) in try rank(of: bytes) }
  }
}

extension KeyRange {
  /// The same range as "from the first, up to but without the second". The key right behind another is
  /// that key with a zero byte added.
  var halfOpen: (from: [UInt8]?, to: [UInt8]?) {
    (
      lower.map { $0.isInclusive ? $0.key : $0.key + [0] },
      upper.map { $0.isInclusive ? $0.key + [0] : $0.key }
    )
  }
}
