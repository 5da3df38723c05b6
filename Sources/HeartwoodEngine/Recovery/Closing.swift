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
    // 1. What is under way in the background comes to its end.
    options.worker.drain()
    try checkpoints.withLock { () throws(EngineError) in
      var failure: EngineError?
      // 2. The tree is on disk.
      do throws(EngineError) { try checkpointBeforeClosing() } catch { failure = error }
      // 3. The anchor says exactly where the log ends. Nothing is written behind this.
      writer.withLockInBackground {
        guard !status.isClosed else { return }
        log.zeros.stop()
        if failure == nil { failure = markClean() }
        status.close()
        anchor.close()
        folder.close()
      }
      if let failure { throw failure }
    }
  }

  private var isWriting: Bool { options.access == .readWrite && !status.isStopped }

  private func checkpointBeforeClosing() throws(EngineError) {
    guard isWriting, !isInMemory else { return }
    try takeCheckpoint()
  }

  private var isInMemory: Bool { path == "/dev/null" }

  private func markClean() -> EngineError? {
    guard isWriting, !isInMemory, !anchor.current.isClean else { return nil }
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
