/// Reads entries in order and by rank.
extension ReadView {
  /// The value of the entry that a cursor is on.
  @inline(__always)
  func value(of cursor: TreeCursor) throws(EngineError) -> UnsafeRawBufferPointer {
    switch cursor.entry {
    case .inline(let bytes): return bytes
    case .position(let reference): return try value(at: reference, of: cursor.key)
    }
  }

  /// The entry with `rank` entries before it; nil after the last.
  func entry(at rank: UInt64) throws(EngineError) -> (key: [UInt8], value: [UInt8])? {
    guard let (leaf, index) = try view.place(at: rank) else { return nil }
    switch leaf.entry(index) {
    case .inline(let value):
      return (leaf.key(index), Array(value))
    case .position(let reference):
      let record = try record(at: reference)
      guard LeafEntries(leaf).isKey(record.keyInPlace, of: index) else {
        throw Self.wrongRecord(reference)
      }
      return (Array(record.key), try copy(of: record, at: reference))
    }
  }

  /// Calls `body` with the entries of a range in order until it returns false.
  func scan(
    _ range: KeyRange, reversed: Bool, validity: ReadValidity? = nil, _ body: RangeScan.Body
  ) throws {
    var scan = RangeScan(self, reversed: reversed, validity: validity)
    try scan.run(range, body)
  }

  /// Calls `body` with the entries whose keys begin with some bytes, in order, until it returns false.
  func scan(beginningWith bytes: UnsafeRawBufferPointer, _ body: RangeScan.Body) throws {
    var scan = RangeScan(self, reversed: false, validity: nil)
    try WritableBytes.withTemporary(count: bytes.count) { next in
      next.copy(bytes, to: 0)
      // The least key after all of these: the last byte that can be is one more, without those after it.
      var count = bytes.count
      while count > 0, bytes.field8(count - 1) == 0xFF { count -= 1 }
      if count > 0 { next.setField(count - 1, bytes.field8(count - 1) + 1) }
      let upper = count > 0 ? SearchKey(next.bytes.bytes(0, count)) : nil
      try scan.run(from: SearchKey(bytes), before: upper, body)
    }
  }
}
