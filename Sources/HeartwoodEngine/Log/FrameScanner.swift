import HeartwoodBytes

/// A frame found at its place with all checksums valid.
struct ScannedFrame {
  let header: FrameHeader
  let checksum: UInt64
  let position: LogPosition
  /// The bytes between the header and the padding.
  let payload: Bytes

  /// Position of the next frame.
  var end: LogPosition {
    LogPosition(segment: position.segment, offset: position.offset + header.totalBytes)
  }

  /// The point of the next frame if this one is at `point`.
  func next(after point: LogPoint) -> LogPoint {
    let completes = header.kind == Format.transactionKind && header.isLast
    return LogPoint(
      position: end, sequence: header.sequence &+ 1, chain: checksum,
      generation: completes ? header.transaction : point.generation)
  }
}

/// Reads frames of one segment. Nil always means "no valid frame here". A read error is thrown and never
/// taken for the end of the log.
struct FrameScanner {
  let segment: LogSegment
  /// The scan ends at this offset.
  let end: Int

  init(_ segment: LogSegment, upTo end: Int? = nil) {
    self.segment = segment
    self.end = min(end ?? segment.limit, segment.limit)
  }

  /// The header at an offset, whatever its previous-frame checksum.
  func header(at offset: Int) throws(EngineError) -> (header: FrameHeader, checksum: UInt64)? {
    guard offset >= 0, offset <= end - Format.frameHeaderBytes - Format.frameTrailerBytes,
      let bytes = try segment.bytes(at: offset, Format.frameHeaderBytes)
    else { return nil }
    return FrameHeader.decode(bytes.buffer, seed: Checksums.seed(segment.seed, at: offset))
  }

  /// The frame at a point, with every byte verified; nil if its sequence number or previous-frame checksum
  /// differs.
  func frame(at point: LogPoint) throws(EngineError) -> ScannedFrame? {
    guard let frame = try frame(at: point.position.offset),
      frame.header.sequence == point.sequence, frame.header.previous == point.chain
    else { return nil }
    return frame
  }

  /// The frame at an offset, with every byte verified, whatever its previous-frame checksum.
  func frame(at offset: Int) throws(EngineError) -> ScannedFrame? {
    guard let found = try header(at: offset) else { return nil }
    let total = found.header.totalBytes
    guard total <= end - offset, let bytes = try segment.bytes(at: offset, total),
      let checksum = Self.checksum(of: found, bytes, segment: segment, offset: offset),
      Self.isTrailer(bytes.field64(total - Format.frameTrailerBytes), checksum),
      Self.isPadded(found.header, bytes)
    else { return nil }
    let payload = bytes.bytes(Format.frameHeaderBytes, found.header.payloadBytes)
    return ScannedFrame(
      header: found.header, checksum: checksum,
      position: LogPosition(segment: segment.number, offset: offset), payload: payload)
  }

  /// The frame at a point with only its header verified. The previous-frame checksum for the next frame is
  /// taken from the trailer.
  func outline(at point: LogPoint) throws(EngineError) -> ScannedFrame? {
    let offset = point.position.offset
    guard let found = try header(at: offset), found.header.sequence == point.sequence,
      found.header.previous == point.chain
    else { return nil }
    let total = found.header.totalBytes
    guard total <= end - offset,
      let trailer = try segment.bytes(
        at: offset + total - Format.frameTrailerBytes, Format.frameTrailerBytes)
    else { return nil }
    return ScannedFrame(
      header: found.header, checksum: trailer.field64(0),
      position: LogPosition(segment: segment.number, offset: offset),
      payload: trailer.bytes(0, 0))
  }

  private static func checksum(
    of found: (header: FrameHeader, checksum: UInt64), _ bytes: Bytes, segment: LogSegment,
    offset: Int
  ) -> UInt64? {
    let payload = bytes.bytes(Format.frameHeaderBytes, found.header.payloadBytes)
    switch found.header.kind {
    case Format.transactionKind:
      var records = RecordIterator(payload, firstOffset: offset + Format.frameHeaderBytes)
      var joined: UInt64 = 0
      while let (record, place) = records.next() {
        guard record.isIntact(segmentSeed: segment.seed, offset: place) else { return nil }
        joined = Checksums.mix(joined, record.checksum)
      }
      guard records.isAtEnd, records.count == found.header.recordCount else { return nil }
      return Checksums.mix(found.checksum, joined)
    default:
      return Checksums.mix(found.checksum, XXH64.hash(payload.buffer, seed: found.checksum))
    }
  }

  private static func isTrailer(_ found: UInt64, _ checksum: UInt64) -> Bool {
    return found == checksum
  }

  private static func isPadded(_ header: FrameHeader, _ bytes: Bytes) -> Bool {
    var offset = Format.frameHeaderBytes + header.payloadBytes
    while offset < header.totalBytes - Format.frameTrailerBytes {
      guard bytes.field8(offset) == 0 else { return false }
      offset += 1
    }
    return true
  }

  /// Whether any frame of this segment begins in it.
  func hasHeader() throws(EngineError) -> Bool {
    try nextHeader(after: Format.segmentHeaderBytes - 1) != nil
  }

  /// The first offset after `offset` where a frame of this segment begins, whatever its previous-frame
  /// checksum. The checksum is seeded with the offset, so a false match is as unlikely as a false checksum.
  func nextHeader(after offset: Int) throws(EngineError) -> (offset: Int, header: FrameHeader)? {
    let alignment = Format.frameAlignment
    var place = (offset + alignment) & ~(alignment - 1)
    let chunk = ChunkFiller.chunkBytes
    while place + Format.frameHeaderBytes <= end {
      let count = min(chunk, end - place) & ~(alignment - 1)
      guard let bytes = try segment.bytes(at: place, count) else { return nil }
      for step in stride(from: 0, to: count, by: alignment) where bytes.field32(step) == Format.frameMagic {
        if let found = try header(at: place + step) { return (place + step, found.header) }
      }
      place += count
      if count == 0 { return nil }
    }
    return nil
  }
}

/// Iterates over the records of a transaction frame's payload by their lengths.
struct RecordIterator {
  private let payload: Bytes
  private let firstOffset: Int
  private var position = 0
  private(set) var count: UInt32 = 0

  /// - Parameter firstOffset: Offset of the payload in its segment.
  init(_ payload: Bytes, firstOffset: Int) {
    self.payload = payload
    self.firstOffset = firstOffset
  }

  /// The next record and its offset in the segment; nil at the end, or if the lengths are invalid.
  @inline(__always)
  mutating func next() -> (record: Record, offset: Int)? {
    guard position < payload.count, let record = Record.parse(payload.bytes(from: position)) else {
      return nil
    }
    let offset = firstOffset &+ position
    position &+= record.totalBytes
    count &+= 1
    return (record, offset)
  }

  /// Whether the whole payload was consumed.
  var isAtEnd: Bool { position == payload.count }
}
