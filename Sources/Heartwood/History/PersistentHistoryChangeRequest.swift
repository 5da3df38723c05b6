import Foundation

/// A request for the transactions that were saved to a store since a token, a transaction or a date.
public final class PersistentHistoryChangeRequest {
  enum Start {
    case beginning
    case token(PersistentHistoryToken)
    case date(Date)
  }

  let start: Start

  /// The contents of the result.
  public var resultType = PersistentHistoryResult.ResultType.transactionsAndChanges

  /// Restricts the result to transactions with this author; nil for all.
  public var author: String?

  private init(_ start: Start) { self.start = start }

  /// A request for the history after a token; nil for all of it.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(token.map(Start.token) ?? .beginning)
  }

  /// A request for the history after a transaction; nil for all of it.
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// A request for transactions committed after a date, by the clock of the machine that committed them.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date))
  }
}

/// The result of a history request.
public struct PersistentHistoryResult: Sendable {
  /// The contents of a result. The raw values are Core Data's.
  public enum ResultType: Int, Sendable {
    /// Identifiers of the changed objects, without duplicates.
    case objectIDs = 1
    /// The number of transactions.
    case count = 2
    /// Transactions without their changes.
    case transactionsOnly = 3
    /// Changes without their transactions.
    case changesOnly = 4
    /// Transactions with their changes.
    case transactionsAndChanges = 5
  }

  /// The result type of the request.
  public let resultType: ResultType
  /// The number of transactions.
  public let count: Int
  /// The transactions, oldest first; empty unless the result type includes them.
  public let transactions: [PersistentHistoryTransaction]
  /// All changes, oldest first; empty if the result type is `.count` or `.transactionsOnly`.
  public let changes: [PersistentHistoryChange]

  /// The identifiers of the changed objects, without duplicates, in the order of their first change; empty if `changes`
  /// is.
  public var objectIDs: [ManagedObjectID] {
    var seen: Set<ManagedObjectID> = []
    return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
  }

  /// The contents that the result type asks for: an array or a number.
  public var result: Any {
    switch resultType {
    case .objectIDs: objectIDs
    case .count: count
    case .transactionsOnly, .transactionsAndChanges: transactions
    case .changesOnly: changes
    }
  }
}
