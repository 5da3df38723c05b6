import HeartwoodEngine

/// A view of one store that may be read together with those of others.
protocol MemberView: StoreView {
  /// Whether the store has rows of an entity.
  func has(_ entity: EntityDescription) -> Bool
  /// Whether its rows come from a class of the program, so that many are to be asked for together.
  var asksProgram: Bool { get }
  /// The next entries of an index in its order.
  func readEntries(_ reading: inout EntryReading, _ index: StoreIndex, atMost most: Int) throws
  /// The next group of entries; see `StoreView.forEachIndexRun(_:_:elements:_:)`.
  func next(of runs: inout RunReading, _ index: StoreIndex, elements: Int) throws -> IndexRun?
}

extension MemberView {
  var asksProgram: Bool { false }
}

extension LogStoreView: MemberView {
  func has(_ entity: EntityDescription) -> Bool { schema.has(entity) }
}

extension TransactionView: MemberView {
  func has(_ entity: EntityDescription) -> Bool { schema.has(entity) }
}

/// A group of entries that share the values of some elements.
struct IndexRun {
  /// The key of the first one's row.
  let key: UInt64
  let count: Int
  /// The values as bytes, in their order.
  let values: ArraySlice<UInt8>
}

/// Groups of entries that are read one after the other.
struct RunReading {
  var rest: KeyRange?
  /// Whether a long value has made the groups uncertain.
  var isUncertain = false

  /// - Returns: nil if a long value in the range makes the groups uncertain.
  init?(_ index: StoreIndex, _ range: IndexRange) {
    let bounds = IndexBounds(index, range)
    guard bounds.isExact else { return nil }
    rest = bounds.keys
  }
}

/// Entries of an index that are read in parts, with their values as bytes that order them.
struct EntryReading {
  struct Entry {
    let key: UInt64
    /// Where its values are in `bytes`.
    let values: Range<Int>
    /// Whether the entry itself has all of them.
    let isWhole: Bool
  }

  /// Those that were read last.
  private(set) var entries: [Entry] = []
  private(set) var bytes: [UInt8] = []
  /// The range that is still to be read; nil at the end.
  fileprivate(set) var rest: KeyRange?
  let isReversed: Bool
  fileprivate let box: Box?

  init(_ index: StoreIndex, _ range: IndexRange, reversed isReversed: Bool) {
    rest = IndexBounds(index, range).keys
    box = range.ranges?.box
    self.isReversed = isReversed
  }

  fileprivate mutating func begin() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  fileprivate mutating func append(_ key: UInt64, _ values: some Sequence<UInt8>, isWhole: Bool) {
    let start = bytes.count
    bytes.append(contentsOf: values)
    entries.append(Entry(key: key, values: start..<bytes.count, isWhole: isWhole))
  }

  /// Goes on with an entry at the next call.
  fileprivate mutating func stop(before entry: UnsafeRawBufferPointer, in range: KeyRange) {
    let bound = KeyRange.Bound(Array(entry), isInclusive: true)
    rest =
      isReversed ? KeyRange(lower: range.lower, upper: bound) : KeyRange(lower: bound, upper: range.upper)
  }
}

extension StoreReading {
  func readEntries(_ reading: inout EntryReading, _ index: StoreIndex, atMost most: Int) throws {
    reading.begin()
    guard let range = reading.rest else { return }
    reading.rest = nil
    var run = CutRun()
    try scan(range, reversed: reading.isReversed) { entry, _ in
      if !run.isEmpty {
        if run.take(entry) { return true }
        try append(run, to: &reading, index)
        run = CutRun()
      }
      guard reading.entries.count < most else {
        reading.stop(before: entry, in: range)
        return false
      }
      if run.take(entry) { return true }
      let values = IndexKey.values(of: entry)
      if let box = reading.box {
        guard let code = BoxCode(UnsafeRawBufferPointer(rebasing: values.dropFirst())) else {
          throw HeartwoodError.damagedStore("an entry of the index \(index.name) does not have two numbers")
        }
        guard box.contains(code) else { return true }
      }
      reading.append(try KeySpace.lastNumber(entry), values, isWhole: true)
      return true
    }
    if !run.isEmpty { try append(run, to: &reading, index) }
  }

  /// Appends entries whose values are cut, with the values of their rows.
  private func append(_ run: CutRun, to reading: inout EntryReading, _ index: StoreIndex) throws {
    for key in try run.keys(inOrder: reading.isReversed, whole: { try self.whole(index, $0) }) {
      reading.append(key, try whole(index, key).dropFirst(IndexKey.headSize), isWhole: false)
    }
  }
}
