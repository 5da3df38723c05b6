import HeartwoodBytes
import HeartwoodEngine

/// The entries of an index that a range selects, as a range of the store's keys.
struct IndexBounds {
  let keys: KeyRange
  /// Whether every entry in the range matches; false if a value is too long to be compared by its entry
  /// alone, or if the range has both a prefix and bounds, or a box that decides.
  let isExact: Bool

  /// The head and the value of entries with one value, of an index of one property.
  static func beginning(_ index: StoreIndex, _ value: Value) -> [UInt8] {
    var start = head(index)
    value.appendOrderedKey(to: &start)
    return start
  }

  /// Whether entries have the head and the values as they are, and not only their beginning.
  static func isWhole(_ values: [UInt8]) -> Bool {
    values.count <= IndexKey.headSize + IndexKey.longestValues
  }

  /// - Parameter values: The head and the values of all elements.
  init(whole values: [UInt8]) {
    var values = values
    isExact = Self.isWhole(values)
    IndexKey.cut(&values)
    keys = .prefix(values)
  }

  private static func head(_ index: StoreIndex) -> [UInt8] {
    var head: [UInt8] = []
    // Room for most values, so that the array does not grow.
    head.reserveCapacity(48)
    KeySpace.appendHead(KeySpace.index, index.number, to: &head)
    return head
  }

  init(_ index: StoreIndex, _ range: IndexRange) {
    var start = Self.head(index)
    if let part = range.ranges {
      (keys, isExact) = (Self.keys(of: part.codes, start), part.box == nil)
      return
    }
    for value in range.equal { value.appendOrderedKey(to: &start) }
    if range.equal.count == index.slots.count {
      self = IndexBounds(whole: start)
      return
    }
    let (lower, upper) = Self.ends(start, range)
    keys = KeyRange(from: lower.openingLower.place, to: upper.openingUpper.place)
    let isTwofold = range.prefix != nil && (range.lower != nil || range.upper != nil)
    isExact = !lower.isLong && !upper.isLong && !isTwofold
  }

  /// The keys of the entries of a range index.
  private static func keys(of codes: ClosedRange<BoxCode>, _ head: [UInt8]) -> KeyRange {
    var (lower, upper) = (head + [1], head + [1])
    codes.lowerBound.append(to: &lower)
    codes.upperBound.append(to: &upper)
    return KeyRange(from: lower, to: KeyRange.prefix(upper).upper?.key)
  }

  /// A position between entries: before all that begin with the key, or after all of them.
  private struct End {
    var key: [UInt8]
    var isAfter: Bool

    var isLong: Bool { !IndexBounds.isWhole(key) }
    var place: [UInt8]? { isAfter ? KeyRange.prefix(key).upper?.key : key }

    /// A long end includes all cut entries with the same beginning; their rows decide.
    var openingLower: End { isLong ? End(key: cut, isAfter: false) : self }
    var openingUpper: End { isLong ? End(key: cut, isAfter: true) : self }
    private var cut: [UInt8] { Array(key.prefix(IndexKey.headSize + IndexKey.longestValues)) }
  }

  private static func ends(_ start: [UInt8], _ range: IndexRange) -> (lower: End, upper: End) {
    var lower = End(key: start, isAfter: false)
    var upper = End(key: start, isAfter: true)
    // Entries without a value have no order relative to others. They come first, under a zero byte.
    if range.leavesOutNull { lower = End(key: start + [1], isAfter: false) }
    if let prefix = range.prefix {
      let key = start + beginning(prefix)
      lower = End(key: key, isAfter: false)
      upper = End(key: key, isAfter: true)
    }
    if let bound = range.lower {
      lower = End(key: appended(bound.value, to: start), isAfter: !bound.isInclusive)
    }
    if let bound = range.upper {
      upper = End(key: appended(bound.value, to: start), isAfter: bound.isInclusive)
    }
    return (lower, upper)
  }

  private static func appended(_ value: Value, to start: [UInt8]) -> [UInt8] {
    var key = start
    value.appendOrderedKey(to: &key)
    return key
  }

  /// The bytes with which the encoded form of every string with this prefix begins.
  private static func beginning(_ prefix: String) -> [UInt8] {
    var key: [UInt8] = []
    Value.string(prefix).appendOrderedKey(to: &key)
    // Without the two zeros that end a string.
    key.removeLast(2)
    return key
  }
}
