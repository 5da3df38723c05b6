/// Reloads the tree of an open store from a checkpoint of another process. Readers keep their pinned
/// generations.
struct CheckpointReload {
  private let writer: WriterState
  private let checkpoints: CheckpointState
  private let checkpoint: NamedCheckpoint?
  private let segments: [LogSegment]
  private let parts: [PageAppender.Part]
  private let end: LogPoint
  private let durable: LogPoint
  private let ends: [UInt32: LogSegments.SegmentEnd]
  /// Segments that were reclaimed since.
  private let dropped: VictimSegments

  /// - Parameters:
  ///   - checkpoint: Nil for the start of the log.
  ///   - found: The segments of the log, including all that the checkpoint names.
  init(
    _ folder: StoreFolder, _ writer: WriterState, _ checkpoints: CheckpointState,
    _ checkpoint: NamedCheckpoint?, _ found: [LogSegment], end: LogPoint, durable: LogPoint
  ) throws(EngineError) {
    self.writer = writer
    self.checkpoints = checkpoints
    self.checkpoint = checkpoint
    self.end = end
    self.durable = durable
    ends = checkpoint?.ends ?? [:]
    let named = checkpoint.map { Set($0.logSegments.map(\.number)) }
    let first = checkpoint?.record.replay.position.segment ?? 0
    // Excludes segments that a recovery has replaced. They are known here as long as the tree refers to them,
    // but their files are unlinked.
    let path = Set(LogSegments.tail(of: found).map(\.number))
    let alive = found.filter { segment in
      named?.contains(segment.number) == true || (segment.number >= first && path.contains(segment.number))
    }
    // Segments that are already open are kept, with their state.
    let open = Dictionary(writer.log.segments.map { ($0.number, $0) }) { first, _ in first }
    var segments: [LogSegment] = []
    for segment in alive { segments.append(open[segment.number] ?? segment) }
    self.segments = segments
    if let missing = named?.subtracting(segments.map(\.number)).min() {
      throw EngineError.damaged(
        "a file of the store is missing; restore it", file: folder.path(of: SegmentName.log(missing)))
    }
    var parts: [PageAppender.Part] = []
    for named in checkpoint?.pageSegments ?? [] { parts.append(try checkpoints.pages.part(named)) }
    self.parts = parts
    let kept = (logs: Set(segments.map(\.number)), pages: Set(parts.map(\.segment.number)))
    dropped = VictimSegments(
      logs: open.keys.filter { !kept.logs.contains($0) }.sorted(),
      pages: checkpoints.pages.parts.map(\.segment.number).filter { !kept.pages.contains($0) })
    try extendOpenSegment(from: writer.log.end.position)
  }

  /// Makes bytes after `start` readable in the segment that is already open. Segments opened now have their
  /// current length.
  private func extendOpenSegment(from start: LogPosition) throws(EngineError) {
    guard let segment = segments.first(where: { $0.number == start.segment }) else { return }
    let predecessorEnd = segments.lazy.compactMap(\.header.predecessor?.position).first {
      $0.segment == start.segment
    }
    let stop = end.position.segment == start.segment ? end.position : predecessorEnd
    guard let last = stop?.offset ?? ends[start.segment]?.offset else { return }
    try segment.extend(from: start.offset, to: last)
  }

  /// Builds the generation at the end of the log from the checkpoint and the frames after it, and publishes
  /// it.
  func run() throws(EngineError) {
    let generations = writer.generations
    checkpoints.pages.replace(by: parts)
    writer.tree.begin(generation: end.generation, from: generations.tip.root)
    let bytes: Int
    do {
      bytes = try apply()
    } catch {
      writer.tree.rollback()
      throw error
    }
    let root = writer.tree.commit()
    generations.commit(end.generation, root)
    writer.log.replaceSegments(by: segments, end: end, durable: durable, ends: ends, bytes: bytes)
    finish(bytes, generation: end.generation)
    generations.publish(end.generation, root)
  }

  /// Reloads the tree inside a transaction that has changed nothing yet.
  ///
  /// - Precondition: The process holds the lease, or is taking it over.
  /// - Returns: The bytes of log that were read.
  func begin() throws(EngineError) -> Int {
    checkpoints.pages.replace(by: parts)
    return try apply()
  }

  /// Completes `begin()` after its transaction was written.
  func end(_ bytes: Int, generation: UInt64) {
    writer.log.path.drop(SegmentSet(dropped.logs))
    finish(bytes, generation: generation)
  }

  /// Replaces the segments of the log and keeps the tree, which has the same keys and values. The next
  /// transaction reloads the tree; until then the segments that it refers to stay open, listed before those
  /// of the log.
  func reloadLogOnly() {
    let known = Set(segments.map(\.number))
    let former = writer.log.segments.filter { !known.contains($0.number) }
    writer.log.replaceSegments(by: former + segments, end: end, durable: durable, ends: ends, bytes: 0)
    writer.pendingReload = .checkpoint(checkpoint)
  }

  private func apply() throws(EngineError) -> Int {
    let applier = LogApplier(tree: writer.tree)
    writer.reloads += 1
    writer.tree.replaceWhole(with: checkpoint?.root ?? .empty)
    let tail = LogSegments.tail(of: segments)
    guard let start = checkpoint?.record.replay ?? tail.first?.header.firstPoint else { return 0 }
    var walk = try LogWalk(tail[...], from: start, upTo: end.position)
    var bytes = 0
    while let frame = try walk.next() {
      bytes += frame.header.totalBytes
      try applier.add(frame, in: walk.segment)
    }
    try applier.finish()
    try walk.requireEnd(end)
    return bytes
  }

  private func finish(_ bytes: Int, generation: UInt64) {
    writer.bytesAtCheckpoint = writer.log.appendedBytes - bytes
    checkpoints.newest = checkpoint
    checkpoints.last = checkpoint
    writer.hasUnnamedCheckpoint = false
    writer.pendingReload = .none
    writer.unlinked.add(dropped, generation: generation)
  }
}
