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
