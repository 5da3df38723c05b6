/// A point in the history of a store: everything up to one transaction.
///
/// Keep it (it is `Codable`) and fetch later what has happened since.
public struct PersistentHistoryToken: Hashable, Sendable, Codable {
  /// The identifier of the store that the point is of.
  public let storeID: String
  /// The number of the last transaction before the point.
  public let transactionNumber: UInt64

  init(storeID: String, transactionNumber: UInt64) {
    self.storeID = storeID
    self.transactionNumber = transactionNumber
  }
}

extension PersistentHistoryToken: Comparable {
  /// Earlier in one store's history. Tokens of different stores are in the order of the stores' names.
  public static func < (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    (left.storeID, left.transactionNumber) < (right.storeID, right.transactionNumber)
  }
}
