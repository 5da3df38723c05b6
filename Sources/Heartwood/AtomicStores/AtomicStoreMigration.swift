import HeartwoodEngine

/// Migrates a store of a class that derives from ``AtomicStore``: what it has in memory is migrated as a log store is, and another store of
/// the class writes that as one save.
struct AtomicStoreMigration {
  private let migration: InferredMigration
  private let source: AtomicStore
  private let target: AtomicStore

  /// - Parameters:
  ///   - source: The store, open with the former model.
  ///   - target: A store of the class at the same place that is not open, with the new metadata.
  init(_ migration: InferredMigration, from source: AtomicStore, to target: AtomicStore) {
    self.migration = migration
    self.source = source
    self.target = target
  }

  func run() throws {
    try source.migrating {
      let engine = try source.contents.copyInMemory()
      defer { try? engine.close() }
      try engine.write { transaction in
        _ = try InPlaceMigration(
          migration.inferred, transaction, engine.snapshot(), source.contents.identity
        ).run(source.migrationLog)
      }
      try write(engine)
    }
  }

  private func write(_ engine: Engine) throws {
    let model = migration.destinationModel
    guard let record = try SchemaRecord(in: engine.snapshot()) else { throw HeartwoodError.damagedSchema }
    let contents = LogStore(
      engine, try StoreSchema(model, record), isReadOnly: true, tracksHistory: false)
    target.prepare(model, contents.identity)
    var roots: [UInt16: Set<UInt16>] = [:]
    for entity in model.entities {
      guard let former = migration.source(of: entity)?.rootEntity.number else { continue }
      roots[former, default: []].insert(entity.rootEntity.number)
    }
    target.takeReferences(of: source, roots)
    target.begin(contents)
    try AtomicStoreSaving(target).saveAll()
  }
}
