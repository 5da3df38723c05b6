import Foundation

/// The staged migration of one store.
struct StagedMigration {
  private let manager: StagedMigrationManager
  private let store: any StagedStore
  private let part: StagedPart
  private let model: ManagedObjectModel
  private let description: PersistentStoreDescription
  private let log: MigrationLog

  /// - Parameters:
  ///   - store: The store that the description is of.
  ///   - model: The model to migrate to: of a store of a configuration, what it has of it.
  ///   - description: How handlers of stages open it.
  ///   - configuration: The name of the configuration; nil for all entities.
  /// - Throws: If the store's model cannot be read.
  init(
    _ manager: StagedMigrationManager, of store: any StagedStore, to model: ManagedObjectModel,
    _ description: PersistentStoreDescription, configuration: String? = nil
  ) throws {
    self.manager = manager
    self.store = store
    self.model = model
    part = try StagedPart(of: configuration, from: store.model(), to: model, manager.stages)
    self.description = description
    log = MigrationLog(description.migrationLog, progress: description.migrationProgress).about(store.path)
  }

  /// - Throws: `.migrationMissingSourceModel` if no stage has the store's version, `.stagedMigrationBackwardMigration` if the
  ///   coordinator's is an earlier one, `.stagedMigrationModelReference` for a missing model, what handlers throw, and the errors of
  ///   inferred migrations. What earlier steps did stays.
  func run() throws {
    try finishPending()
    guard let first = try firstStage() else { return }
    for place in manager.stages.indices.dropFirst(first) {
      // Later stages are for programs of later versions.
      guard try store.model().versionChecksum != model.versionChecksum else { return }
      switch manager.stages[place] {
      case let stage as CustomMigrationStage: try run(stage)
      case let stage as LightweightMigrationStage: try run(stage)
      default: break
      }
    }
    try step(to: model)
  }

  // MARK: Where to begin

  private var path: String { store.path }

  /// The stages overlap at the version that one leads to and the next begins with. A stage of checksums alone
  /// begins with whatever comes before, and leads to whatever follows.
  ///
  /// - Throws: `.migration` if a version is between two stages, or has two places.
  private func checkOrder() throws {
    var seen: Set<String> = []
    var last: (stage: MigrationStage, version: String?)?
    for stage in manager.stages {
      let checksums = try part.checksums(of: stage)
      let isNext = last.map { $0.version == checksums.first } ?? false
      if let last, !isNext, !last.stage.leadsAnywhere, !stage.leadsAnywhere {
        throw HeartwoodError(
          .migration,
          "the stages for the store at \(path) have a gap: \(last.stage.name) leads to the version \(last.version ?? "none"), and "
            + "\(stage.name) begins with \(checksums.first ?? "none"); add a stage between them")
      }
      for checksum in isNext ? checksums.dropFirst() : checksums[...] where !seen.insert(checksum).inserted {
        throw HeartwoodError(
          .migration,
          "the stages for the store at \(path) are about the version \(checksum) twice, the second time in \(stage.name): "
            + "which step is meant is not known")
      }
      last = (stage, checksums.last)
    }
  }

  /// The place of the first stage that the store needs; nil if it needs none.
  private func firstStage() throws -> Int? {
    let stored = try store.model()
    let checksum = stored.versionChecksum
    guard checksum != model.versionChecksum else { return nil }
    try checkOrder()
    let versions = try manager.stages.enumerated().flatMap { place, stage in
      try part.checksums(of: stage).map { (place, $0) }
    }
    guard let position = versions.lastIndex(where: { $0.1 == checksum }) else {
      if try part.isOfTarget(manager.stages) { return manager.stages.count }
      throw HeartwoodError(
        .migrationMissingSourceModel,
        "the store at \(path) has a version that no stage is about: its checksum is \(checksum); add a stage for it"
      )
    }
    let wanted = versions.firstIndex { $0.1 == model.versionChecksum }
    guard wanted != nil || manager.stages.last?.leadsAnywhere == true else {
      throw HeartwoodError(
        .migrationMissingMappingModel,
        "no stage leads the store at \(path) to the version \(model.versionChecksum) that it is opened with: add one"
      )
    }
    if let wanted, wanted < position {
      throw HeartwoodError(
        .stagedMigrationBackwardMigration,
        "the store at \(path) is of a later version than the model that it is opened with, whose checksum is \(model.versionChecksum), and has the checksum \(checksum): open it with a newer version of the program"
      )
    }
    return versions[position].0
  }

