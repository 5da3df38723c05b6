/// A position in the history of a store: after one transaction.
///
/// Keep it (it is `Codable`), and use it later to fetch the history since. A token of a transaction also has the time of its
/// save, by which the store notices that it is another transaction than the one with this number in a copy that was restored.
public struct PersistentHistoryToken: Sendable, Codable {
  /// The identifier of the store.
  public let storeID: String
  /// The number of the last transaction before the position.
  public let transactionNumber: UInt64
  /// The time in the history of that transaction; nil if it has no history, or if the history was not read.
  let nanoseconds: Int64?

  init(storeID: String, transactionNumber: UInt64, nanoseconds: Int64? = nil) {
    self.storeID = storeID
    self.transactionNumber = transactionNumber
    self.nanoseconds = nanoseconds
  }
}

extension PersistentHistoryToken: Hashable {
  /// Whether both have the same store and number.
  public static func == (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    left.transactionNumber == right.transactionNumber && left.storeID == right.storeID
  }

  /// Hashes store and number.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storeID)
    hasher.combine(transactionNumber)
  }
}

extension PersistentHistoryToken: Comparable {
  /// Whether the left token is earlier in one store's history. Tokens of different stores are ordered by store identifier.
  public static func < (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    (left.storeID, left.transactionNumber) < (right.storeID, right.transactionNumber)
  }
}

extension ObjectStore {
  /// The newest position of the history.
  func currentHistoryToken() -> PersistentHistoryToken {
    let view = try? view()
    let number = view?.generation ?? newestGeneration
    // A store that cannot be read says so at the next fetch.
    let time = try? view?.historyTime(of: number)
    return PersistentHistoryToken(
      storeID: identity.text ?? "", transactionNumber: number, nanoseconds: time)
  }
}

extension StoreView {
  /// The time in the history of one transaction; nil if it has none.
  func historyTime(of number: UInt64) throws -> Int64? {
    guard number > 0 else { return nil }
    var time: Int64?
    try history(after: number - 1) { record in
      if record.number == number { time = record.nanoseconds }
      return false
    }
    return time
  }
}
