import HeartwoodFiles

/// Acquires, holds, yields and releases the `WriterLease` of a store that other processes write too.
struct Coordinator {
  private let store: OpenStore

  @inline(__always)
  init(_ store: OpenStore) { self.store = store }

  /// Runs `body` with the lease and the writer lock.
  func withWriterAndLease<Result, Failure: Error>(
    orThrow wrapped: (EngineError) -> Failure, _ body: (WriterState) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let lease = store.lease
    while true {
      // A thread that had to acquire the lease writes before it yields to a waiter. Otherwise two processes
      // could hand the lease to each other without writing.
      let hadToAcquire = !lease.isHeld
      do throws(EngineError) { try acquireLease() } catch { throw wrapped(error) }
      let result = try store.writer.withLock(orThrow: wrapped) { (writer) throws(Failure) -> Result? in
        // The lease may have been released in between.
        store.attachment == nil || (lease.isHeld && (hadToAcquire || !hasYielded(writer)))
          ? try body(writer) : nil
      }
      if let result { return result }
    }
  }

  /// Runs `body`, an operation of several steps, and keeps the lease between the steps unless `body` yields
  /// it.
  ///
  /// - Precondition: The caller holds no lock of the store except the reclaim lock.
  func withLease<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    guard store.attachment != nil else {
      try store.writer.checkNotNested()
      return try body()
    }
    try withWriterAndLease(orThrow: { $0 }) { (writer) throws(EngineError) in
      store.lease.beginOperation(writer.held)
    }
    defer {
      store.writer.withLockInBackground { writer in
        store.lease.endOperation(writer.held)
        releaseOrWatch(writer)
      }
    }
    return try body()
  }

  /// Takes a checkpoint, unless nothing was committed since the last one.
  func checkpoint() throws(EngineError) {
    try store.checkMayWrite()
    try store.status.checkWritable()
    try withLease { () throws(EngineError) in
      try store.checkpoints.withLock { (checkpoints) throws(EngineError) in
        try Checkpoint(store, checkpoints).run()
      }
    }
  }

  // MARK: Acquiring

  /// Acquires the lease if this process does not hold it.
  ///
  /// - Precondition: The caller holds no lock of the store except the reclaim lock, or holds the writer lock
  ///   and the process holds the lease.
  /// - Parameter seconds: The longest time to wait; nil for `busyTimeout`.
  /// - Throws: `.locked` if another process or thread keeps the lease unavailable for that time.
  func acquireLease(timeout seconds: Double? = nil) throws(EngineError) {
    let lease = store.lease
    guard let attachment = store.attachment, !lease.isHeld, !store.writer.isHeldHere else { return }
    let seconds = seconds ?? store.options.busyTimeout
    switch lease.request(timeout: seconds) {
    case .held: return
    case .busy: throw otherProcessWrites
    case .closed: throw StoreStatus.closed
    case .acquire: break
    }
    var isSucceeding = false
    defer { if isSucceeding { attachment.page.endSucceeding(attachment.name) } }
    do throws(EngineError) {
      try store.status.checkWritable()
      lease.begin(with: try waitForFileLock(attachment, seconds, &isSucceeding))
      try Refresh(store).refreshing { (writer, checkpoints) throws(EngineError) in
        try LeaseTakeover(store, attachment, writer, checkpoints).run()
      }
    } catch {
      lease.abandon()
      throw error
    }
  }

  /// - Parameter isSucceeding: Set if the shared header says that this process acquires the file lock.
  private func waitForFileLock(
    _ attachment: ProcessAttachment, _ seconds: Double, _ isSucceeding: inout Bool
  ) throws(EngineError) -> HeldFileLock {
    backOffForWaiters(attachment)
    var backoff = Backoff(seconds: seconds)
    var attempts = 0
    do {
      repeat {
        isSucceeding = try attachment.page.beginSucceeding(attachment.name)
        if let held = try attachment.fileLock.tryAcquire() { return held }
        if isSucceeding { attachment.page.endSucceeding(attachment.name) }
        isSucceeding = false
        // Repeated, because the writer may have released the lease briefly between two attempts.
        if attempts % Self.attemptsPerNote == 0 { try attachment.page.noteWaiter() }
        attempts += 1
      } while backoff.wait()
    } catch {
      throw EngineError.files(error, "the store could not be locked")
    }
    throw otherProcessWrites
  }

  private var otherProcessWrites: EngineError {
    ProcessAttachment.busy(
      store.path,
      "another process is writing, and has been for \(store.options.busyTimeout) seconds; try again")
  }

  /// Waits for another process to acquire the lease. Waiters for the file lock retry after a pause, before
  /// which this process would acquire the lock again.
  private func backOffForWaiters(_ attachment: ProcessAttachment) {
    guard let waiters = newWaiters(attachment) else { return }
    store.lease.yieldedTo.store(waiters, ordering: .relaxed)
    var backoff = Backoff(seconds: Self.waiterBackoffSeconds)
    while (try? attachment.page.newest())?.writer == attachment.name, backoff.wait() {}
  }

  /// In seconds; longer than the longest pause between two attempts.
  private static let waiterBackoffSeconds = 0.005
  /// Attempts between two increments of the waiter count: about 50 ms.
  private static let attemptsPerNote = 32

  // MARK: Yielding

  /// The waiter count if it changed since this process last yielded; nil otherwise.
  private func newWaiters(_ attachment: ProcessAttachment) -> UInt64? {
    guard let waiters = try? attachment.page.waiterCount(),
      waiters != store.lease.yieldedTo.load(ordering: .relaxed)
    else { return nil }
    return waiters
  }

  /// Releases the lease if another process waits; returns whether it did. Drains the commit queue first,
  /// because threads that commit continuously leave no moment at which everything is published.
  private func hasYielded(_ writer: WriterState) -> Bool {
    let lease = store.lease
    guard lease.hasOtherProcesses, let attachment = store.attachment, newWaiters(attachment) != nil,
      lease.mayRelease(writer.held),
      (try? writer.drain()) != nil
    else { return false }
    releaseLease(writer)
    return !lease.isHeld
  }

  /// Lets other processes write between two steps of an operation if one waits.
  ///
  /// - Precondition: The caller holds no lock of the store except the reclaim lock.
  /// - Returns: Whether the tree was reloaded from a checkpoint that another process took meanwhile.
  /// - Throws: `.locked` if another process writes for all of `busyTimeout`; the operation must then end.
  func yieldLease() throws(EngineError) -> Bool {
    let lease = store.lease
    guard let attachment = store.attachment, lease.hasOtherProcesses, newWaiters(attachment) != nil else {
      return false
    }
    let before = try store.writer.withLock { (writer) throws(EngineError) in
      lease.endOperation(writer.held)
      _ = hasYielded(writer)
      return writer.reloads
    }
    do {
      return try withWriterAndLease(orThrow: { $0 }) { (writer) throws(EngineError) in
        lease.beginOperation(writer.held)
        return writer.reloads > before
      }
    } catch {
      // `withLease` ends the operation again.
      store.writer.withLockInBackground { lease.beginOperation($0.held) }
      throw error
    }
  }

  // MARK: Releasing

  /// Lets other processes attach and write. Called after the store was opened with no other process attached.
  func admitOtherProcesses() throws(EngineError) {
    guard let attachment = store.attachment else { return }
    let lease = store.lease
    store.checkpoints.withLock { store.reserve.update(storeBytes: $0.storeBytes(store.logSegments)) }
    do throws(FileSystemError) {
      let record = try attachment.page.newest()
      if let record { lease.lastOwnRecord.store(record.counter, ordering: .relaxed) }
      // Processes that waited earlier are no longer attached.
      lease.yieldedTo.store(try attachment.page.waiterCount(), ordering: .relaxed)
      if record.map(store.records.isCurrent) != true { try store.records.announce() }
      guard store.options.sharing == .processes, attachment.page.isThere else { return }
      try attachment.admitOthers()
    } catch {
      throw EngineError.files(error, "the store could not be opened to other processes")
    }
    store.writer.withLockInBackground { releaseLease($0) }
  }

  /// Called after a write is published. Releases the lease at once if other processes are attached, otherwise
  /// after `idleSeconds` without a write.
  func releaseOrWatch(_ writer: WriterState) {
    guard let attachment = store.attachment, store.options.sharing == .processes, attachment.page.isThere,
      store.lease.isHeld
    else { return }
    if attachment.hasOtherProcesses { probeForOtherProcesses(writer, attachment) }
    guard let seconds = store.options.idleSeconds, !attachment.hasOtherProcesses else {
      return releaseLease(writer)
    }
    if !store.lease.isTimerSet.exchange(true, ordering: .relaxed) { watch(writer, seconds) }
  }

  /// Every 64th write with other processes attached, checks whether they are still attached.
  private func probeForOtherProcesses(_ writer: WriterState, _ attachment: ProcessAttachment) {
    writer.sharedWrites += 1
    guard writer.sharedWrites % 64 == 0, (try? attachment.excludeOthers()) == true else { return }
    try? attachment.admitOthers()
  }

  private func watch(_ writer: WriterState, _ seconds: Double) {
    let written = writer.log.appendedBytes
    store.submit(afterSeconds: seconds) { store in
      store.writer.withLockInBackground { writer in
        let coordinator = Coordinator(store)
        if writer.log.appendedBytes == written { coordinator.releaseLease(writer) }
        if store.lease.isHeld { return coordinator.watch(writer, seconds) }
        store.lease.isTimerSet.store(false, ordering: .relaxed)
      }
    }
  }

  /// Releases the lease unless an operation or an unpublished commit is in progress.
  private func releaseLease(_ writer: WriterState) {
    let (lease, records) = (store.lease, store.records)
    guard lease.mayRelease(writer.held), writer.status.isStopped || writer.commits.isEmpty else { return }
    lease.release(writer.held, isInOrder: bringsLogInOrder(writer)) { () throws(FileSystemError) in
      try records.write(isHeld: false)
    }
  }

  /// Ends the lease when the store is closed.
  ///
  /// - Parameter isInOrder: Whether closing has succeeded so far. If not, the next process recovers the log.
  /// - Returns: False if a thread is acquiring the lease, which needs those locks.
  func closeLease(_ writer: WriterState, _: CheckpointState, isInOrder: Bool) -> Bool {
    let isInOrder = isInOrder && store.lease.isHeld && bringsLogInOrder(writer)
    return store.lease.close(writer.held, isInOrder: isInOrder) { () throws(FileSystemError) in
      try store.records.write(isHeld: false)
    }
  }

  /// Leaves the log as the next process expects it, and returns whether that succeeded. The anchor must name
  /// the newest checkpoint, because the next writer appends pages after those of that checkpoint. The bytes
  /// after the end of the log must be zeros, because the log continues there.
  private func bringsLogInOrder(_ writer: WriterState) -> Bool {
    writer.log.preallocator.stop()
    let isNamed = !writer.hasUnnamedCheckpoint
    return !writer.status.isStopped && isNamed && writer.commits.isEmpty
      && (!writer.log.mustRoll || (try? writer.roll()) != nil)
  }
}
