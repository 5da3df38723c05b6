import Foundation
import HeartwoodFiles

/// Migrates a store over which there is a layer in memory, and validates its objects with the new model.
///
/// The store is only read, without locks: others may write to it meanwhile, and what they write is not part of the rehearsal.
struct MigrationRehearsal {
  private let url: URL
  private let model: ManagedObjectModel
  private let options: LogStoreOptions
  private let overlay: OverlayFileSystem

  /// - Throws: `.persistentStoreOpen` if the files cannot be read.
  init(at url: URL, to model: ManagedObjectModel, _ options: LogStoreOptions) throws {
    self.url = url
    self.model = model
    let path = LogStore.path(of: url)
    do {
      overlay = try Self.overlay(options.fileSystem, path)
    } catch {
      throw HeartwoodError(
        .persistentStoreOpen, "the store at \(path) could not be opened: \(error)", underlying: error)
    }
    var options = options
    options.fileSystem = overlay
    options.isReadOnly = false
    options.createsStore = false
    options.durability = .none
    self.options = options
  }

  func run() throws -> MigrationReport? {
    let findings = MigrationFindings()
    let before = try overlay.size(Self.isSegment)
    guard
      var report = try LogStore.migrate(at: url, to: model, options: options, findings: findings)
        ?? LogStore.adopt(model, at: url, options: options)
    else { return nil }
    report.bytesBefore = before
    report.bytesWritten = overlay.writtenBytes(Self.isSegment)
    report.bytesAfter = try overlay.size(Self.isSegment)
    try validate(findings)
    report.violations = findings.violations
    return report
  }

  // MARK: The layer in memory

  private static func isSegment(_ name: String) -> Bool { isLog(name) || name.hasSuffix(".pages") }
  private static func isLog(_ name: String) -> Bool { name.hasSuffix(".log") }

  /// The files as they are at one time: while they are opened, others may change the anchor and unlink files that it named.
  private static func overlay(_ base: any FileSystem, _ path: String) throws -> OverlayFileSystem {
    let directory = try base.openDirectory(path)
    for _ in 0..<mostAttempts {
      let before = try? OverlayFileSystem.bytes(of: "anchor", in: directory)
      do {
        let overlay = try files(base, path, directory)
        if (try? OverlayFileSystem.bytes(of: "anchor", in: directory)) == before { return overlay }
      } catch {
        guard (error as? FileSystemError)?.code == .notFound else { throw error }
      }
    }
    throw FileSystemError(.notFound, .open, path: path)
  }

  private static func files(
    _ base: any FileSystem, _ path: String, _ directory: any Directory
  ) throws -> OverlayFileSystem {
    // The last segments may still grow. Their names sort by number.
    let final = Set(try directory.entries().filter(isLog).dropLast(2))
    return try OverlayFileSystem(
      base, directory: path, isSeen: { isSegment($0) || $0.hasPrefix("anchor") }, isFinal: final.contains)
  }

  private static let mostAttempts = 20

  // MARK: Validation

  private func validate(_ findings: MigrationFindings) throws {
    let description = PersistentStoreDescription(url: url)
    description.fileSystem = overlay
    description.engineOptions = options.base
    description.createsStore = false
    description.shouldMigrateStoreAutomatically = false
    let coordinator = try PersistentStoreCoordinator(checking: model)
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
        try validate()
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
