/// The block format of LZ4: sequences of a token, literal bytes, and a copy of bytes that came before.
///
/// A block does not say how long its contents are: that number is stored beside it.
package enum LZ4 {
  /// Bytes of the shortest copy.
  static let shortestMatch = 4
  /// The greatest distance of a copy from its source.
  static let farthest = 65_535
  /// The last bytes of a block are literals, and no copy begins in the last ones, so that programs may read and write in words.
  static let lastLiterals = 5
  static let lastBytesWithoutMatch = 12

  /// Restores the contents of a block. Never traps, and never reads or writes outside its arguments, on any input.
  ///
  /// - Parameter target: As long as the contents. It has undefined bytes if the block is invalid.
  /// - Returns: Whether `source` is a block whose contents have exactly that length.
  /// - Complexity: O(length of the target).
  package static func decompress(
    _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    var decoder = Decoder(source, target)
    return decoder.run()
  }

  private struct Decoder {
    private let source: UnsafeRawBufferPointer
    private let target: UnsafeMutableRawBufferPointer
    private var read = 0
    private var written = 0

    init(_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer) {
      self.source = source
      self.target = target
    }

    private var unread: Int { source.count &- read }
    private var room: Int { target.count &- written }

    mutating func run() -> Bool {
      while unread > 0 {
        let token = Int(source[read])
        read &+= 1
        guard let literals = length(token >> 4), literals <= unread, literals <= room else { return false }
        copyLiterals(literals)
        // The last sequence has no copy.
        if unread == 0 { return room == 0 }
        guard unread >= 2 else { return false }
        let distance = Int(source[read]) | Int(source[read &+ 1]) << 8
        read &+= 2
        guard distance > 0, distance <= written, let match = length(token & 15),
          match <= room &- LZ4.shortestMatch
        else { return false }
        copyMatch(match &+ LZ4.shortestMatch, distance)
      }
      return false
    }

    /// A length that begins in a token and continues in the bytes after it; nil if it is longer than the target.
    private mutating func length(_ first: Int) -> Int? {
      guard first == 15 else { return first }
      var length = first
      while unread > 0, length <= target.count {
        let byte = Int(source[read])
        read &+= 1
        length &+= byte
        if byte < 255 { return length }
      }
      return nil
    }

    private mutating func copyLiterals(_ count: Int) {
      guard count > 0, let from = source.baseAddress, let to = target.baseAddress else { return }
      // Few bytes, as two words that may be longer.
      if count <= 16, unread >= 16, room >= 16 {
        Self.copyWord(from, read, to, written)
        Self.copyWord(from, read &+ 8, to, written &+ 8)
      } else {
        to.advanced(by: written).copyMemory(from: from.advanced(by: read), byteCount: count)
      }
      read &+= count
      written &+= count
    }

    /// Copies bytes that may overlap: those that are written are read again.
    private mutating func copyMatch(_ count: Int, _ distance: Int) {
      let end = written &+ count
      guard let start = target.baseAddress else { return }
      // By words, whose last one may write beyond the copy but not beyond the target.
      if distance >= 8, room &- count >= 8 {
        while written < end {
          Self.copyWord(UnsafeRawPointer(start), written &- distance, start, written)
          written &+= 8
        }
      } else {
        while written < end {
          start.storeBytes(
            of: start.load(fromByteOffset: written &- distance, as: UInt8.self), toByteOffset: written,
            as: UInt8.self)
          written &+= 1
        }
      }
      written = end
    }

    @inline(__always)
    private static func copyWord(
      _ source: UnsafeRawPointer, _ from: Int, _ target: UnsafeMutableRawPointer, _ to: Int
    ) {
      target.storeBytes(
        of: source.loadUnaligned(fromByteOffset: from, as: UInt64.self), toByteOffset: to, as: UInt64.self)
    }
  }
}
