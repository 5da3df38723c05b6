import HeartwoodFiles

/// Goes through all frames of a damaged log, in its order: by segment and place. What cannot be read is stepped over.
///
/// - Frames behind the place from which a later segment goes on are not of the log, where that segment has them, or
///   others in their stead.
/// - A transaction counts from its last frame on; where that is lost, from the first frame of a later transaction on. The
///   last one of the log is dropped where it has no end, and nothing says that it was durable.
/// - Of a transaction that is damaged in part, those records count that lie behind the damage; see `SalvageTransaction`.
struct SalvageLog {
  let source: SalvageSource
  /// What is told of what could not be read.
  let miss: (SalvageLoss) -> Void

  /// A frame whose header is whole.
  struct Frame {
    let segment: LogSegment
    let header: FrameHeader
    let offset: Int
    /// Its records as far as the file has them.
    let payload: UnsafeRawBufferPointer
    let isWhole: Bool
  }

  /// Calls `body` with each record that counts, transaction by transaction.
  ///
  /// - Parameters:
  ///   - durable: A generation that is known to have been durable.
  ///   - isWanted: Which transactions are.
  ///   - end: Is told each transaction when all of its records have been given.
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
        // An earlier one without an end was committed if this one came behind it; else it was given up.
        if open < frame.header.transaction { try finish() } else { pending.removeAll() }
      }
      pending.append(frame)
      if frame.header.isLast { try finish() }
    }
    if let open = pending.first?.header.transaction, open <= durable { try finish() }
  }

  // MARK: Checkpoints

  /// The checkpoints that the log has, the newest first.
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

  /// Up to where a segment is known to have frames, by the ones behind it and the anchor.
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
      // The length is covered by the header's checksum; what is cut off has nothing behind it.
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

  /// For each segment, the number of the first frame that lies in a later one instead.
  private func sequenceLimits() throws(EngineError) -> [UInt64] {
    var limits = [UInt64](repeating: .max, count: source.logs.count)
    var next: UInt64 = .max
    for index in source.logs.indices.reversed() {
      limits[index] = next
      if let first = try firstSequence(of: source.logs[index]) { next = min(next, first) }
    }
    return limits
  }

  /// From where on a segment has the log; nil where it has no frames. Of a tail that recovery has copied, the
  /// originals count where the copy is not whole.
  private func firstSequence(of found: SalvageSource.Segment) throws(EngineError) -> UInt64? {
    guard found.isSound, let segment = try source.open(found) else { return nil }
    var walk = try LogWalk([segment][...], from: found.header.firstPoint, upTo: nil)
    guard try walk.next() != nil else {
      // A frame behind a damaged one says as well that the log goes on here; of a copy, it says nothing.
      guard found.header.copiedThrough == 0, try FrameScanner(segment).hasHeader() else { return nil }
      return found.header.firstPoint.sequence
    }
    while walk.point.sequence <= found.header.copiedThrough, try walk.next() != nil {}
    return walk.point.sequence > found.header.copiedThrough
      ? found.header.firstPoint.sequence : found.header.copiedThrough &+ 1
  }
}
