/// Number of live values in each log segment and of live pages in each page segment, counted in one walk of the tree, so
/// that writes need not maintain counts.
struct LiveCounts {
  /// By log segment, the values that the tree references.
  private(set) var values = SegmentMap(Values())
  /// By page segment, the pages that a checkpoint would reference without writing them again.
  private(set) var pages = SegmentMap(0)
  private(set) var leaves = 0
  private var usedBytes = 0
  private let space: PageSpace

  struct Values {
    var count = 0
    /// Number of leaves that reference them.
    var leaves = 0
    fileprivate var lastLeaf = 0
  }

  /// Walks a tree. Reads no values.
  ///
  /// - Precondition: The tree's generation is pinned.
  /// - Complexity: O(number of keys).
  init(_ view: TreeView) throws(EngineError) {
    space = view.space
    guard view.root.reference != .none else { return }
    try visit(view.root.reference, try space.page(view.root))
  }

  /// Average fill of the leaves, 0 to 1; 1 if there are none.
  var fill: Double { leaves > 0 ? Double(usedBytes) / Double(leaves * Format.pageBytes) : 1 }

  private mutating func visit(_ reference: PageReference, _ page: Page) throws(EngineError) {
    if let segment = space.pageSegment(of: reference) { pages.update(segment) { $0 += 1 } }
    guard !page.isLeaf else { return visitLeaf(page) }
    for index in 0..<page.count { try visit(page.child(index), try space.child(index, of: page)) }
  }

  private mutating func visitLeaf(_ page: Page) {
    leaves += 1
    usedBytes += page.usedBytes
    let entries = LeafEntries(page)
    for index in 0..<page.count {
      guard let position = entries.position(index) else { continue }
      values.update(position.segment) { [leaves] in
        $0.count += 1
        if $0.lastLeaf != leaves { ($0.lastLeaf, $0.leaves) = (leaves, $0.leaves + 1) }
      }
    }
  }
}

/// A map with segment numbers as keys, whose lookup is fast for numbers close to the first one.
struct SegmentMap<Element> {
  private let initial: Element
  private var near: [Element] = []
  private var first: UInt32?
  private var far: [UInt32: Element] = [:]

  private static var nearLimit: Int { 1 << 16 }

  init(_ initial: Element) { self.initial = initial }

  subscript(segment: UInt32) -> Element {
    if let place = place(of: segment), place < near.count { return near[place] }
    return far[segment] ?? initial
  }

  @inline(__always)
  mutating func update(_ segment: UInt32, _ change: (inout Element) -> Void) {
    if first == nil { first = segment & ~0xFFF }
    if let place = place(of: segment) {
      while place >= near.count { near.append(initial) }
      change(&near[place])
    } else {
      var element = far[segment] ?? initial
      change(&element)
      far[segment] = element
    }
  }

  private func place(of segment: UInt32) -> Int? {
    guard let first, segment >= first, Int(segment - first) < Self.nearLimit else { return nil }
    return Int(segment - first)
  }
}
