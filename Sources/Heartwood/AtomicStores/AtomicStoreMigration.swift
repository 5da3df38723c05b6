import Foundation
import HeartwoodBytes
import HeartwoodEngine

/// Migrates a store of a class that derives from ``AtomicStore``: another store of the class writes what becomes of it as one save.
///
/// As it is inferred, what the store has in memory is migrated as a log store is. A mapping model makes a store of the class in memory first.
struct AtomicStoreMigration {
  /// The store, open with the former model if the migration is inferred.
  let source: AtomicStore
  /// A store of the class at the same place that is not open, with the new metadata.
  let target: AtomicStore
  let model: ManagedObjectModel

  func run(_ migration: ProgramStoreMigration) throws {
    try source.migrating {
      switch migration {
      case .inferred(let migration): try run(migration)
      case .mapped(let mapping, let sourceModel): try run(mapping, from: sourceModel)
      }
    }
  }

  private func run(_ migration: InferredMigration) throws {
    let engine = try source.contents.copyInMemory()
    defer { try? engine.close() }
    try engine.write { transaction in
      _ = try InPlaceMigration(
        migration.inferred, transaction, engine.snapshot(), source.contents.identity
      ).run(source.migrationLog)
    }
    var roots: [UInt16: Set<UInt16>] = [:]
    for entity in model.entities {
      guard let former = migration.source(of: entity)?.rootEntity.number else { continue }
      roots[former, default: []].insert(entity.rootEntity.number)
    }
    try write(engine, source, roots)
  }

  private func run(_ mapping: MappingModel, from sourceModel: ManagedObjectModel) throws {
    let isFile = source.url.isFileURL
    let beside = HiddenFolder(beside: source.url, "migrating-").url
    // Beside the store where that is a file or folder of this machine.
    try PrivateFolder.with(
      in: isFile ? beside.deletingLastPathComponent() : FileManager.default.temporaryDirectory,
      prefix: isFile ? beside.lastPathComponent : "HeartwoodMigration-"
    ) { try run(mapping, from: sourceModel, in: $0) }
  }

  /// - Parameter folder: Is not there yet, and is removed.
  private func run(_ mapping: MappingModel, from sourceModel: ManagedObjectModel, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let place = source.settings.migrationDestination(
      at: folder.appending(path: source.url.lastPathComponent))
    // Only its objects and what the class calls them are of interest.
    place.defersWriting = true
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let made = try coordinator.addPersistentStore(with: place)
    defer { try? coordinator.close() }
    guard let made = made as? AtomicStore else {
      programError("the destination of a migration of an atomic store is one of its class")
    }
    try source.copy(by: mapping, from: sourceModel, to: coordinator)
    let engine = try made.contents.copyInMemory()
    defer { try? engine.close() }
    // Its objects are other ones than those of the former store.
    target.storedMetadata[PersistentStore.MetadataKey.storeUUID] = made.identifier
    let roots = model.entities.map(\.rootEntity.number)
    try write(engine, made, Dictionary(roots.map { ($0, [$0]) }) { first, _ in first })
  }

  /// Writes the contents of an engine at the place of the source.
  ///
  /// - Parameters:
  ///   - names: The store that knows what its class calls the objects.
  ///   - roots: By the number of a root entity of that store, those of its entities in the new model.
  private func write(_ engine: Engine, _ names: AtomicStore, _ roots: [UInt16: Set<UInt16>]) throws {
    guard let record = try SchemaRecord(in: engine.snapshot()) else { throw HeartwoodError.damagedSchema }
    let contents = LogStore(
      engine, try StoreSchema(model, record), isReadOnly: true, tracksHistory: false)
    target.prepare(model, contents.identity)
    target.takeReferences(of: names, roots)
    target.begin(contents)
    try AtomicStoreSaving(target).saveAll()
  }
}
