import Foundation

extension ManagedObjectContext {
  /// Executes a history request. Does not change the context's objects, and ignores the context's pin.
  ///
  /// The transactions of several stores are ordered by the times of their saves, those of each store by their numbers. The token of each
  /// has the positions in all stores up to there, also past transactions that the request does not ask for, and those that the request's token
  /// has in stores that are not asked. Of stores that the request's token does not have, all of the history is fetched, and none is deleted.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` if the request's token belongs to another store, to a transaction that this
  ///   store does not have yet, or to another transaction of the same number, or if history after it was deleted; the store's error if the history cannot be read or
  ///   deleted; `.coreData` for a predicate that does not fit.
  /// - Complexity: Linear in the history after the token; for a date, linear in the whole history.
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    _ = try objectStore()
    return try persistentStoreCoordinator?.history(request) ?? PersistentHistoryResult(request)
  }

  /// Takes back what one past transaction has changed: its objects get their former values, those that it deleted come back under their
  /// identifiers, and those that it inserted are deleted. The changes are unsaved, and can be looked at, saved or rolled back.
  ///
  /// Values that a later transaction or an unsaved change has changed again stay as they are.
  ///
  /// - Parameter number: The number of the transaction, `PersistentHistoryTransaction.transactionNumber`, in the only store of the coordinator.
  /// - Returns: The values that were not taken back, and why; empty if all were.
  /// - Throws: The store's error if it does not have the generations before and after the transaction any more;
  ///   `.persistentStoreOperation` for a child context, and where there are several stores.
  /// - Complexity: Linear in what the transaction has changed; if it has inserted objects, also in the objects that may refer to them by
  ///   relationships without an inverse.
  @discardableResult
  public func revert(transaction number: UInt64) throws -> [RevertConflict] {
    beginUse("reverting a transaction")
    defer { endUse() }
    let coordinator = try coordinatorForReverting("transaction \(number)")
    guard number > 0 else {
      throw HeartwoodError(
        .persistentStoreOperation, "there is no transaction 0: the first one of a store has the number 1")
    }
    var revert = try Revert(self, number, of: coordinator)
    return try revert.run()
  }

  /// Takes back what an author has changed since a position, newest transaction first, as `revert(transaction:)` does each. The changes are unsaved.
  ///
  /// Values that others have changed again stay as they are.
  ///
  /// - Parameters:
  ///   - author: The author of the transactions.
  ///   - token: The position after which they are taken back; nil for all that the history has.
  /// - Returns: The values that were not taken back, and why; empty if all were.
  /// - Throws: As `revert(transaction:)` and `execute(_:)`. Some transactions may have been taken back then: `rollback()` forgets that.
  /// - Complexity: Linear in the history after the position, and in what the transactions have changed; and for each 64 transactions once in the log
  ///   since the checkpoint before them.
  @discardableResult
  public func revertTransactions(
    by author: String, after token: PersistentHistoryToken? = nil
  ) throws -> [RevertConflict] {
    beginUse("reverting transactions")
    defer { endUse() }
    let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    request.resultType = .transactionsOnly
    request.author = author
    let coordinator = try coordinatorForReverting("transactions of \(author)")
    let found = try coordinator.history(request).transactions
    var numbers = found.map { UInt64($0.transactionNumber) }[...]
    var conflicts: [RevertConflict] = []
    while !numbers.isEmpty {
      // Past generations are read in their order: one replay of the log goes on from each to the next.
      var reverts = try numbers.suffix(64).map { try Revert(self, $0, of: coordinator) }
      numbers = numbers.dropLast(reverts.count)
      while var revert = reverts.popLast() {
        conflicts += try revert.run()
        // References to its objects end here, as before the transaction.
        processPendingChanges()
      }
    }
    return conflicts
  }

  private func coordinatorForReverting(_ what: String) throws -> PersistentStoreCoordinator {
    guard parent == nil, let coordinator = persistentStoreCoordinator else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "\(what) cannot be reverted in this context: it needs a coordinator, and no parent")
    }
    return coordinator
  }
}

