import Foundation

/// Differences between models that need no migration.
extension LogStore {
  /// Gives a store a model that differs from its own in indexes, defaults or rules only, as opening it would.
  ///
  /// - Returns: A report on the migration; nil if the models do not differ.
  /// - Throws: As `open(at:model:options:)`.
  static func adopt(
    _ model: ManagedObjectModel, at url: URL, options: LogStoreOptions
  ) throws -> MigrationReport? {
    var options = options
    options.createsStore = false
    let start = ContinuousClock.now
    let changes = try InferredChanges(from: Self.model(at: url, options: options), to: model)
    try changes.refuseExchanges(path(of: url))
    var report = MigrationReport()
    report.changes = changes.sentences()
    guard !report.changes.isEmpty else { return nil }
    let firstNew = try metadata(at: url, options: options).0.nextIndexNumber
    let log = options.migrationLog.about(path(of: url))
    for change in report.changes { log.note(change) }
    let store = try log.step("indexes and the model") { try open(at: url, model: model, options: options) }
    defer { try? store.close() }
    report.builtIndexes = try store.newestView().schema.indexes.filter { $0.number >= firstNew }
      .map { "\($0.entity.displayName).\($0.name)" }.sorted()
    report.hasDeferredWork = try store.hasDeferredMigration
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    return report
  }
}
