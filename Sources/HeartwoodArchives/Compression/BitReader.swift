/// A position in bytes that reads bits, the lowest of each byte first.
struct BitReader {
  private let bytes: [UInt8]
  /// The next byte that is not in `bits` yet.
  private var position: Int
  private var bits: UInt64 = 0
  /// How many of `bits` are not read yet: at most 63.
  private var count = 0

  init(_ bytes: [UInt8], from start: Int) {
    self.bytes = bytes
    position = min(start, bytes.count)
  }

  /// The offset of the first byte of which no bit was read.
  var nextByte: Int { position - count / 8 }

  /// The next bits, zero after the end of the bytes, which `skip` then finds.
  ///
  /// - Parameter wanted: At most 32.
  mutating func peek(_ wanted: Int) -> UInt32 {
    while count < wanted, position < bytes.count {
      bits |= UInt64(bytes[position]) << UInt64(count)
      position += 1
      count += 8
    }
    return UInt32(truncatingIfNeeded: bits & (1 << UInt64(wanted) - 1))
  }

  /// - Precondition: The bits were peeked at.
  mutating func skip(_ skipped: Int) throws(ArchiveError) {
    guard skipped <= count else { throw ArchiveError("the compressed data ends too early", at: bytes.count) }
    bits >>= UInt64(skipped)
    count -= skipped
  }

  /// - Parameter wanted: At most 32.
  mutating func read(_ wanted: Int) throws(ArchiveError) -> Int {
    let value = peek(wanted)
    try skip(wanted)
    return Int(value)
  }

  /// Skips the rest of the byte, and appends whole bytes to `output`.
  mutating func readBytes(_ wanted: Int, into output: inout [UInt8]) throws(ArchiveError) {
    skipToByte()
    guard wanted <= bytes.count - position else {
      throw ArchiveError("a stored block ends too early", at: bytes.count)
    }
    output += bytes[position..<position + wanted]
    position += wanted
  }

  /// Skips the rest of the byte.
  mutating func skipToByte() {
    position = nextByte
    bits = 0
    count = 0
  }
}
