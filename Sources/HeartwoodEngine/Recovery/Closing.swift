import HeartwoodFiles

extension OpenStore {
  /// A store of its own in memory.
  static func inMemory(_ options: EngineOptions) throws(EngineError) -> OpenStore {
    guard options.access == .readWrite, options.createsStore else {
      throw EngineError(.notFound, "a store in memory is always a new one", file: "/dev/null")
    }
    // Nothing can be lost, so nothing has to be synced; maps are as cheap as memory.
    var inMemory = options
    inMemory.durability = .none
    return try Opening("/dev/null", inMemory, MemoryFileSystem(), folderPath: "/store").run()
  }

  /// Writes what makes the next opening quick, and lets go of everything but what snapshots need.
  func close() throws(EngineError) {
    guard !status.isClosed else { return }
    // Inside a write this is an error of the program, and waiting would be for ever.
    try writer.withLock {}
    observers.end()
    pace.stop()
    // 1. What is under way in the background comes to its end.
    options.worker.drain()
    switch isLast() {
    case .success(true): break
    case .success(false): return try leave()
    case .failure(let failure): return try leave(because: failure)
    }
    try withNobodyLeading { () throws(EngineError) in
      var failure: EngineError?
      // 2. The tree is on disk.
      do throws(EngineError) { try checkpointBeforeClosing() } catch { failure = error }
      // 3. The anchor says exactly where the log ends. Nothing is written behind this.
      writer.withLockInBackground {
        guard !status.isClosed else { return }
        log.zeros.stop()
        if failure == nil { failure = markClean() }
        // Those who read learn of what closing has written.
        if failure == nil, let membership { letGo(membership) }
        closeFiles()
      }
      if let failure { throw failure }
    }
  }

  /// Runs `body` while no other thread takes the lead, or is about to, and none takes a checkpoint.
  private func withNobodyLeading(_ body: () throws(EngineError) -> Void) throws(EngineError) {
    try leading.taking.withLock { () throws(EngineError) in try checkpoints.withLock(body) }
  }

  /// Under all locks. Nobody uses the files any more when they are closed.
  private func closeFiles() {
    leading.recording.withLock { leading.isOn.store(false, ordering: .relaxed) }
    status.close()
    anchor.close()
    folder.close()
  }

  /// Whether no other process has the store open for writing; then none comes any more either. A store that has stopped is
  /// closed as it is.
  private func isLast() -> Result<Bool, EngineError> {
    guard let membership, !status.isStopped else { return .success(true) }
    do throws(EngineError) {
      try lead()
      do {
        return .success(try membership.tryBeAlone())
      } catch {
        throw EngineError.files(error, "the store could not be locked")
      }
    } catch {
      // Somebody leads, and goes on to.
      return error.code == .locked ? .success(false) : .failure(error)
    }
  }

  /// Leaves the store to others, with everything on disk that was written here.
  ///
  /// - Parameter cause: Why it could not be closed as by the last one, where that is an error.
  private func leave(because cause: EngineError? = nil) throws(EngineError) {
    var failure = cause
    try withNobodyLeading { () throws(EngineError) in
      writer.withLockInBackground {
        guard !status.isClosed else { return }
        do throws(EngineError) {
          try syncs.sync(try drainedWork())
        } catch {
          failure = error
        }
        log.zeros.stop()
        if let membership { letGo(membership) }
        closeFiles()
      }
    }
    if let failure { throw failure }
  }

  /// All that was committed so far. The writer's.
  private func drainedWork() throws(EngineError) -> SyncedPart.Work {
    try commits.drain()
    return log.syncWork()
  }

  /// Makes durable what was committed so far.
  func makeDurable() throws(EngineError) {
    do {
      try status.checkWritable()
    } catch {
      return try checkNothingIsLost(because: error)
    }
    try syncs.sync(try writer.withLock { () throws(EngineError) in try drainedWork() })
  }

  private var isWriting: Bool { options.access == .readWrite && !status.isStopped }

  private func checkpointBeforeClosing() throws(EngineError) {
    guard options.access == .readWrite, !isInMemory else { return }
    do {
      try status.checkWritable()
    } catch {
      return try checkNothingIsLost(because: error)
    }
    try takeCheckpoint()
  }

  /// A store that has stopped is closed as it is; whoever relies on closing for what was deferred has to
  /// hear of it.
  private func checkNothingIsLost(because failure: EngineError) throws(EngineError) {
    let isDurable = try writer.withLock { log.durable.generation >= generations.newest }
    guard !isDurable else { return }
    throw EngineError(
      .stopped,
      "the store is closed, but since a sync failed its newest transactions may not be on disk: open it again "
        + "and see which of them are there",
      file: failure.file, underlying: failure.underlying)
  }

  private var isInMemory: Bool { path == "/dev/null" }

  private func markClean() -> EngineError? {
    guard isWriting, !isInMemory, !anchor.isClean else { return nil }
    do {
      try commits.drain()
      // What lies behind the end has to be zeros, as the log goes on there.
      if log.mustRoll { try roll() }
      let work = log.syncWork()
      try syncs.sync(work)
      let upcoming = numbers.upcoming
      try updateAnchor {
        $0.proven = work.point
        $0.nextSegment = upcoming
        $0.isClean = true
      }
      return nil
    } catch {
      return error
    }
  }
}
