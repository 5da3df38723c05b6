/// One pass over the entries of a range.
///
/// The scan works leaf by leaf, so that work common to a leaf's entries is done once. The keys it passes are
/// those of the records, compared with the leaf in place, so that no key is assembled.
struct RangeScan {
  typealias Body = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool

  private let range: KeyRange
  private let reversed: Bool
  private let validity: ReadValidity?
  private let cursor: TreeCursor
  private let view: ReadView
  private var records: RecordRun

  init(_ view: ReadView, _ range: KeyRange, reversed: Bool, validity: ReadValidity?) {
    self.range = range
    self.reversed = reversed
    self.validity = validity
    cursor = TreeCursor(view.view)
    self.view = view
    records = RecordRun(view)
  }

  /// Calls `body` with each entry until it returns false.
  mutating func run(_ body: Body) throws {
    var isStanding = try reversed ? cursor.moveToEnd(of: range) : cursor.moveToStart(of: range)
    while isStanding {
      let span = cursor.span(within: range, reversed: reversed)
      let continuesAfter = reversed ? span.lowerBound == 0 : span.upperBound == cursor.leafCount
      if continuesAfter { cursor.prefetchPredictedLeaf(reversed: reversed) }
      guard try visit(span, body), continuesAfter else { return }
      isStanding = try reversed ? cursor.moveToPreviousLeaf() : cursor.moveToNextLeaf()
    }
  }

  /// Calls `body` with a range of the leaf's entries.
  ///
  /// - Returns: Whether to continue after them.
  @inline(never)
  private mutating func visit(_ span: Range<Int>, _ body: Body) throws -> Bool {
    let leaf = LeafEntries(cursor.leaf)
    let step = reversed ? -1 : 1
    var index = reversed ? span.upperBound &- 1 : span.lowerBound
    var left = span.count
    records.fetch(leaf, index, min(left, RecordRun.reach), step)
    while left > 0 {
      let ahead = min(left &- RecordRun.reach, RecordRun.batch)
      if ahead > 0 { records.fetch(leaf, index &+ RecordRun.reach &* step, ahead, step) }
      let count = min(left, RecordRun.batch)
      left &-= count
      let end = index &+ count &* step
      while index != end {
        guard try visit(index, of: leaf, body) else { return false }
        try validity?.check()
        index &+= step
      }
    }
    return true
  }

  @inline(__always)
  private mutating func visit(_ index: Int, of leaf: LeafEntries, _ body: Body) throws -> Bool {
    guard let reference = leaf.position(index) else {
      return try body(cursor.key(inLeaf: index), leaf.inlineValue(index))
    }
    let record = try records.record(at: reference, of: leaf, index)
    return try body(record.key, try view.value(of: record, at: reference))
  }
}

extension TreeCursor {
  /// The entries of the leaf from the cursor's to the end of a range, in the direction of the scan.
  fileprivate func span(within range: KeyRange, reversed: Bool) -> Range<Int> {
    if reversed {
      let end = indexInLeaf + 1
      return min(range.lower.map(leaf.firstIndex(within:)) ?? 0, end)..<end
    }
    return indexInLeaf..<max(range.upper.map(leaf.endIndex(within:)) ?? leafCount, indexInLeaf)
  }

  /// Moves to the first entry in the range.
  fileprivate func moveToStart(of range: KeyRange) throws(EngineError) -> Bool {
    guard let lower = range.lower else { return try moveToFirst() }
    let stands = try lower.key.withBytes { (key) throws(EngineError) in try seek(key) }
    guard stands, !lower.isInclusive, key.elementsEqual(lower.key) else { return stands }
    return try next()
  }

  /// Moves to the last entry in the range.
  fileprivate func moveToEnd(of range: KeyRange) throws(EngineError) -> Bool {
    guard let upper = range.upper else { return try moveToLast() }
    if upper.isInclusive {
      let stands = try upper.key.withBytes { (key) throws(EngineError) in try seek(key) }
      if stands, key.elementsEqual(upper.key) { return true }
    }
    return try upper.key.withBytes { (key) throws(EngineError) in try seekBefore(key) }
  }
}

extension Page {
  /// Index of the first entry that is within a lower bound.
  fileprivate func firstIndex(within lower: KeyRange.Bound) -> Int {
    let (index, isFound) = lower.key.withBytes { search(SearchKey($0)) }
    return isFound && !lower.isInclusive ? index + 1 : index
  }

  /// Index after the last entry that is within an upper bound.
  fileprivate func endIndex(within upper: KeyRange.Bound) -> Int {
    let (index, isFound) = upper.key.withBytes { search(SearchKey($0)) }
    return isFound && upper.isInclusive ? index + 1 : index
  }
}
