/// Begins anew from a checkpoint that another process has taken, in the same open store: readers keep what they hold.
struct CheckpointReload {
  private let store: OpenStore
  private let checkpoint: NamedCheckpoint?
  private let segments: [LogSegment]
  private let parts: [PageAppender.Part]
  private let end: LogPoint
  private let durable: LogPoint
  private let ends: [UInt32: LogSegments.SegmentEnd]
  /// What was given back since.
  private let dropped: Reclaimer.Victims

  /// - Parameters:
  ///   - checkpoint: Nil for the beginning of the log.
  ///   - found: The segments of the log, among them all that the checkpoint names.
  init(
    _ store: OpenStore, _ checkpoint: NamedCheckpoint?, _ found: [LogSegment], end: LogPoint,
    durable: LogPoint
  ) throws(EngineError) {
    self.store = store
    self.checkpoint = checkpoint
    self.end = end
    self.durable = durable
    ends = checkpoint?.ends ?? [:]
    let named = checkpoint.map { Set($0.logSegments.map(\.number)) }
    let first = checkpoint?.record.replay.position.segment ?? 0
    // Not what a recovery has put others in the place of: it is still known here where the tree refers to it, and its files are
    // unlinked.
    let path = Set(LogSegments.tail(of: found).map(\.number))
    let alive = found.filter { segment in
      named?.contains(segment.number) == true || (segment.number >= first && path.contains(segment.number))
    }
    // Those that are open already stay, with all that is known of them.
    let open = Dictionary(store.log.segments.map { ($0.number, $0) }) { first, _ in first }
    var segments: [LogSegment] = []
    for segment in alive { segments.append(open[segment.number] ?? segment) }
    self.segments = segments
    if let missing = named?.subtracting(segments.map(\.number)).min() {
      throw EngineError.damaged(
        "a file of the store is missing; restore it", file: store.folder.path(of: SegmentName.log(missing)))
    }
    var parts: [PageAppender.Part] = []
    for named in checkpoint?.pageSegments ?? [] { parts.append(try store.pages.part(named)) }
    self.parts = parts
    let kept = (logs: Set(segments.map(\.number)), pages: Set(parts.map(\.segment.number)))
    dropped = Reclaimer.Victims(
      logs: open.keys.filter { !kept.logs.contains($0) }.sorted(),
      pages: store.pages.parts.map(\.segment.number).filter { !kept.pages.contains($0) })
    try extendOpenSegment(from: store.log.end.position)
  }

  /// Lets what was written behind `start` be read in the segment that is open; others are opened as they are now.
  private func extendOpenSegment(from start: LogPosition) throws(EngineError) {
    guard let segment = segments.first(where: { $0.number == start.segment }) else { return }
    let predecessorEnd = segments.lazy.compactMap(\.header.predecessor?.position).first {
      $0.segment == start.segment
    }
    let stop = end.position.segment == start.segment ? end.position : predecessorEnd
    guard let last = stop?.offset ?? ends[start.segment]?.offset else { return }
    try segment.extend(from: start.offset, to: last)
  }

  /// Makes the generation that the log ends with from the checkpoint and what follows it.
  func run() throws(EngineError) {
    let generations = store.generations
    store.pages.replace(by: parts)
    store.tree.begin(generation: end.generation, from: generations.tip.root)
    let bytes: Int
    do {
      bytes = try apply()
    } catch {
      store.tree.rollback()
      throw error
    }
    let root = store.tree.commit()
    generations.commit(end.generation, root)
    store.log.replaceSegments(by: segments, end: end, durable: durable, ends: ends, bytes: bytes)
    finish(bytes, generation: end.generation)
    generations.publish(end.generation, root)
  }

  /// Makes the tree of a transaction that has changed nothing yet. For the process that leads.
  ///
  /// - Returns: how many bytes of log were read.
  func begin() throws(EngineError) -> Int {
    store.pages.replace(by: parts)
    return try apply()
  }

  /// The transaction is written.
  func end(_ bytes: Int, generation: UInt64) {
    store.log.path.drop(SegmentSet(dropped.logs))
    finish(bytes, generation: generation)
  }

  /// Takes the log over while the tree stays, which has the same keys and values; the next generation is to begin anew. What the
  /// tree refers to stays open until then, before what the log goes through.
  func reloadLogOnly() {
    let known = Set(segments.map(\.number))
    let former = store.log.segments.filter { !known.contains($0.number) }
    store.log.replaceSegments(by: former + segments, end: end, durable: durable, ends: ends, bytes: 0)
    store.pendingReload = .checkpoint(checkpoint)
  }

  private func apply() throws(EngineError) -> Int {
    let applier = LogApplier(tree: store.tree)
    store.lease.reloads += 1
    store.tree.replaceWhole(with: checkpoint?.root ?? .empty)
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
    store.bytesAtCheckpoint = store.log.appendedBytes - bytes
    store.newestCheckpoint = checkpoint
    store.lastCheckpoint = checkpoint
    store.pendingReload = .none
    store.reclaimer.notePeerReclaimed(dropped, generation: generation)
  }
}
