/// Walks two trees at once, and finds the entries that differ. Pages that both trees have are not read: a tree is copied on write, so what was not
/// changed between two generations is the same page.
///
/// Each tree is a list of parts that are still to come, the next one last: whole subtrees, and entries of leaves. Two equal subtrees are dropped
/// unread; of two others the higher one, or the one that begins first, is taken apart.
struct TreeDifference {
  /// A subtree that was not read yet, or an entry of a leaf.
  private enum Part {
    case subtree(Subtree)
    case entry(Page, Int)
  }

  private struct Subtree {
    let reference: PageReference
    let checksum: UInt64
    let level: Int
    /// No key of it precedes this one; nil if nothing is known.
    let lower: [UInt8]?

    /// Whether all keys of the subtree come after a key.
    func follows(_ key: [UInt8]) -> Bool { lower.map { key.lexicographicallyPrecedes($0) } ?? false }
  }

  /// One of the trees.
  private struct Side {
    let space: PageSpace
    var parts: [Part]

    init(_ view: TreeView) {
      space = view.space
      let root = view.root
      parts =
        root.reference == .none
        ? []
        : [
          .subtree(
            Subtree(reference: root.reference, checksum: root.checksum, level: root.level, lower: nil))
        ]
    }

    /// Replaces the next part, a subtree, by what it consists of.
    ///
    /// - Complexity: Linear in the entries of one page.
    mutating func takeApart(_ subtree: Subtree) throws(EngineError) {
      let root = TreeRoot(
        reference: subtree.reference, checksum: subtree.checksum, level: subtree.level, count: 0)
      let page = try space.page(root)
      parts.removeLast()
      guard subtree.level > 0 else {
        for index in stride(from: page.count - 1, through: 0, by: -1) { parts.append(.entry(page, index)) }
        return
      }
      for index in stride(from: page.count - 1, through: 0, by: -1) {
        let child = Subtree(
          reference: page.child(index), checksum: page.childChecksum(index), level: subtree.level - 1,
          lower: index == 0 ? subtree.lower : page.key(index))
        parts.append(.subtree(child))
      }
    }
  }

  /// An entry of one tree.
  struct Found {
    let key: [UInt8]
    let entry: TreeEntry
  }

  private var former: Side
  private var present: Side
  private let sharesSpace: Bool
  /// How many pages were read.
  private(set) var pageCount = 0

  init(from former: TreeView, to present: TreeView) {
    self.former = Side(former)
    self.present = Side(present)
    sharesSpace = former.space === present.space
  }

  /// The next entries that differ, of one key; nil at the end. Of two entries, the values may still be equal.
  mutating func next() throws(EngineError) -> (former: Found?, present: Found?)? {
    while true {
      switch (former.parts.last, present.parts.last) {
      case (nil, nil): return nil
      case (.subtree(let left)?, .subtree(let right)?):
        try step(left, right)
      case (.subtree(let left)?, nil): try takeApartFormer(left)
      case (nil, .subtree(let right)?): try takeApartPresent(right)
      case (.subtree(let left)?, .entry(let page, let index)?):
        let key = page.key(index)
        guard left.follows(key) else { try takeApartFormer(left); continue }
        present.parts.removeLast()
        return (nil, Found(key: key, entry: page.entry(index)))
      case (.entry(let page, let index)?, .subtree(let right)?):
        let key = page.key(index)
        guard right.follows(key) else { try takeApartPresent(right); continue }
        former.parts.removeLast()
        return (Found(key: key, entry: page.entry(index)), nil)
      case (.entry(let page, let index)?, nil):
        former.parts.removeLast()
        return (Found(key: page.key(index), entry: page.entry(index)), nil)
      case (nil, .entry(let page, let index)?):
        present.parts.removeLast()
        return (nil, Found(key: page.key(index), entry: page.entry(index)))
      case (.entry(let left, let index)?, .entry(let right, let other)?):
        if let found = pair(left, index, right, other) { return found }
      }
    }
  }

  /// Drops two equal subtrees, or takes one of them apart, or both.
  private mutating func step(_ left: Subtree, _ right: Subtree) throws(EngineError) {
    if left.reference == right.reference, left.level == right.level,
      left.reference.isInArena ? sharesSpace : left.checksum == right.checksum
    {
      former.parts.removeLast()
      present.parts.removeLast()
      return
    }
    if left.level != right.level {
      return left.level > right.level ? try takeApartFormer(left) : try takeApartPresent(right)
    }
    let order = Self.order(left.lower ?? [], right.lower ?? [])
    if order <= 0 { try takeApartFormer(left) }
    if order >= 0 { try takeApartPresent(right) }
  }

  private mutating func takeApartFormer(_ subtree: Subtree) throws(EngineError) {
    pageCount += 1
    try former.takeApart(subtree)
  }

  private mutating func takeApartPresent(_ subtree: Subtree) throws(EngineError) {
    pageCount += 1
    try present.takeApart(subtree)
  }

  /// Takes the next entries of both; nil if they are the same value in the log.
  private mutating func pair(
    _ left: Page, _ index: Int, _ right: Page, _ other: Int
  ) -> (former: Found?, present: Found?)? {
    let (key, otherKey) = (left.key(index), right.key(other))
    let order = Self.order(key, otherKey)
    let isSame = order == 0 && left.reference(index) == right.reference(other)
    if order <= 0 { former.parts.removeLast() }
    if order >= 0 { present.parts.removeLast() }
    if isSame, left.reference(index) & Page.inlineMark == 0 { return nil }
    return (
      order <= 0 ? Found(key: key, entry: left.entry(index)) : nil,
      order >= 0 ? Found(key: otherKey, entry: right.entry(other)) : nil
    )
  }

  /// Less than 0 if the first key precedes the second one, 0 if they are equal.
  private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
    if left == right { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}
