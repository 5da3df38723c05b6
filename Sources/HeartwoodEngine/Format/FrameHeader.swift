import HeartwoodBytes

/// The first bytes of a frame: its kind, its length, and its place in the log.
struct FrameHeader: Hashable, Sendable {
  var kind: UInt8
  var flags: UInt8
  /// Bytes between the header and the padding.
  var payloadBytes: Int
  /// Number of records in the payload.
  var recordCount: UInt32
  /// Incremented with every frame of the log, across segments.
  var sequence: UInt64
  /// The transaction's number; for a checkpoint, its generation.
  var transaction: UInt64
  /// The checksum of the previous frame.
  var previous: UInt64
  /// The last frame known to be durable when this one was written.
  var durableThrough: UInt64
  /// In the last frame of a transaction: the commit time, nanoseconds since 1970.
  var time: Int64
  /// In the last frame: the puts and deleted keys of the whole transaction.
  var puts: UInt64
  var deletes: UInt64

  var isLast: Bool { flags & Format.lastFrameFlag != 0 }

  /// Size of the whole frame on disk.
  var totalBytes: Int { Self.totalBytes(payload: payloadBytes) }

  static func totalBytes(payload: Int) -> Int {
    let padded = (payload + Format.frameAlignment - 1) & ~(Format.frameAlignment - 1)
    return Format.frameHeaderBytes + padded + Format.frameTrailerBytes
  }

  /// Writes the header; returns its checksum, which the frame's checksum continues.
  func encode(to base: UnsafeMutableRawPointer, seed: UInt64) -> UInt64 {
    base.setField(0, Format.frameMagic)
    base.setField(4, kind)
    base.setField(5, flags)
    base.setField(6, Format.frameVersion)
    base.setField(8, UInt32(truncatingIfNeeded: payloadBytes))
    base.setField(12, recordCount)
    base.setField(16, sequence)
    base.setField(24, transaction)
    base.setField(32, previous)
    base.setField(40, durableThrough)
    base.setField(48, time)
    base.setField(56, puts)
    base.setField(64, deletes)
    let sum = XXH64.hash(UnsafeRawPointer(base).bytes(72), seed: seed)
    base.setField(72, sum)
    return sum
  }

  /// Decodes a header; nil if the bytes are no header, or of another place. The length is trusted only
  /// because the checksum covers it.
  static func decode(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> (
    header: FrameHeader, checksum: UInt64
  )? {
    guard bytes.count >= Format.frameHeaderBytes, let base = bytes.baseAddress,
      base.field32(0) == Format.frameMagic
    else { return nil }
    let sum = base.field64(72)
    let isIntact = sum == XXH64.hash(base.bytes(72), seed: seed)
    guard isIntact, base.field16(6) == Format.frameVersion else {
      return nil
    }
    let header = FrameHeader(
      kind: base.field8(4), flags: base.field8(5), payloadBytes: Int(base.field32(8)),
      recordCount: base.field32(12), sequence: base.field64(16), transaction: base.field64(24),
      previous: base.field64(32), durableThrough: base.field64(40),
      time: Int64(bitPattern: base.field64(48)), puts: base.field64(56), deletes: base.field64(64))
    return (header, sum)
  }
}
