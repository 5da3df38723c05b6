/// How many entries of a tree lead into each segment of the log, and how many of its pages lie in each segment of
/// pages: found by walking the tree once, so that writing need not keep count.
struct LiveCounts {
  /// By log segment, the values that the tree leads to.
  private(set) var values = SegmentTally()
  /// By page segment, the pages that a checkpoint would refer to and not write again.
  private(set) var pages = SegmentTally()
  private var leaves = 0
  private var usedBytes = 0
  private let space: PageSpace

  /// Walks a tree, whose generation is pinned. O(number of keys); reads no values.
  init(_ view: TreeView) throws(EngineError) {
    space = view.space
    guard view.root.reference != .none else { return }
    try visit(view.root.reference, try space.page(view.root))
  }

  /// How full the leaves are.
  var fill: Double { leaves > 0 ? Double(usedBytes) / Double(leaves * Format.pageBytes) : 1 }

  private mutating func visit(_ reference: PageReference, _ page: Page) throws(EngineError) {
    if let segment = space.pageSegment(of: reference) { pages.add(segment) }
    guard !page.isLeaf else { return visitLeaf(page) }
    for index in 0..<page.count { try visit(page.child(index), try space.child(index, of: page)) }
  }

  private mutating func visitLeaf(_ page: Page) {
    leaves += 1
    usedBytes += page.usedBytes
    let entries = LeafEntries(page)
    for index in 0..<page.count {
      if let position = entries.position(index) { values.add(position.segment) }
    }
  }
}

/// Counts by the numbers of segments, which usually lie close to one another.
struct SegmentTally {
  private var near: [Int] = []
  private var first: UInt32?
  private var far: [UInt32: Int] = [:]

  private static let nearLimit = 1 << 16

  subscript(segment: UInt32) -> Int {
    if let place = place(of: segment), place < near.count { return near[place] }
    return far[segment] ?? 0
  }

  mutating func add(_ segment: UInt32) {
    if first == nil { first = segment & ~0xFFF }
    if let place = place(of: segment) {
      while place >= near.count { near.append(0) }
      near[place] += 1
    } else {
      far[segment, default: 0] += 1
    }
  }

  private func place(of segment: UInt32) -> Int? {
    guard let first, segment >= first, Int(segment - first) < Self.nearLimit else { return nil }
    return Int(segment - first)
  }
}

/// A set of numbers of segments that is asked once for each entry of a tree.
struct SegmentSet {
  private var tally = SegmentTally()
  let numbers: [UInt32]

  init(_ numbers: [UInt32]) {
    self.numbers = numbers
    for number in numbers { tally.add(number) }
  }

  var isEmpty: Bool { numbers.isEmpty }

  @inline(__always)
  func contains(_ segment: UInt32) -> Bool { tally[segment] > 0 }
}
