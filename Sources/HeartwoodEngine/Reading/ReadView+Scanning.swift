/// Reading many entries in order, and those by count.
extension ReadView {
  /// The value of the entry that a cursor stands on.
  @inline(__always)
  func value(of cursor: TreeCursor) throws(EngineError) -> UnsafeRawBufferPointer {
    switch cursor.entry {
    case .inline(let bytes): return bytes
    case .position(let reference): return try value(at: reference, of: cursor.key)
    }
  }

  /// The entry with `rank` keys before it.
  func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])? {
    let cursor = TreeCursor(view)
    guard rank < view.count, try cursor.seek(rank: rank) else { return nil }
    return (Array(cursor.key), Array(try value(of: cursor)))
  }

  /// Calls `body` with the entries of a range in order until it returns false.
  func scan(
    _ range: KeyRange, reversed: Bool, validity: ReadValidity? = nil,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let cursor = TreeCursor(view)
    var ahead = TouchingAhead(table, reversed: reversed)
    var isStanding = try reversed ? cursor.moveToEnd(of: range) : cursor.moveToStart(of: range)
    let bound = reversed ? range.lower : range.upper
    while isStanding {
      ahead.touch(cursor)
      let key = cursor.key
      if let bound, reversed ? bound.excludesFromBelow(key) : bound.excludesFromAbove(key) { return }
      guard try body(key, try value(of: cursor)) else { return }
      try validity?.check()
      isStanding = try reversed ? cursor.previous() : cursor.next()
    }
  }
}

extension TreeCursor {
  /// Moves to the first entry that the lower end of a range lets in.
  fileprivate func moveToStart(of range: KeyRange) throws(EngineError) -> Bool {
    guard let lower = range.lower else { return try moveToFirst() }
    let stands = try lower.key.withBytes { (key) throws(EngineError) in try seek(key) }
    guard stands, !lower.isInclusive, key.elementsEqual(lower.key) else { return stands }
    return try next()
  }

  /// Moves to the last entry that the upper end of a range lets in.
  fileprivate func moveToEnd(of range: KeyRange) throws(EngineError) -> Bool {
    guard let upper = range.upper else { return try moveToLast() }
    if upper.isInclusive {
      let stands = try upper.key.withBytes { (key) throws(EngineError) in try seek(key) }
      if stands, key.elementsEqual(upper.key) { return true }
    }
    return try upper.key.withBytes { (key) throws(EngineError) in try seekBefore(key) }
  }
}

extension KeyRange.Bound {
  /// Whether a key lies behind this upper end.
  @inline(__always)
  fileprivate func excludesFromAbove(_ other: UnsafeRawBufferPointer) -> Bool {
    let order = key.withBytes { compareKeys(other, $0) }
    return isInclusive ? order > 0 : order >= 0
  }

  /// Whether a key lies before this lower end.
  @inline(__always)
  fileprivate func excludesFromBelow(_ other: UnsafeRawBufferPointer) -> Bool {
    let order = key.withBytes { compareKeys(other, $0) }
    return isInclusive ? order < 0 : order <= 0
  }
}

/// Negative where `left` comes first, 0 where they are equal.
@inline(__always)
private func compareKeys(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  let common = min(left.count, right.count)
  if let first = left.baseAddress, let second = right.baseAddress {
    var index = 0
    while index &+ 8 <= common {
      let one = first.field64(index)
      let other = second.field64(index)
      if one != other { return one.byteSwapped < other.byteSwapped ? -1 : 1 }
      index &+= 8
    }
    while index < common {
      let one = first.field8(index)
      let other = second.field8(index)
      if one != other { return one < other ? -1 : 1 }
      index &+= 1
    }
  }
  return left.count &- right.count
}

/// Loads the records of the next entries into the cache before their turn comes, all at once: the waits
/// for memory overlap then, instead of following one another.
private struct TouchingAhead {
  private static let reach = 32
  private static let lineBytes = 64
  /// Longer values are read in order, which the hardware foresees.
  private static let longest = 1024

  private let table: SegmentTable
  private let isReversed: Bool
  /// How many entries are still ahead of the last touch.
  private var left = 0
  /// Keeps the loads from being taken for useless.
  private var kept: UInt64 = 0

  init(_ table: SegmentTable, reversed: Bool) {
    self.table = table
    isReversed = reversed
  }

  @inline(__always)
  mutating func touch(_ cursor: TreeCursor) {
    if left > 0 {
      left &-= 1
    } else {
      touchNext(cursor)
    }
  }

  @inline(never)
  private mutating func touchNext(_ cursor: TreeCursor) {
    let here = cursor.indexInLeaf
    let range =
      isReversed
      ? max(0, here &- Self.reach &+ 1)..<(here &+ 1)
      : here..<min(cursor.leafCount, here &+ Self.reach)
    guard !range.isEmpty else { return }
    left = range.count &- 1
    // The first line of each tells how many more there are.
    for index in range { touchFirst(cursor.position(inLeaf: index)) }
    for index in range { touchRest(cursor.position(inLeaf: index)) }
    withExtendedLifetime(kept) {}
  }

  @inline(__always)
  private mutating func touchFirst(_ reference: ValueReference?) {
    guard let reference, let record = start(reference) else { return }
    kept &+= UInt64(record.base.field8(8))
  }

  @inline(__always)
  private mutating func touchRest(_ reference: ValueReference?) {
    guard let reference, let start = start(reference),
      let record = Record.parse(start.base, available: start.available)
    else { return }
    let end = min(record.totalBytes, Self.longest)
    var offset = Self.lineBytes
    while offset < end {
      kept &+= UInt64(start.base.field8(offset))
      offset &+= Self.lineBytes
    }
    kept &+= UInt64(start.base.field8(end &- 1))
  }

  /// Where a record begins, as far as it lies in a map; nothing of it is believed here.
  @inline(__always)
  private func start(_ reference: ValueReference) -> (base: UnsafeRawPointer, available: Int)? {
    guard let slot = table.slot(reference.segment), slot.pointee.filler == nil else { return nil }
    let offset = Int(reference.offset)
    let available = slot.pointee.limit.load(ordering: .acquiring) &- offset
    guard available >= 10 else { return nil }
    return (slot.pointee.base + offset, available)
  }
}
