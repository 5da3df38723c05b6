import Foundation

extension ManagedObjectContext {
  /// Executes a history request. Does not change the context's objects, and ignores the context's pin.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` if the request's token belongs to another store, to a transaction that this
  ///   store does not have yet, or to another transaction of the same number, or if history after it was deleted; the store's error if the history cannot be read or
  ///   deleted; `.coreData` for a predicate that does not fit.
  /// - Complexity: Linear in the history after the token; for a date, linear in the whole history.
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    try objectStore().history(request)
  }
}

extension PersistentContainer {
  /// The transactions after a token, oldest first; all of them if it is nil.
  ///
  /// - Throws: As `ManagedObjectContext.execute(_:)`.
  public func history(after token: PersistentHistoryToken? = nil) throws -> [PersistentHistoryTransaction] {
    try persistentStoreCoordinator.openStore().history(.fetchHistory(after: token)).transactions
  }

  /// The newest position of the history; nil while no store is open.
  public var currentHistoryToken: PersistentHistoryToken? {
    persistentStoreCoordinator.currentPersistentHistoryToken()
  }
}

extension ObjectStore {
  func history(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    guard request.affectedStores?.contains(where: { $0.identifier == identity.uuid?.uuidString }) ?? true
    else {
      return PersistentHistoryResult(resultType: request.resultType, count: 0, transactions: [], changes: [])
    }
    try require(.history)
    if request.isDeletion { return try deleteHistory(request) }
    let filter = try HistoryFilter(request)
    let withChanges =
      request.resultType != .transactionsOnly && request.resultType != .count || filter.readsChanges
    let view = try view()
    let first = try firstNumber(of: request, in: view)
    var transactions: [PersistentHistoryTransaction] = []
    var count = 0
    try view.history(after: first) { record in
      guard request.asksFor(record) else { return true }
      let transaction = try PersistentHistoryTransaction(
        record, self, withChanges: withChanges, where: filter.accepts)
      guard try filter.accepts(transaction), !filter.readsChanges || transaction.changes?.isEmpty == false
      else {
        return true
      }
      count += 1
      if request.resultType != .count { transactions.append(transaction) }
      return true
    }
    let hasTransactions =
      request.resultType == .transactionsOnly || request.resultType == .transactionsAndChanges
    return PersistentHistoryResult(
      resultType: request.resultType, count: count, transactions: hasTransactions ? transactions : [],
      changes: request.resultType == .transactionsOnly ? [] : transactions.flatMap { $0.changes ?? [] })
  }

  private func deleteHistory(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    let count: Int
    switch request.start {
    case .beginning: count = 0
    case .token(let token):
      try check(token)
      count = try deleteHistory(before: token.transactionNumber) { _ in false }
    case .date(let date): count = try deleteHistory(before: .max) { $0.timestamp >= date }
    }
    return PersistentHistoryResult(resultType: .statusOnly, count: count, transactions: [], changes: [])
  }

  private func check(_ token: PersistentHistoryToken) throws {
    guard token.storeID == identity.uuid?.uuidString else { throw HeartwoodError.foreignToken(token) }
    guard token.transactionNumber <= newestGeneration else {
      throw HeartwoodError.futureToken(token, newestGeneration)
    }
  }

  private func firstNumber(of request: PersistentHistoryChangeRequest, in view: any StoreView) throws
    -> UInt64
  {
    guard case .token(let token) = request.start else { return 0 }
    try check(token)
    let deleted = try view.newestDeletedHistory()
    if let expected = token.nanoseconds, let time = try view.historyTime(of: token.transactionNumber),
      time != expected
    {
      throw HeartwoodError.otherPastToken(token)
    }
    guard token.transactionNumber >= deleted else { throw HeartwoodError.deletedToken(token, deleted) }
    return token.transactionNumber
  }
}

extension PersistentHistoryChangeRequest {
  func asksFor(_ record: HistoryRecord) -> Bool {
    if let author, record.author != author { return false }
    if case .date(let date) = start { return record.timestamp > date }
    return true
  }
}

extension HeartwoodError {
  fileprivate static func foreignToken(_ token: PersistentHistoryToken) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history token belongs to the store \(token.storeID), not to this one; fetch the history without a "
        + "token, or keep one token for each store")
  }

  fileprivate static func deletedToken(
    _ token: PersistentHistoryToken, _ deleted: UInt64
  ) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history after transaction \(token.transactionNumber) is not complete: it was deleted up to transaction "
        + "\(deleted); fetch the objects anew, and go on from the current token")
  }

  fileprivate static func otherPastToken(_ token: PersistentHistoryToken) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "transaction \(token.transactionNumber) of this store was saved at another time than the one of the history token: the "
        + "store is a copy that went its own way; fetch the objects anew, and go on from the current token")
  }

  fileprivate static func futureToken(
    _ token: PersistentHistoryToken, _ newest: UInt64
  ) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history token belongs to transaction \(token.transactionNumber), but the newest of this store "
        + "is \(newest): it is an older copy; fetch the history without a token")
  }
}
