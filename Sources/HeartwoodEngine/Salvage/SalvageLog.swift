import HeartwoodFiles

/// Iterates over all frames of a damaged log in order, by segment and offset, skipping what can't be read.
///
/// - Frames after the point where a later segment continues do not belong to the log if that segment contains
///   them or replaces them.
/// - A transaction counts once its last frame is read; if that frame is lost, once a frame of a later
///   transaction is read. The last transaction of the log is dropped if its last frame is missing and nothing
///   proves it durable.
/// - Of a partly damaged transaction, the records after the damage count; see `SalvageTransaction`.
struct SalvageLog {
  let source: SalvageSource
  /// Called with each loss.
  let miss: (SalvageLoss) -> Void

  /// A frame with a valid header.
  struct Frame {
    let segment: LogSegment
    let header: FrameHeader
    let offset: Int
    /// The payload as far as the file contains it.
    let payload: Bytes
    let isWhole: Bool
  }

  /// Calls `body` with each record that counts, transaction by transaction.
  ///
  /// - Parameters:
  ///   - durable: A generation that is known to have been durable.
  ///   - isWanted: Selects transactions by number.
  ///   - end: Called after all records of a transaction.
  func replay(
    durable: UInt64, where isWanted: (UInt64) -> Bool, _ body: (Record) throws(EngineError) -> Void,
    end: (UInt64) throws(EngineError) -> Void
  ) throws(EngineError) {
    var pending: [Frame] = []
    func finish() throws(EngineError) {
      guard let number = pending.first?.header.transaction else { return }
      try SalvageTransaction(pending, miss).replay(body)
      pending.removeAll()
      try end(number)
    }
    try forEachFrame { (frame) throws(EngineError) in
      guard frame.header.kind == Format.transactionKind, isWanted(frame.header.transaction) else { return }
      if let open = pending.first?.header.transaction, open != frame.header.transaction {
        // An unfinished transaction was committed if a later one follows it; otherwise it was rolled back.
        if open < frame.header.transaction { try finish() } else { pending.removeAll() }
      }
      pending.append(frame)
      if frame.header.isLast { try finish() }
    }
    if let open = pending.first?.header.transaction, open <= durable { try finish() }
  }

  // MARK: Checkpoints

  /// The checkpoints in the log, newest first.
  func checkpoints(limit: Int) throws(EngineError) -> [NamedCheckpoint] {
    var found: [NamedCheckpoint] = []
    try forEachFrame { (frame) throws(EngineError) in
      guard frame.header.kind == Format.checkpointKind, frame.isWhole,
        let whole = try FrameScanner(frame.segment).frame(at: frame.offset),
        let checkpoint = NamedCheckpoint(whole)
      else { return }
      found.append(checkpoint)
      if found.count > limit { found.removeFirst() }
    }
    return found.reversed()
  }

  // MARK: Frames

  func forEachFrame(_ body: (Frame) throws(EngineError) -> Void) throws(EngineError) {
    let limits = try sequenceLimits()
    for (index, found) in source.logs.enumerated() {
      guard let segment = try source.open(found) else { continue }
      try forEachFrame(in: segment, before: limits[index], body)
    }
  }

  /// Offset up to which a segment is known to have frames, from later segments and the anchor.
  private func knownEnd(of segment: LogSegment) -> Int {
    let predecessorEnds = source.logs.filter(\.isSound).compactMap(\.header.predecessor)
    let ends = (predecessorEnds + source.slots.map(\.knownDurable)).map(\.position).filter {
      $0.segment == segment.number
    }
    return min(segment.limit, ends.map(\.offset).max() ?? 0)
  }

  private func forEachFrame(
    in segment: LogSegment, before limit: UInt64, _ body: (Frame) throws(EngineError) -> Void
  ) throws(EngineError) {
    let scanner = FrameScanner(segment)
    var offset = Format.segmentHeaderBytes
    var hole: Int?
    while offset < segment.limit {
      guard let frame = try frame(at: offset, in: segment, scanner) else {
        hole = hole ?? offset
        guard let next = try scanner.nextHeader(after: offset) else {
          let end = knownEnd(of: segment)
          if let hole, hole < end { missed(hole..<end, of: segment) }
          return
        }
        offset = next.offset
        continue
      }
      guard frame.header.sequence < limit else { return }
      if let place = hole {
        missed(place..<offset, of: segment)
        hole = nil
      }
      try body(frame)
      // The header's checksum covers the length; a truncated frame has nothing after it.
      offset += max(frame.header.totalBytes, Format.frameHeaderBytes)
    }
  }

  private func missed(_ hole: Range<Int>, of segment: LogSegment) {
    miss(
      SalvageLoss(
        "\(hole.count) bytes of the log are damaged", file: segment.path, offset: hole.lowerBound))
  }

  private func frame(at offset: Int, in segment: LogSegment, _ scanner: FrameScanner) throws(EngineError)
    -> Frame?
  {
    guard let found = try scanner.header(at: offset) else { return nil }
    let start = offset + Format.frameHeaderBytes
    let count = min(found.header.payloadBytes, max(0, segment.limit - start))
    guard let payload = try segment.bytes(at: start, count) else { return nil }
    let whole = try scanner.frame(at: offset)
    return Frame(
      segment: segment, header: found.header, offset: offset, payload: payload, isWhole: whole != nil)
  }

  /// For each segment, the sequence number of the first frame that a later segment replaces.
  private func sequenceLimits() throws(EngineError) -> [UInt64] {
    var limits = [UInt64](repeating: .max, count: source.logs.count)
    var next: UInt64 = .max
    for index in source.logs.indices.reversed() {
      limits[index] = next
      if let first = try firstSequence(of: source.logs[index]) { next = min(next, first) }
    }
    return limits
  }

  /// The sequence number from which a segment continues the log; nil if it has no frames. Of a tail that
  /// recovery copied, the originals count beyond the readable part of the copy.
  private func firstSequence(of found: SalvageSource.Segment) throws(EngineError) -> UInt64? {
    guard found.isSound, let segment = try source.open(found) else { return nil }
    var walk = try LogWalk([segment][...], from: found.header.firstPoint, upTo: nil)
    guard try walk.next() != nil else {
      // A frame after a damaged one also proves that the log continues here; in a copy, it proves nothing.
      guard found.header.copiedThrough == 0, try FrameScanner(segment).hasHeader() else { return nil }
      return found.header.firstPoint.sequence
    }
    while walk.point.sequence <= found.header.copiedThrough, try walk.next() != nil {}
    return walk.point.sequence > found.header.copiedThrough
      ? found.header.firstPoint.sequence : found.header.copiedThrough &+ 1
  }
}
