import HeartwoodEngine

/// Where a store in memory is kept: each save writes all of it, before it is committed in memory.
protocol StoreOutside: AnyObject, Sendable {
  var path: String { get }
  /// The kind of the store, for messages.
  var typeName: String { get }
  func allows(_ feature: StoreFeature) -> Bool

  /// Refuses what `save` would refuse without having written anything: several stores of one save are asked before the first is
  /// committed. `save` or `noteFailed` follows.
  func prepare() throws

  /// Has the next save write to another place. No save is under way.
  ///
  /// - Returns: False if something is there.
  func move(to path: String) -> Bool

  /// Writes what a transaction has made of the store. `noteCommitted` or `noteFailed` follows.
  ///
  /// - Throws: If it could not be written. Nothing is committed in memory then.
  func save(_ transaction: LogStoreTransaction, _ identifier: StoreIdentifier) throws
  func noteCommitted()
  /// The transaction is not committed, whether it was written or not.
  func noteFailed()
}

extension StoreFile: StoreOutside {
  var typeName: String { format.rawValue }
  func allows(_ feature: StoreFeature) -> Bool { feature == .batchInserts }
  func save(_ transaction: LogStoreTransaction, _ identifier: StoreIdentifier) throws {
    try save(contents: transaction, identifier)
  }
  /// If the file was replaced, it stays ahead.
  func noteFailed() { endPreparation() }
}
