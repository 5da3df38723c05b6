import HeartwoodFiles

/// A checkpoint: writes the tree of the newest generation to disk, so that opening replays only the log after it.
struct Checkpoint {
  private let store: OpenStore
  private let checkpoints: CheckpointState

  init(_ store: OpenStore, _ checkpoints: CheckpointState) {
    self.store = store
    self.checkpoints = checkpoints
  }

  /// Takes a checkpoint in five steps. Commits continue, except during steps 1 and 3.
  ///
  /// - Precondition: The process holds the lease.
  /// - Parameters:
  ///   - isForced: Takes it even if nothing was committed since the last one.
  ///   - victims: Segments without live data, which this checkpoint and later ones do not reference.
  func run(
    isForced: Bool = false, without victims: VictimSegments = VictimSegments()
  ) throws(EngineError) {
    // 1. Pin the newest generation, so that commits can continue.
    let watch = Stopwatch()
    var released: [AnyObject] = []
    let begun = try store.writer.withLock { (writer) throws(EngineError) in
      released = checkpoints.releaseUnlinked(writer)
      return try begin(writer, isForced)
    }
    released.removeAll()
    guard let base = begun else { return }
    // 2. and 3. Write its pages and its frame. If the disk is full, remove what was written.
    let mark = checkpoints.pages.mark
    let pagesBefore = checkpoints.pages.appendedPages
    let (checkpoint, work): (NamedCheckpoint, SyncRequest)
    do throws(EngineError) {
      (checkpoint, work) = try writeTree(base, without: victims)
    } catch {
      if error.code == .noSpace { takeBackPages(to: mark) }
      throw error
    }
    checkpoints.last = checkpoint
    // 4. Make the log durable up to and including that frame.
    try store.syncs.sync(work)
    store.synced.note(work)
    // 5. Reference the frame from the anchor. Opening starts there from now on.
    let upcoming = store.numbers.upcoming
    try store.anchor.update {
      $0.checkpoint = checkpoint.position
      $0.checkpointChecksum = checkpoint.checksum
      $0.nextSegment = upcoming
      if $0.knownDurable.sequence < work.point.sequence { $0.knownDurable = work.point }
    }
    checkpoints.newest = checkpoint
    store.writer.withLockInBackground { $0.hasUnnamedCheckpoint = false }
    store.reserve.update(storeBytes: checkpoints.storeBytes(store.logSegments))
    store.tell(
      .checkpointed(
        FinishedCheckpoint(
          generation: Generation(rawValue: checkpoint.record.generation),
          pages: checkpoints.pages.appendedPages - pagesBefore, duration: watch.elapsed)))
  }

  private func writeTree(
    _ base: CheckpointBase, without victims: VictimSegments
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // 2. Write its pages and make them durable. A crash here leaves pages that no checkpoint references.
    checkpoints.pages.firstGeneration = base.pinned.pin.generation + 1
    var tree = TreeCheckpoint(space: store.space)
    let root = try writePages(of: base.pinned.pin.root, &tree)
    // 3. Append a frame to the log that says where they are.
    return try store.writer.withLock { (writer) throws(EngineError) in
      try writer.status.checkWritable()
      let named = try appendFrame(writer, base, root, without: victims)
      // Clean pages are evicted if the tree's memory has grown too large.
      tree.confirm(in: writer.tree)
      let space = store.space
      writer.evictsCleanPages =
        space.arenaBytesInUse > min(store.options.arenaBytes, space.arenaByteLimit / 4)
      return named
    }
  }

  /// Removes the pages of a failed checkpoint, which no frame in the log references.
  private func takeBackPages(to mark: PageAppender.Mark) {
    guard !store.status.isStopped else { return }
    let released = store.writer.withLockInBackground { writer in
      writer.eraseRefusedWrite()
      return checkpoints.pages.goBack(to: mark, writer.held)
    }
    withExtendedLifetime(released) {}
  }

