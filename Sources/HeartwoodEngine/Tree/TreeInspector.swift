/// Visits every page and key of a tree and reports violated invariants.
struct TreeInspector {
  private let view: TreeView
  private let report: (String) -> Void
  private let visit: (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void
  private var seen: Set<UInt64> = []
  private var lastKey: [UInt8]?
  private(set) var pageCount = 0

  /// Inspects a tree.
  ///
  /// - Complexity: O(n) in the keys.
  ///
  /// - Parameters:
  ///   - report: Called with each finding.
  ///   - visit: Called with each key, in order, and its entry.
  /// - Returns: Number of pages.
  /// - Throws: Read errors, and what `visit` throws. Damaged pages are reported; their siblings are still
  ///   inspected.
  static func inspect(
    _ view: TreeView, report: @escaping (String) -> Void,
    visit: @escaping (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void
  ) throws(EngineError) -> Int {
    guard view.root.reference != .none else {
      if view.root.count != 0 { report("an empty tree claims to have \(view.root.count) keys") }
      return 0
    }
    var inspector = TreeInspector(view: view, report: report, visit: visit)
    let root = try view.space.page(view.root)
    let count = try inspector.inspect(
      root, view.root.reference, level: view.root.level, from: nil, to: nil)
    if count != view.root.count {
      report("the root claims \(view.root.count) keys, but there are \(count)")
    }
    return inspector.pageCount
  }

  private init(
    view: TreeView, report: @escaping (String) -> Void,
    visit: @escaping (UnsafeRawBufferPointer, TreeEntry) throws(EngineError) -> Void
  ) {
    self.view = view
    self.report = report
    self.visit = visit
  }

  private mutating func inspect(
    _ page: Page, _ reference: PageReference, level: Int, from: [UInt8]?, to: [UInt8]?
  ) throws(EngineError) -> UInt64 {
    guard seen.insert(reference.rawValue).inserted else {
      report("\(reference) is reached twice")
      return 0
    }
    pageCount += 1
    if page.level != level { report("\(reference) has level \(page.level) instead of \(level)") }
    if page.count == 0 { report("\(reference) is empty") }
    return level == 0
      ? try inspectLeaf(page, reference, from: from, to: to)
      : try inspectBranch(page, reference, level: level, from: from, to: to)
  }

  private mutating func inspectLeaf(
    _ page: Page, _ reference: PageReference, from: [UInt8]?, to: [UInt8]?
  ) throws(EngineError) -> UInt64 {
    for index in 0..<page.count {
      let key = page.key(index)
      if let lastKey, !lastKey.lexicographicallyPrecedes(key) {
        report("\(reference): keys are out of order")
      }
      if let from, key.lexicographicallyPrecedes(from) {
        report("\(reference): a key is before the range of its page")
      }
      if let to, !key.lexicographicallyPrecedes(to) {
        report("\(reference): a key is after the range of its page")
      }
      checkFound(key, index, in: page, reference)
      lastKey = key
      let entry = page.entry(index)
      try key.withBytes { (bytes) throws(EngineError) in try visit(bytes, entry) }
    }
    return UInt64(page.count)
  }

  private func checkFound(_ key: [UInt8], _ index: Int, in page: Page, _ reference: PageReference) {
    let found = key.withBytes { page.search(SearchKey($0)) }
    if !found.isFound || found.index != index {
      report("\(reference): a search does not find entry \(index)")
    }
  }

  private mutating func inspectBranch(
    _ page: Page, _ reference: PageReference, level: Int, from: [UInt8]?, to: [UInt8]?
  ) throws(EngineError) -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<page.count {
      let lower = index == 0 ? from : page.key(index)
      let upper = index == page.count - 1 ? to : page.key(index + 1)
      let child: Page
      do {
        child = try view.space.child(index, of: page)
      } catch {
        // A damaged child is reported; its siblings are still inspected.
        guard error.code == .damaged else { throw error }
        report("\(error)")
        sum &+= page.keyCount(index)
        continue
      }
      let count = try inspect(child, page.child(index), level: level - 1, from: lower, to: upper)
      if count != page.keyCount(index) {
        report("\(reference): entry \(index) claims \(page.keyCount(index)) keys, but there are \(count)")
      }
      sum &+= count
    }
    return sum
  }
}
