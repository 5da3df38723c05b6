import HeartwoodBytes

@testable import HeartwoodEngine

/// Recalculates checksums in changed bytes: no code after a checksum test is reached if the checksum is wrong.
enum Sealing {
  /// Makes a valid sequence of the frames from `first` on, as far as their lengths allow.
  ///
  /// - Returns: The checksum of each frame, by its offset.
  @discardableResult
  static func frames(
    _ log: inout [UInt8], from first: Int, seed: UInt64, keepsFields: Bool = false
  ) -> [Int: UInt64] {
    var offset = first
    var (sequence, previous) = (UInt64(1), UInt64(0))
    var sealed: [Int: UInt64] = [:]
    while offset + Format.frameHeaderBytes + Format.frameTrailerBytes <= log.count {
      if keepsFields, log.number(offset, 4) != UInt64(Format.frameMagic) { break }
      if !keepsFields {
        log.set(offset, UInt64(Format.frameMagic), 4)
        log.set(offset + 6, UInt64(Format.frameVersion), 2)
        log.set(offset + 16, sequence, 8)
      }
      log.set(offset + 32, previous, 8)
      let total = FrameHeader.totalBytes(payload: Int(log.number(offset + 8, 4)))
      guard let checksum = frame(&log, at: offset, seed: seed) else { break }
      sealed[offset] = checksum
      previous = checksum
      sequence += 1
      offset += total
    }
    return sealed
  }

  /// Recalculates a frame's checksums. Returns its checksum; nil if the frame extends past the end.
  private static func frame(_ log: inout [UInt8], at offset: Int, seed: UInt64) -> UInt64? {
    let payload = Int(log.number(offset + 8, 4))
    let total = FrameHeader.totalBytes(payload: payload)
    let start = offset + Format.frameHeaderBytes
    let isWhole = offset + total <= log.count
    let isTransaction = log[offset + 4] == Format.transactionKind
    let joined = isWhole && isTransaction ? records(&log, start..<start + payload, seed: seed) : 0
    let header = log.hash(offset..<offset + 72, seed: Checksums.seed(seed, at: offset))
    log.set(offset + 72, header, 8)
    guard isWhole else { return nil }
    let body = isTransaction ? joined : log.hash(start..<start + payload, seed: header)
    let checksum = Checksums.mix(header, body)
    log.set(offset + total - Format.frameTrailerBytes, checksum, 8)
    return checksum
  }

  private static func records(_ log: inout [UInt8], _ payload: Range<Int>, seed: UInt64) -> UInt64 {
    var joined: UInt64 = 0
    log.withWritableBytes { log in
      let records = log.bytes(payload.lowerBound, payload.count)
      var iterator = RecordIterator(records.bytes, firstOffset: payload.lowerBound)
      while let (record, offset) = iterator.next() {
        let sum = XXH3.hash(record.bytes.bytes(from: 8).buffer, seed: Checksums.seed(seed, at: offset))
        log.setField(offset, sum)
        joined = Checksums.mix(joined, sum)
      }
    }
    return joined
  }
}

extension [UInt8] {
  /// A little-endian number of `width` bytes.
  func number(_ offset: Int, _ width: Int) -> UInt64 {
    self[offset..<offset + width].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func set(_ offset: Int, _ value: UInt64, _ width: Int) {
    for byte in 0..<width { self[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
  }

  func hash(_ range: Range<Int>, seed: UInt64) -> UInt64 {
    withUnsafeBytes { XXH64.hash(UnsafeRawBufferPointer(rebasing: $0[range]), seed: seed) }
  }
}
