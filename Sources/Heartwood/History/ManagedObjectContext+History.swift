import Foundation

extension ManagedObjectContext {
  /// Carries out a history request. What the context shows does not change, and a pin does not matter.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` when the request's token is of another store, or of a
  ///   state that this store does not have; the store's error when the history cannot be read.
  /// - Complexity: linear in the history after the token; in all history for a date.
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    try objectStore().history(request)
  }
}

extension PersistentContainer {
  /// What was saved to the store after a point, oldest first; nil for everything.
  ///
  /// - Throws: as `ManagedObjectContext.execute(_:)`.
  public func history(after token: PersistentHistoryToken? = nil) throws -> [PersistentHistoryTransaction] {
    try persistentStoreCoordinator.openStore().history(.fetchHistory(after: token)).transactions
  }

  /// The newest point of the history; nil while no store is open.
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
      "the history token is of the store \(token.storeID), not of this one; fetch the history without a "
        + "token, or keep one token for each store")
  }

  fileprivate static func futureToken(
    _ token: PersistentHistoryToken, _ newest: UInt64
  ) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history token is of transaction \(token.transactionNumber), but this store has come to "
        + "\(newest) only: it is an older copy; fetch the history without a token")
  }
}
