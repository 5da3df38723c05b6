import Foundation

extension ManagedObjectContext {
  /// Executes a history request. Does not change the context's objects, and ignores the context's pin.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` if the request's token belongs to another store or to a transaction that
  ///   this store does not have yet; the store's error if the history cannot be read.
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
    let withChanges = request.resultType != .transactionsOnly && request.resultType != .count
    let first = try firstNumber(of: request)
    var transactions: [PersistentHistoryTransaction] = []
    var count = 0
    try view().history(after: first) { record in
      guard request.asksFor(record) else { return true }
      count += 1
      if request.resultType != .count {
        transactions.append(PersistentHistoryTransaction(record, self, withChanges: withChanges))
      }
      return true
    }
    let hasTransactions =
      request.resultType == .transactionsOnly || request.resultType == .transactionsAndChanges
    return PersistentHistoryResult(
      resultType: request.resultType, count: count, transactions: hasTransactions ? transactions : [],
      changes: transactions.flatMap { $0.changes ?? [] })
  }

  private func firstNumber(of request: PersistentHistoryChangeRequest) throws -> UInt64 {
    guard case .token(let token) = request.start else { return 0 }
    guard token.storeID == identity.uuid?.uuidString else { throw HeartwoodError.foreignToken(token) }
    guard token.transactionNumber <= newestGeneration else {
      throw HeartwoodError.futureToken(token, newestGeneration)
    }
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

  fileprivate static func futureToken(
    _ token: PersistentHistoryToken, _ newest: UInt64
  ) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history token belongs to transaction \(token.transactionNumber), but the newest of this store "
        + "is \(newest): it is an older copy; fetch the history without a token")
  }
}
