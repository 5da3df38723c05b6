import HeartwoodBytes

/// One slot of the anchor: everything that opening needs first, complete in itself.
struct AnchorSlot: Hashable, Sendable {
  var identifier: StoreIdentifier
  /// Incremented with every write of the anchor; the valid slot with the higher number counts.
  var sequence: UInt64
  /// When the store was created, nanoseconds since 1970. Information only.
  var created: Int64
  /// The frame of the newest checkpoint, nil if there is none yet, and that frame's checksum.
  var checkpoint: LogPosition?
  var checkpointChecksum: UInt64
  /// The segment that is appended to. No frame is written to a segment before a slot names it.
  var lastLogSegment: UInt32
  /// The log was synced up to here when the slot was written.
  var knownDurable: LogPoint
  /// The number for the next segment of either kind.
  var nextSegment: UInt32
  /// Whether the log ends exactly at `knownDurable` because the store was closed.
  var isClean: Bool
  /// Whether the slot was written without syncs: then no file of the store need be durable, whatever the slot
  /// says.
  var isUnsynced = false
  /// The meaning of the keys and values; nil if the store is not marked.
  var content: StoreContent?
  /// The parts of the store that older versions cannot read.
  var features: StoreFeatures = []

  /// The result of reading a slot.
  enum Reading: Hashable {
    case valid(AnchorSlot)
    case newerFormat(UInt32)
    case invalid
  }

  /// The sequence number of the newer slot in a store that was just created.
  static let firstSequence: UInt64 = 2

  private static let seedBase: UInt64 = 0x4865_6172_7477_6F6F

  /// The sector as it is written to slot `index`.
  func encoded(slot index: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Format.anchorSlotBytes)
    encodeFormat(to: &bytes)
    encodeState(to: &bytes)
    let checksum = bytes.withBytes { Self.checksum($0, slot: index) }
    bytes.setField(504, checksum)
    return bytes
  }

  private func encodeFormat(to bytes: inout [UInt8]) {
    bytes.setField(0, Format.anchorMagic)
    bytes.setField(8, features.format)
    bytes.setField(12, features.isEmpty ? Format.minimumReader : features.format)
    bytes.setField(16, features.isEmpty ? Format.minimumWriter : features.format)
    // 20, 24: features that older versions may ignore, and may only read. None yet.
    bytes.setField(28, features.rawValue)
    bytes.setField(32, identifier.low)
    bytes.setField(40, identifier.high)
  }

  private func encodeState(to bytes: inout [UInt8]) {
    bytes.setField(48, sequence)
    bytes.setField(56, created)
    bytes.setField(64, checkpoint?.rawValue ?? 0)
    bytes.setField(72, checkpointChecksum)
    bytes.setField(80, UInt64(lastLogSegment))
    knownDurable.encode(to: &bytes, at: 88)
    bytes.setField(120, UInt64(nextSegment))
    bytes.setField(128, UInt32((isClean ? 1 : 0) | (isUnsynced ? 2 : 0)))
    bytes.setField(132, Format.checksumKind)
    bytes.setField(136, content?.low ?? 0)
    bytes.setField(144, content?.high ?? 0)
  }

  /// Decodes the sector of slot `index`, after verifying its checksum.
  static func decode(_ bytes: UnsafeRawBufferPointer, slot index: Int) -> Reading {
    guard bytes.count >= Format.anchorSlotBytes else { return .invalid }
    let isIntact = bytes.field64(504) == checksum(bytes, slot: index)
    guard bytes.field64(0) == Format.anchorMagic, isIntact else { return .invalid }
    guard bytes.field32(12) <= Format.newestVersion, StoreFeatures(rawValue: bytes.field32(28)).areKnown
    else {
      return .newerFormat(bytes.field32(8))
    }
    return decodeState(bytes).map(Reading.valid) ?? .invalid
  }

  private static func decodeState(_ bytes: UnsafeRawBufferPointer) -> AnchorSlot? {
    let lastLog = bytes.field64(80)
    let next = bytes.field64(120)
    guard lastLog > 0, lastLog <= Format.segmentNumberLimit, next <= Format.segmentNumberLimit + 1,
      let knownDurable = LogPoint(bytes, at: 88)
    else { return nil }
    return AnchorSlot(
      identifier: StoreIdentifier(low: bytes.field64(32), high: bytes.field64(40)),
      sequence: bytes.field64(48),
      created: Int64(bitPattern: bytes.field64(56)), checkpoint: LogPosition(rawValue: bytes.field64(64)),
      checkpointChecksum: bytes.field64(72), lastLogSegment: UInt32(lastLog),
      knownDurable: knownDurable, nextSegment: UInt32(next), isClean: bytes.field32(128) & 1 == 1,
      isUnsynced: bytes.field32(128) & 2 == 2,
      content: StoreContent(low: bytes.field64(136), high: bytes.field64(144)),
      features: StoreFeatures(rawValue: bytes.field32(28)))
  }

  /// Whether a writer of this version must not append.
  static func forbidsWriting(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= Format.anchorSlotBytes else { return false }
    return bytes.field32(16) > Format.newestVersion || bytes.field32(24) != 0
  }

  private static func checksum(_ bytes: UnsafeRawBufferPointer, slot index: Int) -> UInt64 {
    XXH64.hash(bytes.bytes(0..<504), seed: seedBase ^ UInt64(truncatingIfNeeded: index))
  }
}
