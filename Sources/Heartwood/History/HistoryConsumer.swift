import Foundation

/// A named reader of a store's history, whose position is in the store: an extension of an application, an index for searching, a daemon that
/// uploads what has changed.
///
/// ```swift
/// let indexer = try container.historyConsumer("indexer")
/// try indexer.consume { context, batch in
///   for change in batch.changes { try index(change, in: context) }
/// }
/// ```
///
/// The position is saved in the same transaction as what the consumer's context has changed. So after a crash at any point either both are there or
/// neither is: what the consumer does *in the store* happens once for each transaction. What it does elsewhere, such as sending a request, happens at
/// least once, and is repeated if the process ends before the save.
///
/// A consumer does not get the transactions that have its name as their author, and contexts of `consume` have it. Two processes may run the same
/// consumer: only one of them can save the next position, and the other one's save throws `.persistentStoreSaveConflicts`.
public struct HistoryConsumer: Sendable {
  /// Where a consumer begins that is registered for the first time.
  public enum Start: Sendable {
    /// After the newest transaction: what is in the store already is no news.
    case newest
    /// With the oldest transaction whose history is kept.
    case oldest
  }

  /// The name, which is also the author of what the consumer changes.
  public let name: String
  let coordinator: PersistentStoreCoordinator
  let store: any HistorySource

  /// How far a consumer has come.
  public struct Status: Sendable {
    /// The name of the consumer.
    public let name: String
    /// The position after the last transaction that it has seen.
    public let position: PersistentHistoryToken
    /// When it was saved, by the clock of the machine that saved it.
    public let savedAt: Date
    /// How many transactions with a history are after the position, its own among them; of one that `isExpired` also those that it has missed, at
    /// most.
    public let waitingCount: Int
    /// Whether the history after the position was deleted before the consumer has seen it.
    public let isExpired: Bool
    /// About how many transactions retention keeps for it at most.
    public let lagLimit: UInt64
  }

  /// How far the consumer has come.
  ///
  /// - Throws: `.persistentHistoryTokenExpired` if it is not registered any more; the store's error if it cannot be read.
  /// - Complexity: O(log n)
  public var status: Status {
    get throws {
      let view = try store.historyView()
      guard let record = try view.consumer(name) else { throw HeartwoodError.unknownConsumer(name) }
      return try Status(name, record, in: view, store.identity)
    }
  }

  /// Removes the consumer and its position: the store keeps no history for it any more. Does nothing if it is not registered.
  ///
  /// - Throws: The store's error if it cannot be written.
  public func unregister() throws { try store.changeConsumer(name) { _, _ in nil } }

  /// Goes on from another position, as after `.persistentHistoryTokenExpired`: read all that the consumer needs again before it.
  ///
  /// - Parameter start: The position.
  /// - Throws: The store's error if it cannot be written.
  public func restart(from start: Start = .newest) throws {
    try store.changeConsumer(name) { former, ends in
      ConsumerRecord(at: start, of: ends, lagLimit: former?.lagLimit ?? Self.defaultLagLimit)
    }
  }

  /// How many transactions retention keeps for a consumer if the program does not say.
  public static let defaultLagLimit = ConsumerRecord.defaultLagLimit
}

extension HistoryConsumer.Status {
  init(
    _ name: String, _ record: ConsumerRecord, in view: any HistoryView, _ identity: StoreIdentity
  ) throws {
    self.name = name
    position = PersistentHistoryToken(
      storeID: identity.text ?? "", transactionNumber: record.transaction,
      nanoseconds: record.nanoseconds)
    savedAt = Date(nanosecondsSince1970: record.savedAt)
    let deleted = try view.newestDeletedHistory()
    isExpired = record.transaction < deleted
    waitingCount =
      try view.historyCount(after: record.transaction) + (isExpired ? Int(deleted - record.transaction) : 0)
    lagLimit = record.lagLimit
  }
}

extension ConsumerRecord {
  /// The record of a consumer at one of the ends of the history.
  init(at start: HistoryConsumer.Start, of ends: HistoryEnds, lagLimit: UInt64) {
    self.init(
      transaction: start == .newest ? ends.newest : ends.deleted, nanoseconds: nil, savedAt: ends.time,
      lagLimit: lagLimit)
  }
}

