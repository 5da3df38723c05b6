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
  func encode(to target: WritableBytes, seed: UInt64) -> UInt64 {
    target.setField(0, Format.frameMagic)
    target.setField(4, kind)
    target.setField(5, flags)
    target.setField(6, Format.frameVersion)
    target.setField(8, UInt32(truncatingIfNeeded: payloadBytes))
    target.setField(12, recordCount)
    target.setField(16, sequence)
    target.setField(24, transaction)
    target.setField(32, previous)
    target.setField(40, durableThrough)
    target.setField(48, time)
    target.setField(56, puts)
    target.setField(64, deletes)
    let sum = XXH64.hash(target.bytes.bytes(0, 72).buffer, seed: seed)
    target.setField(72, sum)
    return sum
  }

  /// Writes the header at the beginning of an array; returns its checksum.
  func encode(to bytes: inout [UInt8], seed: UInt64) -> UInt64 {
    require(bytes.count >= Format.frameHeaderBytes, "There is no room for a frame's header.")
    return bytes.withWritableBytes { encode(to: $0, seed: seed) }
  }

  /// Decodes a header; nil if the bytes are no header, or of another place. The length is trusted only
  /// because the checksum covers it.
  static func decode(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> (
    header: FrameHeader, checksum: UInt64
  )? {
    guard bytes.count >= Format.frameHeaderBytes, bytes.field32(0) == Format.frameMagic else { return nil }
    let sum = bytes.field64(72)
    let isIntact = sum == XXH64.hash(bytes.bytes(0..<72), seed: seed)
    guard isIntact, bytes.field16(6) == Format.frameVersion else {
      return nil
    }
    let header = FrameHeader(
      kind: bytes.field8(4), flags: bytes.field8(5), payloadBytes: Int(bytes.field32(8)),
      recordCount: bytes.field32(12), sequence: bytes.field64(16), transaction: bytes.field64(24),
      previous: bytes.field64(32), durableThrough: bytes.field64(40),
      time: Int64(bitPattern: bytes.field64(48)), puts: bytes.field64(56), deletes: bytes.field64(64))
    return (header, sum)
  }
}
