/// Makes blocks of LZ4: finds bytes that came before by a table of hashes, and takes the first copy that it finds.
///
/// The same bytes always make the same block. One thread at a time uses a compressor.
package struct LZ4Compressor: ~Copyable {
  private static var tableBits: UInt32 { 12 }
  /// The longest contents of a block.
  package static var greatestCount: Int { 1 << 30 }
  /// After this many searches in vain, the next ones skip one byte more: what cannot be compressed is passed fast.
  private static var searchesPerStep: Int { 64 }

  /// Where four bytes with a hash were found last, plus `origin`.
  private var table: [UInt32]
  /// Greater than all entries that earlier blocks have left in the table.
  private var origin: UInt32 = 1

  /// A compressor with a table of 16 KiB, which it uses for all its blocks.
  package init() { table = [UInt32](repeating: 0, count: 1 << Self.tableBits) }

  /// Compresses bytes to a block.
  ///
  /// - Returns: The length of the block; nil if it does not fit into `target`, whose bytes are undefined then, or if
  ///   the source has more than `greatestCount` bytes.
  /// - Complexity: O(length of the source).
  package mutating func compress(
    _ source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    guard source.count <= Self.greatestCount else { return nil }
    defer { origin &+= UInt32(source.count) }
    if origin > UInt32.max / 2 {
      table = [UInt32](repeating: 0, count: 1 << Self.tableBits)
      origin = 1
    }
    var block = BlockWriter(target)
    var covered = 0
    if let start = source.baseAddress, source.count > LZ4.lastBytesWithoutMatch {
      guard let end = copies(of: start, count: source.count, to: &block) else { return nil }
      covered = end
    }
    return block.finish(source[covered...]) ? block.count : nil
  }

  /// Writes all sequences but the last one.
  ///
  /// - Returns: How many bytes they contain; nil if there is no room.
  private mutating func copies(of bytes: UnsafeRawPointer, count: Int, to block: inout BlockWriter) -> Int? {
    let last = count &- LZ4.lastBytesWithoutMatch
    var covered = 0
    var place = 0
    var searches = Self.searchesPerStep
    while place <= last {
      guard let match = match(at: place, of: bytes, after: covered, count: count) else {
        place &+= searches / Self.searchesPerStep
        searches &+= 1
        continue
      }
      let literals = UnsafeRawBufferPointer(
        start: bytes.advanced(by: covered), count: match.start &- covered)
      guard block.append(literals, distance: match.distance, count: match.end &- match.start) else {
        return nil
      }
      covered = match.end
      place = match.end
      searches = Self.searchesPerStep
      if place <= last { _ = replace(place &- 2, bytes.littleEndian32(place &- 2)) }
    }
    return covered
  }

  private struct Match {
    var start: Int
    var end: Int
    let distance: Int
  }

  /// The longest copy around `place` of bytes with the same hash; nil if there are none.
  @inline(__always)
  private mutating func match(
    at place: Int, of bytes: UnsafeRawPointer, after covered: Int, count: Int
  ) -> Match? {
    let word = bytes.littleEndian32(place)
    guard let found = replace(place, word) else { return nil }
    let distance = place &- found
    guard distance <= LZ4.farthest, bytes.littleEndian32(found) == word else { return nil }
    var match = Match(start: place, end: place &+ LZ4.shortestMatch, distance: distance)
    while match.start > covered, match.start > distance,
      bytes.load(fromByteOffset: match.start &- 1, as: UInt8.self)
        == bytes.load(fromByteOffset: match.start &- 1 &- distance, as: UInt8.self)
    { match.start &-= 1 }
    match.end = Self.end(of: match, in: bytes, before: count &- LZ4.lastLiterals)
    return match
  }

  private static func end(of match: Match, in bytes: UnsafeRawPointer, before limit: Int) -> Int {
    var end = match.end
    while end &+ 8 <= limit {
      let difference = bytes.littleEndian64(end) ^ bytes.littleEndian64(end &- match.distance)
      guard difference == 0 else { return end &+ difference.trailingZeroBitCount / 8 }
      end &+= 8
    }
    while end < limit,
      bytes.load(fromByteOffset: end, as: UInt8.self)
        == bytes.load(fromByteOffset: end &- match.distance, as: UInt8.self)
    { end &+= 1 }
    return end
  }

  /// Enters a place into the table; returns the one that was there before.
  @inline(__always)
  private mutating func replace(_ place: Int, _ word: UInt32) -> Int? {
    let index = Int((word &* 2_654_435_761) &>> (32 &- Self.tableBits))
    let former = table[index]
    table[index] = origin &+ UInt32(truncatingIfNeeded: place)
    return former >= origin ? Int(former &- origin) : nil
  }
}

/// A block that is being written.
private struct BlockWriter {
  private let target: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(_ target: UnsafeMutableRawBufferPointer) { self.target = target }

  /// Appends literals and a copy; returns false if there is no room.
  mutating func append(_ literals: UnsafeRawBufferPointer, distance: Int, count length: Int) -> Bool {
    let match = length &- LZ4.shortestMatch
    guard appendLiterals(literals, match: match), target.count &- count >= 2 &+ Self.lengthBytes(match) else {
      return false
    }
    put(distance & 255)
    put(distance >> 8)
    putLength(match)
    return true
  }

  /// Appends the last sequence, which has no copy; returns false if there is no room.
  mutating func finish(_ literals: Slice<UnsafeRawBufferPointer>) -> Bool {
    appendLiterals(UnsafeRawBufferPointer(rebasing: literals), match: 0)
  }

  private mutating func appendLiterals(_ literals: UnsafeRawBufferPointer, match: Int) -> Bool {
    let needed = 1 &+ Self.lengthBytes(literals.count) &+ literals.count
    guard target.count &- count >= needed else { return false }
    put(min(literals.count, 15) << 4 | min(match, 15))
    putLength(literals.count)
    if literals.count > 0 {
      target[count..<count &+ literals.count].copyBytes(from: literals)
      count &+= literals.count
    }
    return true
  }

  /// How many bytes of a length are not in the token.
  private static func lengthBytes(_ length: Int) -> Int { length < 15 ? 0 : (length &- 15) / 255 &+ 1 }

  /// The part of a length that is not in the token.
  private mutating func putLength(_ length: Int) {
    guard length >= 15 else { return }
    var rest = length &- 15
    while rest >= 255 {
      put(255)
      rest &-= 255
    }
    put(rest)
  }

  private mutating func put(_ byte: Int) {
    target[count] = UInt8(truncatingIfNeeded: byte)
    count &+= 1
  }
}