extension PersistentStoreCoordinator {
  /// The consumer of a name. The first call registers it; from then on the store has its position.
  ///
  /// - Parameters:
  ///   - name: The name: the same in each process that does the consumer's work. Not empty, and not "change sets", which is that of stores
  ///     that exchange them.
  ///   - start: Where it begins if it is registered by this call.
  ///   - lagLimit: How many transactions ``HistoryRetention`` keeps for it at most, at least 1; beyond it the consumer's history may be deleted,
  ///     and its next batch throws. Nil for what was said before, or ``HistoryConsumer/defaultLagLimit``.
  ///   - store: One of several stores; nil for the only one.
  /// - Throws: `.persistentStoreUnsupportedRequestType` if the store has no history; `.coreData` for such a name; `.persistentStoreOperation` if
  ///   no store is named and there is not exactly one; the store's error if it cannot be written.
  public func historyConsumer(
    _ name: String, startingAt start: HistoryConsumer.Start = .newest, lagLimit: UInt64? = nil,
    of store: PersistentStore? = nil
  ) throws -> HistoryConsumer {
    guard !name.isEmpty, name != ConsumerRecord.changeSets else {
      throw HeartwoodError(
        .coreData,
        name.isEmpty
          ? "a consumer of the history has no name: give it one that stays the same"
          : "\"\(name)\" is the consumer of stores that exchange change sets: give this one another name")
    }
    let source = try historySource(store)
    let consumer = HistoryConsumer(name: name, coordinator: self, store: source)
    let known = try source.historyView().consumer(name)
    if let known, lagLimit == nil || known.lagLimit == lagLimit { return consumer }
    try source.changeConsumer(name) { former, ends in
      var record = former ?? ConsumerRecord(at: start, of: ends, lagLimit: HistoryConsumer.defaultLagLimit)
      if let lagLimit { record.lagLimit = max(1, lagLimit) }
      return record
    }
    return consumer
  }

  /// How far the consumers of a store have come, in the order of their names.
  ///
  /// - Parameter store: One of several stores; nil for the only one.
  /// - Throws: As `historyConsumer(_:startingAt:lagLimit:of:)`.
  public func historyConsumers(of store: PersistentStore? = nil) throws -> [HistoryConsumer.Status] {
    let source = try historySource(store)
    let view = try source.historyView()
    return try view.consumers().map {
      try HistoryConsumer.Status($0.name, $0.record, in: view, source.identity)
    }
  }

  /// The store of type Log that is named, or the only one.
  func historyStore(_ store: PersistentStore?) throws -> LogStore {
    let named = try storeWithHistory(store)
    guard let log = named.log else {
      throw HeartwoodError(
        .persistentStoreUnsupportedRequestType,
        "the store at \(named.place) is of type \(named.type.rawValue), which has no past generations: only stores of type Log do"
      )
    }
    return log
  }

  func historySource(_ store: PersistentStore?) throws -> any HistorySource {
    let named = try storeWithHistory(store)
    if let source = named.objectStore as? any HistorySource { return source }
    return try historyStore(store)
  }

  private func storeWithHistory(_ store: PersistentStore?) throws -> PersistentStore {
    try requireStore()
    let all = persistentStores
    guard let named = store ?? (all.count == 1 ? all.first : nil), all.contains(where: { $0 === named })
    else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the coordinator has \(all.count) stores, and the history and the generations of one are meant: pass the store as the parameter `of`"
      )
    }
    try named.objectStore.require(.history)
    return named
  }
}

extension PersistentContainer {
  /// The consumer of a name in the container's store: see `PersistentStoreCoordinator.historyConsumer(_:startingAt:lagLimit:of:)`.
  ///
  /// - Parameters:
  ///   - name: The name, not empty.
  ///   - start: Where it begins if it is registered by this call.
  ///   - lagLimit: How many transactions retention keeps for it at most; nil for what was said before, or the default.
  public func historyConsumer(
    _ name: String, startingAt start: HistoryConsumer.Start = .newest, lagLimit: UInt64? = nil
  ) throws -> HistoryConsumer {
    try persistentStoreCoordinator.historyConsumer(name, startingAt: start, lagLimit: lagLimit)
  }
}
