/// The transactions that are next for a consumer of the history, oldest first.
public struct HistoryBatch: Sendable {
  /// The consumer.
  public let consumer: HistoryConsumer
  /// The transactions, without those of the consumer itself.
  public let transactions: [PersistentHistoryTransaction]
  /// The position after the last transaction of the batch, its own ones included.
  public let end: PersistentHistoryToken
  /// Whether there was nothing after the batch when it was read.
  public let isLast: Bool
  let step: ConsumerStep
  /// Whether it passes over so many of the consumer's own transactions that the position is saved for them alone.
  let passesOver: Bool

  /// The changes of all transactions, oldest first.
  public var changes: [PersistentHistoryChange] { transactions.flatMap { $0.changes ?? [] } }

  /// The identifiers of the changed objects, each once, in the order of their first change.
  public var objectIDs: [ManagedObjectID] { changes.distinctObjectIDs }
}

extension HistoryConsumer {
  /// The transactions after the consumer's position. It stays where it is until a batch is completed: see
  /// `ManagedObjectContext.complete(_:)`.
  ///
  /// - Parameter limit: The maximum number of transactions, at least 1.
  /// - Throws: `.persistentHistoryTokenExpired` if the history after the position is not complete any more, with the number of transactions that
  ///   the consumer has missed, or if it is not registered any more; the store's error if it cannot be read.
  /// - Complexity: Linear in the transactions of the batch and in the consumer's own ones between them.
  public func nextBatch(limit: Int = 1_000) throws -> HistoryBatch {
    let view = try store.historyView()
    guard let record = try view.consumer(name) else { throw HeartwoodError.unknownConsumer(name) }
    let deleted = try view.newestDeletedHistory()
    guard record.transaction >= deleted else { throw missed(record, deleted) }
    var transactions: [PersistentHistoryTransaction] = []
    var (last, nanoseconds) = (record.transaction, record.nanoseconds)
    var (isLast, ownCount) = (true, 0)
    try view.history(after: record.transaction) { found in
      guard transactions.count < max(1, limit) else {
        isLast = false
        return false
      }
      (last, nanoseconds) = (found.number, found.nanoseconds)
      if found.author == name {
        ownCount += 1
      } else {
        transactions.append(try PersistentHistoryTransaction(found, store.identity, withChanges: true))
      }
      return true
    }
    let storeID = store.identity.text ?? ""
    return HistoryBatch(
      consumer: self, transactions: transactions,
      end: PersistentHistoryToken(storeID: storeID, transactionNumber: last, nanoseconds: nanoseconds),
      isLast: isLast,
      step: ConsumerStep(
        storeID: storeID, name: name, from: record.transaction, transaction: last, nanoseconds: nanoseconds),
      passesOver: transactions.isEmpty && ownCount >= min(16, max(1, record.lagLimit / 2)))
  }

  /// Saves the position after a batch without transactions, so that the history does not grow for a consumer by its own ones.
  func passOver(_ batch: HistoryBatch) throws {
    guard batch.passesOver else { return }
    try store.changeConsumer(name) { former, ends in
      guard let former, former.transaction == batch.step.from else { return former }
      return try former.advanced(by: batch.step, at: ends.time)
    }
  }

  private func missed(_ record: ConsumerRecord, _ deleted: UInt64) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the consumer \"\(name)\" has missed up to \(deleted - record.transaction) transactions: it has seen transaction \(record.transaction), and "
        + "the history was deleted up to \(deleted) (it is kept for at most \(record.lagLimit) transactions); read what it needs anew, and call "
        + "restart(from:)")
  }

  /// Does the consumer's work for all transactions that are new, batch by batch. What `body` changes in the context is saved together with the
  /// position.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of transactions of a batch, at least 1.
  ///   - body: Called on the queue of a new context with the consumer's name as its author. It must not save: that is done after it. An error
  ///     ends the work, and the batch comes again with the next call.
  /// - Returns: How many transactions were consumed.
  /// - Throws: As `nextBatch(limit:)` and `ManagedObjectContext.save()`, and what `body` throws.
  @discardableResult
  public func consume(
    limit: Int = 1_000, _ body: (ManagedObjectContext, HistoryBatch) throws -> Void
  ) throws -> Int {
    var count = 0
    while true {
      let batch = try nextBatch(limit: limit)
      try passOver(batch)
      guard !batch.transactions.isEmpty else { return count }
      let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
      context.transactionAuthor = name
      try context.performAndWait {
        try body(context, batch)
        try context.complete(batch)
        try context.save()
      }
      count += batch.transactions.count
      if batch.isLast { return count }
    }
  }
}

extension ManagedObjectContext {
  /// Has the next save of this context write the position after a batch, in its own transaction, also if it writes nothing else. A `rollback` or
  /// `reset` takes that back.
  ///
  /// - Parameter batch: The batch whose work is done by what the context has changed.
  /// - Throws: `.persistentStoreOperation` for a child context, whose save writes no transaction, and for a context of another coordinator.
  public func complete(_ batch: HistoryBatch) throws {
    beginUse("completing a batch of the history")
    defer { endUse() }
    guard parent == nil, persistentStoreCoordinator === batch.consumer.coordinator else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the batch of the consumer \"\(batch.consumer.name)\" cannot be completed by this context: only one over its own coordinator, without a "
          + "parent, writes a transaction that the position can be part of")
    }
    nextSave.completedSteps.removeAll { $0.name == batch.step.name && $0.storeID == batch.step.storeID }
    nextSave.completedSteps.append(batch.step)
  }
}
