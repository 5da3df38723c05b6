import HeartwoodBytes
import HeartwoodEngine

/// Reading indexes.
extension StoreReading {
  func indexCount(_ index: StoreIndex, _ range: IndexRange) throws -> Int? {
    let bounds = IndexBounds(index, range)
    return bounds.isExact ? try count(bounds.keys) : nil
  }

  func indexRunLength(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, atRank rank: Int
  ) throws -> Int {
    let lower = IndexBounds(index, range).keys.lower?.key ?? KeySpace.head(KeySpace.index, index.number)
    let entry = try HeartwoodError.translating("the store cannot be read") {
      try reader.entry(at: reader.rank(of: lower) + UInt64(rank))
    }
    guard let entry, entry.key.starts(with: KeySpace.head(KeySpace.index, index.number)) else { return 0 }
    let key = try entry.key.withUnsafeBytes { try KeySpace.lastNumber($0) }
    let beginning = try whole(index, key, elements: elements)
    return try count(.prefix(Array(beginning.prefix(IndexKey.headSize + IndexKey.longestValues))))
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    if let box = range.ranges?.box { return try scanEntries(index, range, in: box, reversed: reversed, body) }
    try scanEntries(index, in: IndexBounds(index, range).keys, reversed: reversed, body)
  }

  func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, reversed: Bool, skipping count: inout Int,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    guard count > 0 else { return try scanEntries(index, range, reversed: reversed, body) }
    let keys = IndexBounds(index, range).keys
    let all = try self.count(keys)
    guard count < all else { return count -= all }
    let (rest, more) = try without(count, of: all, in: keys, reversed: reversed)
    count = 0
    var left = more
    try scanEntries(index, in: rest, reversed: reversed) { key, values in
      guard left == 0 else {
        left -= 1
        return true
      }
      return try body(key, values)
    }
  }

  /// The keys after the first `count`, in the direction of a scan, and how many of those are to be left out, too: entries that are cut are
  /// in the order of their rows' values, so that a scan begins with the first one of them.
  ///
  /// - Precondition: `count` is less than `all`, the number of keys.
  private func without(
    _ count: Int, of all: Int, in keys: KeyRange, reversed: Bool
  ) throws -> (rest: KeyRange, more: Int) {
    try HeartwoodError.translating("the store cannot be read") {
      let first = Int(try keys.lower.map { try reader.rank(of: $0.key) } ?? 0)
      let rank = first + (reversed ? all - 1 - count : count)
      guard let key = try reader.entry(at: UInt64(rank))?.key else { return (keys, count) }
      guard key.withUnsafeBytes(IndexKey.isCut) else {
        let bound = KeyRange.Bound(key, isInclusive: true)
        return (
          reversed ? KeyRange(lower: keys.lower, upper: bound) : KeyRange(lower: bound, upper: keys.upper), 0
        )
      }
      let run = KeyRange.prefix(Array(key.prefix(IndexKey.headSize + IndexKey.longestValues)))
      guard let lower = run.lower, let upper = run.upper else { return (keys, count) }
      if reversed {
        let end = min(first + all, Int(try reader.rank(of: upper.key)))
        return (KeyRange(lower: keys.lower, upper: upper), end - 1 - rank)
      }
      let start = max(first, Int(try reader.rank(of: lower.key)))
      return (KeyRange(lower: lower, upper: keys.upper), rank - start)
    }
  }

  /// As `scanEntries` with a range, of the entries with these keys.
  func scanEntries(
    _ index: StoreIndex, in keys: KeyRange, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    var run = CutRun()
    var continuesAfter = true
    try scan(keys, reversed: reversed) { entry, _ in
      if run.isEmpty, !IndexKey.isCut(entry) {
        continuesAfter = try body(KeySpace.lastNumber(entry), IndexKey.values(of: entry))
        return continuesAfter
      }
      if run.take(entry) { return true }
      continuesAfter = try hand(out: run, of: index, reversed, body)
      guard continuesAfter else { return false }
      run = CutRun()
      if run.take(entry) { return true }
      continuesAfter = try body(KeySpace.lastNumber(entry), IndexKey.values(of: entry))
      return continuesAfter
    }
    if continuesAfter, !run.isEmpty { _ = try hand(out: run, of: index, reversed, body) }
  }

  /// The entries of a range index that are in a box.
  private func scanEntries(
    _ index: StoreIndex, _ range: IndexRange, in box: Box, reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws {
    try scan(IndexBounds(index, range).keys, reversed: reversed) { entry, _ in
      let values = IndexKey.values(of: entry)
      guard let code = BoxCode(UnsafeRawBufferPointer(rebasing: values.dropFirst())) else {
        throw HeartwoodError.damagedStore("an entry of the index \(index.name) does not have two numbers")
      }
      return try !box.contains(code) || body(KeySpace.lastNumber(entry), values)
    }
  }

  func forEachIndexRun(
    _ index: StoreIndex, _ range: IndexRange, elements: Int, _ body: (UInt64, Int) throws -> Bool
  ) throws -> Bool {
    guard var runs = RunReading(index, range) else { return false }
    while let run = try next(of: &runs, index, elements: elements) {
      guard try body(run.key, run.count) else { return true }
    }
    return !runs.isUncertain
  }

  /// The next group of entries that share the values of the first `elements`; nil at the end, or where a long value makes the groups uncertain.
  func next(of runs: inout RunReading, _ index: StoreIndex, elements: Int) throws -> IndexRun? {
    guard let rest = runs.rest else { return nil }
    runs.rest = nil
    var first: UInt64?
    try scan(rest) { entry, _ in
      first = try KeySpace.lastNumber(entry)
      return false
    }
    guard let first else { return nil }
    let beginning = try whole(index, first, elements: elements)
    guard beginning.count <= IndexKey.headSize + IndexKey.longestValues else {
      runs.isUncertain = true
      return nil
    }
    guard let end = KeyRange.prefix(beginning).upper else { return nil }
    let isLast = rest.upper.map { !end.key.lexicographicallyPrecedes($0.key) } ?? false
    let count = try count(KeyRange(lower: rest.lower, upper: isLast ? rest.upper : end))
    if !isLast {
      runs.rest = KeyRange(lower: KeyRange.Bound(end.key, isInclusive: true), upper: rest.upper)
    }
    return IndexRun(key: first, count: count, values: beginning.dropFirst(IndexKey.headSize))
  }

  /// - Returns: false if the body ended the scan.
  private func hand(
    out run: CutRun, of index: StoreIndex, _ reversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer?) throws -> Bool
  ) throws -> Bool {
    for key in try run.keys(inOrder: reversed, whole: { try self.whole(index, $0) }) {
      guard try body(key, nil) else { return false }
    }
    return true
  }

  /// The uncut values of a row in the form of the index.
  func whole(_ index: StoreIndex, _ key: UInt64, elements: Int = .max) throws -> [UInt8] {
    guard let row = try row(index.entity.rootEntity, key) else {
      throw HeartwoodError.damagedStore("the index \(index.name) names the row \(key), which is not there")
    }
    return IndexKey.whole(index, row, elements: elements)
  }
}

