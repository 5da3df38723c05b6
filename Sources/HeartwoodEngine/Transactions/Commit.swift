import HeartwoodFiles

/// Makes a transaction's changes part of the store, step by step. Under the writer lock.
struct Commit {
  let store: OpenStore
  let transaction: WriteTransaction
  let durability: Durability

  func perform() throws(EngineError) {
    // 1. The last frame is written. A crash from here to the end of step 2 leaves the transaction whole or
    //    not at all, as its last frame is whole or not.
    try writeLastFrame()
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.acknowledgesBeforeSync) { return publish() }
      if DeliberateBug.isOn(.publishesBeforeSync) {
        store.generations.publish(transaction.number, store.tree.view.root)
      }
    #endif
    // 2. As durable as asked for. A failed sync leaves it open whether it is on disk.
    if durability == .full { try sync() }
    // 3. The tree becomes the new generation's; memory only, nothing here fails.
    publish()
  }

  private func publish() {
    let root = store.tree.commit()
    store.log.settle()
    // 4. Readers see it.
    store.generations.publish(transaction.number, root)
    store.adoptsDiskPlaces = false
  }

  private func writeLastFrame() throws(EngineError) {
    do {
      try store.markInUse()
      try store.log.appendTransactionFrame(
        transaction.number, isLast: true, time: store.options.clock.nanosecondsSince1970,
        puts: transaction.puts, deletes: transaction.deletes)
    } catch {
      #if DELIBERATE_BUGS
        if DeliberateBug.isOn(.keepsTransactionThatFailed) {
          publish()
          throw error
        }
      #endif
      giveUp()
      throw error
    }
  }

  private func sync() throws(EngineError) {
    let work = store.log.syncWork()
    do {
      try store.sync(work)
    } catch {
      // The frame stays where it is: it may be durable. Nothing is written behind it any more.
      store.tree.rollback()
      throw EngineError(
        .outcomeUnknown,
        "the sync of this commit failed: close the store and open it again, and see whether it is there",
        file: error.file, underlying: error)
    }
    store.log.noteSynced(work)
  }

  /// Leaves the store as it was before the transaction.
  func giveUp() {
    store.tree.rollback()
    store.log.giveUp(to: transaction.start)
  }
}

extension OpenStore {
  /// Runs `body` in a transaction and commits what it has changed.
  func write<Result>(
    durability: Durability?, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try checkMayWrite()
    var work = DueWork()
    let result = try writer.withLock(orThrow: { $0 as any Error }) {
      try status.checkWritable()
      try prepareLog()
      return try runTransaction(durability ?? options.durability, &work, body)
    }
    submit(work)
    return result
  }

  private func runTransaction<Result>(
    _ durability: Durability, _ work: inout DueWork, _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    let transaction = try beginTransaction()
    let commit = Commit(store: self, transaction: transaction, durability: durability)
    defer {
      transaction.end()
      log.builder.trim()
    }
    let result: Result
    do {
      result = try body(transaction)
      try transaction.checkCommittable()
    } catch {
      commit.giveUp()
      throw error
    }
    guard !transaction.isEmpty else {
      tree.rollback()
      return result
    }
    try commit.perform()
    work = dueWork(after: transaction, durability)
    return result
  }

  private func beginTransaction() throws(EngineError) -> WriteTransaction {
    let newest = generations.newest
    tree.begin(generation: newest + 1, from: generations.newestRoot)
    do {
      if adoptsDiskPlaces { try tree.adoptDiskPlaces() }
    } catch {
      tree.rollback()
      throw error
    }
    return WriteTransaction(self, from: newest)
  }

  /// Writes a frame of a transaction that goes on.
  func appendFrame(of transaction: WriteTransaction) throws(EngineError) {
    try markInUse()
    try log.appendTransactionFrame(transaction.number, isLast: false)
  }

  /// Syncs the log. One at a time: a failure is told to one caller only, and has to reach all.
  func sync(_ work: Log.SyncWork) throws(EngineError) {
    guard options.durability != .none else { return }
    try syncLock.withLock { () throws(EngineError) in
      // Whoever failed before may have been told what was meant for this sync.
      try status.checkWritable()
      do throws(FileSystemError) {
        try Log.sync(work)
      } catch {
        #if DELIBERATE_BUGS
          if DeliberateBug.isOn(.retriesFailedSync), (try? Log.sync(work)) != nil { return }
        #endif
        let failure = EngineError.files(error, "the log could not be synced")
        #if DELIBERATE_BUGS
          if DeliberateBug.isOn(.goesOnAfterFailedSync) { throw failure }
        #endif
        status.stop(failure)
        throw failure
      }
    }
  }
}
