import Foundation

/// One save, as the history has it.
public struct PersistentHistoryTransaction: Sendable {
  /// The number; it rises with every transaction of the store, not always by one.
  public let transactionNumber: Int64
  /// The point just after this transaction.
  public let token: PersistentHistoryToken
  /// When it was committed, by the clock of the machine. It never decides an order.
  public let timestamp: Date
  /// The saving context's `transactionAuthor`.
  public let author: String?
  /// The saving context's `name`.
  public let contextName: String?
  /// The changes in the order in which they were written; nil if they were not asked for.
  public let changes: [PersistentHistoryChange]?

  /// The identifier of the store.
  public var storeID: String { token.storeID }

  init(_ record: HistoryRecord, _ store: any ObjectStore, withChanges: Bool) {
    transactionNumber = Int64(clamping: record.number)
    token = PersistentHistoryToken(
      storeID: store.identity.uuid?.uuidString ?? "", transactionNumber: record.number)
    timestamp = record.timestamp
    author = record.author
    contextName = record.contextName
    let identity = store.identity
    changes =
      withChanges
      ? record.changes.enumerated().map { PersistentHistoryChange($1, number: $0 + 1, identity) } : nil
  }
}

extension HistoryRecord {
  var timestamp: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

/// What happened to one object in a save.
public struct PersistentHistoryChange: Sendable {
  /// What kind of change. The numbers are Core Data's.
  public enum ChangeType: Int, Sendable {
    /// The object is new.
    case insert = 0
    /// Properties have other values.
    case update = 1
    /// The object is gone.
    case delete = 2
  }

  /// The change's place in its transaction, from 1.
  public let changeID: Int64
  /// What kind of change.
  public let changeType: ChangeType
  /// Which object.
  public let changedObjectID: ManagedObjectID
  /// For updates, the properties that were changed, relationships too; nil for other changes.
  public let updatedProperties: Set<PropertyDescription>?

  private let tombstoneValues: [TombstoneValue]?

  /// For deletes, the last values of the attributes with `preservesValueInHistoryOnDeletion`, by name and in
  /// the types of `ManagedObject.value(forKey:)`; nil for other changes. An attribute without a value is left out.
  public var tombstone: [String: Any]? {
    guard let tombstoneValues else { return nil }
    let entity = changedObjectID.entity
    return Dictionary(
      tombstoneValues.compactMap { value in
        entity.anyValue(value.value, at: value.slot).map { (entity.property(at: value.slot).name, $0) }
      }, uniquingKeysWith: { $1 })
  }

  init(_ change: HistoryChange, number: Int, _ store: StoreIdentity) {
    let entity = change.entity
    changeID = Int64(number)
    changedObjectID = ManagedObjectID(entity: entity, key: change.key, store: store)
    changeType =
      switch change.kind {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
    updatedProperties =
      changeType == .update ? Set(change.updatedSlots.map { entity.property(at: $0) }) : nil
    tombstoneValues =
      changeType == .delete
      ? change.tombstone.map { TombstoneValue(slot: $0.slot, value: $0.value) } : nil
  }
}

/// What is left of one attribute of a deleted object.
private struct TombstoneValue: Sendable {
  let slot: Int
  let value: Value
}
