import HeartwoodBytes

/// Distinguishes a store from its copies: random, made when the store is first shipped, and never copied.
struct Lineage: Hashable, Sendable, CustomStringConvertible {
  let low: UInt64
  let high: UInt64

  /// 32 hexadecimal digits.
  var description: String { StoreIdentifier(low: low, high: high).description }
}

/// The contents of the files `lineage` and `following`.
struct ShippingMark: Hashable, Sendable {
  var identifier: StoreIdentifier
  var lineage: Lineage
  /// The newest piece that a follower has copied, and its checksum; 0 in the folder of a store that is shipped.
  var number: UInt64 = 0
  var pieceChecksum: UInt64 = 0

  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: PieceFormat.markBytes)
    bytes.setField(0, PieceFormat.markMagic)
    bytes.setField(8, PieceFormat.version)
    bytes.setField(16, identifier.low)
    bytes.setField(24, identifier.high)
    bytes.setField(32, lineage.low)
    bytes.setField(40, lineage.high)
    bytes.setField(48, number)
    bytes.setField(56, pieceChecksum)
    let checksum = bytes.withBytes { Self.checksum($0) }
    bytes.setField(64, checksum)
    return bytes
  }

  /// Nil if the bytes are not a whole mark.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> ShippingMark? {
    guard bytes.count == PieceFormat.markBytes, bytes.field64(0) == PieceFormat.markMagic,
      bytes.field32(8) == PieceFormat.version, bytes.field64(64) == checksum(bytes)
    else { return nil }
    return ShippingMark(
      identifier: StoreIdentifier(low: bytes.field64(16), high: bytes.field64(24)),
      lineage: Lineage(low: bytes.field64(32), high: bytes.field64(40)), number: bytes.field64(48),
      pieceChecksum: bytes.field64(56))
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    XXH64.hash(bytes.bytes(0..<64), seed: PieceFormat.checksumSeed)
  }
}
