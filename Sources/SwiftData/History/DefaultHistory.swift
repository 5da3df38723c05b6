import Foundation
import Heartwood

/// A position in the history of the stores of a container.
public struct DefaultHistoryToken: HistoryToken, Sendable {
  /// The numbers of transactions, by the identifiers of their stores.
  public typealias TokenType = [String: Int64]

  let positions: PersistentHistoryToken
  /// Whether a condition compares the token as that of its transaction.
  private var isCompared = false

  init(_ positions: PersistentHistoryToken) { self.positions = positions }

  /// The token of a transaction as conditions compare it with others: by the position in the transaction's store only. The other positions
  /// depend on the order in which the stores were read.
  fileprivate var compared: DefaultHistoryToken {
    var compared = self
    compared.isCompared = true
    return compared
  }

  /// The number of the last transaction before the position, by the identifiers of the stores.
  public var tokenValue: [String: Int64]? {
    positions.transactionNumbersByStore.mapValues { Int64(clamping: $0) }
  }

  /// Tells positions apart in this process.
  public var id: Int { hashValue }

  /// Decodes a token that was encoded.
  ///
  /// - Throws: `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws { positions = try PersistentHistoryToken(from: decoder) }
  /// Encodes the positions in all stores.
  ///
  /// - Throws: The error of the encoder.
  public func encode(to encoder: any Encoder) throws { try positions.encode(to: encoder) }

  /// Whether both are the same position.
  public static func == (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
    left.positions == right.positions
  }
  /// Whether the first position is before the second: in no store after it, and before it in some, where a store that a token does not
  /// have counts as not begun. In the condition of a request, the token of a transaction is after another one if the transaction is after it
  /// in its own store.
  public static func < (left: DefaultHistoryToken, right: DefaultHistoryToken) -> Bool {
    switch (left.isCompared, right.isCompared) {
    case (true, false): left.positions.isOfTransaction(before: right.positions)
    case (false, true): right.positions.isOfTransaction(after: left.positions)
    default: left.positions < right.positions
    }
  }
  /// Hashes the position.
  public func hash(into hasher: inout Hasher) { hasher.combine(positions) }
}

/// The changes of one save.
public struct DefaultHistoryTransaction: HistoryTransaction, Sendable {
  /// The position after it.
  public let token: DefaultHistoryToken
  /// When it was saved.
  public let timestamp: Date
  /// Its number.
  public let transactionIdentifier: Int64
  /// Who made it; nil if the context did not say.
  public let author: String?
  /// The changes of the save.
  public let changes: [HistoryChange]
  /// The store that it was saved to.
  public let storeIdentifier: String
  /// The bundle of the program that saved it.
  public let bundleIdentifier: String
  /// The process that saved it.
  public let processIdentifier: String

  /// Its number.
  public var id: Int64 { transactionIdentifier }

  /// Whether both are the same transaction of the same store.
  public static func == (left: DefaultHistoryTransaction, right: DefaultHistoryTransaction) -> Bool {
    left.storeIdentifier == right.storeIdentifier && left.transactionIdentifier == right.transactionIdentifier
  }
  /// Hashes store and number.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(storeIdentifier)
    hasher.combine(transactionIdentifier)
  }

  /// Whether it satisfies a condition.
  fileprivate func satisfies(_ predicate: Predicate<DefaultHistoryTransaction>) throws -> Bool {
    try predicate.evaluate(
      DefaultHistoryTransaction(
        token: token.compared, timestamp: timestamp, transactionIdentifier: transactionIdentifier,
        author: author, changes: changes, storeIdentifier: storeIdentifier,
        bundleIdentifier: bundleIdentifier, processIdentifier: processIdentifier))
  }
}

/// The insertion of a model.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert, Hashable, Identifiable, Sendable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The number of the change.
  public let changeIdentifier: Int64
  /// The model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The number of the change.
  public var id: Int64 { changeIdentifier }

  /// Whether both are the same change of the same model.
  public static func == (left: DefaultHistoryInsert, right: DefaultHistoryInsert) -> Bool {
    ChangeIdentity(left) == ChangeIdentity(right)
  }
  /// Hashes the model and the number of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(ChangeIdentity(self)) }
}