extension PersistentContainer {
  /// The transactions after a token, oldest first; all of them if it is nil.
  ///
  /// - Throws: As `ManagedObjectContext.execute(_:)`.
  @_disfavoredOverload
  public func history(after token: PersistentHistoryToken? = nil) throws -> [PersistentHistoryTransaction] {
    try persistentStoreCoordinator.requireStore()
    return try persistentStoreCoordinator.history(.fetchHistory(after: token)).transactions
  }

  /// The newest position of the history; nil while no store is open.
  @_disfavoredOverload
  public var currentHistoryToken: PersistentHistoryToken? {
    persistentStoreCoordinator.currentPersistentHistoryToken()
  }
}

extension PersistentStoreCoordinator {
  func history(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    let all = persistentStores
    let asked = try historyStores(request, all)
    if case .token(let token) = request.start, all.count > 1,
      !all.contains(where: { token.position(in: $0.identifier) != nil })
    {
      throw HeartwoodError.foreignToken(token)
    }
    if request.isDeletion {
      try request.checkDeletion()
      let counts = try asked.map { try $0.deleteHistory(request, isOnly: all.count == 1) }
      return PersistentHistoryResult(
        resultType: .statusOnly, count: counts.reduce(0, +), transactions: [], changes: [])
    }
    let found = try asked.map { try $0.history(request, isOnly: all.count == 1) }
    return PersistentHistoryResult(
      request, all.count == 1 && found.count == 1 ? found[0] : FoundHistory(merging: found, request))
  }

  /// Deletes the history of single transactions, but the newest one of each store. A store of a class of the program, whose history has no gaps, deletes
  /// those that it begins with.
  ///
  /// - Parameter numbers: Of the transactions, by the identifiers of their stores.
  package func deleteHistory(of numbers: [String: Set<UInt64>]) throws {
    for store in persistentStores {
      guard let wanted = numbers[store.identifier] else { continue }
      try historySource(store).deleteHistory(of: wanted.sorted())
    }
  }

  /// The stores of a request: those that it names, or else all that have a history.
  ///
  /// - Throws: `.persistentStoreUnsupportedRequestType` if one that it names has none, if it names none of the coordinator, or if none has one.
  private func historyStores(
    _ request: PersistentHistoryChangeRequest, _ all: [PersistentStore]
  ) throws -> [any HistorySource] {
    if let affected = request.affectedStores {
      let named = all.filter { store in affected.contains { $0.identifier == store.identifier } }
      guard !named.isEmpty else { throw HeartwoodError.noAffectedStore }
      for store in named { try store.objectStore.require(.history) }
      return named.compactMap { $0.objectStore as? any HistorySource }
    }
    let able = all.filter { (try? $0.objectStore.require(.history)) != nil }.compactMap {
      $0.objectStore as? any HistorySource
    }
    if able.isEmpty { for store in all { try store.objectStore.require(.history) } }
    return able
  }
}

/// The part of a store's history that a request is about.
struct FoundHistory {
  /// A transaction that was read.
  struct Step {
    let timestamp: Date
    let position: PersistentHistoryToken
    /// Nil if the request does not ask for it.
    var transaction: PersistentHistoryTransaction?
  }

  var count = 0
  /// From where the stores were read.
  var starts: [PersistentHistoryToken] = []
  var steps: [Step] = []

  var transactions: [PersistentHistoryTransaction] { steps.compactMap(\.transaction) }
}

