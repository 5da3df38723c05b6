/// Little-endian fields of bytes with a length, which debug builds check.
extension UnsafeRawBufferPointer {
  @inline(__always)
  func field8(_ offset: Int) -> UInt8 { self[offset] }

  @inline(__always)
  func field16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  func field32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  @inline(__always)
  func field64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The bytes in a range.
  @inline(__always)
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }
}

/// Calls `body` with two little-endian words, without an allocation.
func withBytes<Result>(
  of first: UInt64, _ second: UInt64, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
  withUnsafeBytes(of: (first.littleEndian, second.littleEndian), body)
}
