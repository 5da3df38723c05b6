import HeartwoodFiles

/// Moves live data out of segments and unlinks them; see `Reclaimer` for the steps.
extension OpenStore {
  /// Empties the chosen segments and unlinks them.
  ///
  /// - Parameter choose: Chooses them. Called after the log has continued in a new segment and a checkpoint is taken.
  func reclaim(
    choosing choose: () throws(EngineError) -> VictimSegments
  ) throws(EngineError) -> ReclaimedSpace {
    try reclaimer.lock.withLock { () throws(EngineError) in
      var space = ReclaimedSpace(bytesBefore: try fileBytes(), bytesAfter: 0, movedValues: 0, movedBytes: 0)
      let victims = try beginReclaiming(choose)
      if !victims.isEmpty {
        let evacuation = try evacuate(victims)
        space.movedValues = evacuation.movedValues
        space.movedBytes = Int64(evacuation.movedBytes)
        try finishReclaiming(victims)
      }
      space.bytesAfter = try fileBytes()
      return space
    }
  }

  /// Chooses the segments, and makes sure that nothing more is written to them.
  private func beginReclaiming(
    _ choose: () throws(EngineError) -> VictimSegments
  ) throws(EngineError) -> VictimSegments {
    try checkpoints.withLock { () throws(EngineError) in
      // The log's last segment may have the most garbage. Begin a new one and take a checkpoint, as log after the
      // checkpoint cannot be removed.
      try writer.withLock { () throws(EngineError) in
        try commits.drain()
        if log.end.position.offset > Format.segmentHeaderBytes { try roll() }
      }
      try takeCheckpoint(isForced: true)
      let victims = try choose()
      if !victims.pages.isEmpty { pages.seal() }
      return victims
    }
  }

  /// Moves live data, step by step. Throttles commits that would write faster, and lets other processes write between steps.
  private func evacuate(_ victims: VictimSegments) throws(EngineError) -> Evacuation {
    var evacuation = Evacuation(self, victims)
    throttle.begin()
    defer { throttle.end() }
    var hasOtherPages = false
    try run(&evacuation) { () throws(EngineError) in
      if try yieldLease() { hasOtherPages = true }
    }
    if hasOtherPages, !victims.pages.isEmpty {
      // Another process took a checkpoint, which may have written pages to these segments. Walk the tree once more,
      // without yielding the lease.
      checkpoints.withLock { pages.seal() }
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
      guard !throttle.hasStopped else { throw OpenStore.closing }
      throttle.noteMoved(evacuation.movedBytes - moved)
      moved = evacuation.movedBytes
      try betweenSteps()
    }
  }

  // MARK: Small files

  /// Merges small files if there are more than `toleratedSmallFiles`, as every recovery leaves one or two. Called when the
  /// store is opened.
  func joinSmallFiles() {
    guard options.reclamation == .automatic, smallFiles.count > options.toleratedSmallFiles else { return }
    // An error loses nothing. A failed sync has stopped the store.
    _ = try? withLease { () throws(EngineError) in try reclaim { () throws(EngineError) in smallFiles } }
  }

  private var smallFiles: VictimSegments {
    let bytes = min(256 << 10, options.segmentBytes / 4)
    let logs = log.segments.filter { segment in
      segment.number != log.last.number && log.path.end(of: segment.number).map { $0.offset < bytes } == true
    }
    let parts = pages.parts.filter { $0.extent.pages * Format.pageBytes < bytes }
    return VictimSegments(logs: logs.map(\.number), pages: parts.map(\.segment.number))
  }

  private static var closing: EngineError { EngineError(.closed, "the store is being closed") }

  /// Takes a checkpoint in the background. Reclaims some space first if there is much garbage, so that one checkpoint
  /// writes the moved data together with everything else.
  func checkpointAndReclaim() throws(EngineError) {
    // Errors of reclaiming, such as that of a damaged value, must not prevent the checkpoint.
    try withLease { () throws(EngineError) in
      // Another process may have taken one before this process acquired the lease.
      guard try writer.withLock({ isCheckpointDue }) else { return }
      if options.reclamation == .automatic, (try? reclaimSome()) == true { return }
      try checkpoint()
    }
  }

  /// Reclaims space up to the limits of `Reclaimer.victims`; returns whether there was any. Returns false at once if another
  /// thread holds the reclaimer's lock, to reclaim or to verify.
  private func reclaimSome() throws(EngineError) -> Bool {
    guard reclaimer.lock.tryLock() else { return false }
    defer { reclaimer.lock.unlock() }
    let victims = try checkpoints.withLock { () throws(EngineError) in
      try status.checkWritable()
      let victims = try reclaimer.victims(self)
      if !victims.pages.isEmpty { pages.seal() }
      return victims
    }
    guard !victims.isEmpty else { return false }
    _ = try evacuate(victims)
    try finishReclaiming(victims)
    return true
  }

  /// Reclaims as on demand if there is much garbage, once no thread has written for a second.
  func scheduleSpaceScan() {
    let written = writer.withLockInBackground { log.appendedBytes }
    options.worker.submit(afterSeconds: 1) { [weak self] in
      guard let self else { return }
      let isIdle = writer.withLockInBackground { self.log.appendedBytes == written }
      guard !throttle.hasStopped else { return }
      guard isIdle else { return scheduleSpaceScan() }
      if (try? hasExcessGarbage()) == true { _ = try? reclaim() }
      writer.withLockInBackground {
        (self.bytesAtSpaceScan, self.isSpaceScanScheduled) = (self.log.appendedBytes, false)
      }
    }
  }

  private func hasExcessGarbage() throws(EngineError) -> Bool {
    try reclaimer.lock.withLock { () throws(EngineError) in
      try checkpoints.withLock { () throws(EngineError) in
        try status.checkWritable()
        return reclaimer.exceedsThreshold(try Occupancy(self), options)
      }
    }
  }

  /// Takes a checkpoint without the victims, makes both slots of the anchor reference it, and unlinks the victims.
  private func finishReclaiming(_ victims: VictimSegments) throws(EngineError) {
    try checkpoints.withLock { () throws(EngineError) in
      try takeCheckpoint(isForced: true, without: victims)
      // Write the other slot too, as a store can be opened by either.
      try updateAnchor { _ in }
      reclaimer.unlink(victims, self)
    }
  }
}