/// The update of a model.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, Hashable, Identifiable,
  @unchecked Sendable
{
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The number of the change.
  public let changeIdentifier: Int64
  /// The model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The properties that were changed.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
  /// The number of the change.
  public var id: Int64 { changeIdentifier }

  /// Whether both are the same change of the same model.
  public static func == (left: DefaultHistoryUpdate, right: DefaultHistoryUpdate) -> Bool {
    ChangeIdentity(left) == ChangeIdentity(right)
  }
  /// Hashes the model and the number of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(ChangeIdentity(self)) }
}

/// The deletion of a model.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete, Hashable, Identifiable, Sendable {
  /// The number of the transaction.
  public let transactionIdentifier: Int64
  /// The number of the change.
  public let changeIdentifier: Int64
  /// The model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The values that are kept of the model.
  public let tombstone: HistoryTombstone<Model>
  /// The number of the change.
  public var id: Int64 { changeIdentifier }

  /// Whether both are the same change of the same model.
  public static func == (left: DefaultHistoryDelete, right: DefaultHistoryDelete) -> Bool {
    ChangeIdentity(left) == ChangeIdentity(right)
  }
  /// Hashes the model and the number of the change.
  public func hash(into hasher: inout Hasher) { hasher.combine(ChangeIdentity(self)) }
}

/// A change of the built-in history.
private protocol NumberedChange {
  var transactionIdentifier: Int64 { get }
  var changeIdentifier: Int64 { get }
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

extension DefaultHistoryInsert: NumberedChange {}
extension DefaultHistoryUpdate: NumberedChange {}
extension DefaultHistoryDelete: NumberedChange {}

/// The identity of a change of the built-in history.
private struct ChangeIdentity: Hashable {
  private let transaction: Int64
  private let change: Int64
  private let model: PersistentIdentifier

  init(_ change: some NumberedChange) {
    transaction = change.transactionIdentifier
    self.change = change.changeIdentifier
    model = change.changedPersistentIdentifier
  }
}

/// Reads the history of the graph as that of models.
struct HistoryReading {
  private let context: ModelContext
  private var objects: ModelObjectContext { context.objects }

  init(_ context: ModelContext) { self.context = context }

