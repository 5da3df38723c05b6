import HeartwoodFiles

/// Reads and verifies the bytes of a piece from the store's open files.
struct PieceSource {
  private let plan: PiecePlan

  init(_ plan: PiecePlan) { self.plan = plan }

  /// The commit times of a piece's transactions.
  struct Times {
    var earliest = Int64.max
    var latest = Int64.min

    /// Whether there is none.
    var isEmpty: Bool { earliest > latest }

    mutating func add(_ time: Int64) { (earliest, latest) = (min(earliest, time), max(latest, time)) }
  }

  // MARK: Verifying

  /// Checks every frame and page of the piece, so that damage is not shipped.
  ///
  /// - Throws: `.damaged`.
  func verify(after known: [CheckpointRecord.Segment]) throws(EngineError) -> Times {
    let times = if let start = plan.start { try walk(from: start) } else { try walkAll() }
    let extents = Dictionary(known.map { (SegmentKey($0), $0) }) { first, _ in first }
    for part in plan.parts where !part.isLog {
      try verifyPages(part, earlier: part.offset == 0 ? nil : extents[SegmentKey(part)])
    }
    return times
  }

  private func walk(from start: LogPoint) throws(EngineError) -> Times {
    let segments = plan.contents.logs.compactMap { plan.contents.files.logs[$0.header.number] }
    var walk = try LogWalk(segments[...], from: start, upTo: plan.contents.end.position)
    var times = Times()
    while let frame = try walk.next() { times.add(frame) }
    guard walk.point == plan.contents.end else { throw damage(walk, upTo: plan.contents.end.position) }
    return times
  }

  /// Checks all segments of the log, each of its own: what was between them may be reclaimed.
  private func walkAll() throws(EngineError) -> Times {
    var last = Times()
    for part in plan.contents.logs {
      guard let segment = plan.contents.files.logs[part.header.number] else { continue }
      let end = LogPosition(segment: segment.number, offset: part.end.offset)
      var walk = try LogWalk([segment][...], from: part.header.firstPoint, upTo: end)
      while let frame = try walk.next() {
        if frame.endsTransaction { last = Times(of: frame) }
      }
      guard walk.point.position == end, walk.point.chain == part.end.chain else {
        throw damage(walk, upTo: end)
      }
    }
    return last
  }

  private func damage(_ walk: LogWalk, upTo end: LogPosition) -> EngineError {
    EngineError.damaged(
      "a frame of the log, which ends at byte \(end.offset) of \(SegmentName.log(end.segment)), is damaged, and damage is not shipped; run verify, "
        + "and restore the file",
      file: walk.segment.path, offset: walk.point.position.offset)
  }

  private func verifyPages(
    _ part: PieceHeader.Part, earlier: CheckpointRecord.Segment?
  ) throws(EngineError) {
    let key = SegmentKey(part)
    guard let segment = plan.contents.files.pages[part.number],
      let named = plan.segments.first(where: { SegmentKey($0) == key })
    else { return }
    let chain = try segment.readPages(
      Int(earlier?.extent ?? 0)..<Int(named.extent), chain: earlier?.chain ?? segment.header.seed)
    guard chain == named.chain else {
      throw EngineError.damaged(
        "a page of the tree is damaged, and damage is not shipped; run verify, and restore the file",
        file: segment.path)
    }
  }

  // MARK: Reading

  /// Calls `body` with the bytes of a part, in chunks.
  func read(
    _ part: PieceHeader.Part, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) {
    let (first, count) = (Int(part.offset), Int(part.count))
    for offset in stride(from: first, to: first + count, by: PieceFormat.chunkBytes) {
      let bytes = min(PieceFormat.chunkBytes, first + count - offset)
      part.isLog
        ? try readLog(part.number, offset, bytes, body) : try readPages(part.number, offset, bytes, body)
    }
  }

  private func readLog(
    _ number: UInt32, _ offset: Int, _ count: Int,
    _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard let segment = plan.contents.files.logs[number], let bytes = try segment.bytes(at: offset, count)
    else {
      throw EngineError.damaged("the segment is shorter than the log", file: SegmentName.log(number))
    }
    try body(bytes.buffer)
  }

  private func readPages(
    _ number: UInt32, _ offset: Int, _ count: Int,
    _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) {
    guard let segment = plan.contents.files.pages[number] else {
      throw EngineError.damaged("a segment of pages is not open", file: SegmentName.pages(number))
    }
    let buffer = OwnedBytes(count: count)
    try segment.read(page: offset / Format.pageBytes, into: buffer.writable)
    try body(buffer.writable.bytes.buffer)
  }
}

extension PieceSource.Times {
  fileprivate init(of frame: ScannedFrame) {
    self.init()
    add(frame)
  }

  fileprivate mutating func add(_ frame: ScannedFrame) {
    if frame.endsTransaction { add(frame.header.time) }
  }
}

extension ScannedFrame {
  /// Whether it is the last frame of a transaction.
  var endsTransaction: Bool { header.kind == Format.transactionKind && header.isLast }
}
