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
  /// Whether a context of the store's own coordinator has saved it: those that follow the saves of others are told already.
  public var isOwn = false

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

  func history(
    after number: UInt64, _ selection: HistorySelection, _ body: (HistoryRecord) throws -> Bool
  ) throws {
    var previous = number
    try store.enumerateHistory(after: number) { transaction in
      let record = HistoryRecord(transaction, previous: previous)
      previous = record.number
      return try body(record)
    }
  }

  func newestDeletedHistory() throws -> UInt64 { try store.newestDeletedHistoryNumber() }

  func newestHistoryNumber() throws -> UInt64 { try store.newestHistoryNumber() }

  func historyCount(after number: UInt64) throws -> Int {
    var count = 0
    try store.enumerateHistory(after: number) { _ in
      count += 1
      return true
    }
    return count
  }

  func consumers() throws -> [(name: String, record: ConsumerRecord)] {
    try store.historyConsumers().sorted { $0.key < $1.key }.map { name, bytes in
      (name, try bytes.withUnsafeBytes { try ConsumerRecord(decoding: $0, of: name) })
    }
  }

  func consumer(_ name: String) throws -> ConsumerRecord? {
    try consumers().first { $0.name == name }?.record
  }
}

/// A change of the record of a consumer of the history.
public struct StoreConsumerChange: Sendable {
  /// The name of the consumer.
  public let name: String
  /// The record that it must have; nil for none.
  public let former: Data?
  /// The new record; nil to remove it.
  public let record: Data?

  init(_ name: String, _ former: ConsumerRecord?, _ record: ConsumerRecord?) {
    self.name = name
    self.former = former.map { Data($0.encoded()) }
    self.record = record.map { Data($0.encoded()) }
  }

  /// The error of a change whose consumer has another record.
  public var conflict: HeartwoodError {
    HeartwoodError(
      .persistentStoreSaveConflicts,
      "the consumer \"\(name)\" is at another transaction by now: another process or task has done the same work; roll back, and take the next batch"
    )
  }
}

extension HistoryRecord {
  fileprivate init(_ transaction: StoreHistoryTransaction, previous: UInt64) {
    let program = SavingProgram(bundleID: transaction.bundleID, processID: transaction.processID)
    self.init(
      number: transaction.number, previous: previous, nanoseconds: transaction.timestamp.nanosecondsSince1970,
      author: transaction.author, contextName: transaction.contextName,
      program: program == SavingProgram() ? nil : program,
      changes: transaction.changes.map(HistoryChange.init))
    isOwn = transaction.isOwn
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
    self.init(kind: kind, entity: entity, key: change.objectID.keyInItsStore)
    updatedSlots = change.updatedProperties.compactMap { entity.slot(named: $0.name) }.sorted()
    tombstone = change.tombstone.compactMap { attribute, value in
      guard let slot = entity.slot(named: attribute.name),
        let value = value.value(entity.layout.columns[slot].kind)
      else { return nil }
      return (slot, value)
    }
  }
}

extension IncrementalContents: FollowedStore {
  var newestSave: UInt64? {
    guard let store = try? openStore(), store.hasHistory else { return nil }
    return (try? store.newestHistoryNumber()) ?? 0
  }

  func forEachSave(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws {
    try historyView().history(after: number, body)
  }

  func observeSaves(_ body: @escaping @Sendable () -> Void) -> SaveObservation? {
    let made = try? openStore().observeSaves { [weak self] in
      // Views of the former state are left.
      guard let self else { return }
      _ = self.noteSave()
      body()
    }
    return made.map(SaveObservation.init)
  }
}

extension IncrementalContents: HistorySource {
  func historyView() throws -> any HistoryView { IncrementalHistory(store: try openStore()) }

  func deleteHistory(_ request: PersistentHistoryChangeRequest, isOnly: Bool) throws -> Int {
    let (store, view) = (try openStore(), try historyView())
    guard !store.isReadOnly else { throw store.readOnly }
    let filter = try HistoryFilter(request)
    var (before, last) = (UInt64.max, UInt64?.none)
    if case .token(let token) = request.start {
      before = try position(of: token, in: view, isOnly: isOnly)?.transactionNumber ?? 0
    }
    try view.history(after: try view.newestDeletedHistory()) { record in
      guard record.number < before, try request.mayDelete(record, filter, identity) else { return false }
      last = record.number
      return true
    }
    return try last.map(store.deleteHistory) ?? 0
  }

  func deleteHistory(of numbers: [UInt64]) throws {
    let (store, view) = (try openStore(), try historyView())
    guard !store.isReadOnly else { throw store.readOnly }
    let wanted = Set(numbers)
    var (last, newest) = (UInt64?.none, UInt64?.none)
    try view.history(after: try view.newestDeletedHistory()) { record in
      // The newest one stays.
      if let newest { last = newest }
      newest = record.number
      return wanted.contains(record.number)
    }
    if let last { _ = try store.deleteHistory(through: last) }
  }

  func changeConsumer(
    _ name: String, _ change: (ConsumerRecord?, HistoryEnds) throws -> ConsumerRecord?
  ) throws {
    let view = IncrementalHistory(store: try openStore())
    let former = try view.consumer(name)
    let ends = HistoryEnds(
      newest: try view.newestHistoryNumber(), deleted: try view.newestDeletedHistory(),
      time: Date().nanosecondsSince1970)
    let record = try change(former, ends)
    if record != former { try view.store.changeHistoryConsumers([StoreConsumerChange(name, former, record)]) }
  }

  func save(_ steps: [ConsumerStep]) throws {
    try openStore().changeHistoryConsumers(changes(of: steps))
  }

  /// The changes of records that steps are.
  ///
  /// - Throws: `.persistentStoreSaveConflicts` if a consumer is somewhere else by now.
  func changes(of steps: [ConsumerStep]) throws -> [StoreConsumerChange] {
    guard !steps.isEmpty else { return [] }
    let view = IncrementalHistory(store: try openStore())
    return try steps.map { step in
      guard let former = try view.consumer(step.name) else { throw HeartwoodError.unknownConsumer(step.name) }
      let record = try former.advanced(by: step, at: Date().nanosecondsSince1970)
      return StoreConsumerChange(step.name, former, record)
    }
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
