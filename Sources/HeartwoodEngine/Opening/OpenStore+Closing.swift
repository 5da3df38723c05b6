import HeartwoodFiles

extension OpenStore {
  /// Creates a store in memory.
  static func inMemory(_ options: EngineOptions) throws(EngineError) -> OpenStore {
    guard options.access == .readWrite, options.createsStore else {
      throw EngineError(
        .notFound, "a store in memory is always new; allow creating and writing it", file: "/dev/null")
    }
    // Nothing in memory can be lost, so syncs are unnecessary.
    var inMemory = options
    inMemory.durability = .none
    return try Opening("/dev/null", inMemory, MemoryFileSystem(), folderPath: "/store").run()
  }

  /// Closes the store: takes a checkpoint if no other process is attached, so that the next opening is fast,
  /// and releases everything except what snapshots use.
  ///
  /// - Throws: If called inside a write, which leaves the store open. Otherwise the error of the lease, the
  ///   checkpoint, the anchor or the last sync; the store is closed nevertheless.
  func close() throws(EngineError) {
    guard !status.isClosed else { return }
    // Throws if the thread is inside a write, which would otherwise wait for itself.
    try writer.withLock {}
    observers.end()
    throttle.stop()
    // 1. Background work ends.
    options.worker.drain()
    // 2. The lease, if it can be acquired, is kept until the end.
    let departure = departure()
    var failure: EngineError?
    repeat { lease.waitForAcquisition() } while !closeFiles(departure, &failure)
    if let failure { throw failure }
  }

  /// How a process leaves a store that other processes may have open.
  private enum Departure {
    /// No other process is attached, and none can attach any more.
    case last
    case oneOfSeveral
    case failed(EngineError)
  }

  /// A store with writes disabled is closed without further writes.
  private func departure() -> Departure {
    guard let attachment, !status.isStopped else { return .last }
    do throws(EngineError) {
      // Ended by `closeLease`.
      try withWriterAndLease(orThrow: { $0 }) { () throws(EngineError) in lease.beginOperation() }
      do {
        return try attachment.excludeOthers() ? .last : .oneOfSeveral
      } catch {
        throw EngineError.files(error, "the store could not be locked")
      }
    } catch {
      // Another process is writing.
      return error.code == .locked ? .oneOfSeveral : .failed(error)
    }
  }

  /// - Returns: False if a thread has begun to acquire the lease meanwhile; it must finish first.
  private func closeFiles(_ departure: Departure, _ failure: inout EngineError?) -> Bool {
    checkpoints.withLock {
      // 3. The last process writes the tree to disk.
      if case .last = departure {
        do throws(EngineError) { try checkpointBeforeClosing() } catch { failure = error }
      }
      return writer.withLockInBackground {
        guard !status.isClosed else { return true }
        log.preallocator.stop()
        switch departure {
        // 4. The anchor names the exact end of the log. Nothing is appended after this.
        case .last: failure = finishClosing(failure)
        case .oneOfSeveral: failure = failureOfLastSync()
        case .failed(let cause): failure = failureOfLastSync() ?? cause
        }
        // 5. Publish what closing has written.
        guard closeLease(isInOrder: failure == nil) else { return false }
        status.close()
        anchor.close()
        folder.close()
        return true
      }
    }
  }

  /// Marks the store closed. If the disk had no room for the checkpoint, the store is closed without one: the
  /// next opening reads more of the log, but needs no recovery, which would also need room.
  ///
  /// - Precondition: The caller holds `checkpoints` and the writer lock.
  /// - Parameter failure: The error of the checkpoint.
  private func finishClosing(_ failure: EngineError?) -> EngineError? {
    let failure = failure?.code == .noSpace && !status.isStopped ? nil : failure
    guard let failure = failure ?? markClean() else { return nil }
    // The failure may be a consequence of a replaced folder, which is the better error.
    do throws(EngineError) { try folder.checkIsInPlace() } catch { return error }
    return failure
  }

  /// Syncs everything that this process has committed; returns the error.
  ///
  /// - Precondition: The caller holds the writer lock.
  private func failureOfLastSync() -> EngineError? {
    do throws(EngineError) {
      try syncs.sync(try drainedWork())
      return nil
    } catch {
      return error
    }
  }

  /// Publishes all commits so far, and returns the request that syncs them.
  ///
  /// - Precondition: The caller holds the writer lock.
  private func drainedWork() throws(EngineError) -> SyncRequest {
    try commits.drain()
    return log.syncRequest()
  }

  /// Makes all commits so far durable.
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

  /// Throws if writes are disabled and a deferred commit may be lost. A caller may rely on closing to make
  /// such commits durable.
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
      // The bytes after the end must be zeros, because the log continues there.
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
