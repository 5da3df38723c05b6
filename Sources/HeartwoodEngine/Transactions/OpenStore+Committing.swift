import HeartwoodFiles

/// Makes transactions part of the store, step by step.
extension OpenStore {
  /// Runs `body` in a transaction and commits what it has changed.
  func write(durability: Durability, _ body: (WriteTransaction) throws -> Void) throws {
    try checkMayWrite()
    if !writer.isHeldHere { pace.wait() }
    var ending = Ending()
    // Whatever becomes of the transaction.
    defer { letOthersWrite() }
    do {
      try withWriterAndLease(orThrow: { $0 as any Error }) {
        try status.checkWritable()
        try prepareLog()
        try runTransaction(durability, &ending, body)
      }
    } catch let error as EngineError where error.isOutcomeUnknown {
      throw error
    } catch {
      // What it has read, and may have been given up for, is what its thread reads next; or it may never be,
      // which is worse than why the transaction was given up.
      try commits.waitForEarlier(ending.number)
      throw error
    }
    // Others may write while this one waits.
    if ending.isEmpty {
      try commits.waitForEarlier(ending.number)
    } else {
      try commits.wait(for: ending.number)
    }
    submit(ending.work)
    tellOthers(ending)
    if !ending.isEmpty { observers.noteCommit() }
  }

  /// What is published here others may read, and write behind. Nothing is lost where that can't be told: whoever writes next
  /// finds it.
  private func tellOthers(_ ending: Ending) {
    if membership != nil, !ending.isEmpty { try? publishRecord() }
  }

  private func letOthersWrite() {
    guard membership != nil, !writer.isHeldHere, lease.isHeld,
      lease.hasOtherProcesses || !lease.isTimerSet.load(ordering: .relaxed)
    else { return }
    writer.withLockInBackground { releaseOrWatch() }
  }

  /// What is left to do of a transaction when the writer lock is free.
  private struct Ending {
    /// What has to be published first. Of a transaction that changes nothing, what it began from: it may
    /// have read what is not durable yet.
    var number: UInt64 = 0
    var isEmpty = true
    var work = DueWork()
  }

  private func runTransaction(
    _ durability: Durability, _ ending: inout Ending, _ body: (WriteTransaction) throws -> Void
  ) throws {
    let transaction = try beginTransaction()
    ending.number = transaction.number - 1
    defer {
      transaction.end()
      log.builder.trim()
    }
    do {
      try body(transaction)
      try transaction.checkCommittable()
      // A sync may have failed while the transaction ran.
      if !transaction.isEmpty { try status.checkWritable() }
    } catch {
      giveUp(transaction)
      throw error
    }
    guard !transaction.isEmpty else { return tree.rollback() }
    try commit(transaction, durability)
    ending.number = transaction.number
    ending.isEmpty = false
    let bytes = log.appendedBytes - transaction.bytesBefore
    pace.noteWritten(bytes)
    ending.work = dueWork(afterCommitOf: bytes, durability)
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
      giveUp(transaction)
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
      if adoptsDiskPlaces { try tree.adoptDiskPlaces() }
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
    adoptsDiskPlaces = false
    commits.add(
      CommitQueue.Entry(
        number: transaction.number, root: root, end: log.end, work: isSynced ? log.syncWork() : nil))
  }

  private func writeLastFrame(of transaction: WriteTransaction, isSynced: Bool) throws(EngineError) {
    do {
      try markInUse()
      try log.appendTransactionFrame(
        transaction.number, isLast: true, isSynced: isSynced, isInternal: transaction.isInternal,
        time: options.clock.nanosecondsSince1970, puts: transaction.puts, deletes: transaction.deletes,
        makingRoom: { spendReserve(for: transaction) })
    } catch {
      giveUp(transaction)
      try takeAway(error)
      throw error
    }
  }

  /// Makes sure that a transaction, whose last frame could not be written, is not found by the next
  /// opening. Where that fails too, it is open what will be found, as after a failed sync.
  private func takeAway(_ failure: EngineError) throws(EngineError) {
    do {
      guard try log.wipeRemains() else { return }
      let files = log.remains.map { [$0.segment] } ?? []
      try syncs.sync(SyncedPart.Work(files: files, point: log.durable))
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
  private func giveUp(_ transaction: WriteTransaction) {
    tree.rollback()
    log.giveUp(to: transaction.start)
    settleEnd()
  }

  // MARK: Frames

  /// Writes a frame of a transaction that goes on.
  func appendFrame(of transaction: WriteTransaction) throws(EngineError) {
    try markInUse()
    try log.appendTransactionFrame(
      transaction.number, isLast: false, makingRoom: { spendReserve(for: transaction) })
    try goOnInNextSegment(transaction)
  }

  /// Writes a value that is a frame of its own; returns where it lies.
  func appendLargeValue(
    of transaction: WriteTransaction, _ key: UnsafeRawBufferPointer, bytes: Int,
    _ nextPiece: () throws -> UnsafeRawBufferPointer
  ) throws -> ValueReference {
    if !log.builder.isEmpty { try appendFrame(of: transaction) }
    try markInUse()
    let reference = try log.appendLargeFrame(transaction.number, key: key, valueBytes: bytes, nextPiece)
    try goOnInNextSegment(transaction)
    return reference
  }

  /// In the middle of a transaction: where the segment is full, the next frame lies in another.
  private func goOnInNextSegment(_ transaction: WriteTransaction) throws(EngineError) {
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
