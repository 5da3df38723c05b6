import Foundation

/// A transaction of the history of an ``IncrementalStore``, as its class has read it.
public struct StoreHistoryTransaction: Sendable {
  /// The change of one object.
  public struct Change: Sendable {
    /// The kind of change.
    public var type: PersistentHistoryChange.ChangeType
    /// The object, with its own entity.
    public var objectID: ManagedObjectID
    /// Of an update, the properties that have changed.
    public var updatedProperties: [PropertyDescription]
    /// Of a deletion, the last values of attributes that are kept.
    public var tombstone: [(attribute: AttributeDescription, value: StoredValue)]

    /// A change.
    public init(
      _ type: PersistentHistoryChange.ChangeType, of objectID: ManagedObjectID,
      updatedProperties: [PropertyDescription] = [],
      tombstone: [(attribute: AttributeDescription, value: StoredValue)] = []
    ) {
      self.type = type
      self.objectID = objectID
      self.updatedProperties = updatedProperties
      self.tombstone = tombstone
    }
  }

  /// The number of the transaction: greater than those of earlier ones, and than 0.
  public var number: UInt64
  /// When it was saved.
  public var timestamp: Date
  /// The author of the context that saved.
  public var author: String?
  /// The name of that context.
  public var contextName: String?
  /// The identifier of the program's bundle.
  public var bundleID: String?
  /// The name of the program.
  public var processID: String?
  /// The changes, in their order.
  public var changes: [Change]

  /// A transaction without author and names.
  public init(number: UInt64, timestamp: Date, changes: [Change]) {
    self.number = number
    self.timestamp = timestamp
    self.changes = changes
  }
}

/// The history of an incremental store, as requests read it.
struct IncrementalHistory: HistoryView {
  let store: IncrementalStore

  func history(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws {
    var previous = number
    try store.enumerateHistory(after: number) { transaction in
      let record = HistoryRecord(transaction, previous: previous)
      previous = record.number
      return try body(record)
    }
  }

  func newestDeletedHistory() throws -> UInt64 { 0 }

  func newestHistoryNumber() throws -> UInt64 { try store.newestHistoryNumber() }
}

extension HistoryRecord {
  fileprivate init(_ transaction: StoreHistoryTransaction, previous: UInt64) {
    let program = SavingProgram(bundleID: transaction.bundleID, processID: transaction.processID)
    self.init(
      number: transaction.number, previous: previous, nanoseconds: transaction.timestamp.nanosecondsSince1970,
      author: transaction.author, contextName: transaction.contextName,
      program: program == SavingProgram() ? nil : program,
      changes: transaction.changes.map(HistoryChange.init))
  }
}

extension HistoryChange {
  fileprivate init(_ change: StoreHistoryTransaction.Change) {
    let entity = change.objectID.entity
    let kind: Kind =
      switch change.type {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
    self.init(kind: kind, entity: entity, key: change.objectID.key)
    updatedSlots = change.updatedProperties.compactMap { entity.slot(named: $0.name) }.sorted()
    tombstone = change.tombstone.compactMap { attribute, value in
      guard let slot = entity.slot(named: attribute.name),
        let value = value.value(entity.layout.columns[slot].kind)
      else { return nil }
      return (slot, value)
    }
  }
}

extension IncrementalContents: HistorySource {
  func historyView() throws -> any HistoryView { IncrementalHistory(store: try openStore()) }

  func deleteHistory(_ request: PersistentHistoryChangeRequest, isOnly: Bool) throws -> Int {
    throw try openStore().readOnly
  }

  func currentHistoryToken() -> PersistentHistoryToken {
    // A store that cannot be read says so at the next fetch.
    let view = try? historyView()
    let number = (try? view?.newestHistoryNumber()) ?? 0
    return PersistentHistoryToken(
      storeID: identity.text ?? "", transactionNumber: number, nanoseconds: try? view?.historyTime(of: number)
    )
  }
}
