import Foundation

/// A request for the transactions that were saved to a store since a token, a transaction or a date.
///
/// One that deletes history ends before the first transaction that it does not ask for, and throws with a `changePredicate`.
public final class PersistentHistoryChangeRequest {
  enum Start {
    case beginning
    case token(PersistentHistoryToken)
    case date(Date)
  }

  let start: Start
  /// Whether the transactions before the start are deleted, and nothing is fetched.
  let isDeletion: Bool

  /// The contents of the result.
  public var resultType = PersistentHistoryResult.ResultType.transactionsAndChanges

  /// Restricts the result to transactions that satisfy a condition on `author`, `contextName`, `timestamp`,
  /// `transactionNumber`, `storeID`, `bundleID` and `processID`, in the format language; nil for all.
  public var transactionPredicate: (any FetchPredicate)?

  /// Restricts the result to changes that satisfy a condition on `changeType` (a number, see
  /// `PersistentHistoryChange.ChangeType`), `entityName`, `changeID`, `changedObjectURI` and `updatedPropertyNames` (a text like
  /// `,age,name,`, to be tested with `CONTAINS ',age,'`), in the format language; nil for all. Transactions without such a change are left out.
  public var changePredicate: (any FetchPredicate)?

  /// Restricts the result to these stores; nil for all.
  public var affectedStores: [PersistentStore]?

  /// Restricts the result to transactions with this author; nil for all.
  public var author: String?

  /// The maximum number of transactions of the result, the oldest ones; 0 for all. What is fetched after the last one's token comes next, so that a
  /// long history can be read in parts.
  public var fetchLimit = 0

  private init(_ start: Start, isDeletion: Bool = false) {
    self.start = start
    self.isDeletion = isDeletion
  }

  /// A request that deletes the history before a token. A fetch after an earlier token then throws.
  ///
  /// With an `author` or a `transactionPredicate` it ends before the first transaction that it does not ask for: who goes on from an earlier token
  /// would not notice a gap.
  public static func deleteHistory(before token: PersistentHistoryToken) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.token(token), isDeletion: true)
  }

  /// A request that deletes the history before a transaction, which itself stays.
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction
  ) -> PersistentHistoryChangeRequest {
    deleteHistory(before: transaction.token)
  }

  /// A request that deletes the history of transactions committed before a date, up to the first one that was not, by the clock
  /// of the machines that committed them.
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.date(date), isDeletion: true)
  }

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
    /// Nothing: the result of a deletion, whose `count` is the number of transactions that it deleted.
    case statusOnly = 0
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
  public var objectIDs: [ManagedObjectID] { changes.distinctObjectIDs }

  /// The contents that the result type asks for: an array or a number.
  public var result: Any {
    switch resultType {
    case .statusOnly: true
    case .objectIDs: objectIDs
    case .count: count
    case .transactionsOnly, .transactionsAndChanges: transactions
    case .changesOnly: changes
    }
  }
}
