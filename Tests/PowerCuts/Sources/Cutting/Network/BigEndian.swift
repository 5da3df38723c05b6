/// The integers of the network block device protocol, most significant byte first.
enum BigEndian {
  static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// The integer at `offset`. All its bytes must be present.
  static func read<Number: FixedWidthInteger & UnsignedInteger>(
    _ bytes: ArraySlice<UInt8>, at offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    let start = bytes.startIndex + offset
    return bytes[start..<start + MemoryLayout<Number>.size].reduce(0) { $0 << 8 | Number($1) }
  }
}
