/// A position in a b-tree, which moves from record to record in order. The memory it needs does not depend on the
/// size of the tree.
///
/// One thread uses it at a time, and no call reaches it from within another: access to its state needs no check, which
/// would be done for each row.
final class TreeCursor {
  let source: PageSource
  let kind: TreeKind
  let root: UInt32

  private struct Level {
    var page: TreePage
    var block: ByteBlock
    /// The child in which the cursor is.
    var child: Int
    /// The largest rowid that the parent allows in this page.
    var bound: Int64
  }
  @exclusivity(unchecked) private var levels: [Level] = []
  /// The page of the current record.
  @exclusivity(unchecked) private(set) var page: TreePage
  /// The memory of `page`.
  @exclusivity(unchecked) private(set) var block: ByteBlock
  /// The number of the current record's cell in `page`, or -1 before the first.
  @exclusivity(unchecked) private(set) var index = -1
  @exclusivity(unchecked) private(set) var cell = TreeCell()
  @exclusivity(unchecked) private var inLeaf = true
  @exclusivity(unchecked) private var bound = Int64.max
  @exclusivity(unchecked) private var lastRowid = Int64.min
  @exclusivity(unchecked) private var isFirst = true
  @exclusivity(unchecked) private var isFinished = false
  /// Pages that were read since the cursor began: each page can be met once only.
  @exclusivity(unchecked) private var budget: Int
  private let limit: Int

  /// A page has at least two children, but SQLite too stops here.
  static let maximumDepth = 40

  /// Before the first record.
  init(_ source: PageSource, _ kind: TreeKind, root: UInt32) throws(SQLiteError) {
    (self.source, self.kind, self.root) = (source, kind, root)
    budget = source.readablePageCount
    limit = min(source.readablePageCount * source.usableSize, Int(Int32.max))
    block = try source.cached(root)
    page = try TreePage(root, block, kind, usableSize: source.usableSize)
    try descend()
  }

  /// Before the first record whose rowid is at least `rowid`.
  init(_ source: PageSource, root: UInt32, from rowid: Int64) throws(SQLiteError) {
    (self.source, self.kind, self.root) = (source, .table, root)
    budget = source.readablePageCount
    limit = min(source.readablePageCount * source.usableSize, Int(Int32.max))
    block = try source.cached(root)
    page = try TreePage(root, block, .table, usableSize: source.usableSize)
    while !page.isLeaf {
      let (child, key) = try firstChild(atLeast: rowid)
      try enter(child, bound: key, cached: true)
    }
    var (low, high) = (0, page.cellCount)
    while low < high {
      let middle = (low + high) / 2
      if try page.record(middle, .table, limit: limit).rowid < rowid {
        low = middle + 1
      } else {
        high = middle
      }
    }
    index = low - 1
    if low > 0 { (lastRowid, isFirst) = (try page.record(low - 1, .table, limit: limit).rowid, false) }
  }

  /// Before the first record of an index for which `isBefore` is false; those for which it is true come first.
  init(
    _ source: PageSource, index root: UInt32, after isBefore: (TreeCursor) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    (self.source, self.kind, self.root) = (source, .index, root)
    budget = source.readablePageCount
    limit = min(source.readablePageCount * source.usableSize, Int(Int32.max))
    block = try source.cached(root)
    page = try TreePage(root, block, .index, usableSize: source.usableSize)
    while true {
      var (low, high) = (0, page.cellCount)
      while low < high {
        let middle = (low + high) / 2
        cell = try page.record(middle, .index, limit: limit)
        index = middle
        if try isBefore(self) { low = middle + 1 } else { high = middle }
      }
      index = low - 1
      if page.isLeaf { break }
      try enter(low, bound: .max, cached: true)
    }
    inLeaf = true
  }

  /// Moves to the next record; false behind the last.
  @inline(__always)
  func next() throws(SQLiteError) -> Bool {
    if inLeaf {
      index += 1
      if index < page.cellCount {
        try load()
        return true
      }
    }
    return try nextPage()
  }

