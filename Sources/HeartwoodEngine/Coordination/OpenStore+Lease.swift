import HeartwoodFiles

/// Acquiring, holding, yielding and releasing the `WriterLease` of a store that other processes write too.
extension OpenStore {
  /// Runs `body` with the lease and the writer lock.
  func withWriterAndLease<Result, Failure: Error>(
    orThrow wrapped: (EngineError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      // A thread that had to acquire the lease writes before it yields to a waiter. Otherwise two processes
      // could hand the lease to each other without writing.
      let hadToAcquire = !lease.isHeld
      do throws(EngineError) { try acquireLease() } catch { throw wrapped(error) }
      let result = try writer.withLock(orThrow: wrapped) { () throws(Failure) -> Result? in
        // The lease may have been released in between.
        attachment == nil || (lease.isHeld && (hadToAcquire || !hasYielded())) ? try body() : nil
      }
      if let result { return result }
    }
  }

  /// Runs `body`, an operation of several steps, and keeps the lease between the steps unless `body` yields
  /// it.
  ///
  /// - Precondition: The caller holds no lock of the store except `Reclaimer.lock`.
  func withLease<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    guard attachment != nil else {
      // Throws if the thread is inside a write, which would otherwise wait for itself.
      try writer.withLock {}
      return try body()
    }
    try withWriterAndLease(orThrow: { $0 }) { () throws(EngineError) in lease.beginOperation() }
    defer {
      writer.withLockInBackground {
        lease.endOperation()
        releaseOrWatch()
      }
    }
    return try body()
  }

  // MARK: Acquiring

  /// Acquires the lease if this process does not hold it.
  ///
  /// - Precondition: The caller holds no lock of the store except `Reclaimer.lock`, or holds the writer lock
  ///   and the process holds the lease.
  /// - Throws: `.locked` if another process or thread keeps the lease unavailable for `busyTimeout`.
  func acquireLease() throws(EngineError) {
    guard let attachment, !lease.isHeld, !writer.isHeldHere else { return }
    switch lease.request(timeout: options.busyTimeout) {
    case .held: return
    case .busy: throw otherProcessWrites
    case .closed: throw StoreStatus.closed
    case .acquire: break
    }
    do throws(EngineError) {
      try status.checkWritable()
      lease.begin(with: try waitForFileLock(attachment))
      try refreshing { () throws(EngineError) in try takeOver(attachment) }
    } catch {
      lease.abandon()
      throw error
    }
  }

  private func waitForFileLock(_ attachment: ProcessAttachment) throws(EngineError) -> HeldFileLock {
    backOffForWaiters(attachment)
    var backoff = Backoff(seconds: options.busyTimeout)
    var attempts = 0
    do {
      repeat {
        if let held = try attachment.fileLock.tryAcquire() { return held }
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
      path, "another process is writing, and has been for \(options.busyTimeout) seconds; try again")
  }

  /// Waits for another process to acquire the lease. Waiters for the file lock retry after a pause, before
  /// which this process would acquire the lock again.
  private func backOffForWaiters(_ attachment: ProcessAttachment) {
    guard let waiters = newWaiters(attachment) else { return }
    lease.yieldedTo.store(waiters, ordering: .relaxed)
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
      waiters != lease.yieldedTo.load(ordering: .relaxed)
    else { return nil }
    return waiters
  }

  /// Releases the lease if another process waits; returns whether it did. Drains the commit queue first,
  /// because threads that commit continuously leave no moment at which everything is published.
  ///
  /// - Precondition: The caller holds the writer lock.
  private func hasYielded() -> Bool {
    guard lease.hasOtherProcesses, let attachment, newWaiters(attachment) != nil, lease.mayRelease,
      (try? commits.drain()) != nil
    else { return false }
    releaseLease()
    return !lease.isHeld
  }

  /// Lets other processes write between two steps of an operation if one waits.
  ///
  /// - Precondition: The caller holds no lock of the store except `Reclaimer.lock`.
  /// - Returns: Whether the tree was reloaded from a checkpoint that another process took meanwhile.
  /// - Throws: `.locked` if another process writes for all of `busyTimeout`; the operation must then end.
  func yieldLease() throws(EngineError) -> Bool {
    guard let attachment, lease.hasOtherProcesses, newWaiters(attachment) != nil else { return false }
    let before = try writer.withLock { () throws(EngineError) in
      lease.endOperation()
      _ = hasYielded()
      return lease.reloads
    }
    do {
      return try withWriterAndLease(orThrow: { $0 }) { () throws(EngineError) in
        lease.beginOperation()
        return lease.reloads > before
      }
    } catch {
      // `withLease` ends the operation again.
      writer.withLockInBackground { lease.beginOperation() }
      throw error
    }
  }

  // MARK: Releasing

  /// Lets other processes attach and write. Called after the store was opened with no other process attached.
  func admitOtherProcesses() throws(EngineError) {
    guard let attachment else { return }
    updateReserve()
    do throws(FileSystemError) {
      let record = try attachment.page.newest()
      if let record { lease.lastOwnRecord.store(record.counter, ordering: .relaxed) }
      // Processes that waited earlier are no longer attached.
      lease.yieldedTo.store(try attachment.page.waiterCount(), ordering: .relaxed)
      let isKnown = record.map {
        !$0.isHeld && $0.identifier == log.identifier && $0.end == log.end && $0.durable == durableForOthers
          && $0.nextSegment == numbers.upcoming
      }
      if isKnown != true { try announce() }
      guard options.sharing == .processes, attachment.page.isThere else { return }
      try attachment.admitOthers()
    } catch {
      throw EngineError.files(error, "the store could not be opened to other processes")
    }
    writer.withLockInBackground { releaseLease() }
  }

  /// Called after a write is published. Releases the lease at once if other processes are attached, otherwise
  /// after `idleSeconds` without a write.
  ///
  /// - Precondition: The caller holds the writer lock.
  func releaseOrWatch() {
    guard let attachment, options.sharing == .processes, attachment.page.isThere, lease.isHeld else { return }
    if attachment.hasOtherProcesses { probeForOtherProcesses(attachment) }
    guard let seconds = options.idleSeconds, !attachment.hasOtherProcesses else { return releaseLease() }
    if !lease.isTimerSet.exchange(true, ordering: .relaxed) { watch(seconds) }
  }

  /// Every 64th write with other processes attached, checks whether they are still attached.
  private func probeForOtherProcesses(_ attachment: ProcessAttachment) {
    lease.sharedWrites += 1
    guard lease.sharedWrites % 64 == 0, (try? attachment.excludeOthers()) == true else { return }
    try? attachment.admitOthers()
  }

  private func watch(_ seconds: Double) {
    let written = log.appendedBytes
    options.worker.submit(afterSeconds: seconds) { [weak self] in
      guard let self else { return }
      writer.withLockInBackground {
        if self.log.appendedBytes == written { self.releaseLease() }
        if self.lease.isHeld { return self.watch(seconds) }
        self.lease.isTimerSet.store(false, ordering: .relaxed)
      }
    }
  }

  /// Releases the lease unless an operation or an unpublished commit is in progress.
  ///
  /// - Precondition: The caller holds the writer lock.
  func releaseLease() {
    guard lease.mayRelease, status.isStopped || commits.isEmpty else { return }
    lease.release(isInOrder: bringsLogInOrder()) { () throws(FileSystemError) in try write(isHeld: false) }
  }

  /// Ends the lease when the store is closed.
  ///
  /// - Precondition: The caller holds `checkpoints` and the writer lock.
  /// - Parameter isInOrder: Whether closing has succeeded so far. If not, the next process recovers the log.
  /// - Returns: False if a thread is acquiring the lease, which needs those locks.
  func closeLease(isInOrder: Bool) -> Bool {
    let isInOrder = isInOrder && lease.isHeld && bringsLogInOrder()
    return lease.close(isInOrder: isInOrder) { () throws(FileSystemError) in try write(isHeld: false) }
  }

  /// Leaves the log as the next process expects it, and returns whether that succeeded. The anchor must name
  /// the newest checkpoint, because the next writer appends pages after those of that checkpoint. The bytes
  /// after the end of the log must be zeros, because the log continues there.
  private func bringsLogInOrder() -> Bool {
    log.preallocator.stop()
    let isNamed = lastCheckpoint?.position == newestCheckpoint?.position
    return !status.isStopped && isNamed && commits.isEmpty && (!log.mustRoll || (try? roll()) != nil)
  }

  // MARK: Records

  /// Publishes the end of the log in the shared header if this process holds the lease. Callable from any
  /// thread.
  func publishRecord() throws(EngineError) {
    guard attachment != nil else { return }
    do {
      try announce()
    } catch {
      throw EngineError.files(error, "the commit could not be published to other processes")
    }
  }

  private func announce() throws(FileSystemError) {
    try lease.announce(isWriter: writer.isHeldHere) { () throws(FileSystemError) in try write(isHeld: true) }
  }

  /// Announces this process as the writer, so that other processes recover the log if it is killed. Must be
  /// called before any file is changed.
  func announceLease() throws(EngineError) {
    if attachment != nil, !lease.isAnnounced { try publishRecord() }
  }

  /// - Returns: The counter of the record.
  private func write(isHeld: Bool) throws(FileSystemError) -> UInt64 {
    let (end, durable) = (log.published, durableForOthers)
    let record = WriterRecord(
      identifier: log.identifier, writer: lease.name, isHeld: isHeld, end: end,
      // The synced end may be after the published end.
      durable: durable.sequence > end.sequence ? end : durable, nextSegment: numbers.upcoming)
    if let memory = lease.records { return SharedHeader.write(record, to: memory) }
    return try attachment?.page.write(record) ?? 0
  }

  /// A process without syncs has made nothing durable, even if its own state says so.
  private var durableForOthers: LogPoint {
    options.durability == .none ? log.path.tail.first?.header.firstPoint ?? log.durable : log.durable
  }
}
