/// A position in the history of a store: after one transaction.
///
/// Keep it (it is `Codable`), and use it later to fetch the history since.
public struct PersistentHistoryToken: Hashable, Sendable, Codable {
  /// The identifier of the store.
  public let storeID: String
  /// The number of the last transaction before the position.
  public let transactionNumber: UInt64

  init(storeID: String, transactionNumber: UInt64) {
    self.storeID = storeID
    self.transactionNumber = transactionNumber
  }
}

extension PersistentHistoryToken: Comparable {
  /// Whether the left token is earlier in one store's history. Tokens of different stores are ordered by store identifier.
  public static func < (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    (left.storeID, left.transactionNumber) < (right.storeID, right.transactionNumber)
  }
}
