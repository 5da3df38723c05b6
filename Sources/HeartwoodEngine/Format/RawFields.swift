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
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  func setField<Value: FixedWidthInteger>(_ offset: Int, _ value: Value) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }
}