  /// The transactions that satisfy a condition.
  ///
  /// A condition on the token reads only what comes after the position that it begins at: see `HistoryStart`.
  func transactions(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws
    -> [DefaultHistoryTransaction]
  {
    // Stores of programs have histories of their own kinds.
    if context.contents.coordinator.persistentStores.allSatisfy({ $0 is BridgedStore }) { return [] }
    let start = descriptor.predicate.flatMap { HistoryStart(of: $0) }
    var transactions = try ModelErrors.translating { try found(from: start) }.map(transaction)
    if let predicate = descriptor.predicate {
      do {
        transactions = try transactions.filter { try $0.satisfies(predicate) }
      } catch {
        throw SwiftDataError(.invalidTransactionFetchRequest, underlying: error)
      }
    }
    if !descriptor.sortBy.isEmpty { transactions.sort(using: descriptor.sortBy) }
    if descriptor.fetchLimit > 0 {
      transactions = Array(transactions.prefix(Int(clamping: descriptor.fetchLimit)))
    }
    return transactions
  }

  private func found(from start: HistoryStart?) throws -> [PersistentHistoryTransaction] {
    do {
      return try objects.execute(.fetchHistory(after: start?.position)).transactions
    } catch let error as HeartwoodError
      where error.code == .persistentHistoryTokenExpired && start?.needsAll == false
    {
      return try objects.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
    }
  }

  private func transaction(_ found: PersistentHistoryTransaction) -> DefaultHistoryTransaction {
    DefaultHistoryTransaction(
      token: DefaultHistoryToken(found.token), timestamp: found.timestamp,
      transactionIdentifier: found.transactionNumber, author: found.author,
      changes: (found.changes ?? []).compactMap { change($0, found) }, storeIdentifier: found.storeID,
      bundleIdentifier: found.bundleID ?? "", processIdentifier: found.processID ?? "")
  }

  private func change(_ change: PersistentHistoryChange, _ found: PersistentHistoryTransaction)
    -> HistoryChange?
  {
    guard let name = change.changedObjectID.entity.name, let type = context.contents.schema.types[name] else {
      return nil
    }
    return make(type, change, found)
  }

  private func make<Model: PersistentModel>(
    _ type: Model.Type, _ change: PersistentHistoryChange, _ found: PersistentHistoryTransaction
  ) -> HistoryChange {
    let (number, identifier) = (found.transactionNumber, objects.identifier(of: change.changedObjectID))
    let modelClass = ModelClass.of(type)
    switch change.changeType {
    case .insert:
      return .insert(
        DefaultHistoryInsert<Model>(
          transactionIdentifier: number, changeIdentifier: change.changeID,
          changedPersistentIdentifier: identifier))
    case .update:
      let names = Set((change.updatedProperties ?? []).map { $0.name.prefix { $0 != "." } }.map(String.init))
      let paths = modelClass.properties.filter { names.contains($0.name) }.compactMap {
        HistoryPaths.path($0, of: type)
      }
      return .update(
        DefaultHistoryUpdate<Model>(
          transactionIdentifier: number, changeIdentifier: change.changeID,
          changedPersistentIdentifier: identifier,
          updatedAttributes: paths))
    case .delete:
      var values: [String: any Sendable] = [:]
      for (name, stored) in change.storedTombstone ?? [:] {
        guard let coding = modelClass.property(named: name)?.coding else { continue }
        values[name] = coding.value(any: stored).flatMap { sent($0, as: (any Sendable).self) }
      }
      return .delete(
        DefaultHistoryDelete<Model>(
          transactionIdentifier: number, changeIdentifier: change.changeID,
          changedPersistentIdentifier: identifier,
          tombstone: HistoryTombstone(values)))
    }
  }

  /// Deletes the transactions that satisfy a condition. The newest one of each store stays.
  func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    var wanted = descriptor
    wanted.sortBy = []
    let numbers = Dictionary(grouping: try transactions(wanted), by: \.storeIdentifier)
      .mapValues { Set($0.map { UInt64($0.transactionIdentifier) }) }
    try ModelErrors.translating {
      try objects.persistentStoreCoordinator?.deleteHistory(of: numbers)
    }
  }
}

extension ModelContext {
  /// The transactions of the history that satisfy a condition, oldest first.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired` if the condition begins after a token whose history is deleted,
  ///   `.invalidTransactionFetchRequest` for what cannot be evaluated; the error of a store.
  public func fetchHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H> = .init()) throws -> [H]
  {
    guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      return try customHistory(descriptor)
    }
    return try HistoryReading(self).transactions(own) as? [H] ?? []
  }

  /// Deletes the transactions of the history that satisfy a condition. The newest one of each store stays.
  ///
  /// - Throws: As `fetchHistory(_:)`.
  public func deleteHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws {
    guard let own = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      for store in contents.stores.custom {
        if let store = store as? any HistoryProviding { try store.deleteAny(descriptor) }
      }
      return
    }
    try HistoryReading(self).delete(own)
  }

  private func customHistory<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H] {
    try contents.stores.custom.flatMap { try ($0 as? any HistoryProviding)?.fetchAny(descriptor) ?? [] }
  }
}

extension HistoryProviding {
  fileprivate func fetchAny<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws -> [H] {
    guard let own = descriptor as? HistoryDescriptor<HistoryType> else { return [] }
    return try fetchHistory(own) as? [H] ?? []
  }

  fileprivate func deleteAny<H: HistoryTransaction>(_ descriptor: HistoryDescriptor<H>) throws {
    guard let own = descriptor as? HistoryDescriptor<HistoryType> else { return }
    try deleteHistory(own)
  }
}

/// A value of an attribute, which the history hands out as a copy of its own.
private func sent<Sent>(_ value: Any, as type: Sent.Type) -> Sent? { value as? Sent }
