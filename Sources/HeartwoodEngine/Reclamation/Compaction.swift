import HeartwoodFiles

/// Compaction: reclaims space that the newest generation does not reference.
///
/// 1. `LiveCounts` counts the live data in each segment.
/// 2. `Evacuation` moves the live data out of segments with a small live share, step by step, while commits continue.
/// 3. A checkpoint references the remaining segments; both slots of the anchor reference the checkpoint.
/// 4. Only then are the files unlinked, but for those that `HeldGenerations` needs. They stay mapped or open for readers of older generations, until no pin is older
///    than the evacuation.
///
/// A crash at any point leaves a store whose newest checkpoint has all of its segments.
struct Compaction {
  let store: OpenStore

  init(_ store: OpenStore) { self.store = store }

  /// Empties the chosen segments and unlinks them.
  ///
  /// - Parameter choose: Chooses them. Called after the log has continued in a new segment and a checkpoint is taken.
  func reclaim(
    choosing choose: (CheckpointState, ReclaimState) throws(EngineError) -> VictimSegments
  ) throws(EngineError) -> ReclaimedSpace {
    try store.reclamation.withLock { (reclamation) throws(EngineError) in
      let folder = store.folder
      var space = ReclaimedSpace(
        bytesBefore: try folder.fileBytes(), bytesAfter: 0, movedValues: 0, movedBytes: 0)
      let victims = try begin { (checkpoints) throws(EngineError) in try choose(checkpoints, reclamation) }
      if !victims.isEmpty {
        let evacuation = try empty(victims, reclamation)
        space.movedValues = evacuation.movedValues
        space.movedBytes = Int64(evacuation.movedBytes)
      }
      space.bytesAfter = try folder.fileBytes()
      return space
    }
  }

