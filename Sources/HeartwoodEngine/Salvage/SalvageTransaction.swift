/// The frames that are left of one transaction of a damaged log, in its order.
///
/// What is lost of it may have put or deleted any key once more. So only the records behind the last damage are the
/// transaction's last word on their keys; those before it may be values that nobody ever saw committed.
struct SalvageTransaction {
  private let frames: [SalvageLog.Frame]
  /// What is told of what could not be read.
  private let miss: (SalvageLoss) -> Void

  init(_ frames: [SalvageLog.Frame], _ miss: @escaping (SalvageLoss) -> Void) {
    self.frames = frames
    self.miss = miss
  }

  /// Where the records begin that count, and how many lie before.
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
      // A frame between two others is lost; those of the log that are missing are told of elsewhere.
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
      // What is lost may be the last of the frame's records.
      let isCut = frame.payload.count < frame.header.payloadBytes
      if records.hasSkipped || isCut || (lost > 0 && !records.hasEverSkipped) {
        start = Start(frame: index + 1, position: 0, skipped: seen)
      }
      note(lost, of: frame)
    }
    // So may be the transaction's last frame.
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

/// The records of a frame that are whole; what lies between them is stepped over.
private struct Records {
  private let frame: SalvageLog.Frame
  private var position: Int
  /// What looks like a record and is none is hashed in vain, so often at most.
  private var backoff: Int
  /// Where the newest record begins.
  private(set) var start = 0
  /// Whether something was stepped over just before the newest record, or behind it at the frame's end.
  private(set) var hasSkipped = false
  private(set) var hasEverSkipped = false

  init(_ frame: SalvageLog.Frame, from position: Int) {
    self.frame = frame
    self.position = position
    backoff = 64 * frame.payload.count
  }

  mutating func next() -> Record? {
    hasSkipped = false
    while position < frame.payload.count, backoff >= 0 {
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
        // Its length is not to be believed either.
        backoff -= record.totalBytes
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
    guard let base = frame.payload.baseAddress,
      let record = Record.parse(base + position, available: frame.payload.count - position), record.isValid
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
