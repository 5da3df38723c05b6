/// Little-endian fields at byte offsets, aligned or not. The caller has checked the range.
extension UnsafeRawPointer {
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

  @inline(__always)
  func field8(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }

  /// `count` bytes from here.
  @inline(__always)
  func bytes(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self, count: count) }

  /// Whether the `count` bytes from here equal those at `other`. Optimized for few bytes.
  @inline(__always)
  func hasBytes(of other: UnsafeRawPointer, _ count: Int) -> Bool {
    guard count >= 8 else { return hasFewBytes(of: other, count) }
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
  private func hasFewBytes(of other: UnsafeRawPointer, _ count: Int) -> Bool {
    if count >= 4 {
      return field32(0) == other.field32(0) && field32(count &- 4) == other.field32(count &- 4)
    }
    if count >= 2 {
      return field16(0) == other.field16(0) && field16(count &- 2) == other.field16(count &- 2)
    }
    return count < 1 || field8(0) == other.field8(0)
  }
}

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

extension [UInt8] {
  mutating func setField<Value: FixedWidthInteger>(_ offset: Int, _ value: Value) {
    withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self) }
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func setField<Value: FixedWidthInteger>(_ offset: Int, _ value: Value) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
