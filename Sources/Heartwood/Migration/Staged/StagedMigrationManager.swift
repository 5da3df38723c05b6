import Foundation
import HeartwoodFiles

/// Migrates a store through versions of its model, from the one that it has to the coordinator's.
///
/// ```swift
/// let stage = CustomMigrationStage(migratingFrom: first, to: second)
/// stage.didMigrateHandler = { manager, _ in
///   guard let context = manager.container?.newBackgroundContext() else { return }
///   // Fill what the second version has.
/// }
/// description.stagedMigrationManager = StagedMigrationManager([stage])
/// ```
///
/// Each step is durable when the next begins. A manager may be used for several stores, one after the other.
public final class StagedMigrationManager: NSObject, Sendable {
  /// The stages in the order of the versions.
  public let stages: [MigrationStage]
  private let open = Guarded<PersistentContainer?>(nil)

  /// A manager of these stages.
  ///
  /// - Parameter stages: The stages in the order of the versions.
  public init(_ stages: [MigrationStage]) { self.stages = stages }

  /// The container that has the store open; nil while no handler runs.
  @_disfavoredOverload public var container: PersistentContainer? { open.withLock { $0 } }

  /// Runs a handler with the store open.
  ///
  /// - Parameter configuration: The configuration of the model that the store has; nil for that of the description.
  /// - Returns: The numbers of the transactions that the body has saved.
  func withContainer(
    _ model: ManagedObjectModel, _ description: PersistentStoreDescription,
    _ configuration: StoreConfiguration?, _ body: () throws -> Void
  ) throws -> TransactionNumbers {
    let container = PersistentContainer(
      name: description.url?.lastPathComponent ?? "", managedObjectModel: model)
    let copy = PersistentStoreDescription(copying: description)
    copy.shouldMigrateStoreAutomatically = false
    copy.stagedMigrationManager = nil
    copy.isInStage = true
    copy.stageConfiguration = configuration
    container.persistentStoreDescriptions = [copy]
    try container.loadPersistentStores()
    let store = container.persistentStoreCoordinator.persistentStores.first?.log
    store?.beginMigrationTransactions()
    open.withLock { $0 = container }
    defer {
      open.withLock { $0 = nil }
      try? container.close()
    }
    try body()
    return store?.savedByMigration ?? TransactionNumbers()
  }
}
