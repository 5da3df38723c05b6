import HeartwoodBytes

/// A frame with a single put, written piece by piece, so that the value need not be in memory.
///
/// The pieces are written to their final place and the header last: an interrupted frame is not a frame.
struct LargeFrame {
  /// The frame's header; `write` sets its length and number of records.
  var header: FrameHeader
  let key: UnsafeRawBufferPointer
  let valueBytes: Int
  let segmentSeed: UInt64
  /// Offset of the frame in its segment.
  let offset: Int

  /// Offset of the record in its segment.
  var recordOffset: Int { offset + Format.frameHeaderBytes }

  /// Upper bound of the offset where the frame ends; the exact end is a few bytes less.
  var byteLimit: Int {
    recordOffset + Record.overheadLimit + key.count + valueBytes + Format.frameAlignment
      + Format.frameTrailerBytes
  }

  /// Writes bytes at an offset of the segment.
  typealias Write = (_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(EngineError) -> Void

  /// Writes the frame.
  ///
  /// - Parameter nextPiece: Returns the next piece of the value, at least one byte, while there is one.
  /// - Returns: The frame's length and its checksum.
  func write(
    _ nextPiece: () throws -> UnsafeRawBufferPointer, to write: Write
  ) throws -> (bytes: Int, checksum: UInt64) {
    var head = [UInt8](repeating: 0, count: Format.frameHeaderBytes + Record.overheadLimit + key.count)
    let prefixBytes = head.withWritableBytes(writePrefix)
    head.removeSubrange((Format.frameHeaderBytes + prefixBytes)...)
    var header = header
    header.payloadBytes = prefixBytes + valueBytes
    header.recordCount = 1
    // 1. The value.
    let recordSum = try writeValue(nextPiece, behind: head, to: write)
    // 2. The padding and the trailing checksum.
    let sums = head.withWritableBytes { seal($0, header, recordSum) }
    let end = Format.frameHeaderBytes + header.payloadBytes
    var trailer = [UInt8](repeating: 0, count: header.totalBytes - end)
    let checksum = Checksums.mix(sums, Checksums.mix(0, recordSum))
    trailer.setField(trailer.count - Format.frameTrailerBytes, checksum)
    try trailer.withBytes { (bytes) throws(EngineError) in try write(bytes, offset + end) }
    // 3. The header, which makes the frame valid.
    try head.withBytes { (bytes) throws(EngineError) in try write(bytes, offset) }
    return (header.totalBytes, checksum)
  }

  private func writePrefix(to head: WritableBytes) -> Int {
    Record.writePrefix(
      to: head.bytes(from: Format.frameHeaderBytes), operation: Format.putOperation, key: key,
      valueBytes: valueBytes)
  }

  private func writeValue(
    _ nextPiece: () throws -> UnsafeRawBufferPointer, behind head: [UInt8], to write: Write
  ) throws -> UInt64 {
    var hash = XXH3.Stream(seed: Checksums.seed(segmentSeed, at: recordOffset))
    head.withUnsafeBytes {
      hash.update(UnsafeRawBufferPointer(rebasing: $0[(Format.frameHeaderBytes + 8)...]))
    }
    var done = 0
    while done < valueBytes {
      let piece = try nextPiece()
      hash.update(piece)
      try write(piece, offset + head.count + done)
      done += piece.count
    }
    return hash.hash()
  }

  /// Stores the checksums of the record and the header; returns the header's.
  private func seal(_ head: WritableBytes, _ header: FrameHeader, _ recordSum: UInt64) -> UInt64 {
    head.setField(Format.frameHeaderBytes, recordSum)
    return header.encode(to: head, seed: Checksums.seed(segmentSeed, at: offset))
  }
}
