import HeartwoodBytes

/// A compressed value is stored as its length (varint) and a block of LZ4.
extension Record {
  /// Whether the record puts a value.
  @inline(__always)
  var isPut: Bool { operation == Format.putOperation || isCompressed }

  /// Whether the stored value is compressed.
  @inline(__always)
  var isCompressed: Bool { operation == Format.putCompressedOperation }

  /// The length of the value before it was compressed, and the block; nil if they are invalid.
  private var compressed: (count: Int, block: UnsafeRawBufferPointer)? {
    let stored = storedValue
    guard let (count, start) = Varint.read(from: stored, at: 0), count <= UInt64(Format.compressedLimit)
    else {
      return nil
    }
    return (Int(count), UnsafeRawBufferPointer(rebasing: stored[start...]))
  }

  /// The compressed value in memory of its own; nil if the stored bytes are invalid.
  func decompressed() -> OwnedBytes? {
    guard let (count, block) = compressed else { return nil }
    let bytes = OwnedBytes(count: count)
    guard bytes.writable.decompress(block) else { return nil }
    return bytes
  }
}
