// Numbers on disk are little-endian, at any alignment.

extension UnsafeRawPointer {
  /// The 8 bytes at `offset` as a number, at any alignment. The caller guarantees that they exist.
  @inlinable @inline(__always)
  package func littleEndian64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The 4 bytes at `offset` as a number, at any alignment. The caller guarantees that they exist.
  @inlinable @inline(__always)
  package func littleEndian32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The 2 bytes at `offset` as a number, at any alignment. The caller guarantees that they exist.
  @inlinable @inline(__always)
  package func littleEndian16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
}

extension UnsafeMutableRawPointer {
  /// Stores a number at `offset`, at any alignment. The caller guarantees that there is room.
  @inlinable @inline(__always)
  package func storeLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
    _ value: Number, at offset: Int
  ) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
