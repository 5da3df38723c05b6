import Foundation

/// Asks for what was saved to a store since some point.
public final class PersistentHistoryChangeRequest {
  enum Start {
    case beginning
    case token(PersistentHistoryToken)
    case date(Date)
  }

  let start: Start

  /// What the result has in it.
  public var resultType = PersistentHistoryResult.ResultType.transactionsAndChanges

  /// Only transactions with this author; nil for all.
  public var author: String?

  private init(_ start: Start) { self.start = start }

  /// Everything after a point; nil for everything.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(token.map(Start.token) ?? .beginning)
  }

  /// Everything after a transaction; nil for everything.
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// Transactions committed after a moment, by the clock of the machine that committed them.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date))
  }
}

/// What a history request has found.
public struct PersistentHistoryResult: Sendable {
  /// What a result has in it. The numbers are Core Data's.
  public enum ResultType: Int, Sendable {
    /// Identifiers of the changed objects, each once.
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

  /// What the request asked for.
  public let resultType: ResultType
  /// How many transactions there are.
  public let count: Int
  /// The transactions, oldest first; empty unless the request asked for them.
  public let transactions: [PersistentHistoryTransaction]
  /// All changes, oldest first; empty unless the request asked for changes.
  public let changes: [PersistentHistoryChange]

  /// The identifiers of the changed objects, each once, in the order of their first change; empty unless
  /// the request asked for them or for changes.
  public var objectIDs: [ManagedObjectID] {
    var seen: Set<ManagedObjectID> = []
    return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
  }

  /// What was asked for, as the request's result type says: an array or a number.
  public var result: Any {
    switch resultType {
    case .objectIDs: objectIDs
    case .count: count
    case .transactionsOnly, .transactionsAndChanges: transactions
    case .changesOnly: changes
    }
  }
}
