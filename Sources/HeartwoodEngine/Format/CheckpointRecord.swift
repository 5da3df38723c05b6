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
    bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return }
      encodeFixed(to: base)
      for (index, segment) in segments.enumerated() {
        Self.encode(segment, to: base + (Self.fixedBytes + index * Self.segmentBytes))
      }
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
    let checksum = bytes.withUnsafeMutableBytes { buffer -> UInt64 in
      guard let base = buffer.baseAddress else { return 0 }
      let headerSum = header.encode(to: base, seed: Checksums.seed(segmentSeed, at: offset))
      let body = UnsafeRawPointer(base + Format.frameHeaderBytes).bytes(payload.count)
      let sum = Checksums.mix(headerSum, XXH64.hash(body, seed: headerSum))
      base.setField(header.totalBytes - Format.frameTrailerBytes, sum)
      return sum
    }
    return (bytes, checksum)
  }

  private func encodeFixed(to base: UnsafeMutableRawPointer) {
    base.setField(0, generation)
    base.setField(8, root.reference)
    base.setField(16, root.checksum)
    base.setField(24, root.level)
    base.setField(28, UInt32(truncatingIfNeeded: segments.count))
    base.setField(32, root.count)
    base.setField(40, replay.position.rawValue)
    base.setField(48, replay.sequence)
    base.setField(56, replay.chain)
    base.setField(64, replay.generation)
    base.setField(72, previous?.rawValue ?? 0)
    base.setField(80, previousChecksum)
    base.setField(88, previousGeneration)
    base.setField(96, UInt64(nextSegment))
  }

  private static func encode(_ segment: Segment, to base: UnsafeMutableRawPointer) {
    base.setField(0, UInt64(segment.number))
    base.setField(8, UInt64(segment.isLog ? 1 : 2))
    base.setField(16, segment.extent)
    base.setField(24, segment.chain)
  }

  /// Decodes a payload whose checksum was verified; nil if it is invalid nevertheless.
  static func decode(_ payload: UnsafeRawBufferPointer) -> CheckpointRecord? {
    guard payload.count >= fixedBytes, let base = payload.baseAddress else { return nil }
    let count = Int(base.field32(28))
    guard (payload.count - fixedBytes) / segmentBytes == count,
      count * segmentBytes + fixedBytes == payload.count,
      let replay = LogPosition(rawValue: base.field64(40)), base.field64(96) <= Format.segmentNumberLimit + 1
    else { return nil }
    var segments: [Segment] = []
    segments.reserveCapacity(count)
    for index in 0..<count {
      guard let segment = decodeSegment(base + (fixedBytes + index * segmentBytes)) else { return nil }
      segments.append(segment)
    }
    return CheckpointRecord(
      generation: base.field64(0), root: decodeRoot(base),
      replay: LogPoint(
        position: replay, sequence: base.field64(48), chain: base.field64(56), generation: base.field64(64)),
      previous: LogPosition(rawValue: base.field64(72)), previousChecksum: base.field64(80),
      previousGeneration: base.field64(88), nextSegment: UInt32(base.field64(96)), segments: segments)
  }

  private static func decodeRoot(_ base: UnsafeRawPointer) -> Root {
    Root(
      reference: base.field64(8), checksum: base.field64(16), level: base.field32(24), count: base.field64(32)
    )
  }

  private static func decodeSegment(_ base: UnsafeRawPointer) -> Segment? {
    let number = base.field64(0)
    let kind = base.field64(8)
    let extent = base.field64(16)
    guard number > 0, number <= Format.segmentNumberLimit, kind == 1 || kind == 2,
      extent <= UInt64(Format.segmentLimit)
    else { return nil }
    return Segment(number: UInt32(number), isLog: kind == 1, extent: extent, chain: base.field64(24))
  }
}
