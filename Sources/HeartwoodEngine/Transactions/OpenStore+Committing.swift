import HeartwoodFiles

/// Makes transactions part of the store, step by step.
extension OpenStore {
  /// Runs `body` in a transaction and commits what it has changed.
  func write(durability: Durability, _ body: (WriteTransaction) throws -> Void) throws {
    try checkMayWrite()
    if !writer.isHeldHere { throttle.wait() }
    var outcome = CommitOutcome()
    // Whatever becomes of the transaction.
    defer { releaseIfContended() }
    do {
      try withWriterAndLease(orThrow: { $0 as any Error }) {
        try status.checkWritable()
        try prepareLog()
        try runTransaction(durability, &outcome, body)
      }
    } catch let error as EngineError where error.isOutcomeUnknown {
      throw error
    } catch {
      // What it has read, and may have been given up for, is what its thread reads next; or it may never be,
      // which is worse than why the transaction was given up.
      try commits.waitForEarlier(outcome.number)
      throw error
    }
    // Others may write while this one waits.
    if outcome.isEmpty {
      try commits.waitForEarlier(outcome.number)
    } else {
      try commits.wait(for: outcome.number)
    }
    submit(outcome.tasks)
    publishCommit(outcome)
    if !outcome.isEmpty { observers.noteCommit() }
  }

  /// What is published here others may read, and write behind. Nothing is lost where that can't be told: whoever writes next
  /// finds it.
  private func publishCommit(_ outcome: CommitOutcome) {
    if attachment != nil, !outcome.isEmpty { try? publishRecord() }
  }

  private func releaseIfContended() {
    guard attachment != nil, !writer.isHeldHere, lease.isHeld,
      lease.hasOtherProcesses || !lease.isTimerSet.load(ordering: .relaxed)
    else { return }
    writer.withLockInBackground { releaseOrWatch() }
  }

  /// What is left to do of a transaction when the writer lock is free.
  private struct CommitOutcome {
    /// What has to be published first. Of a transaction that changes nothing, what it began from: it may
    /// have read what is not durable yet.
    var number: UInt64 = 0
    var isEmpty = true
    var tasks = BackgroundTasks()
  }

  private func runTransaction(
    _ durability: Durability, _ outcome: inout CommitOutcome, _ body: (WriteTransaction) throws -> Void
  ) throws {
    let transaction = try beginTransaction()
    outcome.number = transaction.number - 1
    defer {
      transaction.end()
      log.builder.trim()
    }
    do {
      try body(transaction)
      try transaction.checkCommittable()
      // A sync may have failed while the transaction ran.
      if !transaction.isEmpty {
        try status.checkWritable()
        try checkLeavesReserve(transaction)
      }
    } catch {
      rollBack(transaction)
      throw error
    }
    guard !transaction.isEmpty else { return tree.rollback() }
    try commit(transaction, durability)
    outcome.number = transaction.number
    outcome.isEmpty = false
    let bytes = log.appendedBytes - transaction.bytesBefore
    throttle.noteWritten(bytes)
    outcome.tasks = backgroundTasks(afterCommitOf: bytes, durability)
  }

  /// Runs `body` in a transaction of the store's own, which nobody waits for; where it changes nothing, there
  /// is none.
  func writeInternally<Result>(
    _ body: (WriteTransaction) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try writer.withLock { () throws(EngineError) in try writeHoldingLock(body) }
  }

  /// The same, under the writer lock.
  ///
  /// - Parameter isForced: Also where nothing is changed.
  func writeHoldingLock<Result>(
    isForced: Bool = false, _ body: (WriteTransaction) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try status.checkWritable()
    try prepareLog()
    let transaction = try beginTransaction(isInternal: true)
    defer {
      transaction.end()
      log.builder.trim()
    }
    let result: Result
    do throws(EngineError) {
      result = try body(transaction)
      try transaction.checkCommittable()
    } catch {
      rollBack(transaction)
      throw error
    }
    guard isForced || tree.hasChanges || !transaction.isEmpty else {
      tree.rollback()
      return result
    }
    try commit(transaction, .deferred)
    return result
  }

  private func beginTransaction(isInternal: Bool = false) throws(EngineError) -> WriteTransaction {
    let tip = generations.tip
    tree.begin(generation: tip.generation + 1, from: tip.root)
    do {
      if evictsCleanPages { try tree.evictCleanPages() }
    } catch {
      tree.rollback()
      throw error
    }
    let transaction = unusedTransaction()
    transaction.begin(from: tip.generation, isInternal: isInternal)
    return transaction
  }

