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
    _ range: KeyRange, reversed: Bool, validity: ReadValidity? = nil, _ body: RangeScan.Body
  ) throws {
    var scan = RangeScan(self, range, reversed: reversed, validity: validity)
    try scan.run(body)
  }
}
