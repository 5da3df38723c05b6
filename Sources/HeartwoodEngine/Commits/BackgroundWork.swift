import HeartwoodFiles

/// The background work that commits find due.
struct BackgroundWork {
  let store: OpenStore

  func submit(_ tasks: BackgroundTasks) {
    let worker = store.options.worker
    if let preallocator = tasks.preallocator { worker.submit { self.preallocate(preallocator) } }
    if tasks.checkpoint { worker.submit { LateCalls.after(self.checkpoint) } }
    if tasks.spaceScan { Compaction(store).scheduleSpaceScan() }
    if tasks.reserve { worker.submit { self.layReserve() } }
  }

  private func checkpoint() {
    // An error is ignored: it occurs again, and is reported, at the next requested checkpoint. A failed sync has
    // stopped the store.
    try? Compaction(store).checkpointAndReclaim()
    store.writer.withLockInBackground { $0.isCheckpointUnderWay = false }
  }

  private func layReserve() {
    try? Coordinator(store).withLease { () throws(EngineError) in
      store.checkpoints.withLock { store.reserve.update(storeBytes: $0.storeBytes(store.logSegments)) }
    }
  }

  private func preallocate(_ preallocator: LogPreallocator) {
    do {
      let file = try store.folder.directory.open(SegmentName.log(preallocator.segment.number), .readWrite)
      defer { try? file.close() }
      try preallocator.fill(file, syncs: true)
    } catch {
      guard error.operation == .sync else { return preallocator.stop() }
      store.status.stop(.files(error, "the preallocated zeros of the log could not be synced"))
    }
  }
}
