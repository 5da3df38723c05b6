/// Reads data in the DEFLATE format (RFC 1951), as it is, or in the frame of zlib (RFC 1950).
package enum Inflate {
  /// The form in which data is compressed.
  package enum Form: Sendable {
    /// DEFLATE without a frame, as in the cache of models of a store.
    case raw
    /// DEFLATE in the frame of zlib, whose checksum is checked.
    case zlib
    /// zlib's frame if the first two bytes are its header and a checksum follows that is right, else raw.
    case detected
  }

  /// The bytes that were compressed.
  ///
  /// - Parameters:
  ///   - bytes: The output of a compressor. Bytes that follow the end of the data are ignored.
  ///   - form: With or without zlib's frame.
  ///   - limit: How many bytes may come out, so that a short input cannot fill the memory.
  /// - Throws: `ArchiveError` if the data is damaged or ends too early, or if more than `limit` bytes come out.
  /// - Complexity: O(the bytes that come out).
  package static func bytes(
    of bytes: [UInt8], form: Form = .detected, limit: Int = 1 << 28
  ) throws(ArchiveError) -> [UInt8] {
    switch form {
    case .raw: return try raw(bytes, from: 0, limit: limit).output
    case .zlib: return try framed(bytes, limit: limit)
    case .detected:
      guard hasFrame(bytes) else { return try raw(bytes, from: 0, limit: limit).output }
      // A first block of DEFLATE can look like the header: then the checksum is wrong.
      do {
        return try framed(bytes, limit: limit)
      } catch let error {
        guard let plain = try? raw(bytes, from: 0, limit: limit) else { throw error }
        return plain.output
      }
    }
  }

  private static func hasFrame(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 6 else { return false }
    let header = Int(bytes[0]) << 8 | Int(bytes[1])
    return bytes[0] & 0x0f == 8 && bytes[0] >> 4 <= 7 && header % 31 == 0
  }

  private static func framed(_ bytes: [UInt8], limit: Int) throws(ArchiveError) -> [UInt8] {
    guard hasFrame(bytes) else { throw ArchiveError("the data has no header of zlib", at: 0) }
    guard bytes[1] & 0x20 == 0 else {
      throw ArchiveError("the data needs a dictionary of zlib that is not in it", at: 1)
    }
    let (output, end) = try raw(bytes, from: 2, limit: limit)
    guard bytes.count - end >= 4 else { throw ArchiveError("the checksum is missing", at: end) }
    let stored = bytes[end..<end + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard stored == adler32(output) else { throw ArchiveError("the checksum is wrong", at: end) }
    return output
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var low: UInt32 = 1
    var high: UInt32 = 0
    var start = 0
    while start < bytes.count {
      // As many as cannot overflow 32 bits.
      let end = min(bytes.count, start + 5552)
      for byte in bytes[start..<end] {
        low &+= UInt32(byte)
        high &+= low
      }
      low %= 65521
      high %= 65521
      start = end
    }
    return high << 16 | low
  }

  /// The blocks from an offset, and the offset of the byte after the last one.
  private static func raw(
    _ bytes: [UInt8], from start: Int, limit: Int
  ) throws(ArchiveError) -> (output: [UInt8], end: Int) {
    var reader = BlockReader(input: BitReader(bytes, from: start), limit: limit)
    while try reader.readBlock() {}
    return (reader.output, reader.input.nextByte)
  }
}
