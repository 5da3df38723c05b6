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
    bytes.setField(0, magic)
    bytes.setField(8, Format.version)
    bytes.setField(16, identifier.low)
    bytes.setField(24, identifier.high)
    bytes.setField(32, UInt64(number))
    bytes.setField(40, salt)
    predecessor?.encode(to: &bytes, at: 48)
    bytes.setField(80, copiedThrough)
    bytes.setField(88, durableThrough)
    let checksum = bytes.withBytes { Self.checksum($0, number: number, store: identifier.seed) }
    bytes.setField(120, checksum)
    return bytes
  }

  /// Decodes a header; nil if the bytes are no header of segment `number` of the store.
  ///
  /// - Parameter known: The store; nil for the one that the bytes name.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, magic: UInt64, number: UInt32, identifier known: StoreIdentifier?
  ) -> SegmentHeader? {
    guard bytes.count >= Format.segmentHeaderBytes else { return nil }
    let identifier = known ?? StoreIdentifier(low: bytes.field64(16), high: bytes.field64(24))
    guard bytes.field64(0) == magic,
      bytes.field64(120) == checksum(bytes, number: number, store: identifier.seed),
      bytes.field32(8) == Format.version, bytes.field64(32) == UInt64(number)
    else { return nil }
    return SegmentHeader(
      identifier: identifier, number: number, salt: bytes.field64(40), predecessor: LogPoint(bytes, at: 48),
      copiedThrough: bytes.field64(80), durableThrough: bytes.field64(88))
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, number: UInt32, store: UInt64) -> UInt64 {
    XXH64.hash(bytes.bytes(0..<120), seed: Checksums.mix(store, UInt64(number)))
  }
}
