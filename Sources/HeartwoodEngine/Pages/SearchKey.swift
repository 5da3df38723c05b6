/// A key to search for or to insert: bytes with the comparisons that pages need.
struct SearchKey {
  let base: UnsafeRawPointer
  let count: Int

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    count = bytes.count
    // An empty buffer may have no address; any address will do, as no byte is read from it.
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
  }

  @inline(__always)
  init(_ base: UnsafeRawPointer, _ count: Int) {
    self.base = base
    self.count = count
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// The eight bytes from `offset` on as a big-endian number, padded with zeros after the end of the key.
  @inline(__always)
  func head(from offset: Int) -> UInt64 {
    let remaining = count &- offset
    if remaining >= 8 {
      return UInt64(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    if remaining <= 0 { return 0 }
    if count >= 8 {
      let last = UInt64(bigEndian: base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
      return last &<< UInt64(truncatingIfNeeded: 64 &- 8 &* remaining)
    }
    var head: UInt64 = 0
    var index = 0
    while index < remaining {
      let byte = UInt64(base.load(fromByteOffset: offset &+ index, as: UInt8.self))
      head |= byte &<< UInt64(truncatingIfNeeded: 56 &- 8 &* index)
      index &+= 1
    }
    return head
  }

  /// The order of the first `count` bytes at two addresses: negative, zero or positive.
  @inline(__always)
  static func compare(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Int {
    if count < 8 { return compareFew(left, right, count) }
    // By words; the last word overlaps the one before it.
    let last = count &- 8
    var index = 0
    while true {
      let a = UInt64(bigEndian: left.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let b = UInt64(bigEndian: right.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      if a != b { return a < b ? -1 : 1 }
      if index == last { return 0 }
      index = min(index &+ 8, last)
    }
  }

  @inline(__always)
  private static func compareFew(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Int {
    var index = 0
    while index < count {
      let a = left.load(fromByteOffset: index, as: UInt8.self)
      let b = right.load(fromByteOffset: index, as: UInt8.self)
      if a != b { return a < b ? -1 : 1 }
      index &+= 1
    }
    return 0
  }

  /// The order of two keys: bytewise, and a prefix before the longer key.
  static func compare(_ left: SearchKey, _ right: SearchKey) -> Int {
    let order = compare(left.base, right.base, min(left.count, right.count))
    return order != 0 ? order : left.count - right.count
  }

  /// Length of the common prefix of two keys.
  static func commonBytes(_ left: SearchKey, _ right: SearchKey) -> Int {
    let limit = min(left.count, right.count)
    var index = 0
    while index &+ 8 <= limit {
      let a = left.base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let b = right.base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if a != b { return index &+ UInt64(littleEndian: a ^ b).trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < limit,
      left.base.load(fromByteOffset: index, as: UInt8.self)
        == right.base.load(fromByteOffset: index, as: UInt8.self)
    {
      index &+= 1
    }
    return index
  }
}
