import HeartwoodFiles
import Synchronization

extension OpenStore {
  /// Takes up what other processes have published since, if there is anything.
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

  /// The counter of the newest record; 0 where nobody can tell anything.
  @inline(never)
  func newestCounter() throws(EngineError) -> UInt64 {
    do {
      return try page?.newestCounter() ?? 0
    } catch {
      throw EngineError.files(error, "what the store's processes tell could not be read")
    }
  }

  @inline(never)
  private func follow(_ page: SharedHeader) throws(EngineError) {
    guard !writer.isHeldHere else { return }
    try retryingIfChanged { () throws(EngineError) in try refreshOnce(page) }
  }

  /// Runs `body`, which refreshes from what other processes have written and opens files, again where another process has
  /// changed them meanwhile.
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

  /// Runs `body`, which takes up what others have written, under the locks of checkpoints and of the writer. What they have
  /// given back is not kept: by those who only read, nobody else would let go of it.
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
      throw EngineError.files(error, "what the store's processes tell could not be read")
    }
  }
}