  /// The one of before, unless somebody has kept it.
  private func unusedTransaction() -> WriteTransaction {
    if isKnownUniquelyReferenced(&lastTransaction), let lastTransaction { return lastTransaction }
    let transaction = WriteTransaction(self)
    lastTransaction = transaction
    return transaction
  }

  // MARK: Committing

  /// The part of a commit that is done under the writer lock.
  private func commit(_ transaction: WriteTransaction, _ durability: Durability) throws(EngineError) {
    let isSynced = isSynced(durability)
    // 1. The last frame is written. A crash from here to the end of step 3 leaves the transaction whole or
    //    not at all, as its last frame is whole or not.
    try writeLastFrame(of: transaction, isSynced: isSynced)
    // 2. The next transaction begins from this one; memory only, nothing here fails.
    take(transaction, isSynced: isSynced)
    // 3. As durable as asked for: `CommitQueue.wait`. A failed sync leaves it open whether it is on disk.
    // 4. Readers see it: in the queue too, in the order of the transactions.
  }

  private func isSynced(_ durability: Durability) -> Bool {
    return durability == .full && options.durability != .none
  }

  private func take(_ transaction: WriteTransaction, isSynced: Bool) {
    let root = tree.commit()
    generations.commit(transaction.number, root)
    evictsCleanPages = false
    commits.add(
      CommitQueue.Entry(
        number: transaction.number, root: root, end: log.end, work: isSynced ? log.syncRequest() : nil))
  }

  private func writeLastFrame(of transaction: WriteTransaction, isSynced: Bool) throws(EngineError) {
    do {
      try markInUse()
      try log.appendTransactionFrame(
        transaction.number, isLast: true, isSynced: isSynced, isInternal: transaction.isInternal,
        time: options.clock.nanosecondsSince1970, puts: transaction.puts, deletes: transaction.deletes,
        makingRoom: { spendReserve(for: transaction) })
    } catch {
      rollBack(transaction)
      try eraseFailedWrite(error)
      throw error
    }
  }

  /// Makes sure that a transaction, whose last frame could not be written, is not found by the next
  /// opening. Where that fails too, it is open what will be found, as after a failed sync.
  private func eraseFailedWrite(_ failure: EngineError) throws(EngineError) {
    do {
      guard try log.eraseTornWrite() else { return }
      let files = log.tornWrite.map { [$0.segment] } ?? []
      try syncs.sync(SyncRequest(files: files, point: log.durable))
    } catch {
      status.stop(failure)
      throw EngineError(
        .outcomeUnknown,
        "writing this commit failed, and so did taking away what was written of it: close the store and open "
          + "it again, and see whether it is there",
        file: failure.file, underlying: failure.underlying ?? failure)
    }
  }

  /// Leaves the store as it was before the transaction.
  private func rollBack(_ transaction: WriteTransaction) {
    tree.rollback()
    log.rollBack(to: transaction.start)
    eraseRefusedWrite()
  }

  // MARK: Frames

  /// Writes a frame of a transaction that goes on.
  func appendFrame(of transaction: WriteTransaction) throws(EngineError) {
    try markInUse()
    try log.appendTransactionFrame(
      transaction.number, isLast: false, makingRoom: { spendReserve(for: transaction) })
    try rollIfFull(transaction)
  }

  /// Writes a value that is a frame of its own; returns where it lies.
  func appendLargeValue(
    of transaction: WriteTransaction, _ key: UnsafeRawBufferPointer, bytes: Int,
    _ nextPiece: () throws -> UnsafeRawBufferPointer
  ) throws -> ValueReference {
    if !log.builder.isEmpty { try appendFrame(of: transaction) }
    try markInUse()
    let reference = try log.appendLargeFrame(transaction.number, key: key, valueBytes: bytes, nextPiece)
    try rollIfFull(transaction)
    return reference
  }

  /// In the middle of a transaction: where the segment is full, the next frame lies in another.
  private func rollIfFull(_ transaction: WriteTransaction) throws(EngineError) {
    if log.end.position.offset >= options.segmentBytes {
      do throws(EngineError) {
        try roll()
      } catch {
        guard error.code == .noSpace, !status.isStopped, spendReserve(for: transaction) else { throw error }
        try roll()
      }
    }
    log.beginFrame()
  }
}
