import HeartwoodFiles

/// A write transaction of a caller, from the closure to the published commit.
struct Commit {
  let store: OpenStore
  let durability: Durability

  /// Runs `body` in a transaction and commits what it has changed.
  ///
  /// - Returns: Whether it has changed anything, and what it wrote.
  func run(_ body: (WriteTransaction) throws -> Void) throws -> CommitOutcome {
    try store.checkMayWrite()
    // 1. Wait if compaction is slower than commits.
    if !store.writer.isHeldHere { store.throttle.wait() }
    var outcome = CommitOutcome()
    // 6. Release the lease if other processes are attached. Also after a rolled-back transaction.
    defer { releaseIfContended() }
    do {
      // 2. Acquire the lease and the writer lock, begin a new segment if one is due, run the closure, write the last frame.
      try Coordinator(store).withWriterAndLease(orThrow: { $0 as any Error }) { (writer) throws(any Error) in
        try writer.status.checkWritable()
        try writer.prepareLog()
        try writer.runTransaction(durability, &outcome, body)
      }
    } catch let error as EngineError where error.isOutcomeUnknown {
      throw error
    } catch {
      // Before reporting the failure, wait until every commit that the transaction may have read is published, so
      // that the thread's next read sees it. If that fails, throw its error instead: it is the more serious one.
      try store.commits.waitForEarlier(outcome.number)
      throw error
    }
    // 3. Sync and publish. Without the writer lock, so that other threads write meanwhile.
    if outcome.isEmpty {
      try store.commits.waitForEarlier(outcome.number)
    } else {
      try store.commits.wait(for: outcome.number)
    }
    // 4. Submit the background work that is due.
    BackgroundWork(store: store).submit(outcome.tasks)
    // 5. Announce the commit to other processes.
    publish(outcome)
    return outcome
  }

  /// As `run`, and tells the program what was committed.
  func runTelling(_ body: (WriteTransaction) throws -> Void) throws -> CommitOutcome {
    let watch = Stopwatch()
    var waited = Duration.zero
    let outcome = try run { transaction in
      waited = watch.elapsed
      try body(transaction)
    }
    guard !outcome.isEmpty else { return outcome }
    store.tell(
      .committed(
        CommittedTransaction(
          generation: Generation(rawValue: outcome.number), logBytes: outcome.bytes, waited: waited,
          duration: watch.elapsed)))
    return outcome
  }

  /// A failure is ignored and loses nothing: the next writer finds the commit in the log.
  private func publish(_ outcome: CommitOutcome) {
    if store.attachment != nil, !outcome.isEmpty { try? store.records.publish() }
  }

  private func releaseIfContended() {
    guard store.attachment != nil, !store.writer.isHeldHere, store.lease.isHeld,
      store.lease.hasOtherProcesses || !store.lease.isTimerSet.load(ordering: .relaxed)
    else { return }
    store.writer.withLockInBackground { Coordinator(store).releaseOrWatch($0) }
  }
}
