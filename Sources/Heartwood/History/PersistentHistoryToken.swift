/// A position in the history of a store, after one transaction, or in that of each of several stores.
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
  /// The positions in other stores; nil for a token of one store.
  private let others: [PersistentHistoryToken]?

  package init(storeID: String, transactionNumber: UInt64, nanoseconds: Int64? = nil) {
    self.storeID = storeID
    self.transactionNumber = transactionNumber
    self.nanoseconds = nanoseconds
    others = nil
  }

  /// A token of several stores, which begins with that of the first one; nil if there is none.
  ///
  /// - Parameter tokens: Each of one store.
  init?(_ tokens: [PersistentHistoryToken]) {
    guard let first = tokens.first else { return nil }
    (storeID, transactionNumber, nanoseconds) = (first.storeID, first.transactionNumber, first.nanoseconds)
    others = tokens.count == 1 ? nil : Array(tokens.dropFirst())
  }

  /// A token with the latest position in each store of several tokens; nil for none.
  package init?(joining tokens: [PersistentHistoryToken]) {
    var latest: [PersistentHistoryToken] = []
    for position in tokens.flatMap(\.positions) {
      guard let place = latest.firstIndex(where: { $0.storeID == position.storeID }) else {
        latest.append(position)
        continue
      }
      if latest[place].transactionNumber < position.transactionNumber { latest[place] = position }
    }
    self.init(latest)
  }

  /// The earlier position of two tokens in each store that both have; nil if there is none.
  package func earliest(_ other: PersistentHistoryToken) -> PersistentHistoryToken? {
    PersistentHistoryToken(
      positions.compactMap { position in
        other.position(in: position.storeID).map {
          $0.transactionNumber < position.transactionNumber ? $0 : position
        }
      })
  }

  /// The position before the last transaction in each store.
  package var beforeLast: PersistentHistoryToken {
    let numbers = transactionNumbersByStore.mapValues { $0 - min($0, 1) }
    return PersistentHistoryToken(transactionNumbersByStore: numbers) ?? self
  }

  /// A token of these numbers of transactions, by the identifiers of the stores; nil for none.
  package init?(transactionNumbersByStore numbers: [String: UInt64]) {
    self.init(
      numbers.sorted { $0.key < $1.key }.map {
        PersistentHistoryToken(storeID: $0.key, transactionNumber: $0.value)
      })
  }

  /// The positions in each of the stores.
  var positions: [PersistentHistoryToken] {
    [PersistentHistoryToken(storeID: storeID, transactionNumber: transactionNumber, nanoseconds: nanoseconds)]
      + (others ?? [])
  }

  /// The numbers of the last transactions before the position, by the identifiers of their stores.
  public var transactionNumbersByStore: [String: UInt64] {
    Dictionary(positions.map { ($0.storeID, $0.transactionNumber) }) { first, _ in first }
  }

  /// The position in one of the stores; nil if the token has none.
  func position(in storeID: String) -> PersistentHistoryToken? { positions.first { $0.storeID == storeID } }
}

extension PersistentHistoryToken: Hashable {
  /// Whether both have the same stores and numbers.
  public static func == (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    if left.others == nil, right.others == nil {
      return left.transactionNumber == right.transactionNumber && left.storeID == right.storeID
    }
    return left.transactionNumbersByStore == right.transactionNumbersByStore
  }

  /// Hashes stores and numbers.
  public func hash(into hasher: inout Hasher) {
    // The first store of two equal tokens may be another one.
    hasher.combine(others == nil ? [storeID: transactionNumber] : transactionNumbersByStore)
  }
}

extension PersistentHistoryToken: Comparable {
  /// Whether the left token is earlier: in no store after the right one, and before it in some, where a store that a token does not have
  /// counts as not begun. Of two tokens that are both ahead of the other somewhere, the one is earlier that is behind in the last of these
  /// stores, by their identifiers; each then has something that the other has not.
  public static func < (left: PersistentHistoryToken, right: PersistentHistoryToken) -> Bool {
    let (leftNumbers, rightNumbers) = (left.transactionNumbersByStore, right.transactionNumbersByStore)
    let stores = Set(leftNumbers.keys).union(rightNumbers.keys)
    guard let store = stores.filter({ leftNumbers[$0] != rightNumbers[$0] }).max(),
      let number = rightNumbers[store]
    else { return false }
    return leftNumbers[store].map { $0 < number } ?? true
  }
}

/// The place of a transaction, whose store is the first of its token, against a token that a program keeps.
extension PersistentHistoryToken {
  /// Whether the transaction of this token is one of those after a position.
  package func isOfTransaction(after position: PersistentHistoryToken) -> Bool {
    position.position(in: storeID).map { $0.transactionNumber < transactionNumber } ?? true
  }

  /// Whether the transaction of this token is one of those before the last ones of a position.
  package func isOfTransaction(before position: PersistentHistoryToken) -> Bool {
    position.position(in: storeID).map { transactionNumber < $0.transactionNumber } ?? false
  }
}

extension LogStore {
  /// The newest position of the history.
  func currentHistoryToken() -> PersistentHistoryToken {
    let view = try? newestView()
    let number = view?.generation ?? newestGeneration
    // A store that cannot be read says so at the next fetch.
    let time = try? view?.historyTime(of: number)
    return PersistentHistoryToken(
      storeID: identity.text ?? "", transactionNumber: number, nanoseconds: time)
  }
}

extension HistoryView {
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