extension FoundHistory {
  /// The histories of several stores in one, in the order of times, each with the positions in all stores up to there.
  fileprivate init(merging found: [FoundHistory], _ request: PersistentHistoryChangeRequest) {
    count = found.reduce(0) { $0 + $1.count }
    var positions: [String: PersistentHistoryToken] = [:]
    if case .token(let token) = request.start {
      for position in token.positions { positions[position.storeID] = position }
    }
    starts = found.flatMap(\.starts)
    for start in starts { positions[start.storeID] = start }
    var places = found.map { _ in 0 }
    while !request.isComplete(steps.count) {
      let waiting = found.indices.filter { places[$0] < found[$0].steps.count }
      // The first of equal times: stores keep their order.
      let first = waiting.min { left, right in
        found[left].steps[places[left]].timestamp < found[right].steps[places[right]].timestamp
      }
      guard let first else { return }
      var step = found[first].steps[places[first]]
      places[first] += 1
      positions[step.position.storeID] = step.position
      guard step.transaction != nil else { continue }
      step.transaction?.take(positions: positions)
      steps.append(step)
    }
  }
}

extension PersistentHistoryResult {
  fileprivate init(_ request: PersistentHistoryChangeRequest, _ found: FoundHistory = FoundHistory()) {
    let hasTransactions =
      request.resultType == .transactionsOnly || request.resultType == .transactionsAndChanges
    self.init(
      resultType: request.resultType, count: found.count,
      transactions: hasTransactions ? found.transactions : [],
      changes: request.resultType == .transactionsOnly ? [] : found.transactions.flatMap { $0.changes ?? [] })
  }
}

/// A store that has a history.
protocol HistorySource: ObjectStore {
  func historyView() throws -> any HistoryView
  /// - Parameter isOnly: Whether a token must be of this store.
  /// - Returns: The number of transactions whose history was deleted.
  func deleteHistory(_ request: PersistentHistoryChangeRequest, isOnly: Bool) throws -> Int
  /// Deletes the history of single transactions, in order, but the newest one.
  func deleteHistory(of numbers: [UInt64]) throws
  /// The newest position of the history.
  func currentHistoryToken() -> PersistentHistoryToken
  /// Changes the record of a consumer in a transaction of its own; nil stands for none.
  func changeConsumer(
    _ name: String, _ change: (ConsumerRecord?, HistoryEnds) throws -> ConsumerRecord?) throws
}

/// A view of the history of one store, as requests read it.
protocol HistoryView {
  /// Calls `body` with the records after a transaction, oldest first, until it returns false. Changes that are not selected may be left out.
  func history(
    after number: UInt64, _ selection: HistorySelection, _ body: (HistoryRecord) throws -> Bool) throws
  /// The number of the newest transaction whose history is deleted.
  func newestDeletedHistory() throws -> UInt64
  /// The number of the newest transaction.
  func newestHistoryNumber() throws -> UInt64
  /// The number of transactions with a history after one.
  func historyCount(after number: UInt64) throws -> Int
  /// The consumers that the store has, in the order of their names.
  func consumers() throws -> [(name: String, record: ConsumerRecord)]
  /// The record of a consumer; nil if the store has none of this name.
  func consumer(_ name: String) throws -> ConsumerRecord?
}

extension HistoryView {
  func history(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws {
    try history(after: number, .all, body)
  }
}

extension LogStoreView: HistoryView {
  func newestHistoryNumber() throws -> UInt64 { generation }
}

extension HistorySource {
  /// - Parameter isOnly: Whether a token must be of this store.
  fileprivate func history(
    _ request: PersistentHistoryChangeRequest, isOnly: Bool
  ) throws -> FoundHistory {
    let filter = try HistoryFilter(request)
    let withChanges =
      request.resultType != .transactionsOnly && request.resultType != .count || filter.readsChanges
    let view = try historyView()
    let start = try start(of: request, in: view, isOnly: isOnly)
    var found = FoundHistory(starts: [start])
    try view.history(after: start.transactionNumber, withChanges ? filter.selection : .none) { record in
      let transaction =
        try request.asksFor(record) ? filter.transaction(record, identity, withChanges: withChanges) : nil
      if transaction != nil { found.count += 1 }
      // Those that are not asked for have this store's position for the tokens of other stores' transactions.
      guard request.resultType != .count, transaction != nil || !isOnly else {
        return !request.isComplete(found.count)
      }
      let position = PersistentHistoryToken(
        storeID: start.storeID, transactionNumber: record.number, nanoseconds: record.nanoseconds)
      found.steps.append(
        FoundHistory.Step(timestamp: record.timestamp, position: position, transaction: transaction))
      return !request.isComplete(found.count)
    }
    return found
  }

