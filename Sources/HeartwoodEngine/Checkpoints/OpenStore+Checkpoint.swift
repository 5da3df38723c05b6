import HeartwoodFiles

/// Writes the tree of the newest generation to disk, so that opening replays only the log after it.
extension OpenStore {
  /// Takes a checkpoint, unless nothing was committed since the last one.
  func checkpoint() throws(EngineError) {
    try checkMayWrite()
    try status.checkWritable()
    try withLease { () throws(EngineError) in
      try checkpoints.withLock { () throws(EngineError) in try takeCheckpoint() }
    }
  }

  func checkpointInBackground() {
    // An error is ignored: it occurs again, and is reported, at the next requested checkpoint. A failed sync has
    // stopped the store.
    try? checkpointAndReclaim()
    writer.withLockInBackground { isCheckpointUnderWay = false }
  }

  /// Takes a checkpoint in five steps. Commits continue, except during steps 1 and 3.
  ///
  /// - Precondition: The caller holds `checkpoints`, and the process holds the lease.
  /// - Parameters:
  ///   - isForced: Takes it even if nothing was committed since the last one.
  ///   - victims: Segments without live data, which this checkpoint and later ones do not reference.
  func takeCheckpoint(
    isForced: Bool = false, without victims: VictimSegments = VictimSegments()
  ) throws(EngineError) {
    // 1. Pin the newest generation, so that commits can continue.
    var released: [AnyObject] = []
    let begun = try writer.withLock { () throws(EngineError) in
      released = reclaimer.release(self)
      return try beginCheckpoint(isForced)
    }
    released.removeAll()
    guard let base = begun else { return }
    // 2. and 3. Write its pages and its frame. If the disk is full, remove what was written.
    let mark = pages.mark
    let (checkpoint, work): (NamedCheckpoint, SyncRequest)
    do throws(EngineError) {
      (checkpoint, work) = try writeTree(base, without: victims)
    } catch {
      if error.code == .noSpace { takeBackPages(to: mark) }
      throw error
    }
    lastCheckpoint = checkpoint
    // 4. Make the log durable up to and including that frame.
    try syncs.sync(work)
    log.synced.note(work)
    // 5. Reference the frame from the anchor. Opening starts there from now on.
    let upcoming = numbers.upcoming
    try updateAnchor {
      $0.checkpoint = checkpoint.position
      $0.checkpointChecksum = checkpoint.checksum
      $0.nextSegment = upcoming
      if $0.knownDurable.sequence < work.point.sequence { $0.knownDurable = work.point }
    }
    newestCheckpoint = checkpoint
    updateReserve()
  }

  private func writeTree(
    _ base: CheckpointBase, without victims: VictimSegments
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // 2. Write its pages and make them durable. A crash here leaves pages that no checkpoint references.
    var tree = TreeCheckpoint(space: space)
    let root = try writePages(of: base.pinned.pin.root, &tree)
    // 3. Append a frame to the log that says where they are.
    return try writer.withLock { () throws(EngineError) in
      try status.checkWritable()
      let named = try appendFrame(base, root, without: victims)
      // Clean pages are evicted if the tree's memory has grown too large.
      tree.confirm()
      evictsCleanPages = space.arenaBytesInUse > min(options.arenaBytes, space.arenaByteLimit / 4)
      return named
    }
  }

  /// Removes the pages of a failed checkpoint, which no frame in the log references.
  private func takeBackPages(to mark: PageAppender.Mark) {
    guard !status.isStopped else { return }
    let released = writer.withLockInBackground {
      eraseRefusedWrite()
      return pages.goBack(to: mark)
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

  private func beginCheckpoint(_ isForced: Bool) throws(EngineError) -> CheckpointBase? {
    try status.checkWritable()
    // The pinned generation must be the last one in the log.
    try commits.drain()
    bytesAtCheckpoint = log.appendedBytes
    guard isForced || generations.newest > newestCheckpoint?.record.generation ?? 0 else { return nil }
    try announceLease()
    return CheckpointBase(
      pinned: PinnedGeneration(generations), replay: log.end, appendedBytes: log.appendedBytes)
  }

  /// Writes the pages of a tree that are not on disk yet; returns its root on disk.
  private func writePages(of root: TreeRoot, _ tree: inout TreeCheckpoint) throws(EngineError) -> TreeRoot {
    let root = try tree.write(root) { (page) throws(EngineError) in try pages.append(page) }
    switch pages.finish(syncs: options.durability != .none) {
    case .done: return root
    case .failed(let error): throw error
    case .unsynced(let error):
      status.stop(error)
      throw error
    }
  }

  private func appendFrame(
    _ base: CheckpointBase, _ root: TreeRoot, without victims: VictimSegments
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // The frame is never rolled back, so no earlier frame may be.
    try commits.drain()
    try prepareLog()
    try markInUse()
    let record = checkpointRecord(base, root, segmentsAlive(without: victims))
    let place = try log.append(record)
    log.path.drop(SegmentSet(victims.logs))
    pages.drop(SegmentSet(victims.pages))
    log.path.publish(at: log.end)
    bytesAtCheckpoint = base.appendedBytes
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
      replay: base.replay, previous: newestCheckpoint?.position,
      previousChecksum: newestCheckpoint?.checksum ?? 0,
      previousGeneration: newestCheckpoint?.record.generation ?? 0, nextSegment: numbers.upcoming,
      segments: segments)
  }

  /// All segments but the victims: log segments up to their end, page segments up to the last written page.
  private func segmentsAlive(without victims: VictimSegments) -> [CheckpointRecord.Segment] {
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
    for part in pages.parts where !emptyPages.contains(part.segment.number) {
      segments.append(
        CheckpointRecord.Segment(
          number: part.segment.number, isLog: false, extent: UInt64(truncatingIfNeeded: part.extent.pages),
          chain: part.extent.chain))
    }
    return segments
  }
}