  /// The state that a checkpoint is taken of.
  private struct CheckpointBase {
    var pinned: PinnedGeneration
    /// The end of the log at that generation, where replay starts.
    var replay: LogPoint
    var appendedBytes: Int
  }

  private func begin(_ writer: WriterState, _ isForced: Bool) throws(EngineError) -> CheckpointBase? {
    try writer.status.checkWritable()
    // The pinned generation must be the last one in the log.
    try writer.drain()
    let log = writer.log
    writer.bytesAtCheckpoint = log.appendedBytes
    guard isForced || store.generations.newest > checkpoints.newest?.record.generation ?? 0 else {
      return nil
    }
    try store.records.announceLease(writer.held)
    return CheckpointBase(
      pinned: PinnedGeneration(store.generations), replay: log.end, appendedBytes: log.appendedBytes)
  }

  /// Writes the pages of a tree that are not on disk yet; returns its root on disk.
  private func writePages(of root: TreeRoot, _ tree: inout TreeCheckpoint) throws(EngineError) -> TreeRoot {
    let root = try tree.write(root) { (page) throws(EngineError) in try checkpoints.pages.append(page) }
    switch checkpoints.pages.finish(syncs: store.options.durability != .none) {
    case .done: return root
    case .failed(let error): throw error
    case .unsynced(let error):
      store.status.stop(error)
      throw error
    }
  }

  private func appendFrame(
    _ writer: WriterState, _ base: CheckpointBase, _ root: TreeRoot, without victims: VictimSegments
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // The frame is never rolled back, so no earlier frame may be.
    try writer.drain()
    try writer.prepareLog()
    try writer.markInUse()
    let log = writer.log
    let record = checkpointRecord(base, root, segmentsAlive(log, without: victims))
    let place = try log.append(record)
    writer.hasUnnamedCheckpoint = true
    log.path.drop(SegmentSet(victims.logs))
    checkpoints.pages.drop(SegmentSet(victims.pages))
    log.path.publish(at: log.end)
    writer.bytesAtCheckpoint = base.appendedBytes
    return (
      NamedCheckpoint(record: record, position: place.position, checksum: place.checksum), log.syncRequest()
    )
  }

  private func checkpointRecord(
    _ base: CheckpointBase, _ root: TreeRoot, _ segments: [CheckpointRecord.Segment]
  ) -> CheckpointRecord {
    CheckpointRecord(
      generation: base.pinned.pin.generation,
      root: CheckpointRecord.Root(
        reference: root.reference.rawValue, checksum: root.checksum,
        level: UInt32(truncatingIfNeeded: root.level), count: root.count),
      replay: base.replay, previous: checkpoints.newest?.position,
      previousChecksum: checkpoints.newest?.checksum ?? 0,
      previousGeneration: checkpoints.newest?.record.generation ?? 0, nextSegment: store.numbers.upcoming,
      segments: segments)
  }

  /// All segments but the victims: log segments up to their end, page segments up to the last written page.
  private func segmentsAlive(
    _ log: Log, without victims: VictimSegments
  ) -> [CheckpointRecord.Segment] {
    let (emptyLogs, emptyPages) = (SegmentSet(victims.logs), SegmentSet(victims.pages))
    var segments: [CheckpointRecord.Segment] = []
    for segment in log.segments where !emptyLogs.contains(segment.number) {
      let isLast = segment.number == log.end.position.segment
      let end = (isLast ? nil : log.path.end(of: segment.number)) ?? LogSegments.SegmentEnd(log.end)
      segments.append(
        CheckpointRecord.Segment(
          number: segment.number, isLog: true, extent: UInt64(truncatingIfNeeded: end.offset),
          chain: end.chain))
    }
    for part in checkpoints.pages.parts where !emptyPages.contains(part.segment.number) {
      segments.append(
        CheckpointRecord.Segment(
          number: part.segment.number, isLog: false, extent: UInt64(truncatingIfNeeded: part.extent.pages),
          chain: part.extent.chain))
    }
    return segments
  }
}