  /// The position of a token in this store; nil if it has none, and need not.
  func position(
    of token: PersistentHistoryToken, in view: any HistoryView, isOnly: Bool
  ) throws -> PersistentHistoryToken? {
    guard let own = token.position(in: identity.text ?? "") else {
      guard !isOnly else { throw HeartwoodError.foreignToken(token) }
      return nil
    }
    let newest = try view.newestHistoryNumber()
    guard own.transactionNumber <= newest else { throw HeartwoodError.futureToken(own, newest) }
    return own
  }

  /// The position after which the history is read: the request's, or else the beginning of what is left.
  private func start(
    of request: PersistentHistoryChangeRequest, in view: any HistoryView, isOnly: Bool
  ) throws -> PersistentHistoryToken {
    let deleted = try view.newestDeletedHistory()
    guard case .token(let given) = request.start,
      let token = try position(of: given, in: view, isOnly: isOnly)
    else { return PersistentHistoryToken(storeID: identity.text ?? "", transactionNumber: deleted) }
    if let expected = token.nanoseconds, let time = try view.historyTime(of: token.transactionNumber),
      time != expected
    {
      throw HeartwoodError.otherPastToken(token)
    }
    guard token.transactionNumber >= deleted else { throw HeartwoodError.deletedToken(token, deleted) }
    return token
  }
}

extension LogStore: HistorySource {
  func historyView() throws -> any HistoryView { try newestView() }

  /// Deletes up to the first transaction that the request does not ask for, so that readers notice what is gone.
  func deleteHistory(_ request: PersistentHistoryChangeRequest, isOnly: Bool) throws -> Int {
    let filter = try HistoryFilter(request)
    func isAskedFor(_ record: HistoryRecord) -> Bool {
      (try? request.mayDelete(record, filter, identity)) ?? false
    }
    switch request.start {
    case .beginning: return 0
    case .token(let token):
      guard let token = try position(of: token, in: newestView(), isOnly: isOnly) else { return 0 }
      return try deleteHistory(before: token.transactionNumber) { !isAskedFor($0) }
    case .date: return try deleteHistory(before: .max) { !isAskedFor($0) }
    }
  }
}

extension PersistentHistoryChangeRequest {
  /// - Throws: `.persistentStoreUnsupportedRequestType` if the request restricts which changes of transactions it deletes.
  fileprivate func checkDeletion() throws {
    guard changePredicate != nil else { return }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "history is deleted by whole transactions, and changePredicate would leave gaps in them: set none, or a transactionPredicate"
    )
  }

  /// Whether the result has as many transactions as it may.
  func isComplete(_ count: Int) -> Bool { fetchLimit > 0 && count >= fetchLimit }

  func asksForAuthor(of record: HistoryRecord) -> Bool { author == nil || record.author == author }

  /// Whether the request deletes a transaction that is before its end.
  func mayDelete(_ record: HistoryRecord, _ filter: HistoryFilter, _ store: StoreIdentity) throws -> Bool {
    if case .date(let date) = start, record.timestamp >= date { return false }
    guard asksForAuthor(of: record) else { return false }
    return try transactionPredicate == nil || filter.transaction(record, store, withChanges: false) != nil
  }

  func asksFor(_ record: HistoryRecord) -> Bool {
    guard asksForAuthor(of: record) else { return false }
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
