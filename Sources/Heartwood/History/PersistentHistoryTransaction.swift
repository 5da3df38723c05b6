import Foundation

/// One save in the history.
public struct PersistentHistoryTransaction: Sendable {
  /// The transaction's number. It increases with every transaction of the store, not always by one.
  public let transactionNumber: Int64
  /// The position just after this transaction.
  public private(set) var token: PersistentHistoryToken
  /// When it was committed, by the clock of the committing machine. No order depends on it.
  public let timestamp: Date
  /// The saving context's `transactionAuthor`.
  public let author: String?
  /// The saving context's `name`.
  public let contextName: String?
  /// The identifier of the saving program's bundle; nil if it has none, or if the store's description says that the history does
  /// not name programs.
  @_disfavoredOverload public let bundleID: String?
  /// The name of the saving program; nil if the store's description says that the history does not name programs.
  @_disfavoredOverload public let processID: String?
  /// The changes in the order in which they were written; nil if the result type excludes them.
  public private(set) var changes: [PersistentHistoryChange]?

  /// The identifier of the store.
  public var storeID: String { token.storeID }

  /// Adds the positions in other stores to the token.
  mutating func take(positions: [String: PersistentHistoryToken]) {
    let others = positions.filter { $0.key != storeID }.sorted { $0.key < $1.key }.map(\.value)
    token = PersistentHistoryToken([token] + others) ?? token
  }

  /// The changes as a notification that `ManagedObjectContext.mergeChanges(fromContextDidSave:)` accepts.
  ///
  /// - Precondition: The result type of the request included changes.
  public func objectIDNotification() -> Notification {
    var identifiers = ObjectIDChanges(
      queryGeneration: QueryGenerationToken(generation: token.transactionNumber, storeID: storeID))
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: identifiers.insertedObjectIDs.insert(change.changedObjectID)
      case .update: identifiers.updatedObjectIDs.insert(change.changedObjectID)
      case .delete: identifiers.deletedObjectIDs.insert(change.changedObjectID)
      }
    }
    return Notification(name: .managedObjectContextDidSaveObjectIDs, userInfo: identifiers.userInfo)
  }

  init(
    _ record: HistoryRecord, _ identity: StoreIdentity, withChanges: Bool,
    where isWanted: (PersistentHistoryChange) throws -> Bool = { _ in true }
  ) rethrows {
    transactionNumber = Int64(clamping: record.number)
    token = PersistentHistoryToken(
      storeID: identity.uuid?.uuidString ?? "", transactionNumber: record.number,
      nanoseconds: record.nanoseconds)
    timestamp = record.timestamp
    author = record.author
    contextName = record.contextName
    bundleID = record.program?.bundleID
    processID = record.program?.processID
    changes = nil
    guard withChanges else { return }
    let owner = self
    changes = try record.changes.enumerated().map {
      PersistentHistoryChange($1, number: record.places?[$0] ?? $0 + 1, identity, of: owner)
    }.filter(isWanted)
  }
}

extension HistoryRecord {
  var timestamp: Date { Date(nanosecondsSince1970: nanoseconds) }
}

/// The change of one object by a save.
public struct PersistentHistoryChange: Sendable {
  /// The kind of a change. The raw values are Core Data's.
  public enum ChangeType: Int, Sendable {
    /// The object was inserted.
    case insert = 0
    /// Properties were changed.
    case update = 1
    /// The object was deleted.
    case delete = 2
  }

  /// The change's number in its transaction, from 1.
  public let changeID: Int64
  /// The kind of change.
  public let changeType: ChangeType
  /// The identifier of the changed object.
  public let changedObjectID: ManagedObjectID
  /// For updates, the changed properties, including relationships; nil for other changes.
  public let updatedProperties: Set<PropertyDescription>?

  /// The transaction of the change, without its changes.
  @_disfavoredOverload public let transaction: PersistentHistoryTransaction

  private let keptUpdates: [HistoryChange.KeptUpdate]

  /// For updates, the values that changed attributes with `preservesValueInHistoryOnUpdate` had before, by name and in the types of
  /// `ManagedObject.value(forKey:)`, without attributes that had no value; an element of a composite attribute has its path as its name. Empty for
  /// other changes, and for those that were saved before the attribute said so. Core Data has nothing like it.
  public var formerValues: [String: Any] { keptValues(\.former) }

  /// The values that the same attributes have got, likewise: one that was set to nil is only in `updatedProperties` and `formerValues`.
  public var newValues: [String: Any] { keptValues(\.value) }

  private func keptValues(_ value: KeyPath<HistoryChange.KeptUpdate, Value>) -> [String: Any] {
    let entity = changedObjectID.entity
    let values = keptUpdates.compactMap { kept in
      entity.anyWhole(at: kept.slot) { _ in kept[keyPath: value] }.map {
        (entity.property(at: kept.slot).path, $0)
      }
    }
    return Dictionary(values, uniquingKeysWith: { $1 })
  }

  /// The kept columns of a deleted object, by slot.
  private let tombstoneValues: [Int: Value]?

  /// For deletes, the last values of the attributes with `preservesValueInHistoryOnDeletion`, by name and in the types
  /// of `ManagedObject.value(forKey:)`, without attributes that had no value; nil for other changes.
  @_disfavoredOverload public var tombstone: [String: Any]? {
    let entity = changedObjectID.entity
    return tombstone { entity.anyWhole(at: $0, $1) }
  }

  /// The same in stored form: a composite attribute as a list of its elements in the order of their names.
  package var storedTombstone: [String: _Value]? {
    let entity = changedObjectID.entity
    return tombstone { slot, value in
      let stored = entity.wholeValue(at: slot, value)
      return stored.isNull ? nil : stored
    }
  }

  private func tombstone<Kept>(_ whole: (Int, (Int) -> Value) -> Kept?) -> [String: Kept]? {
    guard let tombstoneValues else { return nil }
    let entity = changedObjectID.entity
    let slots = tombstoneValues.keys.filter { slot in
      // Earlier versions of this library kept no elements of a composite attribute.
      if let elements = entity.compiled.composites[slot] {
        guard elements.contains(where: { tombstoneValues[$0.slot] != nil }) else { return false }
      }
      // Elements are part of the composite attribute that is kept as a whole.
      return !entity.isElement(slot)
        || !entity.compositeSlots(around: slot).contains { tombstoneValues[$0] != nil }
    }
    return Dictionary(
      slots.compactMap { slot in
        whole(slot) { tombstoneValues[$0] ?? .null }.map { (entity.property(at: slot).name, $0) }
      }, uniquingKeysWith: { $1 })
  }

  init(
    _ change: HistoryChange, number: Int, _ store: StoreIdentity, of transaction: PersistentHistoryTransaction
  ) {
    self.transaction = transaction
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
    keptUpdates = change.keptUpdates
    tombstoneValues =
      changeType == .delete
      ? Dictionary(change.tombstone.map { ($0.slot, $0.value) }, uniquingKeysWith: { $1 }) : nil
  }
}

extension [PersistentHistoryChange] {
  /// The identifiers of the changed objects, each once, in the order of their first change.
  var distinctObjectIDs: [ManagedObjectID] {
    var seen: Set<ManagedObjectID> = []
    return map(\.changedObjectID).filter { seen.insert($0).inserted }
  }
}
