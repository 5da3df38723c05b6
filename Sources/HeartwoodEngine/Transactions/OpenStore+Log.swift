import HeartwoodFiles

/// Maintains the log of an open store besides appending: new segments, the anchor, preallocation, and the background
/// work after a commit.
///
/// - Precondition: The caller holds the writer lock, except for `submit` and the work that it starts. `updateAnchor` is
///   also called with `checkpoints` instead.
extension OpenStore {
  /// Continues the log in a new segment if the current one is full, or if `Log.mustRoll` is set.
  ///
  /// Called before a transaction begins, because the positions of its values are assigned before it commits.
  func prepareLog() throws(EngineError) {
    guard log.mustRoll || log.end.position.offset >= options.segmentBytes else { return }
    try commits.drain()
    do throws(EngineError) {
      try roll()
    } catch {
      guard error.code == .noSpace else { throw error }
      // A full segment may grow beyond its usual size: the coming transaction may free space.
      if log.mustRoll {
        guard folder.spendReserve() else { throw error }
        try roll()
      }
    }
  }

  /// Continues the log in a new segment.
  func roll() throws(EngineError) {
    try announceLease()
    // 1. Create the file, with the exact end of its predecessor in its header, and make it and its name durable. A
    //    crash here leaves a file that nothing refers to.
    let number = try numbers.take()
    let factory = LogSegmentFactory(folder: folder, identifier: log.identifier, options: options)
    let segment: LogSegment
    do {
      segment = try factory.make(
        number: number, predecessor: log.end, durableThrough: log.durable.sequence &- 1)
    } catch {
      log.noteFailure(error)
      throw error
    }
    do {
      try factory.makeDurable(segment)
    } catch {
      if error.code == .noSpace { folder.unlink([SegmentName.log(number)]) }
      throw error
    }
    // 2. Name it in the anchor. Frames are appended to it only after that.
    let upcoming = numbers.upcoming
    let knownDurable = log.durable
    do {
      try updateAnchor {
        $0.lastLogSegment = number
        $0.nextSegment = upcoming
        $0.knownDurable = knownDurable
        $0.isClean = false
      }
    } catch {
      // The anchor may name the new segment all the same. Frames appended to the old one would then not be part of
      // the log.
      log.requireRoll()
      log.abandon(number)
      throw error
    }
    // 3. Move the end of the log to its beginning.
    log.take(segment, filled: Format.firstFillBytes)
    try unlinkAbandoned()
  }

  /// Unlinks the segments that were begun for rolled-back transactions.
  func unlinkAbandoned() throws(EngineError) {
    guard !log.abandoned.isEmpty else { return }
    // The older slot may name the last of them, and a store can be opened by either slot.
    try updateAnchor { _ in }
    folder.unlink(log.abandoned.map(SegmentName.log))
    log.forgetAbandoned()
  }

  /// Clears the anchor's clean-close flag. Called before a frame is written.
  func markInUse() throws(EngineError) {
    try announceLease()
    guard anchor.isClean else { return }
    try updateAnchor { $0.isClean = false }
  }

  /// Writes the anchor. A failed sync of it stops the store.
  func updateAnchor(_ change: (inout AnchorSlot) -> Void) throws(EngineError) {
    try announceLease()
    switch anchor.update(change) {
    case .written: return
    case .failed(let error): throw error
    case .unsynced(let error):
      status.stop(error)
      throw error
    }
  }

  // MARK: Work in the background

  /// Background work that is due after a commit. Submitted after the writer lock is released.
  struct BackgroundTasks {
    var preallocator: LogPreallocator?
    var checkpoint = false
    var spaceScan = false
    var reserve = false
  }

  func backgroundTasks(afterCommitOf bytes: Int, _ durability: Durability) -> BackgroundTasks {
    var tasks = BackgroundTasks()
    let end = log.end.position.offset
    if durability == .full, options.durability != .none {
      if log.preallocator.isDue(end: end, commitBytes: bytes) {
        tasks.preallocator = log.preallocator
      }
    }
    if !isCheckpointUnderWay, isCheckpointDue {
      isCheckpointUnderWay = true
      tasks.checkpoint = true
    }
    if !isSpaceScanScheduled, log.appendedBytes - bytesAtSpaceScan > options.toleratedGarbage {
      isSpaceScanScheduled = options.reclamation == .automatic
      tasks.spaceScan = isSpaceScanScheduled
    }
    // If the process is killed before the first checkpoint, recovery needs the reserve too.
    if attachment != nil, log.appendedBytes - bytesAtReserve >= StoreFolder.leastBytesForReserve {
      bytesAtReserve = log.appendedBytes
      tasks.reserve = true
    }
    return tasks
  }

  /// - Precondition: The caller holds the writer lock.
  var isCheckpointDue: Bool { log.appendedBytes - bytesAtCheckpoint >= checkpointInterval }

  func submit(_ tasks: BackgroundTasks) {
    if let preallocator = tasks.preallocator { options.worker.submit { self.preallocate(preallocator) } }
    if tasks.checkpoint { options.worker.submit { self.checkpointInBackground() } }
    if tasks.spaceScan { scheduleSpaceScan() }
    if tasks.reserve { options.worker.submit { self.layReserveInBackground() } }
  }

  private func layReserveInBackground() {
    try? withLease { () throws(EngineError) in checkpoints.withLock { updateReserve() } }
  }

  private func preallocate(_ preallocator: LogPreallocator) {
    do {
      let file = try folder.directory.open(SegmentName.log(preallocator.segment.number), .readWrite)
      defer { try? file.close() }
      try preallocator.fill(file, syncs: true)
    } catch {
      guard error.operation == .sync else { return preallocator.stop() }
      status.stop(.files(error, "the preallocated zeros of the log could not be synced"))
    }
  }
}
