import Foundation

/// A token of a position in the history.
public protocol HistoryToken: Codable, Comparable, Hashable, Identifiable, Sendable {
  /// The type of the identifiers in `tokenValue`.
  associatedtype TokenType: Codable, Hashable, Sendable
  /// The positions, by store.
  var tokenValue: TokenType? { get }
}

/// The changes of one save.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  associatedtype TokenType: Comparable & Hashable & Identifiable & Sendable
  associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
  /// The position after it.
  var token: TokenType { get }
  /// When it was saved.
  var timestamp: Date { get }
  /// Its number.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Who made it.
  var author: String? { get }
  /// The changes of the save.
  var changes: [HistoryChange] { get }
  /// The store that it was saved to.
  var storeIdentifier: String { get }
}

/// A change of one model.
public enum HistoryChange: Sendable {
  /// A model was inserted.
  case insert(any HistoryInsert)
  /// A model was updated.
  case update(any HistoryUpdate)
  /// A model was deleted.
  case delete(any HistoryDelete)

  /// The identifier of the model.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let change): change.changedPersistentIdentifier
    case .update(let change): change.changedPersistentIdentifier
    case .delete(let change): change.changedPersistentIdentifier
    }
  }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
  associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The number of the change.
  var changeIdentifier: ChangeIdentifier { get }
  /// The model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// The update of a model.
public protocol HistoryUpdate<Model>: Sendable {
  associatedtype Model: PersistentModel
  /// A property that was changed.
  typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
  associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
  associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The number of the change.
  var changeIdentifier: ChangeIdentifier { get }
  /// The model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The properties that were changed.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
  associatedtype Model: PersistentModel
  associatedtype TransactionIdentifier: Comparable & Hashable & Sendable
  associatedtype ChangeIdentifier: Comparable & Hashable & Sendable
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The number of the change.
  var changeIdentifier: ChangeIdentifier { get }
  /// The model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The values that are kept of the model: those of attributes with `.preserveValueOnDeletion`.
  var tombstone: HistoryTombstone<Model> { get }
}

/// The values that the history keeps of a deleted model.
public struct HistoryTombstone<Model: PersistentModel>: Sendable, Sequence {
  /// A kept value with its property.
  public typealias Element = (key: any PartialKeyPath<Model> & Sendable, value: any Sendable)
  private let values: [String: any Sendable]

  init(_ values: [String: any Sendable]) { self.values = values }

  /// The value of a property; nil if it is not kept, or was nil.
  public subscript<Value>(_ keyPath: KeyPath<Model, Value>) -> Value? {
    guard let property = ModelClass.of(Model.self).property(at: keyPath), let value = values[property.name]
    else { return nil }
    return value as? Value
  }

  /// The value of a property; nil if it is not kept, or was nil.
  @_disfavoredOverload
  public subscript(_ keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    ModelClass.of(Model.self).property(at: keyPath).flatMap { values[$0.name] }
  }

  /// The kept values, in the order of the properties.
  public func makeIterator() -> AnyIterator<Element> {
    var left = ModelClass.of(Model.self).properties.compactMap { property -> Element? in
      guard let value = values[property.name], let path = HistoryPaths.path(property, of: Model.self) else {
        return nil
      }
      return (path, value)
    }[...]
    return AnyIterator { left.popFirst() }
  }
}

/// Which part of the history is fetched.
public struct HistoryDescriptor<Transaction: HistoryTransaction>: Sendable {
  /// The condition on transactions; nil for all.
  public var predicate: Predicate<Transaction>?
  /// How many transactions at most; 0 for all.
  public var fetchLimit: UInt64 = 0
  /// The order; in that of the saves by default.
  public var sortBy: [SortDescriptor<Transaction>]

  /// A description of a part of the history.
  public init(predicate: Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

/// A store that has a history.
public protocol HistoryProviding {
  associatedtype HistoryType: HistoryTransaction
  /// The type of the transactions.
  static var historyType: HistoryType.Type { get }
  /// The transactions that satisfy a condition.
  func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
  /// Deletes the transactions that satisfy a condition.
  func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
  /// The type of the transactions.
  public static var historyType: HistoryType.Type { HistoryType.self }
}

/// Key paths of properties in the types that the history has them in.
enum HistoryPaths {
  /// A key path is an immutable value, which the compiler cannot assume of all.
  static func path<Model: PersistentModel>(
    _ property: ModelProperty, of type: Model.Type
  ) -> (any PartialKeyPath<Model> & Sendable)? {
    guard let path = ModelClass.of(type).keyPath(of: property) as? PartialKeyPath<Model> else { return nil }
    return unsafeBitCast(path, to: (any PartialKeyPath<Model> & Sendable).self)
  }
}
