import Foundation
import HeartwoodEngine

/// A store of any kind, as the stages of a migration use it.
protocol StagedStore {
  /// Where the store is, for messages.
  var path: String { get }
  /// The model that it was written with last.
  func model() throws -> ManagedObjectModel
  /// Migrates the store as it is inferred, and notes in the same transaction the stage whose handler has still to run after that.
  ///
  /// - Parameter mayReplaceAll: Whether the model may have none of the store's entities: the code of a stage saves what is kept.
  func migrate(to next: ManagedObjectModel, pendingStage: String?, mayReplaceAll: Bool) throws
  /// The stage whose handler has still to run.
  func pendingStage() throws -> String?
  /// Notes that no handler has to run any more.
  func endPendingStage() throws
  /// Notes which transactions a handler has saved.
  func note(_ numbers: TransactionNumbers) throws
}

/// A store on the engine: a folder, or one file.
struct StagedLogStore: StagedStore {
  private let url: URL
  private var options: LogStoreOptions
  /// The rehearsal that collects findings; nil to throw them.
  private let rehearsal: StagedRehearsal?

  init(at url: URL, _ options: LogStoreOptions, rehearsal: StagedRehearsal? = nil) {
    self.url = url
    self.options = options
    self.options.createsStore = false
    self.rehearsal = rehearsal
  }

  var path: String { LogStore.path(of: url) }

  func model() throws -> ManagedObjectModel { try LogStore.model(at: url, options: options) }

  func migrate(to next: ManagedObjectModel, pendingStage: String?, mayReplaceAll: Bool) throws {
    let report = try LogStore.migrate(
      at: url, to: next, options: options, findings: rehearsal?.findings, pendingStage: pendingStage,
      mayReplaceAll: mayReplaceAll)
    if let report { try rehearsal?.add(report) }
  }

  func pendingStage() throws -> String? {
    try LogStore.withEngine(at: url, options: options) { try StoreMetadata(in: $0.snapshot()).pendingStage }
  }

  func note(_ numbers: TransactionNumbers) throws {
    // A store in one file has no history.
    guard !numbers.isEmpty, options.format == nil else { return }
    try LogStore.withEngine(at: url, options: options) { engine in
      try engine.write { transaction in
        var metadata = try StoreMetadata(in: transaction)
        metadata.migrationTransactions.add(numbers)
        try transaction.put(KeySpace.metadataKey, metadata.encoded())
      }
    }
  }

  func endPendingStage() throws {
    try LogStore.withEngine(at: url, options: options, isChanging: true) { engine in
      try engine.write { try LogStore.setPendingStage(nil, in: $0) }
    }
  }
}

extension LogStore {
  /// Writes the stage whose handler has still to run after its step into the metadata, in the transaction of the step.
  static func setPendingStage(_ name: String?, in transaction: WriteTransaction) throws {
    var metadata = try StoreMetadata(in: transaction)
    metadata.values[PersistentStore.MetadataKey.pendingMigrationStage] = name.map { .scalar(.string($0)) }
    try transaction.put(KeySpace.metadataKey, metadata.encoded())
  }
}
