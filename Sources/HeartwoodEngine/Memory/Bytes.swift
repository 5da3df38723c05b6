/// Bytes of another owner: an address and a length. Debug builds check every access.
///
/// Unlike a buffer pointer it stores its length and always has an address: neither is tested when it is used.
struct Bytes {
  private let start: UnsafeRawPointer
  let count: Int

  @inline(__always)
  init(_ start: UnsafeRawPointer, _ count: Int) {
    self.start = start
    self.count = count
  }

  /// Lent bytes. An empty buffer may have no address; any address will do, as no byte is read from it.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped, bytes.count)
  }

  /// The same bytes, to be lent to a call.
  @inline(__always)
  var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// The address of `count` of the bytes, from `offset` on; for the other types of this folder.
  @inline(__always)
  func address(_ offset: Int, _ count: Int) -> UnsafeRawPointer {
    // One comparison, and no generic operator: debug builds execute this everywhere.
    assert(offset | count | (self.count &- count &- offset) >= 0, "Bytes outside their range are used.")
    return start.advanced(by: offset)
  }

  /// `count` of the bytes, from `offset` on.
  @inline(__always)
  func bytes(_ offset: Int, _ count: Int) -> Bytes { Bytes(address(offset, count), count) }

  /// The bytes from `offset` on.
  @inline(__always)
  func bytes(from offset: Int) -> Bytes { bytes(offset, count &- offset) }

  // MARK: Little-endian fields at byte offsets, aligned or not

  @inline(__always)
  func field8(_ offset: Int) -> UInt8 { address(offset, 1).load(as: UInt8.self) }

  @inline(__always)
  func field16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: address(offset, 2).loadUnaligned(as: UInt16.self))
  }

  @inline(__always)
  func field32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: address(offset, 4).loadUnaligned(as: UInt32.self))
  }

  @inline(__always)
  func field64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: address(offset, 8).loadUnaligned(as: UInt64.self))
  }

  /// Only where bytes begin: a word, for tables of many. Their length is known elsewhere.
  struct Start {
    private let start: UnsafeRawPointer

    init(of bytes: Bytes) { start = bytes.start }

    /// The bytes, whose length is not checked.
    @inline(__always)
    var unbounded: Bytes { Bytes(start, .max) }
  }

  // MARK: Comparing

  /// Whether these bytes begin with `other`. Optimized for few bytes.
  ///
  /// - Precondition: There are at least as many.
  @inline(__always)
  func begins(with other: Bytes) -> Bool {
    let count = other.count
    guard count >= 8 else { return beginsWithFew(other) }
    // By words; the last word overlaps the one before it.
    let last = count &- 8
    var index = 0
    while index < last {
      if field64(index) != other.field64(index) { return false }
      index &+= 8
    }
    return field64(last) == other.field64(last)
  }

  /// Compares fewer than eight bytes; the first half overlaps the second.
  @inline(__always)
  private func beginsWithFew(_ other: Bytes) -> Bool {
    let count = other.count
    if count >= 4 {
      return field32(0) == other.field32(0) && field32(count &- 4) == other.field32(count &- 4)
    }
    if count >= 2 {
      return field16(0) == other.field16(0) && field16(count &- 2) == other.field16(count &- 2)
    }
    return count < 1 || field8(0) == other.field8(0)
  }

  /// The order of the first `count` bytes of two ranges: negative, zero or positive.
  @inline(__always)
  static func compare(_ left: Bytes, _ right: Bytes, _ count: Int) -> Int {
    if count < 8 { return compareFew(left, right, count) }
    // By words; the last word overlaps the one before it.
    let last = count &- 8
    var index = 0
    while true {
      let a = left.field64(index).byteSwapped
      let b = right.field64(index).byteSwapped
      if a != b { return a < b ? -1 : 1 }
      if index == last { return 0 }
      index = min(index &+ 8, last)
    }
  }

  @inline(__always)
  private static func compareFew(_ left: Bytes, _ right: Bytes, _ count: Int) -> Int {
    var index = 0
    while index < count {
      let a = left.field8(index)
      let b = right.field8(index)
      if a != b { return a < b ? -1 : 1 }
      index &+= 1
    }
    return 0
  }
}
