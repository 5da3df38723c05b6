/// Numbers in 1 to 10 bytes, seven bits each, the lowest first; a set high bit means that more bytes follow.
///
/// Every number has exactly one valid form: `read` refuses longer ones.
@usableFromInline
package enum Varint {
  /// The largest number of bytes that a number takes.
  @inlinable
  package static var maximumLength: Int { 10 }

  /// The number of bytes that `value` takes, 1 to 10.
  @inlinable
  package static func length(of value: UInt64) -> Int {
    // Rounds up the number of significant bits divided by seven; zero takes one byte too.
    (70 &- (value | 1).leadingZeroBitCount) / 7
  }

  /// Writes `value` to memory that has room for it, and returns the number of bytes written.
  @inlinable
  package static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    var rest = value
    var length = 0
    while rest >= 0x80 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: length, as: UInt8.self)
      rest &>>= 7
      length &+= 1
    }
    target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: length, as: UInt8.self)
    return length &+ 1
  }

  /// The number at `offset` and the offset after it; nil if the bytes end too early, exceed 64 bits or are
  /// not the shortest form. Never traps, on any input, if `offset` is not negative.
  @inlinable
  package static func read(
    from bytes: UnsafeRawBufferPointer, at offset: Int
  ) -> (value: UInt64, next: Int)? {
    guard let base = bytes.baseAddress, offset < bytes.count else { return nil }
    let first = base.load(fromByteOffset: offset, as: UInt8.self)
    if first < 0x80 { return (UInt64(first), offset &+ 1) }
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    var position = offset &+ 1
    while position < bytes.count {
      let byte = base.load(fromByteOffset: position, as: UInt8.self)
      position &+= 1
      if shift == 63, byte > 1 { return nil }
      value |= UInt64(byte & 0x7F) &<< shift
      if byte < 0x80 { return byte == 0 ? nil : (value, position) }
      shift &+= 7
    }
    return nil
  }

  /// Maps a signed number to an unsigned one that is small if the signed one is near zero.
  @inlinable
  package static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
  }

  /// The inverse of `zigzag`.
  @inlinable
  package static func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value &>> 1) ^ (0 &- Int64(bitPattern: value & 1))
  }
}
