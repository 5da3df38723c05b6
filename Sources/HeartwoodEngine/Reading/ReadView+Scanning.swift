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
}
