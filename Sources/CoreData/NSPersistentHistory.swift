import Foundation
import Heartwood

/// A place in the history of stores.
public typealias NSPersistentHistoryToken = PersistentHistoryToken
/// A transaction of the history.
public typealias NSPersistentHistoryTransaction = PersistentHistoryTransaction
/// A change of the history.
public typealias NSPersistentHistoryChange = PersistentHistoryChange
/// The kind of a change.
public typealias NSPersistentHistoryChangeType = PersistentHistoryChange.ChangeType

/// The kind of a history request's result. The raw values are Core Data's.
public enum NSPersistentHistoryResultType: Int, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
  case transactionsOnly = 3
  case changesOnly = 4
  case transactionsAndChanges = 5
}

/// Fetches or deletes history.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, ExecutableRequest {
  private final var request = PersistentHistoryChangeRequest.fetchHistory(
    after: nil as NSPersistentHistoryToken?)
  /// The kind of the result.
  public final var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// The token after which history is fetched.
  public private(set) final var token: NSPersistentHistoryToken?
  /// Which transactions or changes are fetched, and in which order: a request for the entity of one of these, of which the predicate, the
  /// sort descriptors, the limit and the offset count.
  public final var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  /// A request for all history.
  public required override init() { super.init() }

  private class func made(
    _ request: PersistentHistoryChangeRequest, _ token: NSPersistentHistoryToken? = nil
  ) -> Self {
    let made = Self()
    made.request = request
    made.token = token
    return made
  }

  /// History after a date.
  open class func fetchHistory(after date: Date) -> Self {
    made(.fetchHistory(after: date))
  }
  /// History after a token; all of it for nil.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
    made(.fetchHistory(after: token), token)
  }
  /// History after a transaction; all of it for nil.
  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?)
    -> Self
  {
    made(.fetchHistory(after: transaction), transaction?.token)
  }
  /// History that a request for `NSPersistentHistoryTransaction.entityDescription`'s or `NSPersistentHistoryChange.entityDescription`'s
  /// objects finds, in its order and within its limit.
  open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>)
    -> Self
  {
    let request = fetchHistory(after: nil as NSPersistentHistoryToken?)
    request.fetchRequest = fetchRequest
    return request
  }
  /// Deletes history before a date.
  open class func deleteHistory(before date: Date) -> Self {
    made(.deleteHistory(before: date))
  }
  /// Deletes history before a token; nothing for nil.
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
    made(
      token.map { .deleteHistory(before: $0) } ?? .deleteHistory(before: .distantPast), token)
  }
  /// Deletes history before a transaction; nothing for nil.
  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?)
    -> Self
  {
    deleteHistory(before: transaction?.token)
  }

  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    request.affectedStores = affectedStores
    let selection = try HistorySelection(fetchRequest)
    request.resultType =
      try selection?.fetched(for: resultType)
      ?? PersistentHistoryResult.ResultType(rawValue: resultType.rawValue) ?? .transactionsAndChanges
    if let predicate = try fetchRequest?.predicate.map({ try HistoryCondition.of($0).storeCondition() }) {
      if fetchRequest?.entityName == NSPersistentHistoryTransaction.anyEntityDescription.name {
        request.transactionPredicate = predicate
      } else {
        request.changePredicate = predicate
      }
    }
    let found = try context.execute(request)
    return NSPersistentHistoryResult(
      try selection.map { try $0.result(found, resultType) } ?? found.result, resultType)
  }
}

/// The result of a request for history.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// Transactions, changes, identifiers, a number or a Boolean, as the request asked for.
  public final let result: Any?
  /// The kind of the result.
  public final let resultType: NSPersistentHistoryResultType

  init(_ result: Any?, _ type: NSPersistentHistoryResultType) {
    self.result = result
    resultType = type
    super.init()
  }
}

extension PersistentHistoryTransaction {
  /// The identifier of the saving program's bundle; empty if it has none.
  public var bundleID: String { anyBundleID ?? "" }
  /// The name of the saving program; empty if it is not known.
  public var processID: String { anyProcessID ?? "" }

  /// The entity of transactions; never nil.
  public static var entityDescription: NSEntityDescription? { anyEntityDescription }

  /// A request for transactions, for the conditions of a request for history.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: anyEntityDescription.name ?? "")
    request.entity = anyEntityDescription
    return request
  }
}

extension PersistentHistoryChange {
  /// For deletes, the last values of the attributes that are preserved; nil for other changes.
  public var tombstone: [AnyHashable: Any]? {
    anyTombstone.map { values in
      Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0.key), FoundationValue.of($0.value)) })
    }
  }
  /// The transaction of the change, without its changes.
  public var transaction: NSPersistentHistoryTransaction? { owner }

  /// The entity of changes; never nil.
  public static var entityDescription: NSEntityDescription? { anyEntityDescription }

  /// A request for changes, for the conditions of a request for history.
  public static var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: anyEntityDescription.name ?? "")
    request.entity = anyEntityDescription
    return request
  }
}