  // MARK: Stages

  private func run(_ stage: LightweightMigrationStage) throws {
    let stored = try store.model()
    let checksums = try stage.versions.map(part.checksum)
    let done = checksums.lastIndex(of: stored.versionChecksum).map { $0 + 1 } ?? 0
    for reference in stage.models.dropFirst(done) {
      // A version without a model is passed on the way to the next one that has one.
      guard reference.hasModel else { continue }
      let next = try part.model(reference.resolvedModel)
      try step(to: next)
      if next.versionChecksum == model.versionChecksum { return }
    }
  }

  private func run(_ stage: CustomMigrationStage) throws {
    let stored = try store.model()
    guard try stored.versionChecksum != part.checksum(of: stage.nextModel) else { return }
    let current = try stage.currentModel.resolved(from: stored)
    try step(to: part.model(current))
    if let handler = stage.willMigrateHandler {
      try log.step("willMigrateHandler of \(stage.name)") { try run(handler, of: stage, current) }
    }
    try step(to: part.model(stage.nextModel.resolvedModel), pending: stage)
    try finish(stage)
  }

  /// Runs a handler with the store open: with a version, of which the store has its part.
  private func run(
    _ handler: CustomMigrationStage.Handler, of stage: CustomMigrationStage, _ version: ManagedObjectModel
  ) throws {
    let configuration = part.isWhole ? nil : try part.configuration(of: version)
    try store.note(
      manager.withContainer(version, description, configuration) { try handler(manager, stage) })
  }

  private func step(to next: ManagedObjectModel, pending stage: CustomMigrationStage? = nil) throws {
    let pending = stage?.didMigrateHandler == nil ? nil : stage?.name
    try store.migrate(to: next, pendingStage: pending, mayReplaceAll: stage != nil)
  }

  // MARK: Handlers after a step

  private func finish(_ stage: CustomMigrationStage) throws {
    guard let handler = stage.didMigrateHandler else {
      // It had one when the step was made.
      return try store.endPendingStage()
    }
    let stored = try store.model()
    let next = try stage.nextModel.resolved(from: stored)
    let checksum = try part.checksum(of: stage.nextModel)
    guard stored.versionChecksum == checksum else {
      throw HeartwoodError(
        .migration,
        "the stage \(stage.name) of the store at \(path) was not finished, and leads to the version \(checksum), while the "
          + "store has \(stored.versionChecksum): its code cannot run any more; restore a backup of before")
    }
    try log.step("didMigrateHandler of \(stage.name)") { try run(handler, of: stage, next) }
    try store.endPendingStage()
  }

  /// Runs the handler of a step whose process ended before it was done.
  private func finishPending() throws {
    guard let name = try store.pendingStage() else { return }
    let stages = manager.stages.compactMap { $0 as? CustomMigrationStage }
    guard let stage = stages.first(where: { $0.name == name }) else {
      throw HeartwoodError(
        .migration,
        "the stage \(name) of the store at \(path) was not finished, and the manager does not have it: add it again"
      )
    }
    try finish(stage)
  }
}

extension StoreMetadata {
  /// - Throws: `.migration` if a stage is not finished.
  func refusePendingStage(_ path: String) throws(HeartwoodError) {
    if let stage = pendingStage { throw .unfinishedStage(stage, path) }
  }

  var pendingStage: String? { values[PersistentStore.MetadataKey.pendingMigrationStage]?.text }

  /// The checksums of the models that the store had before, oldest first.
  var formerModels: [String] {
    get { values[PersistentStore.MetadataKey.formerModelVersionChecksums]?.texts ?? [] }
    set {
      values[PersistentStore.MetadataKey.formerModelVersionChecksums] = MetadataValue(texts: newValue)
    }
  }
}

extension HeartwoodError {
  /// The code of a stage has still to work on the objects as they are.
  static func unfinishedStage(_ stage: String, _ path: String) -> HeartwoodError {
    HeartwoodError(
      .migration,
      "the stage \(stage) of the migration of the store at \(path) was not finished: open the store with a stagedMigrationManager that "
        + "has the stage, or read-only")
  }
}
