/// Verifies the files of a copy before an anchor names them.
struct CopyVerification {
  private let folder: StoreFolder
  /// The state that the files must have.
  private let state: PieceHeader

  init(_ folder: StoreFolder, _ state: PieceHeader) {
    self.folder = folder
    self.state = state
  }

  private var options: EngineOptions {
    EngineOptions(access: .readOnly, createsStore: false, reading: .buffered)
  }

  // MARK: The log

  /// Checks the frames from a point of the log up to its end.
  func checkLog(from start: LogPoint) throws(EngineError) {
    let walk = try walk(from: start) { _ in true }
    guard walk.point == state.end else { throw damage(walk) }
  }

  /// The point after the last transaction that is wanted, of those after `start`.
  ///
  /// - Parameter isWanted: Whether a transaction is, by the last of its frames.
  /// - Returns: `start` if none is.
  func end(
    from start: LogPoint, ofLast isWanted: (FrameHeader) -> Bool
  ) throws(EngineError) -> LogPoint {
    var last = start
    let walk = try walk(from: start) { (walk, frame) in
      if frame.endsTransaction, isWanted(frame.header) { last = walk.point }
      return true
    }
    guard walk.point == state.end else { throw damage(walk) }
    return last
  }

  private func walk(
    from start: LogPoint, _ body: (ScannedFrame) -> Bool
  ) throws(EngineError) -> LogWalk {
    try walk(from: start) { (_, frame) in body(frame) }
  }

  private func walk(
    from start: LogPoint, _ body: (LogWalk, ScannedFrame) -> Bool
  ) throws(EngineError) -> LogWalk {
    var walk = try LogWalk(
      try segments(from: start.position.segment)[...], from: start, upTo: state.end.position)
    while let frame = try walk.next(), body(walk, frame) {}
    return walk
  }

  private func damage(_ walk: LogWalk) -> EngineError {
    EngineError.damaged(
      "a copied frame of the log is not what was shipped; copy the store to a new folder",
      file: walk.segment.path, offset: walk.point.position.offset)
  }

  /// The log's segments from one on.
  private func segments(from first: UInt32) throws(EngineError) -> [LogSegment] {
    let finder = LogFinder(folder: folder, identifier: state.identifier, options: options)
    var segments: [LogSegment] = []
    for named in state.logs where named.number >= first {
      segments.append(try finder.open(named.number, isLast: false))
    }
    return segments.sorted { $0.number < $1.number }
  }

  // MARK: The checkpoint

  /// Checks the checkpoint and its pages, and the log after it.
  ///
  /// - Parameter known: Segments whose pages were checked already.
  func checkAll(beside known: [CheckpointRecord.Segment] = []) throws(EngineError) {
    try checkLog(from: try checkCheckpoint(beside: known))
  }

  /// Checks the checkpoint and its pages.
  ///
  /// - Returns: Where the log after it begins.
  func checkCheckpoint(beside known: [CheckpointRecord.Segment]) throws(EngineError) -> LogPoint {
    try checkPages(beside: known)
    let segments = try segments(from: 0)
    guard let position = state.checkpoint else {
      guard let first = segments.first?.header, first.predecessor == nil else { throw incomplete() }
      return first.firstPoint
    }
    let checkpoint = try NamedCheckpoint.read(
      at: position, checksum: state.checkpointChecksum, in: segments, folder: folder)
    let logs = Set(segments.map(\.number))
    guard checkpoint.pageSegments == state.pages,
      checkpoint.logSegments.allSatisfy({ logs.contains($0.number) })
    else { throw incomplete() }
    return checkpoint.record.replay
  }

  private func incomplete() -> EngineError {
    .damaged(
      "the pieces lack a segment of the store; restore them, or copy from another base", file: folder.path)
  }

  private func checkPages(beside known: [CheckpointRecord.Segment]) throws(EngineError) {
    let earlier = Dictionary(known.map { (SegmentKey($0), $0) }) { first, _ in first }
    let files = PageSegmentFiles(folder: folder, identifier: state.identifier, options: options)
    for named in state.pages {
      let checked = earlier[SegmentKey(named)].flatMap { $0.extent <= named.extent ? $0 : nil }
      if checked == named { continue }
      let segment = try files.open(named).segment
      let chain = try segment.readPages(
        Int(checked?.extent ?? 0)..<Int(named.extent), chain: checked?.chain ?? segment.header.seed)
      guard chain == named.chain else {
        throw EngineError.damaged(
          "a copied page is not what was shipped; copy the store to a new folder", file: segment.path)
      }
    }
  }
}
