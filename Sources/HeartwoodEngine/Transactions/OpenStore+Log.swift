import HeartwoodFiles

/// What the log of an open store needs besides appending: a segment to go on in, the anchor's word on
/// whether it is in use, zeros ahead. Under the writer lock but for `preallocate`.
extension OpenStore {
  /// Sees to it that a frame can be appended where the log ends. The positions of a transaction's values
  /// are given out before it commits, so this comes before it begins.
  func prepareLog() throws(EngineError) {
    guard log.mustRoll || log.end.position.offset >= options.segmentBytes else { return }
    try commits.drain()
    do throws(EngineError) {
      try roll()
    } catch {
      guard error.code == .noSpace else { throw error }
      // The log goes on in this segment, which may become longer: what is to come may give room back.
      if log.mustRoll {
        guard folder.spendReserve() else { throw error }
        try roll()
      }
    }
  }

  /// Lets the log go on in a new segment.
  func roll() throws(EngineError) {
    try announceLease()
    // 1. The file, with the exact end of the one before it in its header, and its name are durable. A crash
    //    here leaves a file that nothing names.
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
    // 2. The anchor names it. Only then frames land in it.
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
      // It may name it all the same: what came behind in this segment would then not be of the log.
      log.requireRoll()
      log.abandon(number)
      throw error
    }
    // 3. The log ends at its beginning.
    log.take(segment, filled: Format.firstFillBytes)
    try unlinkAbandoned()
  }

  /// Takes the files away of segments that were begun for a transaction which was given up.
  func unlinkAbandoned() throws(EngineError) {
    guard !log.abandoned.isEmpty else { return }
    // The other slot names the last of them; a store is opened by either.
    try updateAnchor { _ in }
    folder.unlink(log.abandoned.map(SegmentName.log))
    log.forgetAbandoned()
  }

  /// Takes the mark of a clean close away, before the first frame behind it is written.
  func markInUse() throws(EngineError) {
    try announceLease()
    guard anchor.isClean else { return }
    try updateAnchor { $0.isClean = false }
  }

  /// Writes the anchor. A failed sync of it stops the writer.
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

  /// What is due after a commit; submitted when the writer lock is free.
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
    // A store that is killed before its first checkpoint needs room for recovery, too.
    if attachment != nil, log.appendedBytes - bytesAtReserve >= StoreFolder.leastBytesForReserve {
      bytesAtReserve = log.appendedBytes
      tasks.reserve = true
    }
    return tasks
  }

  /// The writer's.
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
      status.stop(.files(error, "the zeros ahead of the log could not be synced"))
    }
  }
}
