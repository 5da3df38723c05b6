import HeartwoodFiles

/// The temporary keys of objects that have got permanent identifiers since, in this process.
///
/// A program may keep a temporary identifier over a save. No object has it any more then, so that a condition with it would select nothing,
/// and its negation everything: it is refused instead.
///
/// Temporary keys are consecutive numbers, and most objects are saved: ranges of keys need little memory.
@usableFromInline package enum RetiredKeys {
  private static let ranges = Guarded(KeyRanges())

  @inlinable package static func add(_ keys: some Sequence<UInt64>) {
    add(temporary: keys.filter { !$0.isPermanentKey }.sorted())
  }

  @usableFromInline static func add(temporary: [UInt64]) {
    guard !temporary.isEmpty else { return }
    ranges.withLock { ranges in for key in temporary { ranges.insert(key) } }
  }

  package static func contains(_ key: UInt64) -> Bool {
    guard !key.isPermanentKey else { return false }
    return ranges.withLock { $0.contains(key) }
  }
}

/// A set of keys as ranges.
///
/// - Invariant: The ranges ascend, and there is a gap between two of them.
package struct KeyRanges {
  private var ranges: [ClosedRange<UInt64>] = []

  package init() {}

  var count: Int { ranges.count }

  package func contains(_ key: UInt64) -> Bool {
    let place = place(of: key)
    return place < ranges.count && ranges[place].contains(key)
  }

  /// - Complexity: Constant for a key after all others, otherwise up to linear in the number of ranges.
  package mutating func insert(_ key: UInt64) {
    if let last = ranges.last, last.upperBound < key {
      if last.upperBound + 1 == key {
        ranges[ranges.count - 1] = last.lowerBound...key
      } else {
        ranges.append(key...key)
      }
      return
    }
    let place = place(of: key)
    guard place == ranges.count || !ranges[place].contains(key) else { return }
    let joinsNext = place < ranges.count && ranges[place].lowerBound == key + 1
    let joinsFormer = place > 0 && ranges[place - 1].upperBound + 1 == key
    switch (joinsFormer, joinsNext) {
    case (true, true):
      ranges[place - 1] = ranges[place - 1].lowerBound...ranges[place].upperBound
      ranges.remove(at: place)
    case (true, false): ranges[place - 1] = ranges[place - 1].lowerBound...key
    case (false, true): ranges[place] = key...ranges[place].upperBound
    case (false, false): ranges.insert(key...key, at: place)
    }
    assert(hasGaps(around: place), "ranges of keys overlap or meet")
  }

  private func hasGaps(around place: Int) -> Bool {
    let near = ranges[max(0, place - 1)..<min(place + 2, ranges.count)]
    return zip(near, near.dropFirst()).allSatisfy {
      $0.upperBound < $1.lowerBound && $1.lowerBound - $0.upperBound > 1
    }
  }

  /// The number of keys in the ranges.
  package var keyCount: Int { ranges.reduce(0) { $0 + $1.count } }

  package var last: UInt64? { ranges.last?.upperBound }

  /// Calls `body` with the keys, ascending, so many at a time.
  package func forEachPart(of size: Int, _ body: ([UInt64]) throws -> Void) rethrows {
    var part: [UInt64] = []
    for range in ranges {
      for key in range {
        part.append(key)
        guard part.count == size else { continue }
        try body(part)
        part.removeAll(keepingCapacity: true)
      }
    }
    if !part.isEmpty { try body(part) }
  }

  /// The first range that does not end before a key.
  private func place(of key: UInt64) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension HeartwoodError {
  package static func retiredIdentifier(_ id: ManagedObjectID) -> HeartwoodError {
    HeartwoodError(
      .managedObjectReferentialIntegrity,
      "\(id) is the temporary identifier of an object that was saved since, and names nothing any more: use the objectID that the object "
        + "has now",
      objectIDs: [id])
  }
}