/// Adjacent entries of an index that begin with the same cut bytes. Their order is that of the rows' values, which the entries do not contain.
struct CutRun {
  /// Rows with equal values. They have the same hash, so their entries are adjacent already.
  private struct Group {
    let hash: [UInt8]
    var keys: [UInt64]
  }

  private var beginning: [UInt8] = []
  private var groups: [Group] = []

  var isEmpty: Bool { groups.isEmpty }

  /// Adds an entry if it belongs to the run; returns false otherwise.
  mutating func take(_ entry: UnsafeRawBufferPointer) -> Bool {
    let end = IndexKey.headSize + IndexKey.longestValues
    guard IndexKey.isCut(entry) else { return false }
    let hash = entry[end..<end + IndexKey.hashSize]
    let key = UInt64(
      bigEndian: entry.loadUnaligned(fromByteOffset: end + IndexKey.hashSize, as: UInt64.self))
    if isEmpty {
      beginning = Array(entry[..<end])
    } else if !beginning.elementsEqual(entry[..<end]) {
      return false
    }
    if let last = groups.indices.last, groups[last].hash.elementsEqual(hash) {
      groups[last].keys.append(key)
    } else {
      groups.append(Group(hash: Array(hash), keys: [key]))
    }
    return true
  }

  /// - Parameter whole: returns the uncut values of a row; called once for each distinct value.
  func keys(inOrder reversed: Bool, whole: (UInt64) throws -> [UInt8]) rethrows -> [UInt64] {
    guard groups.count > 1 else { return groups.flatMap(\.keys) }
    let pairs = try groups.map { (values: try whole($0.keys[0]), keys: $0.keys) }
    let sorted = pairs.sorted { left, right in
      reversed
        ? right.values.lexicographicallyPrecedes(left.values)
        : left.values.lexicographicallyPrecedes(right.values)
    }
    return sorted.flatMap(\.keys)
  }
}
