import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Migrates a store over which there is a layer in memory, and validates its objects with the new model.
///
/// The store is only read, without locks: others may write to it meanwhile, and what they write is not part of the rehearsal. What a mapping
/// makes is a store in a folder of its own, which is removed at the end. A store of one file is copied there instead of the layer.
struct MigrationRehearsal {
  private let url: URL
  private let model: ManagedObjectModel
  /// Of the model, what the store has.
  private let target: ManagedObjectModel
  private let description: PersistentStoreDescription
  private let options: LogStoreOptions
  /// The layer; nil for a store of one file.
  private let overlay: OverlayFileSystem?
  private let scratch: URL
  /// The class of an incremental store; nil for one that comes with the library.
  private let copiedClass: PersistentStore.Type?

  /// - Parameters:
  ///   - description: How the store would be opened. It is not changed.
  ///   - scratch: Where the folder for what a mapping makes is created.
  /// - Throws: `.persistentStoreOpen` if the files cannot be read.
  init(
    _ given: PersistentStoreDescription, to model: ManagedObjectModel,
    scratch: URL = FileManager.default.temporaryDirectory
  ) throws {
    guard let url = given.place, !url.isOfMemory else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the description has no folder of a store whose migration could be tried: set its url")
    }
    (self.url, self.model, self.scratch) = (url, model, scratch)
    description = PersistentStoreDescription(copying: given)
    if let storeClass = given.registeredClass {
      guard !storeClass.isWhole else {
        throw HeartwoodError(
          .persistentStoreUnsupportedRequestType,
          "the migration of a custom store of type \(given.type.rawValue) cannot be tried: copy the store, and migrate the copy"
        )
      }
      (copiedClass, overlay, target) = (storeClass, nil, model)
      (description.isReadOnly, description.postsRemoteChangeNotifications) = (false, false)
      description.shouldMigrateStoreAutomatically = true
      var options = LogStoreOptions()
      options.migrationLog = MigrationLog(given.migrationLog, progress: given.migrationProgress)
      self.options = options
      return
    }
    copiedClass = nil
    if given.configuration != nil { try model.freeze() }
    target = try model.part(given.storeConfiguration(of: model).storedNames)
    let path = LogStore.path(of: url)
    do {
      let isFile = StoreFileFormat(rawValue: given.type.rawValue) != nil
      if given.fileSystem.isOnThisMachine, !FileManager.default.fileExists(atPath: path) {
        throw EngineError(.notFound, "there is no store at this path", file: path)
      }
      overlay = isFile ? nil : try LogStore.overlay(over: given.fileSystem, path)
    } catch {
      throw HeartwoodError(
        .persistentStoreOpen, "the store at \(path) could not be opened: \(error)", underlying: error)
    }
    if let overlay { description.fileSystem = overlay }
    description.isReadOnly = false
    description.shouldMigrateStoreAutomatically = true
    description.createsStore = false
    description.durability = .none
    description.finishesDeferredMigrationInBackground = false
    description.postsRemoteChangeNotifications = false
    description.shouldAddStoreAsynchronously = false
    var options = try LogStoreOptions(description)
    options.migrationLog = MigrationLog(given.migrationLog, progress: given.migrationProgress)
    self.options = options
  }

  func run() throws -> MigrationReport? {
    if let copiedClass { return try run(copying: copiedClass) }
    guard overlay == nil else { return try runOverLayer() }
    return try PrivateFolder.with(in: scratch) { folder in
      let copy = folder.appending(path: url.lastPathComponent)
      try HeartwoodError.translating(
        "the store at \(LogStore.path(of: url)) could not be opened", .persistentStoreOpen
      ) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: url, to: copy)
      }
      return try MigrationRehearsal(self, of: copy).runOverLayer()
    }
  }

  /// Migrates a copy of an incremental store that its class makes, by opening it.
  private func run(copying storeClass: PersistentStore.Type) throws -> MigrationReport? {
    let decision = try PersistentStoreCoordinator.withMetadata(of: description, readBy: model) {
      try MigrationDecision(of: $0.version($1, model), description, to: model)
    }
    if case .open = decision { return nil }
    let findings = MigrationFindings()
    var report = MigrationReport()
    try storeClass.withCopy(ofStoreAt: url, options: description.options) { copy in
      let started = ContinuousClock.now
      let rehearsal = MigrationRehearsal(self, of: copy)
      do {
        let coordinator = try PersistentStoreCoordinator(
          checkingStoredProperties: model, keepsBytesWithoutTransformers: true)
        try coordinator.addPersistentStore(with: rehearsal.description)
        try coordinator.close()
      } catch let error as HeartwoodError where !error.objectIDs.isEmpty {
        for id in error.objectIDs {
          findings.add(id, error.property, error.code, preventsMigration: true, error.message)
        }
      }
      report.seconds = started.duration(to: .now) / .seconds(1)
      if !findings.preventsMigration { try rehearsal.validate(findings) }
    }
    report.violations = findings.violations
    return report
  }

  /// The rehearsal of a copy of the store that may be changed.
  private init(_ other: MigrationRehearsal, of copy: URL) {
    (url, model, target, options) = (copy, other.model, other.target, other.options)
    (overlay, scratch, copiedClass) = (nil, other.scratch, other.copiedClass)
    description = PersistentStoreDescription(copying: other.description)
    description.url = copy
  }

  /// The bytes of the store as it is now.
  private func size() throws -> Int64 {
    if let overlay { return try overlay.size(LogStore.isSegment) }
    return Int64(try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
  }

  private func runOverLayer() throws -> MigrationReport? {
    let findings = MigrationFindings()
    let before = try size()
    let version = try MigrationDecision.reading(url, description) {
      try StoreVersion(at: url, options, to: target, description.mappingModelFinder?.prepare)
    }
    switch try MigrationDecision(of: version, description, to: target) {
    case .open: return try finished(adopt(), before, findings)
    case .stages(let manager): return try finished(migrate(by: manager, findings), before, findings)
    case .map(let mapping, _, _):
      return try rehearse(mapping, before, findings) ?? finished(adopt(), before, findings)
    case .infer:
      let report = try LogStore.migrate(
        at: url, to: target, options: options, findings: findings,
        allowsFormerModel: description.allowsMigrationToFormerModel)
      return try finished(report ?? adopt(), before, findings)
    }
  }

  /// Adds what was written, and validates the objects.
  private func finished(
    _ report: MigrationReport?, _ before: Int64, _ findings: MigrationFindings
  ) throws -> MigrationReport? {
    guard var report else { return nil }
    report.bytesBefore = before
    report.bytesAfter = try size()
    report.bytesWritten = overlay?.writtenBytes(LogStore.isSegment) ?? report.bytesAfter
    // A staged migration may have ended at an earlier version, and a file with what prevents its migration is not read again.
    let isReadable = description.stagedMigrationManager == nil && overlay != nil
    if isReadable || !findings.preventsMigration { try validate(findings) }
    report.violations = findings.violations
    return report
  }

  private func adopt() throws -> MigrationReport? {
    try LogStore.adopt(target, at: url, options: options)
  }

  // MARK: Stages and mappings

  /// The description with all entities of `target`.
  private var whole: PersistentStoreDescription {
    let whole = PersistentStoreDescription(copying: description)
    whole.configuration = nil
    return whole
  }

  private func migrate(
    by manager: StagedMigrationManager, _ findings: MigrationFindings
  ) throws -> MigrationReport? {
    let rehearsal = StagedRehearsal(findings)
    do {
      let store = StagedLogStore(at: url, options, rehearsal: rehearsal)
      try StagedMigration(
        manager, of: store, to: target, whole, configuration: description.configuration
      ).run()
    } catch is StagedRehearsal.PreventedStep {
      return rehearsal.report
    }
    let adopted = try adopt()
    return rehearsal.report ?? adopted
  }

  private func rehearse(
    _ mapping: MappingModel, _ before: Int64, _ findings: MigrationFindings
  ) throws -> MigrationReport? {
    try PrivateFolder.with(in: scratch) { folder in
      let rehearsal = MappedRehearsal(findings)
      let migration = MappedMigration(url: url, model: target, description: whole, options: options)
      guard var report = try migration.rehearse(mapping, in: folder, rehearsal) else { return nil }
      report.bytesBefore = before
      report.bytesAfter = try Self.size(of: folder)
      report.bytesWritten = report.bytesAfter
      report.violations = findings.violations
      return report
    }
  }

  private static func size(of folder: URL) throws -> Int64 {
    let path = LogStore.path(of: folder)
    return try FileManager.default.contentsOfDirectory(atPath: path).filter(LogStore.isSegment).reduce(0) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\($1)")
      return $0 + Int64(attributes[.size] as? Int ?? 0)
    }
  }

  // MARK: Validation

  private func validate(_ findings: MigrationFindings) throws {
    let description = PersistentStoreDescription(copying: description)
    description.shouldMigrateStoreAutomatically = false
    // A migration needs no transformers either.
    let coordinator = try PersistentStoreCoordinator(
      checkingStoredProperties: model, keepsBytesWithoutTransformers: true)
    try coordinator.addPersistentStore(with: description)
    defer { try? coordinator.close() }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      for entity in model.entities.sorted(by: { $0.number < $1.number })
      where !entity.isAbstract && !entity.compiled.checks.isEmpty {
        let request = FetchRequest<ManagedObject>(entityName: entity.displayName)
        request.includesSubentities = false
        let counter = try options.migrationLog.about(LogStore.path(of: url)).counter(
          "validation of \(entity.displayName)", of: context.count(for: request))
        defer { counter?.finish() }
        try context.enumerate(request, batchSize: 500) { batch in
          for object in batch { validate(object, findings) }
          counter?.advance(by: batch.count)
          context.reset()
        }
      }
    }
  }

  private func validate(_ object: ManagedObject, _ findings: MigrationFindings) {
    for validate in [object.validateForUpdate, object.validateCounts] {
      do {
        try HeartwoodError.uncarried(validate)
      } catch let error as HeartwoodError {
        for error in error.details.isEmpty ? [error] : error.details { note(error, object, findings) }
      } catch {
        note(HeartwoodError.validation(error), object, findings)
      }
    }
  }

  private func note(_ error: HeartwoodError, _ object: ManagedObject, _ findings: MigrationFindings) {
    findings.add(
      object.objectID, error.property, error.code, preventsMigration: false, error.message)
  }
}
