import HeartwoodFiles

/// The part of a commit that is done after the writer lock is released.
struct CommitOutcome {
  /// The transaction that must be published before `write` returns: this one, or the one it began from if it changed
  /// nothing or was rolled back, as it may have read commits that are not durable yet.
  var number: UInt64 = 0
  var isEmpty = true
  /// The number of bytes that it appended to the log.
  var bytes = 0
  var tasks = BackgroundTasks()
}

/// Runs transactions and writes their frames.
extension WriterState {
  /// Runs `body` in a transaction of a caller and commits it.
  func runTransaction(
    _ durability: Durability, _ outcome: inout CommitOutcome, _ body: (WriteTransaction) throws -> Void
  ) throws {
    let transaction = try beginTransaction()
    outcome.number = transaction.number - 1
    defer {
      transaction.end()
      freeMemory()
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
    outcome.bytes = log.appendedBytes - transaction.bytesBefore
    throttle.noteWritten(outcome.bytes)
    outcome.tasks = backgroundTasks(afterCommitOf: outcome.bytes, durability)
  }

  /// Runs `body` in an internal transaction, whose commit is deferred. If it changes nothing, nothing is committed.
  ///
  /// - Parameter isForced: Commits even if nothing is changed.
  func writeInternally<Result>(
    isForced: Bool = false, _ body: (WriteTransaction) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try status.checkWritable()
    try prepareLog()
    let transaction = try beginTransaction(isInternal: true)
    defer {
      transaction.end()
      freeMemory()
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

  /// Frees the memory that a large transaction needed.
  private func freeMemory() {
    log.builder.trim()
    compressor?.trim()
  }

  private func beginTransaction(isInternal: Bool = false) throws(EngineError) -> WriteTransaction {
    let before = tree.tip.generation
    tree.begin(generation: before + 1)
    do {
      if evictsCleanPages { try tree.evictCleanPages() }
    } catch {
      tree.rollback()
      throw error
    }
    let transaction = unusedTransaction()
    transaction.begin(from: before, isInternal: isInternal)
    return transaction
  }

  /// The last transaction, to avoid an allocation; a new one if other code still refers to the last.
  private func unusedTransaction() -> WriteTransaction {
    if isKnownUniquelyReferenced(&lastTransaction), let lastTransaction { return lastTransaction }
    let transaction = WriteTransaction(self)
    lastTransaction = transaction
    return transaction
  }

  // MARK: Committing

  /// The part of a commit that needs the writer lock.
  private func commit(_ transaction: WriteTransaction, _ durability: Durability) throws(EngineError) {
    let isSynced = isSynced(durability)
    // 1. Write the last frame. After a crash between here and the end of step 3, recovery finds the transaction if
    //    its last frame is complete, and discards it otherwise.
    try writeLastFrame(of: transaction, isSynced: isSynced)
    // 2. Make it the base of the next transaction. Changes memory only and cannot fail.
    take(transaction, isSynced: isSynced)
    // 3. Sync if requested: `CommitQueue.wait`. After a failed sync it is unknown whether the commit is on disk.
    // 4. Publish it to readers: in the queue too, in the order of the transactions.
  }

  private func isSynced(_ durability: Durability) -> Bool {
    return durability == .full && options.durability != .none
  }

  private func take(_ transaction: WriteTransaction, isSynced: Bool) {
    let root = tree.commit()
    evictsCleanPages = false
    commits.add(
      CommitQueue.Entry(
        number: transaction.number, root: root, end: log.end, work: isSynced ? log.syncRequest() : nil), held)
  }

  private func writeLastFrame(of transaction: WriteTransaction, isSynced: Bool) throws(EngineError) {
    do {
      try markInUse()
      try log.appendTransactionFrame(
        transaction.number, isLast: true, isSynced: isSynced, isInternal: transaction.isInternal,
        time: transaction.commitTime, puts: transaction.puts, deletes: transaction.deletes,
        makingRoom: { spendReserve(for: transaction) })
    } catch {
      rollBack(transaction)
      try eraseFailedWrite(error)
      throw error
    }
  }

  /// Erases a transaction whose last frame could not be written, so that the next opening does not find it.
  ///
  /// - Throws: `.outcomeUnknown` if that fails too; the store is then stopped, as after a failed sync.
  private func eraseFailedWrite(_ failure: EngineError) throws(EngineError) {
    do {
      guard try log.eraseTornWrite() else { return }
      let files = log.tornWrite.map { [$0.segment] } ?? []
      try syncs.sync(SyncRequest(files: files, point: log.durable))
    } catch {
      status.stop(failure)
      throw EngineError(
        .outcomeUnknown,
        "writing this commit failed, and so did erasing its partly written frame: close the store, open it again "
          + "and check whether the commit is in it",
        file: failure.file, underlying: failure.underlying ?? failure)
    }
  }

  /// Restores the state before the transaction.
  private func rollBack(_ transaction: WriteTransaction) {
    tree.rollback()
    log.rollBack(to: transaction.start)
    eraseRefusedWrite()
  }

  // MARK: Frames

  /// Writes a full frame in the middle of a transaction.
  func appendFrame(of transaction: WriteTransaction) throws(EngineError) {
    try markInUse()
    try log.appendTransactionFrame(
      transaction.number, isLast: false, makingRoom: { spendReserve(for: transaction) })
    try rollIfFull(transaction)
  }

  /// Writes a large value as a frame of its own; returns its position.
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

  /// Begins the transaction's next frame, in a new segment if the current one is full.
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
