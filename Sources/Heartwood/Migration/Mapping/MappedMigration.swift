import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Migrates a store by a mapping model: to a store beside it, which then takes its place.
///
/// Others cannot have the store open for writing from the beginning to the end, so that nothing is saved that would be lost. Those that
/// only read it are not disturbed.
struct MappedMigration {
  let url: URL
  let model: ManagedObjectModel
  let description: PersistentStoreDescription
  let options: LogStoreOptions

  private var path: String { LogStore.path(of: url) }

  /// - Throws: `.persistentStoreTimeout` if others have the store open for writing; what the migration manager throws. The store is
  ///   as before then.
  func run(_ mapping: MappingModel) throws {
    let what = "the store at \(path) could not be migrated"
    guard options.format == nil else {
      return try HeartwoodError.translating(what, .migration) { try runInFile(mapping) }
    }
    try HeartwoodError.translating(what, .migration) {
      let start = ContinuousClock.now
      var engine = options.engine
      let timeout = engine.busyTimeout
      engine.busyTimeout = min(timeout, 0.1)
      while true {
        do {
          return try run(mapping, HeldStore(at: path, options: engine, fileSystem: description.fileSystem))
        } catch let error as EngineError where error.code == .locked {
          // Others may have migrated it, and have it open now.
          if (try? hasModel()) == true { return }
          guard (ContinuousClock.now - start) / .seconds(1) < timeout else {
            throw HeartwoodError.engine(error, what, .persistentStoreTimeout)
          }
        }
      }
    }
  }

  private func hasModel() throws -> Bool {
    var reading = options
    reading.isReadOnly = true
    let (record, _, _) = try LogStore.metadata(at: url, options: reading)
    return try record.differences(from: SchemaRecord(numbering: model)).isEmpty
  }

  private func run(_ mapping: MappingModel, _ held: HeldStore) throws {
    defer { held.release() }
    let snapshot = try held.snapshot()
    // Others may have migrated it meanwhile.
    guard let begun = try begin(mapping, snapshot) else { return }
    var metadata = begun.metadata
    metadata.formerStore = try FormerStore(StoreIdentity(uuid: UUID(held.storeIdentifier)), snapshot)
    let beside = HiddenFolder(beside: url, "migrating")
    do {
      // The remains of an interrupted migration.
      try beside.remove(busyTimeout: options.engine.busyTimeout, description.fileSystem)
      try copy(by: mapping, begun.source, to: beside.url)
      try LogStore.withEngine(at: beside.url, options: options) { engine in
        try engine.write { transaction in
          metadata.migrationTransactions = try TransactionNumbers(
            through: transaction.number(KeySpace.newestHistoryKey) ?? 0)
          try transaction.put(KeySpace.metadataKey, metadata.encoded())
        }
        try engine.close()
      }
      try held.replace(byStoreAt: beside.path, busyTimeout: options.engine.busyTimeout)
    } catch {
      for folder in [beside, HiddenFolder(beside: beside.url, "replacing")] {
        try? folder.remove(busyTimeout: 0, description.fileSystem)
      }
      throw error
    }
    try? beside.remove(busyTimeout: 0, description.fileSystem)
  }

  /// Migrates a store of one file: to a store in memory, whose contents are then written to the file as those of one save. The lock of the
  /// file is held meanwhile.
  private func runInFile(_ mapping: MappingModel) throws {
    try LogStore.withEngine(at: url, options: options, isChanging: true) { engine in
      // Others may have migrated it meanwhile.
      guard let (source, metadata) = try begin(mapping, engine.snapshot()) else { return }
      let destination = description.migrationDestination(at: url)
      destination.type = .inMemory
      try manager(from: source).migrate(description.migrationSource, mapping, destination) { made in
        let contents = try made.openStore().engine.snapshot()
        try engine.write { transaction in
          _ = try transaction.deleteRange(KeyRange(lower: nil, upper: nil))
          try contents.scan { key, value in
            if BinaryStoreFile.keeps(key) { try transaction.put(key, value) }
            return true
          }
          try transaction.put(KeySpace.metadataKey, metadata.encoded())
        }
      }
    }
  }

