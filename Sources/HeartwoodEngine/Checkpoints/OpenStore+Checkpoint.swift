import HeartwoodFiles

/// Writes the tree of the newest generation to disk, so that opening need not read the log before it.
extension OpenStore {
  /// Takes a checkpoint now, unless nothing was written since the last.
  func checkpoint() throws(EngineError) {
    try checkMayWrite()
    try status.checkWritable()
    try withLease { () throws(EngineError) in
      try checkpoints.withLock { () throws(EngineError) in try takeCheckpoint() }
    }
  }

  func checkpointInBackground() {
    // What fails here fails again, and is told, at the next checkpoint that somebody asks for; a failed
    // sync has stopped the writer by then.
    try? checkpointAndReclaim()
    writer.withLockInBackground { isCheckpointUnderWay = false }
  }

  /// Under the lock of checkpoints.
  ///
  /// - Parameters:
  ///   - isForced: Also where nothing was written since the last one.
  ///   - victims: Segments with nothing left that lives: neither this checkpoint nor a later one names them.
  func takeCheckpoint(
    isForced: Bool = false, without victims: Reclaimer.Victims = Reclaimer.Victims()
  ) throws(EngineError) {
    // 1. The newest generation is pinned; commits go on behind it.
    var released: [AnyObject] = []
    let begun = try writer.withLock { () throws(EngineError) in
      released = reclaimer.release(self)
      return try beginCheckpoint(isForced)
    }
    released.removeAll()
    guard let base = begun else { return }
    // 2. and 3. Its pages and its frame are written; where there is no room for them, what was written is taken back.
    let mark = pages.mark
    let (checkpoint, work): (NamedCheckpoint, SyncRequest)
    do throws(EngineError) {
      (checkpoint, work) = try writeTree(base, without: victims)
    } catch {
      if error.code == .noSpace { takeBackPages(to: mark) }
      throw error
    }
    lastCheckpoint = checkpoint
    // 4. The log is durable up to and with that frame.
    try syncs.sync(work)
    log.synced.note(work)
    // 5. The anchor names the frame. From here on opening begins there.
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
    _ base: CheckpointBase, without victims: Reclaimer.Victims
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // 2. Its pages are written and durable. A crash here leaves pages that nobody names.
    var tree = TreeCheckpoint(space: space)
    let root = try writePages(of: base.pinned.pin.root, &tree)
    // 3. A frame in the log says where they are.
    return try writer.withLock { () throws(EngineError) in
      try status.checkWritable()
      let named = try appendFrame(base, root, without: victims)
      // Read from disk from now on, where the tree in memory has become too large.
      tree.confirm()
      evictsCleanPages = space.arenaBytesInUse > min(options.arenaBytes, space.arenaByteLimit / 4)
      return named
    }
  }

  /// No frame in the log names the pages that were written for a checkpoint that has failed.
  private func takeBackPages(to mark: PageAppender.Mark) {
    guard !status.isStopped else { return }
    let released = writer.withLockInBackground {
      eraseRefusedWrite()
      return pages.goBack(to: mark)
    }
    withExtendedLifetime(released) {}
  }

  /// What a checkpoint is taken of.
  private struct CheckpointBase {
    var pinned: PinnedGeneration
    /// Where the log ended then.
    var replay: LogPoint
    var appendedBytes: Int
  }

  private func beginCheckpoint(_ isForced: Bool) throws(EngineError) -> CheckpointBase? {
    try status.checkWritable()
    // What is pinned has to be what the log ends with.
    try commits.drain()
    bytesAtCheckpoint = log.appendedBytes
    guard isForced || generations.newest > newestCheckpoint?.record.generation ?? 0 else { return nil }
    try announceLease()
    return CheckpointBase(
      pinned: PinnedGeneration(generations), replay: log.end, appendedBytes: log.appendedBytes)
  }

  /// Writes the pages of a tree that are not on disk yet; returns its root there.
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
    _ base: CheckpointBase, _ root: TreeRoot, without victims: Reclaimer.Victims
  ) throws(EngineError) -> (NamedCheckpoint, SyncRequest) {
    // The frame stays, and so has everything before it to.
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

  /// All segments: those of the log up to its end, those of pages up to what was written.
  private func segmentsAlive(without victims: Reclaimer.Victims) -> [CheckpointRecord.Segment] {
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
