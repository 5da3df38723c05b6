import HeartwoodFiles
import Synchronization

extension OpenStore {
  /// Refreshes the store if another process has published since.
  ///
  /// - Complexity: O(1) if the store is up to date: two loads from shared memory, or two reads of a file.
  @inline(__always)
  func refreshIfStale() throws(EngineError) {
    guard !lease.isHeld, page != nil else { return }
    let counter =
      if let memory = lease.records {
        SharedHeader.newestCounter(in: memory)
      } else {
        try newestCounter()
      }
    if counter > lease.seenRecord.load(ordering: .relaxed), let page { try follow(page) }
  }

  /// The counter of the newest record; 0 if there is no shared header.
  @inline(never)
  func newestCounter() throws(EngineError) -> UInt64 {
    do {
      return try page?.newestCounter() ?? 0
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }

  @inline(never)
  private func follow(_ page: SharedHeader) throws(EngineError) {
    guard !writer.isHeldHere else { return }
    try retryingIfChanged { () throws(EngineError) in try refreshOnce(page) }
  }

  /// Runs `body`, which refreshes the store and opens files, and repeats it if another process changed the
  /// files meanwhile.
  func retryingIfChanged<Value>(
    isWhole: (Value) -> Bool = { _ in true }, _ body: () throws(EngineError) -> Value
  ) throws(EngineError) -> Value {
    guard page != nil else { return try body() }
    return try folder.retryingIfChanged(
      seconds: options.busyTimeout, version: { () throws(EngineError) in try newestCounter() },
      isWhole: isWhole,
      body)
  }

  private func refreshOnce(_ page: SharedHeader) throws(EngineError) {
    try refreshing { () throws(EngineError) in
      guard !lease.isHeld, let record = try newestRecord(page),
        record.counter > lease.seenRecord.load(ordering: .relaxed), record.identifier == log.identifier
      else { return }
      try CatchUp(store: self, end: record.end, durable: record.durable).run()
      lease.seenRecord.store(record.counter, ordering: .relaxed)
    }
  }

  /// Runs `body`, which refreshes the store, under `checkpoints` and the writer lock. Also releases reclaimed
  /// segments, because a process that only reads never runs its own reclamation.
  func refreshing(_ body: () throws(EngineError) -> Void) throws(EngineError) {
    let released = try checkpoints.withLock { () throws(EngineError) in
      try writer.withLock { () throws(EngineError) in
        try body()
        return reclaimer.release(self)
      }
    }
    withExtendedLifetime(released) {}
  }

  func newestRecord(_ page: SharedHeader) throws(EngineError) -> WriterRecord? {
    do {
      return try page.newest()
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }
}
