/// The contents of a piece: the store's state after it, and the bytes that are not in the pieces before.
struct PiecePlan {
  let contents: BackupContents
  /// Where the log goes on; nil in a base.
  let start: LogPoint?
  let parts: [PieceHeader.Part]
  let segments: [CheckpointRecord.Segment]

  /// Bytes of all parts.
  var bytes: UInt64 { parts.reduce(0) { $0 + $1.count } }

  /// A base: all of the store.
  init(baseOf contents: BackupContents) {
    self.init(contents, start: nil, beside: [])
  }

  /// - Parameter known: The segments after the piece before, which this piece continues.
  private init(
    _ contents: BackupContents, start: LogPoint?, beside known: [CheckpointRecord.Segment]
  ) {
    self.contents = contents
    self.start = start
    let logs = contents.logs.map {
      CheckpointRecord.Segment(
        number: $0.header.number, isLog: true, extent: UInt64(truncatingIfNeeded: $0.end.offset),
        chain: $0.end.chain)
    }
    segments = logs + contents.pages
    let extents = Dictionary(known.map { (SegmentKey($0), $0.bytes) }) { first, _ in first }
    // Pages first, so that they are copied before the frame that names them.
    parts = (contents.pages + logs).compactMap { segment in
      let shipped = extents[SegmentKey(segment)] ?? 0
      guard segment.bytes > shipped else { return nil }
      return PieceHeader.Part(
        number: segment.number, isLog: segment.isLog, offset: shipped, count: segment.bytes - shipped)
    }
  }

  /// The plan of the piece that continues another one: the bytes after it, if all of the log after it is still there;
  /// otherwise a base. Nil if nothing is new.
  ///
  /// - Throws: `.diverged` if the store is not the one that made the piece, or has lost what the piece contains.
  init?(_ contents: BackupContents, after piece: PieceHeader, in place: String) throws(EngineError) {
    let continuation = PieceContinuation(contents, piece, place)
    try continuation.check()
    if continuation.hasAll { return nil }
    if let start = continuation.start() {
      self.init(contents, start: start, beside: piece.segments)
    } else {
      self.init(baseOf: contents)
    }
    if contents.end == piece.end, segments == piece.segments { return nil }
  }
}

extension CheckpointRecord.Segment {
  /// The segment's bytes up to its end.
  var bytes: UInt64 { isLog ? extent : extent &* UInt64(Format.pageBytes) }
}

/// Whether a store goes on where a piece ends.
struct PieceContinuation {
  private let contents: BackupContents
  private let piece: PieceHeader
  private let place: String

  init(_ contents: BackupContents, _ piece: PieceHeader, _ place: String) {
    self.contents = contents
    self.piece = piece
    self.place = place
  }

  /// Checks that the store has not gone another way than the piece.
  func check() throws(EngineError) {
    guard piece.end.generation <= contents.end.generation else {
      throw diverged(
        "the store is at generation \(contents.end.generation), and generation \(piece.end.generation) was shipped"
      )
    }
    let known = Dictionary(piece.logs.map { ($0.number, $0) }) { first, _ in first }
    // A recovery may have gone back to a checkpoint that needs segments which the piece did not. Then the store has the piece's last segment.
    let hasEnd = contents.logs.contains { $0.header.number == piece.end.position.segment }
    for part in contents.logs {
      guard let shipped = known[part.header.number] else {
        guard hasEnd || part.header.number >= piece.nextSegment else { throw otherHistory() }
        continue
      }
      // The bytes of a segment that a recovery has left are kept behind its end.
      let end = LogSegments.SegmentEnd(shipped)
      if end == part.end { continue }
      guard let segment = contents.files.logs[part.header.number], try segment.ends(at: end) else {
        throw otherHistory()
      }
    }
  }

  /// Whether the log ends before the piece, in its last segment: the piece has a checkpoint after the last transaction, which is not named anywhere,
  /// and which a recovery leaves out. The recovery has not published where the log goes on.
  var hasAll: Bool {
    let (end, shipped) = (contents.end.position, piece.end.position)
    return end.segment == shipped.segment && end.offset < shipped.offset
  }

  /// Where the log goes on: at the end of the piece, or before it where a recovery has branched the log. Nil if log after
  /// that was reclaimed.
  func start() -> LogPoint? {
    let tail = LogSegments.tail(of: contents.logs.compactMap { contents.files.logs[$0.header.number] })
    guard tail.contains(where: { $0.number == piece.end.position.segment }) else { return nil }
    let branch = tail.lazy.compactMap(\.header.predecessor).first {
      $0.position.segment == piece.end.position.segment
    }
    guard let branch, branch.position.offset < piece.end.position.offset else { return piece.end }
    return branch
  }

  private func otherHistory() -> EngineError {
    diverged("the store's log does not continue what was shipped")
  }

  private func diverged(_ what: String) -> EngineError {
    EngineError(
      .diverged,
      "\(what): it is a copy, or was replaced by an older one; ship it to another place", file: place)
  }
}
