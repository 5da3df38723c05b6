/// Reloads the tree of an open store from a checkpoint of another process. Readers keep their pinned
/// generations.
struct CheckpointReload {
  private let writer: WriterState
  private let checkpoints: CheckpointState
  /// The state to reload, with the segments that were open already.
  private let image: StoreImage
  private let parts: [PageAppender.Part]
  /// Segments that were reclaimed since.
  private let dropped: VictimSegments

  /// - Parameter found: Its segments include all that the checkpoint names.
  init(
    _ folder: StoreFolder, _ writer: WriterState, _ checkpoints: CheckpointState, _ found: StoreImage
  ) throws(EngineError) {
    self.writer = writer
    self.checkpoints = checkpoints
    let checkpoint = found.checkpoint
    let named = checkpoint.map { Set($0.logSegments.map(\.number)) }
    let first = checkpoint?.record.replay.position.segment ?? 0
    // Excludes segments that a recovery has replaced. They are known here as long as the tree refers to them,
    // but their files are unlinked.
    let path = Set(found.tail.map(\.number))
    let alive = found.segments.filter { segment in
      named?.contains(segment.number) == true || (segment.number >= first && path.contains(segment.number))
    }
    // Segments that are already open are kept, with their state.
    let open = Dictionary(writer.log.segments.map { ($0.number, $0) }) { first, _ in first }
    let segments = alive.map { open[$0.number] ?? $0 }
    image = StoreImage(checkpoint, segments, end: found.end, durable: found.durable)
    if let missing = named?.subtracting(segments.map(\.number)).min() {
      throw EngineError.stale(
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
    guard let segment = image.segments.first(where: { $0.number == start.segment }) else { return }
    let predecessorEnd = image.segments.lazy.compactMap(\.header.predecessor?.position).first {
      $0.segment == start.segment
    }
    let stop = image.end.position.segment == start.segment ? image.end.position : predecessorEnd
    guard let last = stop?.offset ?? image.ends[start.segment]?.offset else { return }
    try segment.extend(from: start.offset, to: last)
  }

  /// Builds the generation at the end of the log from the checkpoint and the frames after it, and publishes
  /// it.
  func run() throws(EngineError) {
    replacePages()
    let generation = image.end.generation
    writer.tree.begin(generation: generation)
    let bytes: Int
    do {
      bytes = try apply()
    } catch {
      writer.tree.rollback()
      throw error
    }
    let root = writer.tree.commit()
    writer.log.replaceSegments(by: image, bytes: bytes)
    finish(bytes, generation: generation)
    writer.generations.publish(generation, root)
  }

  /// Reloads the tree inside a transaction that has changed nothing yet.
  ///
  /// - Precondition: The process holds the lease, or is taking it over.
  /// - Returns: The bytes of log that were read.
  func begin() throws(EngineError) -> Int {
    replacePages()
    return try apply()
  }

  /// The generations that are published refer to the pages of their own trees.
  private func replacePages() {
    checkpoints.pages.replace(by: parts, firstGeneration: writer.generations.newest + 1)
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
    let known = Set(image.segments.map(\.number))
    let former = writer.log.segments.filter { !known.contains($0.number) }
    writer.log.replaceSegments(by: image, after: former, bytes: 0)
    writer.pendingReload = .checkpoint(image.checkpoint)
  }

  private func apply() throws(EngineError) -> Int {
    writer.reloads += 1
    writer.tree.replaceWhole(with: image.checkpoint?.root ?? .empty)
    return try Replay.apply(image, to: writer.tree, from: image.start, upTo: nil).bytes
  }

  private func finish(_ bytes: Int, generation: UInt64) {
    writer.bytesAtCheckpoint = writer.log.appendedBytes - bytes
    checkpoints.newest = image.checkpoint
    checkpoints.last = image.checkpoint
    writer.hasUnnamedCheckpoint = false
    writer.pendingReload = .none
    writer.unlinked.add(dropped, retired: generation, from: writer.tree.space)
  }
}

extension Log {
  /// Replaces all segments.
  ///
  /// - Parameter former: Segments that the tree still refers to, listed before those of the image.
  fileprivate func replaceSegments(by image: StoreImage, after former: [LogSegment] = [], bytes: Int) {
    replaceSegments(
      by: former + image.segments, end: image.end, durable: image.durable, ends: image.ends, bytes: bytes)
  }
}
