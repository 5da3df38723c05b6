import HeartwoodBytes

/// The first bytes of a segment of either kind.
struct SegmentHeader: Hashable, Sendable {
  var identifier: StoreIdentifier
  var number: UInt32
  /// Random for each segment, so that no bytes of another segment are valid in this one.
  var salt: UInt64
  /// The exact end of the previous segment, and what the first frame here must state. Nil in the first log
  /// segment and in page segments.
  var predecessor: LogPoint?
  /// The frame up to which recovery copied a tail into this segment. If the segment has fewer frames, the
  /// copy was not finished, and the original counts. 0 if nothing was copied.
  var copiedThrough: UInt64
  /// The last frame known to be durable when the segment was created.
  var durableThrough: UInt64

  /// The seed of the segment's checksums.
  var seed: UInt64 { Checksums.segmentSeed(store: identifier.seed, salt: salt, number: number) }

  /// The point of the first frame of a log segment.
  var firstPoint: LogPoint {
    LogPoint(
      position: LogPosition(segment: number, offset: Format.segmentHeaderBytes),
      sequence: predecessor?.sequence ?? 1, chain: predecessor?.chain ?? 0,
      generation: predecessor?.generation ?? 0)
  }

  /// The bytes as they are written at offset 0.
  func encoded(magic: UInt64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Format.segmentHeaderBytes)
    bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      base.setField(0, magic)
      base.setField(8, Format.version)
      base.setField(16, identifier.low)
      base.setField(24, identifier.high)
      base.setField(32, UInt64(number))
      base.setField(40, salt)
      base.setField(48, predecessor?.position.rawValue ?? 0)
      base.setField(56, predecessor?.sequence ?? 0)
      base.setField(64, predecessor?.chain ?? 0)
      base.setField(72, predecessor?.generation ?? 0)
      base.setField(80, copiedThrough)
      base.setField(88, durableThrough)
      base.setField(120, Self.checksum(UnsafeRawPointer(base), number: number, store: identifier.seed))
    }
    return bytes
  }

  /// Decodes a header; nil if the bytes are no header of segment `number` of the store.
  ///
  /// - Parameter known: The store; nil for the one that the bytes name.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, magic: UInt64, number: UInt32, identifier known: StoreIdentifier?
  ) -> SegmentHeader? {
    guard bytes.count >= Format.segmentHeaderBytes, let base = bytes.baseAddress else { return nil }
    let identifier = known ?? StoreIdentifier(low: base.field64(16), high: base.field64(24))
    guard base.field64(0) == magic,
      base.field64(120) == checksum(base, number: number, store: identifier.seed),
      base.field32(8) == Format.version, base.field64(32) == UInt64(number)
    else { return nil }
    return SegmentHeader(
      identifier: identifier, number: number, salt: base.field64(40), predecessor: decodePredecessor(base),
      copiedThrough: base.field64(80), durableThrough: base.field64(88))
  }

  private static func decodePredecessor(_ base: UnsafeRawPointer) -> LogPoint? {
    guard let position = LogPosition(rawValue: base.field64(48)) else { return nil }
    return LogPoint(
      position: position, sequence: base.field64(56), chain: base.field64(64), generation: base.field64(72))
  }

  private static func checksum(_ base: UnsafeRawPointer, number: UInt32, store: UInt64) -> UInt64 {
    XXH64.hash(base.bytes(120), seed: Checksums.mix(store, UInt64(number)))
  }
}
