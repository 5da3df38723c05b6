import HeartwoodFiles

/// Closing of a store.
struct Closing {
  let store: OpenStore

  /// Closes the store: takes a checkpoint if no other process is attached, so that the next opening is fast,
  /// and releases everything except what snapshots use.
  ///
  /// - Throws: If called inside a write, which leaves the store open. Otherwise the error of the lease, the
  ///   checkpoint, the anchor or the last sync; the store is closed nevertheless.
  func run() throws(EngineError) {
    guard !store.status.isClosed else { return }
    try store.writer.checkNotNested()
    if !isInMemory { Compaction(store).reclaimBeforeClosing() }
    store.throttle.stop()
    // 1. Background work ends.
    store.options.worker.drain()
    // 2. The lease, if it can be acquired, is kept until the end.
    let departure = departure()
    var failure: EngineError?
    repeat { store.lease.waitForAcquisition() } while !closeFiles(departure, &failure)
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
    guard let attachment = store.attachment, !store.status.isStopped else { return .last }
    do throws(EngineError) {
      // Ended by `closeLease`.
      try Coordinator(store).withWriterAndLease(orThrow: { $0 }) { (writer) throws(EngineError) in
        store.lease.beginOperation(writer.held)
      }
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
    store.checkpoints.withLock { checkpoints in
      // 3. The last process writes the tree to disk.
      if case .last = departure {
        do throws(EngineError) { try checkpointBeforeClosing(checkpoints) } catch { failure = error }
      }
      return store.writer.withLockInBackground { writer in
        guard !store.status.isClosed else { return true }
        writer.log.preallocator.stop()
        switch departure {
        // 4. The anchor names the exact end of the log. Nothing is appended after this.
        case .last: failure = finishClosing(writer, failure)
        case .oneOfSeveral: failure = failureOfLastSync(writer)
        case .failed(let cause): failure = failureOfLastSync(writer) ?? cause
        }
        // 5. Publish what closing has written.
        guard Coordinator(store).closeLease(writer, checkpoints, isInOrder: failure == nil) else {
          return false
        }
        store.status.close()
        store.anchor.file.close()
        store.folder.close()
        return true
      }
    }
  }

  /// Marks the store closed. If the disk had no room for the checkpoint, the store is closed without one: the
  /// next opening reads more of the log, but needs no recovery, which would also need room.
  ///
  /// - Parameter failure: The error of the checkpoint.
  private func finishClosing(_ writer: WriterState, _ failure: EngineError?) -> EngineError? {
    let failure = failure?.code == .noSpace && !store.status.isStopped ? nil : failure
    guard let failure = failure ?? markClean(writer) else { return nil }
    // The failure may be a consequence of a replaced folder, which is the better error.
    do throws(EngineError) { try store.folder.checkIsInPlace() } catch { return error }
    return failure
  }

  /// Syncs everything that this process has committed; returns the error.
  private func failureOfLastSync(_ writer: WriterState) -> EngineError? {
    do throws(EngineError) {
      try store.syncs.sync(try writer.drainedRequest())
      return nil
    } catch {
      return error
    }
  }

  /// Makes all commits so far durable.
  func makeDurable() throws(EngineError) {
    do {
      try store.status.checkWritable()
    } catch {
      return try checkNothingIsLost(because: error)
    }
    try store.syncs.sync(
      try store.writer.withLock { (writer) throws(EngineError) in try writer.drainedRequest() })
  }

  private var isWriting: Bool { store.options.access == .readWrite && !store.status.isStopped }

  private func checkpointBeforeClosing(_ checkpoints: CheckpointState) throws(EngineError) {
    guard store.options.access == .readWrite, !isInMemory else { return }
    do {
      try store.status.checkWritable()
    } catch {
      return try checkNothingIsLost(because: error)
    }
    try Checkpoint(store, checkpoints).run()
  }

  /// Throws if writes are disabled and a deferred commit may be lost. A caller may rely on closing to make
  /// such commits durable.
  private func checkNothingIsLost(because failure: EngineError) throws(EngineError) {
    let isDurable = try store.writer.withLock { $0.log.durable.generation >= $0.generations.newest }
    guard !isDurable else { return }
    throw EngineError(
      .stopped,
      "the store is closed, but since a sync failed its newest transactions may not be on disk: open it again "
        + "and see which of them are there",
      file: failure.file, underlying: failure.underlying)
  }

  private var isInMemory: Bool { store.path == "/dev/null" }

  private func markClean(_ writer: WriterState) -> EngineError? {
    guard isWriting, !isInMemory, !store.anchor.file.isClean else { return nil }
    do {
      try writer.drain()
      // The bytes after the end must be zeros, because the log continues there.
      if writer.log.mustRoll { try writer.roll() }
      let work = writer.log.syncRequest()
      try store.syncs.sync(work)
      let upcoming = store.numbers.upcoming
      try writer.updateAnchor {
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