  /// The store's model and the metadata that the new store gets; nil if the store has the new model already.
  private func begin(
    _ mapping: MappingModel, _ snapshot: Snapshot
  ) throws -> (source: ManagedObjectModel, metadata: StoreMetadata)? {
    guard let record = try SchemaRecord(in: snapshot) else { throw HeartwoodError.noModel(path) }
    guard try !record.differences(from: SchemaRecord(numbering: model)).isEmpty else { return nil }
    let source = try record.model.withUnsafeBytes {
      try ManagedObjectModel(decoding: $0, prepare: description.mappingModelFinder?.prepare)
    }
    var metadata = try StoreMetadata(in: snapshot)
    try metadata.refusePendingStage(path)
    try metadata.note(model, after: source, description.allowsMigrationToFormerModel, path)
    // Of URIs of the former store, which the new one does not have.
    metadata.formerEntityNames = [:]
    try mapping.requireEntities(of: source, in: model, path)
    return (source, metadata)
  }

  private func copy(by mapping: MappingModel, _ sourceModel: ManagedObjectModel, to folder: URL) throws {
    let destination = description.migrationDestination(at: folder)
    destination.type = .log
    try manager(from: sourceModel).migrate(description.migrationSource, mapping, destination)
  }

  /// Tries the migration of a store over which there is a layer: makes the new store in another folder, and leaves it there.
  ///
  /// - Parameters:
  ///   - folder: A folder of this machine's file system.
  ///   - rehearsal: Collects the objects that cannot be migrated.
  /// - Returns: A report on the migration that would be made; nil if the store has the model already.
  func rehearse(
    _ mapping: MappingModel, in folder: URL, _ rehearsal: MappedRehearsal
  ) throws -> MigrationReport? {
    let what = "the store at \(path) could not be migrated"
    return try HeartwoodError.translating(what, .migration) { () throws -> MigrationReport? in
      let start = ContinuousClock.now
      let begun = try LogStore.withEngine(at: url, options: options) { try begin(mapping, $0.snapshot()) }
      guard let begun else { return nil }
      let destination = PersistentStoreDescription(url: folder)
      destination.durability = .none
      let manager = manager(from: begun.source)
      manager.usesStoreSpecificMigrationManager = false
      manager.rehearsal = rehearsal
      try manager.migrate(description.migrationSource, mapping, destination)
      var report = rehearsal.report
      report.changes = mapping.sentences(from: begun.source, to: model)
      report.seconds = (ContinuousClock.now - start) / .seconds(1)
      return report
    }
  }

  private func manager(from sourceModel: ManagedObjectModel) -> MigrationManager {
    description.migrationManager(from: sourceModel, to: model, options.migrationLog.about(path))
  }
}

extension PersistentStoreDescription {
  /// The same store, which is only read, with the model that it was written with.
  var migrationSource: PersistentStoreDescription {
    let source = PersistentStoreDescription(copying: self)
    source.shouldMigrateStoreAutomatically = false
    source.isReadOnly = true
    return source
  }

  /// A store of the same kind and options that a mapping model makes at another place.
  func migrationDestination(at place: URL) -> PersistentStoreDescription {
    let destination = PersistentStoreDescription(copying: self)
    destination.shouldMigrateStoreAutomatically = false
    destination.url = place
    // Of the store itself, which exists.
    destination.createsStore = true
    return destination
  }

  /// A manager that migrates the store by a mapping model.
  func migrationManager(
    from sourceModel: ManagedObjectModel, to model: ManagedObjectModel, _ log: MigrationLog
  ) -> MigrationManager {
    let manager =
      mappingModelFinder?.makeManager(sourceModel, model)
      ?? MigrationManager(sourceModel: sourceModel, destinationModel: model)
    manager.log = log
    return manager
  }
}
