import HeartwoodFiles
import Synchronization

/// Brings an open store up to date with what other processes have published.
struct Refresh {
  private let store: OpenStore

  @inline(__always)
  init(_ store: OpenStore) { self.store = store }

  /// Refreshes the store if it is stale, then pins the newest generation.
  func newestSnapshot() throws(EngineError) -> Snapshot {
    try store.status.checkOpen()
    try ifStale()
    return Snapshot(store.generations, store.space)
  }

  /// Refreshes the store if another process has published since.
  ///
  /// - Complexity: O(1) if the store is up to date: two loads from shared memory, or two reads of a file.
  @inline(__always)
  func ifStale() throws(EngineError) {
    guard !store.lease.isHeld, store.page != nil else { return }
    try ifBehind()
    try Settlement(store).beforeReading()
  }

  /// Refreshes the store if a record was published since.
  @inline(__always)
  func ifBehind() throws(EngineError) {
    let counter =
      if let memory = store.lease.records {
        memory.newestCounter
      } else {
        try newestCounter()
      }
    if counter > store.lease.seenRecord.load(ordering: .relaxed), let page = store.page { try follow(page) }
  }

  /// The counter of the newest record; 0 if there is no shared header.
  @inline(never)
  func newestCounter() throws(EngineError) -> UInt64 {
    do {
      return try store.page?.newestCounter() ?? 0
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }

  @inline(never)
  private func follow(_ page: SharedHeader) throws(EngineError) {
    guard !store.writer.isHeldHere else { return }
    try retryingIfChanged { () throws(EngineError) in try refreshOnce(page) }
  }

  /// Runs `body`, which refreshes the store and opens files, and repeats it if another process changed the
  /// files meanwhile.
  func retryingIfChanged<Value>(
    isWhole: (Value) -> Bool = { _ in true }, _ body: () throws(EngineError) -> Value
  ) throws(EngineError) -> Value {
    guard store.page != nil else { return try body() }
    return try store.folder.retryingIfChanged(
      seconds: store.options.busyTimeout, version: { () throws(EngineError) in try newestCounter() },
      isWhole: isWhole,
      body)
  }

  private func refreshOnce(_ page: SharedHeader) throws(EngineError) {
    let lease = store.lease
    try refreshing { (writer, checkpoints) throws(EngineError) in
      guard !lease.isHeld, let record = try Self.newestRecord(page),
        record.counter > lease.seenRecord.load(ordering: .relaxed), record.identifier == store.identifier,
        // It publishes again when it has recovered the log. Meanwhile files change that this process may know.
        !record.isRecovering
      else { return }
      try CatchUp(store, writer, checkpoints, end: record.end, durable: record.durable).run()
      lease.seenRecord.store(record.counter, ordering: .relaxed)
    }
  }

  /// Runs `body`, which refreshes the store, with both locks. Also releases reclaimed
  /// segments, because a process that only reads never runs its own reclamation.
  func refreshing(_ body: (WriterState, CheckpointState) throws(EngineError) -> Void) throws(EngineError) {
    let (released, hasReloaded) = try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
      try store.writer.withLock { (writer) throws(EngineError) in
        let reloads = writer.reloads
        try body(writer, checkpoints)
        return (checkpoints.releaseUnlinked(writer), writer.reloads != reloads)
      }
    }
    withExtendedLifetime(released) {}
    // Another process may have reclaimed what past generations need.
    if hasReloaded { store.lastReplay.forget() }
    UnlinkedRelease(store).scheduleIfNeeded()
  }

  static func newestRecord(_ page: SharedHeader) throws(EngineError) -> WriterRecord? {
    do {
      return try page.newest()
    } catch {
      throw EngineError.files(error, "the shared header of the store could not be read")
    }
  }
}
