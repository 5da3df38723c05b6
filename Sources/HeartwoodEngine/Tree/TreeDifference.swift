/// Walks two trees at once, and finds the entries that differ. Pages that both trees have are not read: a tree is
/// copied on write, so what was not changed between two generations is the same page.
///
/// Each tree has a next part: a whole subtree that is not read yet, or an entry of a leaf. Two equal subtrees are
/// dropped unread; of two others the higher one, or the one that begins first, is taken apart. Entries are compared in
/// their pages; only those that differ are copied.
struct TreeDifference {
  private struct Subtree {
    let reference: PageReference
    let checksum: UInt64
    let level: Int
  }

  /// A page that is taken apart, and which of its entries is next.
  private struct Place {
    let page: Page
    var index: Int
  }

  private enum Part {
    case subtree(Subtree)
    case entry(Place)
    case end
  }

  /// One of the trees.
  private struct Side {
    let space: PageSpace
    /// The whole tree, until it is read.
    private var root: TreeRoot?
    /// The pages that are taken apart, from the root down. All but the last lead to the one after them.
    private var path: [Place] = []

    init(_ view: TreeView) {
      space = view.space
      root = view.root.reference == .none ? nil : view.root
    }

    /// The part that comes next.
    var next: Part {
      if let root {
        return .subtree(Subtree(reference: root.reference, checksum: root.checksum, level: root.level))
      }
      guard let place = path.last else { return .end }
      let (page, index) = (place.page, place.index)
      if page.isLeaf { return .entry(place) }
      return .subtree(
        Subtree(reference: page.child(index), checksum: page.childChecksum(index), level: page.level - 1))
    }

    /// An entry that no key of the next subtree precedes; nil if nothing is known.
    var lower: Place? { path.last { $0.index > 0 } }

    /// Replaces the next part, a subtree, by what it consists of.
    mutating func takeApart(_ subtree: Subtree) throws(EngineError) {
      let root = TreeRoot(
        reference: subtree.reference, checksum: subtree.checksum, level: subtree.level, count: 0)
      let page = try space.page(root)
      self.root = nil
      path.append(Place(page: page, index: 0))
      if page.count == 0 { goOn(to: 0) }
    }

    /// Drops the next part.
    mutating func drop() {
      root = nil
      if let last = path.last { goOn(to: last.index + 1) }
    }

    /// Drops the entries of the last page before an index.
    mutating func goOn(to index: Int) {
      guard let last = path.last else { return }
      path[path.count - 1].index = index
      if index < last.page.count { return }
      path.removeLast()
      while let parent = path.last {
        guard parent.index + 1 == parent.page.count else {
          path[path.count - 1].index += 1
          return
        }
        path.removeLast()
      }
    }
  }

  /// An entry of one tree.
  struct Found {
    let key: [UInt8]
    let entry: TreeEntry

    fileprivate init(_ page: Page, _ index: Int) {
      key = page.key(index)
      entry = page.entry(index)
    }
  }

  private var former: Side
  private var present: Side
  private let sharesSpace: Bool
  private let keys = KeyComparison()
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
      switch (former.next, present.next) {
      case (.end, .end): return nil
      case (.subtree(let left), .subtree(let right)): try step(left, right)
      case (.subtree(let left), .end): try takeApartFormer(left)
      case (.end, .subtree(let right)): try takeApartPresent(right)
      case (.subtree(let left), .entry(let place)):
        if follows(former, place) { return (nil, takePresent(place)) }
        try takeApartFormer(left)
      case (.entry(let place), .subtree(let right)):
        if follows(present, place) { return (takeFormer(place), nil) }
        try takeApartPresent(right)
      case (.entry(let place), .end): return (takeFormer(place), nil)
      case (.end, .entry(let place)): return (nil, takePresent(place))
      case (.entry(let left), .entry(let right)):
        if let found = pair(left, right) { return found }
      }
    }
  }

  /// Drops two equal subtrees, or takes one of them apart, or both.
  private mutating func step(_ left: Subtree, _ right: Subtree) throws(EngineError) {
    if left.reference == right.reference, left.level == right.level,
      left.reference.isInArena ? sharesSpace : left.checksum == right.checksum
    {
      former.drop()
      present.drop()
      return
    }
    if left.level != right.level {
      return left.level > right.level ? try takeApartFormer(left) : try takeApartPresent(right)
    }
    let order = orderOfLower()
    if order <= 0 { try takeApartFormer(left) }
    if order >= 0 { try takeApartPresent(right) }
  }

  /// The order of the beginnings of the next two subtrees.
  private func orderOfLower() -> Int {
    switch (former.lower, present.lower) {
    case (nil, nil): 0
    case (nil, _): -1
    case (_, nil): 1
    case (let left?, let right?): keys.order(left.page, left.index, right.page, right.index)
    }
  }

  /// Whether all keys of the next subtree of a tree come after an entry of the other one.
  private func follows(_ side: Side, _ place: Place) -> Bool {
    guard let lower = side.lower else { return false }
    return keys.order(lower.page, lower.index, place.page, place.index) > 0
  }

  private mutating func takeApartFormer(_ subtree: Subtree) throws(EngineError) {
    pageCount += 1
    try former.takeApart(subtree)
  }

  private mutating func takeApartPresent(_ subtree: Subtree) throws(EngineError) {
    pageCount += 1
    try present.takeApart(subtree)
  }

  private mutating func takeFormer(_ place: Place) -> Found {
    former.drop()
    return Found(place.page, place.index)
  }

  private mutating func takePresent(_ place: Place) -> Found {
    present.drop()
    return Found(place.page, place.index)
  }

  /// Drops the next entries of two leaves while they are equal, and takes those that are not; nil if one of the leaves
  /// ends before.
  private mutating func pair(_ left: Place, _ right: Place) -> (former: Found?, present: Found?)? {
    let (page, other) = (left.page, right.page)
    let (count, otherCount) = (page.count, other.count)
    var (index, otherIndex) = (left.index, right.index)
    let hasPrefix = page.hasPrefix(of: other)
    var found: (former: Found?, present: Found?)?
    while found == nil, index < count, otherIndex < otherCount {
      let order =
        hasPrefix
        ? page.orderBehindPrefix(index, other, otherIndex) : keys.order(page, index, other, otherIndex)
      if order != 0 || !page.hasValue(index, of: other, otherIndex) {
        found = (
          order <= 0 ? Found(page, index) : nil, order >= 0 ? Found(other, otherIndex) : nil
        )
      }
      if order <= 0 { index &+= 1 }
      if order >= 0 { otherIndex &+= 1 }
    }
    former.goOn(to: index)
    present.goOn(to: otherIndex)
    return found
  }
}