  /// Moves behind the records of the leaf in which the cursor is, without reading them; returns their number.
  func skipLeaf() throws(SQLiteError) -> Int? {
    if inLeaf, index < page.cellCount {
      let count = page.cellCount - index - 1
      index = page.cellCount
      if count > 0 { return count }
    }
    return try nextPage() ? 1 : nil
  }

  @inline(__always)
  private func load() throws(SQLiteError) {
    cell = try page.record(index, kind, limit: limit)
    if kind == .table {
      guard isFirst || cell.rowid > lastRowid, cell.rowid <= bound else { throw disorder() }
      (lastRowid, isFirst) = (cell.rowid, false)
    }
  }

  private func disorder() -> SQLiteError {
    .damaged(
      "Rowid \(cell.rowid) is out of order: after \(lastRowid), and at most \(bound) can be here.",
      page: page.number,
      offset: page.array + 2 * index)
  }

  /// Moves to the next record when the leaf has no more.
  private func nextPage() throws(SQLiteError) -> Bool {
    while true {
      if isFinished { return false }
      if kind == .index, !inLeaf {
        // The record of an inner page was the current one: what is behind it follows.
        levels[levels.count - 1].child += 1
        try enterCurrentChild()
      } else {
        guard try ascend() else {
          isFinished = true
          return false
        }
        if kind == .index {
          inLeaf = false
          let level = levels[levels.count - 1]
          (page, block, index) = (level.page, level.block, level.child)
          try load()
          return true
        }
        levels[levels.count - 1].child += 1
        try enterCurrentChild()
      }
      index += 1
      if index < page.cellCount {
        try load()
        return true
      }
    }
  }

  /// Leaves pages in which nothing follows; false if that was the root.
  private func ascend() throws(SQLiteError) -> Bool {
    while let level = levels.last {
      if level.child < level.page.cellCount { return true }
      levels.removeLast()
    }
    return false
  }

  private func enterCurrentChild() throws(SQLiteError) {
    guard let level = levels.popLast() else { return }
    (page, block) = (level.page, level.block)
    let bound = kind == .table && level.child < page.cellCount ? try page.key(level.child) : level.bound
    self.bound = level.bound
    if kind == .table, level.child > 0 {
      // A search for a rowid up to this key does not look behind it.
      (lastRowid, isFirst) = (max(lastRowid, try page.key(level.child - 1)), false)
    }
    try enter(level.child, bound: min(bound, level.bound))
    try descend()
  }

  /// Goes down to the first leaf.
  private func descend() throws(SQLiteError) {
    while !page.isLeaf {
      let bound = kind == .table && page.cellCount > 0 ? min(try page.key(0), self.bound) : self.bound
      try enter(0, bound: bound)
    }
    index = -1
    inLeaf = true
  }

  /// Goes down by one page.
  private func enter(_ child: Int, bound: Int64, cached: Bool = false) throws(SQLiteError) {
    let parent = page
    let number = try parent.child(child)
    guard levels.count < Self.maximumDepth, budget > 0 else {
      throw SQLiteError.damaged(
        "The tree of page \(root) leads to page \(number) once more: its pages form a circle.",
        page: parent.number,
        offset: parent.array)
    }
    budget -= 1
    levels.append(Level(page: parent, block: block, child: child, bound: self.bound))
    self.bound = bound
    // Inner pages above leaves are met again by searches; leaves of a scan are not.
    let block = try cached ? source.cached(number) : source.read(number)
    (page, self.block) = (try TreePage(number, block, kind, usableSize: source.usableSize), block)
  }

  private func firstChild(atLeast rowid: Int64) throws(SQLiteError) -> (Int, Int64) {
    var (low, high) = (0, page.cellCount)
    while low < high {
      let middle = (low + high) / 2
      if try page.key(middle) < rowid { low = middle + 1 } else { high = middle }
    }
    return (low, low < page.cellCount ? min(try page.key(low), bound) : bound)
  }
}
