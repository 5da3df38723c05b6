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
    throttle.stop()
    // 1. What is under way in the background comes to its end.
    options.worker.drain()
    // 2. The lease, if it can be had, is kept until the end.
    let departure = departure()
    var failure: EngineError?
    repeat { lease.waitForAcquisition() } while !closeFiles(departure, &failure)
    if let failure { throw failure }
  }

  /// How a process closes a store that others may have open.
  private enum Departure {
    /// No other process is attached, and none attaches any more.
    case last
    case oneOfSeveral
    case failed(EngineError)
  }

  /// A store that has stopped is closed as it is.
  private func departure() -> Departure {
    guard let attachment, !status.isStopped else { return .last }
    do throws(EngineError) {
      // Ends with the lease.
      try withWriterAndLease(orThrow: { $0 }) { () throws(EngineError) in lease.beginOperation() }
      do {
        return try attachment.excludeOthers() ? .last : .oneOfSeveral
      } catch {
        throw EngineError.files(error, "the store could not be locked")
      }
    } catch {
      // Another process writes, and goes on to.
      return error.code == .locked ? .oneOfSeveral : .failed(error)
    }
  }

  /// - Returns: false where a thread has begun to acquire the lease meanwhile; it has to end first.
  private func closeFiles(_ departure: Departure, _ failure: inout EngineError?) -> Bool {
    checkpoints.withLock {
      // 3. By the last process: the tree is on disk.
      if case .last = departure {
        do throws(EngineError) { try checkpointBeforeClosing() } catch { failure = error }
      }
      return writer.withLockInBackground {
        guard !status.isClosed else { return true }
        log.preallocator.stop()
        switch departure {
        // 4. The anchor says exactly where the log ends. Nothing is written behind this.
        case .last: failure = finishClosing(failure)
        case .oneOfSeveral: failure = failureOfLastSync()
        case .failed(let cause): failure = failureOfLastSync() ?? cause
        }
        // 5. Other processes learn of what closing has written.
        guard closeLease(isInOrder: failure == nil) else { return false }
        status.close()
        anchor.close()
        folder.close()
        return true
      }
    }
  }

  /// Marks the store closed. Where there was no room for a checkpoint it is closed without one: the next opening reads more of
  /// the log, and has nothing to recover, which would take room, too. Under all locks.
  ///
  /// - Parameter failure: Why there is no checkpoint.
  private func finishClosing(_ failure: EngineError?) -> EngineError? {
    let failure = failure?.code == .noSpace && !status.isStopped ? nil : failure
    guard let failure = failure ?? markClean() else { return nil }
    // What failed may be but a consequence.
    do throws(EngineError) { try folder.checkIsInPlace() } catch { return error }
    return failure
  }

  /// Everything is on disk that was written here. The writer's.
  private func failureOfLastSync() -> EngineError? {
    do throws(EngineError) {
      try syncs.sync(try drainedWork())
      return nil
    } catch {
      return error
    }
  }

  /// All that was committed so far. The writer's.
  private func drainedWork() throws(EngineError) -> SyncRequest {
    try commits.drain()
    return log.syncRequest()
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
      let work = log.syncRequest()
      try syncs.sync(work)
      let upcoming = numbers.upcoming
      try updateAnchor {
        $0.knownDurable = work.point
        $0.nextSegment = upcoming
        $0.isClean = true
      }
      return nil
    } catch {
      return error
    }
  }
}
