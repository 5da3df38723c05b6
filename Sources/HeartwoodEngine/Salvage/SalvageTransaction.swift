/// The readable frames of one transaction of a damaged log, in order.
///
/// A lost record may have put or deleted any key again. So only the records after the last damage are certain
/// to be the transaction's final values; those before it may be values that no reader ever saw committed.
struct SalvageTransaction {
  private let frames: [SalvageLog.Frame]
  /// Called with each loss.
  private let miss: (SalvageLoss) -> Void

  init(_ frames: [SalvageLog.Frame], _ miss: @escaping (SalvageLoss) -> Void) {
    self.frames = frames
    self.miss = miss
  }

  /// The first record that counts, and the number of records before it.
  private struct Start {
    var frame = 0
    var position = 0
    var skipped = 0
  }

  /// Calls `body` with each record that counts.
  func replay(_ body: (Record) throws(EngineError) -> Void) throws(EngineError) {
    let start = findStart()
    if start.skipped > 0, let first = frames.first {
      let number = first.header.transaction
      miss(
        SalvageLoss(
          "\(start.skipped) records before damage in their transaction are left out, as what is lost may have changed "
            + "their keys again", file: first.segment.path, offset: first.offset, generations: number...number
        ))
    }
    for (index, frame) in frames.enumerated().dropFirst(start.frame) {
      var records = Records(frame, from: index == start.frame ? start.position : 0)
      while let record = records.next() { try body(record) }
    }
  }

  private func findStart() -> Start {
    var start = Start()
    var (seen, expected) = (0, frames.first?.header.sequence ?? 0)
    for (index, frame) in frames.enumerated() {
      // A frame in between is lost. `Salvage` reports frames that the log has lost.
      if frame.header.sequence != expected { start = Start(frame: index, position: 0, skipped: seen) }
      expected = frame.header.sequence &+ 1
      var records = Records(frame, from: 0)
      var count = 0
      while records.next() != nil {
        if records.hasSkipped { start = Start(frame: index, position: records.start, skipped: seen) }
        seen += 1
        count += 1
      }
      guard !frame.isWhole else { continue }
      let lost = max(0, Int(frame.header.recordCount) - count)
      // The last records of the frame may be among the lost ones.
      let isCut = frame.payload.count < frame.header.payloadBytes
      if records.hasSkipped || isCut || (lost > 0 && !records.hasEverSkipped) {
        start = Start(frame: index + 1, position: 0, skipped: seen)
      }
      note(lost, of: frame)
    }
    // The last frame of the transaction is lost.
    if frames.last?.header.isLast != true { start = Start(frame: frames.count, position: 0, skipped: seen) }
    return start
  }

  private func note(_ lost: Int, of frame: SalvageLog.Frame) {
    let number = frame.header.transaction
    miss(
      SalvageLoss(
        "a frame of the log is damaged: \(lost) of its \(frame.header.recordCount) records are lost",
        file: frame.segment.path, offset: frame.offset, generations: number...number))
  }
}

/// The intact records of a frame; the bytes between them are skipped.
private struct Records {
  private let frame: SalvageLog.Frame
  private var position: Int
  /// The bytes that may still be hashed in vain, for data that looks like records. Bounds the time.
  private var bytesToHash: Int
  /// Offset of the newest record.
  private(set) var start = 0
  /// Whether bytes were skipped just before the newest record, or after it at the frame's end.
  private(set) var hasSkipped = false
  private(set) var hasEverSkipped = false

  init(_ frame: SalvageLog.Frame, from position: Int) {
    self.frame = frame
    self.position = position
    bytesToHash = 64 * frame.payload.count
  }

  mutating func next() -> Record? {
    hasSkipped = false
    while position < frame.payload.count, bytesToHash >= 0 {
      guard let record = record(at: position) else {
        skip(1)
        continue
      }
      let next = position + record.totalBytes
      if isIntact(record, at: position) {
        start = position
        position = next
        return record
      }
      if next == frame.payload.count || isRecord(at: next) {
        skip(record.totalBytes)
      } else {
        // Its length can't be trusted either.
        bytesToHash -= record.totalBytes
        skip(1)
      }
    }
    return nil
  }

  private mutating func skip(_ count: Int) {
    position += count
    (hasSkipped, hasEverSkipped) = (true, true)
  }

  private func record(at position: Int) -> Record? {
    guard position <= frame.payload.count, let record = Record.parse(frame.payload.bytes(from: position)),
      record.isValid
    else { return nil }
    return record
  }

  private func isIntact(_ record: Record, at position: Int) -> Bool {
    record.isIntact(
      segmentSeed: frame.segment.seed, offset: frame.offset + Format.frameHeaderBytes + position)
  }

  private func isRecord(at position: Int) -> Bool {
    record(at: position).map { isIntact($0, at: position) } ?? false
  }
}
