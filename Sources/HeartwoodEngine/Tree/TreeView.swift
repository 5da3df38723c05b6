/// The tree of one generation, for reading. Valid while the generation is pinned.
struct TreeView {
  let space: PageSpace
  let root: TreeRoot

  /// Number of keys.
  var count: UInt64 { root.count }

  /// The entry of a key; nil if the tree does not contain it.
  ///
  /// - Complexity: O(log n).
  @inline(__always)
  func find(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> TreeEntry? {
    try space.find(SearchKey(bytes), from: root)
  }

  /// Number of keys before a key; `andItself` adds the key itself if it exists. O(log n), because branches
  /// store the number of keys below their entries.
  func rank(of bytes: UnsafeRawBufferPointer, andItself: Bool = false) throws(EngineError) -> UInt64 {
    guard root.reference != .none else { return 0 }
    let key = SearchKey(bytes)
    var page = try space.page(root)
    var level = root.level
    var rank: UInt64 = 0
    var guess: Int?
    while level > 0 {
      let index = page.childIndex(key)
      for before in 0..<index { rank &+= page.keyCount(before) }
      page = try space.child(index, of: page, toward: key, foreseeing: &guess)
      level &-= 1
    }
    let (index, isFound) = page.search(key, near: guess)
    return rank &+ UInt64(isFound && andItself ? index &+ 1 : index)
  }

  /// Number of keys in a range.
  ///
  /// - Complexity: O(log n).
  func count(in range: KeyRange) throws(EngineError) -> UInt64 {
    let first = try range.lower.map { (lower) throws(EngineError) in
      try rank(of: lower.key, andItself: !lower.isInclusive)
    }
    let end = try range.upper.map { (upper) throws(EngineError) in
      try rank(of: upper.key, andItself: upper.isInclusive)
    }
    let (from, to) = (first ?? 0, end ?? count)
    return to > from ? to - from : 0
  }

  private func rank(of key: [UInt8], andItself: Bool) throws(EngineError) -> UInt64 {
    try key.withBytes { (bytes) throws(EngineError) in try rank(of: bytes, andItself: andItself) }
  }

  /// The leaf of the key with `rank` keys before it, and its index there; nil if `rank` is not less than
  /// `count`.
  /// - Complexity: O(log n).
  func place(at rank: UInt64) throws(EngineError) -> (leaf: Page, index: Int)? {
    guard rank < count, root.reference != .none else { return nil }
    var page = try space.page(root)
    var level = root.level
    var remaining = rank
    while level > 0 {
      page = try space.child(page.childIndex(rank: &remaining), of: page)
      level &-= 1
    }
    guard remaining < UInt64(page.count) else { throw Self.wrongCounts }
    return (page, Int(remaining))
  }

  static var wrongCounts: EngineError {
    .damaged("the tree is damaged: the numbers of keys in its branches are wrong; run verify", file: nil)
  }
}

extension PageSpace {
  /// The entry of a key in the tree of `root`; nil if the tree does not contain it.
  @inline(__always)
  func find(_ key: SearchKey, from root: TreeRoot) throws(EngineError) -> TreeEntry? {
    guard root.reference != .none else { return nil }
    var page = try page(root)
    var level = root.level
    var guess: Int?
    while level > 0 {
      page = try child(page.childIndex(key), of: page, toward: key, foreseeing: &guess)
      level &-= 1
    }
    let (index, isFound) = page.search(key, near: guess)
    return isFound ? page.entry(index) : nil
  }
}
