/// A key to search for or to insert: bytes with the comparisons that pages need.
struct SearchKey {
  let bytes: Bytes

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = Bytes(bytes) }

  @inline(__always)
  init(_ bytes: Bytes) { self.bytes = bytes }

  @inline(__always)
  var count: Int { bytes.count }

  /// The first `count` bytes.
  func prefix(_ count: Int) -> SearchKey { SearchKey(bytes.bytes(0, count)) }

  /// The eight bytes from `offset` on as a big-endian number, padded with zeros after the end of the key.
  @inline(__always)
  func head(from offset: Int) -> UInt64 {
    let remaining = count &- offset
    if remaining >= 8 { return bytes.field64(offset).byteSwapped }
    if remaining <= 0 { return 0 }
    if count >= 8 {
      return bytes.field64(count &- 8).byteSwapped &<< UInt64(truncatingIfNeeded: 64 &- 8 &* remaining)
    }
    var head: UInt64 = 0
    var index = 0
    while index < remaining {
      let byte = UInt64(bytes.field8(offset &+ index))
      head |= byte &<< UInt64(truncatingIfNeeded: 56 &- 8 &* index)
      index &+= 1
    }
    return head
  }

  /// The order of two keys: bytewise, and a prefix before the longer key.
  static func compare(_ left: SearchKey, _ right: SearchKey) -> Int {
    let order = Bytes.compare(left.bytes, right.bytes, min(left.count, right.count))
    return order != 0 ? order : left.count - right.count
  }

  /// Length of the common prefix of two keys.
  static func commonBytes(_ left: SearchKey, _ right: SearchKey) -> Int {
    let limit = min(left.count, right.count)
    var index = 0
    while index &+ 8 <= limit {
      let different = left.bytes.field64(index) ^ right.bytes.field64(index)
      if different != 0 { return index &+ different.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < limit, left.bytes.field8(index) == right.bytes.field8(index) { index &+= 1 }
    return index
  }
}
