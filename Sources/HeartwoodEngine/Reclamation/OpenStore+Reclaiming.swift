import HeartwoodFiles

extension OpenStore {
  /// - Parameter choose: Is called with nothing more written to the files that are there.
  func reclaim(
    choosing choose: () throws(EngineError) -> Reclaimer.Victims
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

  /// Chooses the segments, and sees to it that nothing is written to them any more.
  private func beginReclaiming(
    _ choose: () throws(EngineError) -> Reclaimer.Victims
  ) throws(EngineError) -> Reclaimer.Victims {
    try checkpoints.withLock { () throws(EngineError) in
      // What the log ends in may be the worst of all; frames behind the checkpoint have to stay.
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

  /// Moves what lives, step by step; commits wait where they would be faster, and those of other processes come between.
  private func evacuate(_ victims: Reclaimer.Victims) throws(EngineError) -> Evacuation {
    var evacuation = Evacuation(self, victims)
    throttle.begin()
    defer { throttle.end() }
    var hasOtherPages = false
    try run(&evacuation) { () throws(EngineError) in
      if try yieldLease() { hasOtherPages = true }
    }
    if hasOtherPages, !victims.pages.isEmpty {
      // Nobody else writes from here on. That takes a walk through the tree, as choosing the segments did.
      checkpoints.withLock { pages.seal() }
      evacuation.beginAgain()
      try run(&evacuation) { () throws(EngineError) in }
    }
    return evacuation
  }

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

  /// Puts small files together where there are many, as every recovery leaves one or two. When the store is opened.
  func joinSmallFiles() {
    guard options.reclamation == .automatic, smallFiles.count > options.toleratedSmallFiles else { return }
    // What fails here loses nothing, and a sync that fails has stopped the writer.
    _ = try? withLease { () throws(EngineError) in try reclaim { () throws(EngineError) in smallFiles } }
  }

  private var smallFiles: Reclaimer.Victims {
    let bytes = min(256 << 10, options.segmentBytes / 4)
    let logs = log.segments.filter { segment in
      segment.number != log.last.number && log.path.end(of: segment.number).map { $0.offset < bytes } == true
    }
    let parts = pages.parts.filter { $0.extent.pages * Format.pageBytes < bytes }
    return Reclaimer.Victims(logs: logs.map(\.number), pages: parts.map(\.segment.number))
  }

  private static var closing: EngineError { EngineError(.closed, "the store is being closed") }

  /// A checkpoint, before which some space is given back where there is much garbage: what is moved is written
  /// by the same checkpoint as everything else. In the background.
  func checkpointAndReclaim() throws(EngineError) {
    // What can't be moved, a damaged value say, must not keep checkpoints from being taken.
    try withLease { () throws(EngineError) in
      // Another process may have taken one before this one has come to lead again.
      guard try writer.withLock({ isCheckpointDue }) else { return }
      if options.reclamation == .automatic, (try? reclaimSome()) == true { return }
      try checkpoint()
    }
  }

  /// Returns whether there was something to give back. Somebody else who does it, or looks through the store, is
  /// not waited for.
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

  /// Gives space back as on demand where much is garbage and nobody has written for a second.
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

  private func finishReclaiming(_ victims: Reclaimer.Victims) throws(EngineError) {
    try checkpoints.withLock { () throws(EngineError) in
      try takeCheckpoint(isForced: true, without: victims)
      // The other slot too: a store is opened by either.
      try updateAnchor { _ in }
      reclaimer.unlink(victims, self)
    }
  }
}
