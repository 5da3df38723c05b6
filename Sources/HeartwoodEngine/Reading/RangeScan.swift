/// One pass over the entries of a range.
///
/// The scan works leaf by leaf, so that work common to a leaf's entries is done once. The keys it passes are
/// those of the records, compared with the leaf in place, so that no key is assembled.
struct RangeScan {
  typealias Body = (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool

  private let reversed: Bool
  private let validity: ReadValidity?
  private var records: RecordRun

  init(_ view: ReadView, reversed: Bool, validity: ReadValidity?) {
    self.reversed = reversed
    self.validity = validity
    records = RecordRun(view)
  }

  /// Calls `body` with each entry of a range until it returns false.
  mutating func run(_ range: KeyRange, _ body: Body) throws {
    let tree = records.view.view
    guard var place = try reversed ? tree.end(of: range) : tree.start(of: range) else { return }
    repeat {
      let span = place.span(within: range, reversed: reversed)
      let continuesAfter = reversed ? span.lowerBound == 0 : span.upperBound == place.leaf.count
      if continuesAfter { place.prefetchNeighbour(in: tree, reversed: reversed) }
      guard try visit(place.leaf, span, body), continuesAfter else { return }
    } while try place.moveToNeighbour(in: tree, reversed: reversed)
  }

  /// Calls `body` with each entry from a key on, before another one, until it returns false.
  ///
  /// - Parameter upper: Nil for all after the first.
  mutating func run(from lower: SearchKey, before upper: SearchKey?, _ body: Body) throws {
    let tree = records.view.view
    guard var place = try tree.start(at: lower) else { return }
    repeat {
      let end = upper.map { max(place.leaf.search($0).index, place.index) } ?? place.leaf.count
      guard try visit(place.leaf, place.index..<end, body), end == place.leaf.count else { return }
    } while try place.moveToNeighbour(in: tree, reversed: false)
  }

  /// Calls `body` with a range of the leaf's entries.
  ///
  /// - Returns: Whether to continue after them.
  @inline(never)
  private mutating func visit(_ page: Page, _ span: Range<Int>, _ body: Body) throws -> Bool {
    try WritableBytes.withTemporary(count: Format.keyLimit) { key in
      key.copy(page.prefix, to: 0)
      return try visit(LeafEntries(page), span, key, body)
    }
  }

  /// - Parameter key: Where the keys of inline values are put together; it has the prefix of all keys.
  @inline(__always)
  private mutating func visit(
    _ leaf: LeafEntries, _ span: Range<Int>, _ key: WritableBytes, _ body: Body
  ) throws -> Bool {
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
        guard try visit(index, of: leaf, key, body) else { return false }
        try validity?.check()
        index &+= step
      }
    }
    return true
  }

  @inline(__always)
  private mutating func visit(
    _ index: Int, of leaf: LeafEntries, _ key: WritableBytes, _ body: Body
  ) throws -> Bool {
    guard let reference = leaf.position(index) else {
      return try body(leaf.completeKey(index, in: key), leaf.inlineValue(index))
    }
    let record = try records.record(at: reference, of: leaf, index)
    return try body(record.key, try records.view.value(of: record, at: reference))
  }
}
