import Foundation

/// A custom store in a staged migration. Each step opens it, with the model to migrate to.
///
/// The stage whose handler has still to run is in the metadata, which the class keeps.
struct StagedProgramStore: StagedStore {
  private let description: PersistentStoreDescription
  /// A model with which the metadata can be read.
  private let anyModel: ManagedObjectModel

  init(_ description: PersistentStoreDescription, readBy model: ManagedObjectModel) {
    self.description = PersistentStoreDescription(copying: description)
    self.description.mappingModel = nil
    self.description.mappingModelFinder = nil
    self.description.stagedMigrationManager = nil
    self.description.shouldInferMappingModelAutomatically = true
    self.description.allowsMigrationToFormerModel = true
    self.description.isInStage = true
    anyModel = model
  }

  var path: String { description.url.map { $0.isFileURL ? $0.path : $0.withoutPassword } ?? "" }

  private func withMetadata<Result>(
    _ body: (PersistentStore, [String: any Sendable]) throws -> Result
  ) throws -> Result {
    try StoreClasses.withMetadata(of: description, readBy: anyModel, body)
  }

  func model() throws -> ManagedObjectModel { try withMetadata { try $0.formerModel($1) } }

  func pendingStage() throws -> String? {
    try withMetadata { $1[PersistentStore.MetadataKey.pendingMigrationStage] as? String }
  }

  func migrate(to next: ManagedObjectModel, pendingStage: String?, mayReplaceAll: Bool) throws {
    let step = PersistentStoreDescription(copying: description)
    step.pendingStage = pendingStage
    try opened(step, next) { _ in }
  }

  func note(_ numbers: TransactionNumbers) {}

  func endPendingStage() throws {
    try opened(description, try model()) { try $0.endPendingStage() }
  }

  private func opened(
    _ description: PersistentStoreDescription, _ model: ManagedObjectModel,
    _ body: (PersistentStore) throws -> Void
  ) throws {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let store = try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    try body(store)
  }
}
