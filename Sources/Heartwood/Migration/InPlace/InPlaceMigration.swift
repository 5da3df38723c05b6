import Foundation
import HeartwoodEngine

/// Migrates a store to another model in one transaction of its engine.
///
/// Rows keep their bytes where only their layout changes: they are converted when they are read. What the new model cannot read that
/// way is rewritten. Readers of older generations are not affected, and a crash leaves the store with the model that it had.
final class InPlaceMigration {
  let changes: InferredChanges
  let transaction: WriteTransaction
  let identity: StoreIdentity
  /// The view of the store's rows, with their former model.
  let view: LogStoreView
  let old: StoreSchema
  var record: SchemaRecord
  let new: StoreSchema
  let numbering: MigratedRecord
  /// Collects what is not allowed, in a rehearsal; nil: it is thrown.
  let findings: MigrationFindings?
  /// The rows with derived attributes that were written again: what is derived later counts them no second time.
  var rewritten: Set<RowAddress> = []
  private(set) var report = MigrationReport()
  private(set) var log = MigrationLog(nil)

  /// - Parameters:
  ///   - changes: the changes from the store's model.
  ///   - snapshot: the newest generation, taken while the caller holds the writer lock.
  ///   - findings: what collects objects that the model does not allow; nil to throw.
  init(
    _ changes: InferredChanges, _ transaction: WriteTransaction, _ snapshot: Snapshot,
    _ identity: StoreIdentity, _ findings: MigrationFindings? = nil
  ) throws {
    self.findings = findings
    self.changes = changes
    self.transaction = transaction
    self.identity = identity
    guard let stored = try SchemaRecord(in: snapshot) else { throw HeartwoodError.damagedSchema }
    let old = try StoreSchema(changes.source, stored)
    let view = LogStoreView(snapshot, old)
    self.old = old
    self.view = view
    numbering = try MigratedRecord(changes, of: old) { try view.rowCount(of: $0) > 0 }
    record = numbering.record
    new = try StoreSchema(changes.destination, record)
  }

  /// Migrates the store.
  ///
  /// - Parameter log: is notified of each step.
  /// - Throws: `.migration` for objects that the new model does not allow, `.migrationConstraintViolation` for values that must be
  ///   unique and are not; nothing is written then.
  func run(_ log: MigrationLog) throws -> MigrationReport {
    let start = ContinuousClock.now
    self.log = log
    report.changes = changes.sentences()
    for change in report.changes { log.note(change) }
    try log.step("mandatory properties") { try checkObjects() }
    try log.step("rows") { try migrateRows() }
    try log.step("new inverses") { try joinRelationships() }
    try log.step("relationships") { try migrateRelationships() }
    try log.step("derived attributes") { try migrateDerivations() }
    try log.step("indexes and uniqueness") { try migrateIndexes() }
    try transaction.put(KeySpace.schemaKey, record.encoded())
    // Rewriting begins again: rows that were done have a former layout now.
    _ = try transaction.deleteRange(.prefix([KeySpace.rewriting]))
    report.hasDeferredWork = record.hasDeferredWork
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    return report
  }

  func note(_ change: (inout MigrationReport) -> Void) { change(&report) }

  /// The source's entity of a row.
  func formerEntity(_ root: EntityDescription, _ row: RowView) throws(HeartwoodError) -> EntityDescription {
    try root.entity(numbered: row.entityNumber)
  }
}

/// The counts of rows that a migration has changed in a store.
public struct MigrationReport: Sendable {
  /// By name of the source's entity, the objects that are deleted because the entity is gone.
  public internal(set) var deletedObjects: [String: Int] = [:]
  /// By name of the destination's entity, the objects whose rows were written again.
  public internal(set) var rewrittenObjects: [String: Int] = [:]
  /// By the names of entity and relationship, the links that were written.
  public internal(set) var rewrittenLinks: [String: Int] = [:]
  /// By the names of entity and relationship, the links to objects that are deleted, or that it may not lead to any more.
  public internal(set) var lostLinks: [String: Int] = [:]
  /// By the names of the source's entity and property, the objects with a value or destinations that no property of the new model gets: of the
  /// rehearsal of a mapping model.
  public internal(set) var lostValues: [String: Int] = [:]
  /// The changes in words.
  public internal(set) var changes: [String] = []
  /// How long it took, in seconds.
  public internal(set) var seconds = 0.0
  /// The names of the indexes that were built.
  public internal(set) var builtIndexes: [String] = []
  /// Whether rows of the former model remain, which are converted when they are read:
  /// `PersistentStoreCoordinator.finishDeferredLightweightMigration()` writes them again.
  public internal(set) var hasDeferredWork = false
  /// The objects that the new model does not allow, if this is the report of a rehearsal.
  public internal(set) var violations: [MigrationViolation] = []
  /// The bytes that are written to the store's segments, of a rehearsal; nil otherwise.
  public internal(set) var bytesWritten: Int64?
  /// The size of the store's segments before, of a rehearsal; nil otherwise.
  public internal(set) var bytesBefore: Int64?
  /// The size of the store's segments after, before any compaction, of a rehearsal; nil otherwise.
  public internal(set) var bytesAfter: Int64?
}
