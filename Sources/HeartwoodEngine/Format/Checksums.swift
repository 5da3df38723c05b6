import HeartwoodBytes

/// Seeds and combines checksums. The seed depends on the place: the same bytes in another store, another
/// segment or at another offset have another checksum.
enum Checksums {
  /// The seed for everything in one segment.
  @inline(__always)
  static func segmentSeed(store: UInt64, salt: UInt64, number: UInt32) -> UInt64 {
    return mix(mix(store, salt), UInt64(number))
  }

  /// The seed for bytes at an offset of a segment.
  @inline(__always)
  static func seed(_ segmentSeed: UInt64, at offset: Int) -> UInt64 {
    return segmentSeed ^ (UInt64(truncatingIfNeeded: offset) &* 0x9E37_79B1_85EB_CA87)
  }

  /// Mixes one word into a state, as XXH64 mixes its last words: different inputs give different states.
  @inline(__always)
  static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let spread: UInt64 = word &* 0xC2B2_AE3D_27D4_EB4F
    let turned: UInt64 = (spread << 31) | (spread >> 33)
    let joined: UInt64 = state ^ (turned &* 0x9E37_79B1_85EB_CA87)
    let rotated: UInt64 = (joined << 27) | (joined >> 37)
    return (rotated &* 0x9E37_79B1_85EB_CA87) &+ 0x85EB_CA77_C2B2_AE63
  }
}
