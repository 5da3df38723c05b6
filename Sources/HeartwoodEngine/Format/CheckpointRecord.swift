import HeartwoodBytes

/// The content of a checkpoint frame: everything that opening needs besides the log after it.
struct CheckpointRecord: Hashable, Sendable {
  /// One segment at the time of the checkpoint.
  struct Segment: Hashable, Sendable {
    var number: UInt32
    var isLog: Bool
    /// For a log segment, the offset where it ends; for a page segment, its number of pages including the
    /// header's.
    var extent: UInt64
    /// The checksum of its last frame, or the running checksum of its pages in order.
    var chain: UInt64
  }

  /// The tree of one generation on disk.
  struct Root: Hashable, Sendable {
    var reference: UInt64
    var checksum: UInt64
    var level: UInt32
    var count: UInt64
  }

  var generation: UInt64
  var root: Root
  /// The first frame that the tree does not include.
  var replay: LogPoint
  /// The previous checkpoint: its frame, that frame's checksum and its generation.
  var previous: LogPosition?
  var previousChecksum: UInt64
  var previousGeneration: UInt64
  var nextSegment: UInt32
  /// Every live segment.
  var segments: [Segment]

  private static let fixedBytes = 112
  private static let segmentBytes = 32

  /// The payload of the frame.
  func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.fixedBytes + segments.count * Self.segmentBytes)
    encodeFixed(to: &bytes)
    for (index, segment) in segments.enumerated() {
      Self.encode(segment, to: &bytes, at: Self.fixedBytes + index * Self.segmentBytes)
    }
    return bytes
  }

  /// The whole frame for its place in the log, and its checksum.
  func frame(
    _ fields: FrameHeader, segmentSeed: UInt64, offset: Int
  ) -> (bytes: [UInt8], checksum: UInt64) {
    let payload = encoded()
    var header = fields
    header.payloadBytes = payload.count
    var bytes = [UInt8](repeating: 0, count: Format.frameHeaderBytes) + payload
    bytes.append(contentsOf: [UInt8](repeating: 0, count: header.totalBytes - bytes.count))
    let headerSum = header.encode(to: &bytes, seed: Checksums.seed(segmentSeed, at: offset))
    let payloadSum = payload.withBytes { XXH64.hash($0, seed: headerSum) }
    let checksum = Checksums.mix(headerSum, payloadSum)
    bytes.setField(header.totalBytes - Format.frameTrailerBytes, checksum)
    return (bytes, checksum)
  }

  private func encodeFixed(to bytes: inout [UInt8]) {
    bytes.setField(0, generation)
    bytes.setField(8, root.reference)
    bytes.setField(16, root.checksum)
    bytes.setField(24, root.level)
    bytes.setField(28, UInt32(truncatingIfNeeded: segments.count))
    bytes.setField(32, root.count)
    replay.encode(to: &bytes, at: 40)
    bytes.setField(72, previous?.rawValue ?? 0)
    bytes.setField(80, previousChecksum)
    bytes.setField(88, previousGeneration)
    bytes.setField(96, UInt64(nextSegment))
  }

  static func encode(_ segment: Segment, to bytes: inout [UInt8], at offset: Int) {
    bytes.setField(offset, UInt64(segment.number))
    bytes.setField(offset + 8, UInt64(segment.isLog ? 1 : 2))
    bytes.setField(offset + 16, segment.extent)
    bytes.setField(offset + 24, segment.chain)
  }

  /// Decodes a payload whose checksum was verified; nil if it is invalid nevertheless.
  static func decode(_ payload: UnsafeRawBufferPointer) -> CheckpointRecord? {
    guard payload.count >= fixedBytes else { return nil }
    let count = Int(payload.field32(28))
    guard (payload.count - fixedBytes) / segmentBytes == count,
      count * segmentBytes + fixedBytes == payload.count,
      let replay = LogPoint(payload, at: 40),
      payload.field64(96) <= Format.segmentNumberLimit + 1
    else { return nil }
    var segments: [Segment] = []
    segments.reserveCapacity(count)
    for index in 0..<count {
      guard let segment = decodeSegment(payload, at: fixedBytes + index * segmentBytes) else { return nil }
      segments.append(segment)
    }
    return CheckpointRecord(
      generation: payload.field64(0), root: decodeRoot(payload),
      replay: replay, previous: LogPosition(rawValue: payload.field64(72)),
      previousChecksum: payload.field64(80),
      previousGeneration: payload.field64(88), nextSegment: UInt32(payload.field64(96)), segments: segments)
  }

  private static func decodeRoot(_ payload: UnsafeRawBufferPointer) -> Root {
    Root(
      reference: payload.field64(8), checksum: payload.field64(16), level: payload.field32(24),
      count: payload.field64(32)
    )
  }

  static func decodeSegment(_ payload: UnsafeRawBufferPointer, at offset: Int) -> Segment? {
    let number = payload.field64(offset)
    let kind = payload.field64(offset + 8)
    let extent = payload.field64(offset + 16)
    guard number > 0, number <= Format.segmentNumberLimit, kind == 1 || kind == 2,
      extent <= UInt64(Format.segmentLimit)
    else { return nil }
    return Segment(
      number: UInt32(number), isLog: kind == 1, extent: extent, chain: payload.field64(offset + 24))
  }
}