  /// Chooses the segments, and makes sure that nothing more is written to them.
  private func begin(
    _ choose: (CheckpointState) throws(EngineError) -> VictimSegments
  ) throws(EngineError) -> VictimSegments {
    try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      // The log's last segment may have the most garbage. Begin a new one and take a checkpoint, as log after the
      // checkpoint cannot be removed.
      try store.writer.withLock { (writer) throws(EngineError) in
        try writer.drain()
        if writer.log.end.position.offset > Format.segmentHeaderBytes { try writer.roll() }
      }
      try Checkpoint(store, checkpoints).run(isForced: true)
      let victims = try choose(checkpoints).without(store.heldSegments())
      if !victims.pages.isEmpty { checkpoints.pages.seal() }
      return victims
    }
  }

  /// Moves live data out of the segments, and unlinks them.
  private func empty(
    _ victims: VictimSegments, _ reclamation: ReclaimState
  ) throws(EngineError) -> Evacuation {
    let watch = Stopwatch()
    let evacuation = try evacuate(victims)
    try finish(victims, reclamation)
    store.tell(
      .compacted(
        FinishedCompaction(
          files: victims.logs.count + victims.pages.count, movedValues: evacuation.movedValues,
          movedBytes: evacuation.movedBytes, duration: watch.elapsed)))
    return evacuation
  }

  /// Moves live data, step by step. Throttles commits that would write faster, and lets other processes write between steps.
  private func evacuate(_ victims: VictimSegments) throws(EngineError) -> Evacuation {
    var evacuation = Evacuation(store, victims)
    store.throttle.begin()
    defer { store.throttle.end() }
    var hasOtherPages = false
    try run(&evacuation) { () throws(EngineError) in
      if try Coordinator(store).yieldLease() { hasOtherPages = true }
    }
    if hasOtherPages, !victims.pages.isEmpty {
      // Another process took a checkpoint, which may have written pages to these segments. Walk the tree once more,
      // without yielding the lease.
      store.checkpoints.withLock { $0.pages.seal() }
      evacuation.beginAgain()
      try run(&evacuation) { () throws(EngineError) in }
    }
    return evacuation
  }

  /// - Throws: `.closed` if the store is being closed.
  private func run(
    _ evacuation: inout Evacuation, betweenSteps: () throws(EngineError) -> Void
  ) throws(EngineError) {
    var moved = evacuation.movedBytes
    while try evacuation.step() {
      guard !store.throttle.hasStopped else { throw Self.closing }
      store.throttle.noteMoved(evacuation.movedBytes - moved)
      moved = evacuation.movedBytes
      try betweenSteps()
    }
  }

  // MARK: Small files

  /// Merges small files if there are more than `toleratedSmallFiles`, as every recovery leaves one or two. Called when the
  /// store is opened.
  func joinSmallFiles() {
    guard store.options.reclamation == .automatic,
      store.checkpoints.withLock({ smallFiles($0).count }) > store.options.toleratedSmallFiles
    else { return }
    // An error loses nothing. A failed sync has stopped the store.
    _ = try? Coordinator(store).withLease { () throws(EngineError) in
      try reclaim { (checkpoints, _) throws(EngineError) in smallFiles(checkpoints) }
    }
  }

  private func smallFiles(_ checkpoints: CheckpointState) -> VictimSegments {
    let bytes = min(256 << 10, store.options.segmentBytes / 4)
    let logs = store.logSegments.segments.dropLast().filter { segment in
      store.logSegments.end(of: segment.number).map { $0.offset < bytes } == true
    }
    let parts = checkpoints.pages.parts.filter { $0.extent.pages * Format.pageBytes < bytes }
    return VictimSegments(logs: logs.map(\.number), pages: parts.map(\.segment.number))
  }

  private static var closing: EngineError { EngineError(.closed, "the store is being closed") }

  /// Takes a checkpoint in the background. Reclaims some space first if there is much garbage, so that one checkpoint
  /// writes the moved data together with everything else.
  func checkpointAndReclaim() throws(EngineError) {
    // Errors of reclaiming, such as that of a damaged value, must not prevent the checkpoint.
    let coordinator = Coordinator(store)
    try coordinator.withLease { () throws(EngineError) in
      // Another process may have taken one before this process acquired the lease.
      guard try store.writer.withLock({ $0.isCheckpointDue }) else { return }
      if store.options.reclamation == .automatic, (try? reclaimSome()) == true { return }
      try coordinator.checkpoint()
    }
  }

  /// Reclaims space up to the limits of `ReclaimState.victims`; returns whether there was any. Returns false at once if
  /// another thread holds the reclaim lock, to compact or to verify.
  private func reclaimSome() throws(EngineError) -> Bool {
    try store.reclamation.withLockIfFree { (reclamation) throws(EngineError) in
      let victims = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
        try store.status.checkWritable()
        let victims = try reclamation.victims(store, checkpoints)
        if !victims.pages.isEmpty { checkpoints.pages.seal() }
        return victims
      }
      guard !victims.isEmpty else { return false }
      _ = try empty(victims, reclamation)
      return true
    } ?? false
  }

  // MARK: At rest

  /// Greatest number of live bytes of a store that is compacted when it is closed.
  private static let greatestClosedStore = 32 << 20

  /// Compacts a small store that is about to be closed, if there is garbage: above all the log of values that the tree holds.
  ///
  /// Walks the tree only if a share of the store was written since the last scan, so that the work is a constant factor of the
  /// writes.
  func reclaimBeforeClosing() {
    guard store.options.access == .readWrite, store.options.reclamation == .automatic, !store.status.isStopped
    else { return }
    let written = store.writer.withLockInBackground { $0.log.appendedBytes - $0.bytesAtSpaceScan }
    let storeBytes = store.checkpoints.withLock { $0.storeBytes(store.logSegments) }
    guard written > max(toleratedAtRest, storeBytes / 8) else { return }
    // An error loses nothing. A failed sync has stopped the store.
    if (try? hasExcessGarbage(live: Self.greatestClosedStore)) == true { _ = try? reclaim() }
  }

  /// Bytes of garbage that are not worth compacting a store that is not written to.
  private var toleratedAtRest: Int { store.options.toleratedGarbage / 8 }

  /// Reclaims as on demand if there is much garbage, once no thread has written for a second.
  func scheduleSpaceScan() {
    let written = store.writer.withLockInBackground { $0.log.appendedBytes }
    store.submit(afterSeconds: 1) { store in
      let compaction = Compaction(store)
      let isIdle = store.writer.withLockInBackground { $0.log.appendedBytes == written }
      guard !store.throttle.hasStopped else { return }
      guard isIdle else { return compaction.scheduleSpaceScan() }
      if (try? compaction.hasExcessGarbage()) == true {
        LateCalls.after { _ = try? compaction.reclaim() }
      }
      store.writer.withLockInBackground { writer in
        (writer.bytesAtSpaceScan, writer.isSpaceScanScheduled) = (writer.log.appendedBytes, false)
      }
    }
  }

  /// - Parameter live: The greatest number of live bytes that may be moved.
  private func hasExcessGarbage(live limit: Int = .max) throws(EngineError) -> Bool {
    try store.reclamation.withLockIfFree { (reclamation) throws(EngineError) in
      try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
        try store.status.checkWritable()
        let occupancy = try Occupancy(store, checkpoints, reclamation, readsTail: true)
        return occupancy.live <= limit
          && reclamation.exceedsThreshold(occupancy, tolerated: toleratedAtRest)
      }
    } ?? false
  }

  /// Takes a checkpoint without the victims, makes both slots of the anchor reference it, and unlinks the victims.
  private func finish(_ chosen: VictimSegments, _ reclamation: ReclaimState) throws(EngineError) {
    try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      // Another process may have held a generation between two steps, when it had the lease.
      let victims = chosen.without(try store.heldSegments())
      try Checkpoint(store, checkpoints).run(isForced: true, without: victims)
      // Write the other slot too, as a store can be opened by either.
      try store.anchor.update { _ in }
      try HeldGenerations(store).forgetThoseOver()
      unlink(victims, reclamation, checkpoints)
    }
  }

  /// Unlinks segments that the newest generation does not reference.
  ///
  /// - Precondition: Both slots of the anchor reference a checkpoint without these segments.
  private func unlink(
    _ victims: VictimSegments, _ reclamation: ReclaimState, _ checkpoints: CheckpointState
  ) {
    // Publish a record first: a process that misses a file then finds a changed record, and reloads from the new
    // checkpoint. If publishing fails, the files stay.
    guard (try? store.records.publish()) != nil else { return }
    store.folder.unlink(victims.logs.map(SegmentName.log) + victims.pages.map(SegmentName.pages))
    for number in victims.logs { reclamation.contents[number] = nil }
    // Unmapping takes milliseconds, so it is done without the writer lock.
    let released = store.writer.withLockInBackground { writer in
      writer.unlinked.add(victims, retired: store.generations.newest, from: store.space)
      return checkpoints.releaseUnlinked(writer)
    }
    withExtendedLifetime(released) {}
    store.lastReplay.forget()
    UnlinkedRelease(store).scheduleIfNeeded()
  }
}
