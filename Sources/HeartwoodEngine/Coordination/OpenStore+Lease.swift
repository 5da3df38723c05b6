import HeartwoodFiles

/// How threads of this process come to write a store that other processes write too: acquiring, holding, yielding and
/// releasing the `WriterLease`.
extension OpenStore {
  /// Runs `body` under the writer lock, with the lease.
  func withWriterAndLease<Result, Failure: Error>(
    orThrow wrapped: (EngineError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      // A thread that had to acquire the lease writes before it yields to a process that waits: two that call each other while
      // they acquire it would hand it to and fro, and neither would write.
      let hadToAcquire = !lease.isHeld
      do throws(EngineError) { try acquireLease() } catch { throw wrapped(error) }
      let result = try writer.withLock(orThrow: wrapped) { () throws(Failure) -> Result? in
        // It may have been released in between.
        attachment == nil || (lease.isHeld && (hadToAcquire || !hasYielded())) ? try body() : nil
      }
      if let result { return result }
    }
  }

  /// Runs `body`, an operation of several steps, with the lease, which it keeps between them unless it yields. Holds no lock.
  func withLease<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    guard attachment != nil else {
      // Asked here so that an operation inside a write is an error and not a wait for itself.
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

  /// Acquires the lease, if this process does not have it. With no locks but the reclaimer's; or with the writer lock, where
  /// the process has it.
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
        // Again and again: the process that writes may have released the lease for a moment that this one has missed.
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

  /// Processes that wait for the file lock try again after a pause; this one would have taken it back by then.
  private func backOffForWaiters(_ attachment: ProcessAttachment) {
    guard let waiters = newWaiters(attachment) else { return }
    lease.yieldedTo.store(waiters, ordering: .relaxed)
    var backoff = Backoff(seconds: Self.waiterBackoffSeconds)
    while (try? attachment.page.newest())?.writer == attachment.name, backoff.wait() {}
  }

  /// Longer than the longest pause between two attempts, in seconds.
  private static let waiterBackoffSeconds = 0.005
  /// Some 50 milliseconds.
  private static let attemptsPerNote = 32

  // MARK: Yielding

  /// The count of waiters, if a process waits that had not when this one yielded the last time.
  private func newWaiters(_ attachment: ProcessAttachment) -> UInt64? {
    guard let waiters = try? attachment.page.waiterCount(),
      waiters != lease.yieldedTo.load(ordering: .relaxed)
    else { return nil }
    return waiters
  }

  /// Releases the lease if another process waits: threads that write all the time would leave no moment at which everything is
  /// published. Under the writer lock.
  private func hasYielded() -> Bool {
    guard lease.hasOtherProcesses, let attachment, newWaiters(attachment) != nil, lease.mayRelease,
      (try? commits.drain()) != nil
    else { return false }
    releaseLease()
    return !lease.isHeld
  }

  /// Lets other processes write between two steps of an operation, if one waits. With no lock but the reclaimer's.
  ///
  /// - Returns: whether another process has taken a checkpoint meanwhile, which the tree begins from now.
  /// - Throws: `.locked` where another process writes for all of `busyTimeout`; the operation is to end then.
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
      // It ends once more, in `withLease`.
      writer.withLockInBackground { lease.beginOperation() }
      throw error
    }
  }

  // MARK: Releasing

  /// The store was opened with no other process attached: from here on others may attach, and write.
  func admitOtherProcesses() throws(EngineError) {
    guard let attachment else { return }
    updateReserve()
    do throws(FileSystemError) {
      let record = try attachment.page.newest()
      if let record { lease.lastOwnRecord.store(record.counter, ordering: .relaxed) }
      // Processes that waited before have gone.
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

  /// After a write that is published: releases the lease where other processes are attached, else when nothing was written for a
  /// moment. Under the writer lock.
  func releaseOrWatch() {
    guard let attachment, options.sharing == .processes, attachment.page.isThere, lease.isHeld else { return }
    if attachment.hasOtherProcesses { probeForOtherProcesses(attachment) }
    guard let seconds = options.idleSeconds, !attachment.hasOtherProcesses else { return releaseLease() }
    if !lease.isTimerSet.exchange(true, ordering: .relaxed) { watch(seconds) }
  }

  /// Now and then: the other processes may have gone.
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

  /// Releases the lease, unless something is under way. Under the writer lock.
  func releaseLease() {
    guard lease.mayRelease, status.isStopped || commits.isEmpty else { return }
    lease.release(isInOrder: bringsLogInOrder()) { () throws(FileSystemError) in try write(isHeld: false) }
  }

  /// Ends the lease with the store. Under the locks of checkpoints and of the writer.
  ///
  /// - Parameter isInOrder: Whether everything is as it was to be so far. Where it is not, the next process recovers the log.
  /// - Returns: false where a thread is acquiring it, which needs those locks.
  func closeLease(isInOrder: Bool) -> Bool {
    let isInOrder = isInOrder && lease.isHeld && bringsLogInOrder()
    return lease.close(isInOrder: isInOrder) { () throws(FileSystemError) in try write(isHeld: false) }
  }

  /// Leaves the log as the next process expects it: the anchor names the newest checkpoint, as pages are appended after those,
  /// and what comes after the end of the log is zeros, as it continues there.
  private func bringsLogInOrder() -> Bool {
    log.preallocator.stop()
    let isNamed = lastCheckpoint?.position == newestCheckpoint?.position
    return !status.isStopped && isNamed && commits.isEmpty && (!log.mustRoll || (try? roll()) != nil)
  }

  // MARK: Records

  /// Writes to the shared header up to where the log is published, if this process has the lease. Any thread.
  func publishRecord() throws(EngineError) {
    guard attachment != nil else { return }
    do {
      try announce()
    } catch {
      throw EngineError.files(error, "other processes could not be told of the commit")
    }
  }

  private func announce() throws(FileSystemError) {
    try lease.announce(isWriter: writer.isHeldHere) { () throws(FileSystemError) in try write(isHeld: true) }
  }

  /// Announces that this process writes, so that others recover the log if it is killed. Before any file is changed.
  func announceLease() throws(EngineError) {
    if attachment != nil, !lease.isAnnounced { try publishRecord() }
  }

  /// - Returns: the record's counter.
  private func write(isHeld: Bool) throws(FileSystemError) -> UInt64 {
    let (end, durable) = (log.published, durableForOthers)
    let record = WriterRecord(
      identifier: log.identifier, writer: lease.name, isHeld: isHeld, end: end,
      // What is synced may not be published yet.
      durable: durable.sequence > end.sequence ? end : durable, nextSegment: numbers.upcoming)
    if let memory = lease.records { return SharedHeader.write(record, to: memory) }
    return try attachment?.page.write(record) ?? 0
  }

  /// A process without syncs has made nothing durable, whatever it takes for that itself.
  private var durableForOthers: LogPoint {
    options.durability == .none ? log.path.tail.first?.header.firstPoint ?? log.durable : log.durable
  }
}
