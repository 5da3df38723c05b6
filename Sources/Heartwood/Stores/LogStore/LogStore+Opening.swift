import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// How a store is opened.
struct LogStoreOptions: Sendable {
  /// Nothing is written, not even to recover after an unclean end.
  var isReadOnly = false
  /// Whether a missing store is created. Never where it is open for reading only.
  var createsStore = true
  /// For saves.
  var durability = Durability.full
  /// Whether files are read instead of mapped, so that a failing disk is an error.
  var isBuffered = false
  /// Whether a graph is begun in a store that holds something else.
  var acceptsOtherContent = false
  /// Where the store is.
  var fileSystem: any FileSystem = PosixFileSystem()
  /// What the engine is told besides; nil for the usual.
  var base: EngineOptions?

  init(
    isReadOnly: Bool = false, createsStore: Bool = true, durability: Durability = .full,
    isBuffered: Bool = false
  ) {
    self.isReadOnly = isReadOnly
    self.createsStore = createsStore
    self.durability = durability
    self.isBuffered = isBuffered
  }

  var engine: EngineOptions {
    var options = base ?? EngineOptions()
    options.access = isReadOnly ? .readOnly : .readWrite
    options.createsStore = createsStore && !isReadOnly
    options.reading = isBuffered ? .buffered : .mapped
    options.durability = durability
    options.content = .graph
    options.acceptsOtherContent = acceptsOtherContent
    return options
  }
}

extension LogStore {
  /// Opens the store in a folder, or makes a new one there.
  ///
  /// A path that is open in this process already shares its engine. "/dev/null" is a new store in memory.
  ///
  /// - Throws: `.persistentStoreIncompatibleVersionHash` where the store was written with another model,
  ///   `.persistentStoreOpen` and `.persistentStoreDamaged` with the engine's error underneath.
  static func open(
    at url: URL, model: ManagedObjectModel, options: LogStoreOptions = LogStoreOptions()
  ) throws -> LogStore {
    try model.freeze()
    let path = Self.path(of: url)
    return try HeartwoodError.translating("the store at \(path) could not be opened", .persistentStoreOpen) {
      let engine = try Engine(at: path, options: options.engine, fileSystem: options.fileSystem)
      let schema = try SchemaOpening(engine, model, options).run()
      return LogStore(engine, schema, isReadOnly: options.isReadOnly)
    }
  }

  /// The model that a store was written with.
  static func model(
    at url: URL, options: LogStoreOptions = LogStoreOptions(isReadOnly: true)
  ) throws -> ManagedObjectModel {
    let path = Self.path(of: url)
    return try HeartwoodError.translating("the store at \(path) could not be opened", .persistentStoreOpen) {
      let engine = try Engine(at: path, options: options.engine, fileSystem: options.fileSystem)
      defer { try? engine.close() }
      guard let record = try SchemaRecord(in: try engine.snapshot()) else {
        throw HeartwoodError.noModel(path)
      }
      return try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    }
  }

  private static func path(of url: URL) -> String {
    guard url.path != "/dev/null" else { return url.path }
    return url.standardizedFileURL.resolvingSymlinksInPath().path
  }
}

extension SchemaRecord {
  /// The record of a store; nil where nothing was written to it yet.
  init?(in reader: some KeyValueReader) throws {
    guard let bytes = try KeySpace.schemaKey.withUnsafeBytes({ try reader.pointer(of: $0) }) else {
      return nil
    }
    self = try SchemaRecord(decoding: bytes)
  }
}

/// Brings a store's record and a model together: writes the record of a new store, refuses another
/// model, builds and drops indexes.
private struct SchemaOpening {
  private let engine: Engine
  private let model: ManagedObjectModel
  private let isReadOnly: Bool
  private let acceptsOtherContent: Bool

  init(_ engine: Engine, _ model: ManagedObjectModel, _ options: LogStoreOptions) {
    self.engine = engine
    self.model = model
    isReadOnly = options.isReadOnly
    acceptsOtherContent = options.acceptsOtherContent
  }

  func run() throws -> StoreSchema {
    let schema = try opened()
    // Stores that were made before there were marks.
    if !isReadOnly, engine.content == nil { engine.mark(.graph) }
    return schema
  }

  private func opened() throws -> StoreSchema {
    if let record = try SchemaRecord(in: engine.snapshot()), let schema = try unchanged(record) {
      return schema
    }
    guard !isReadOnly else { throw HeartwoodError.noModel(engine.path) }
    return try engine.write { transaction in
      // Judged again under the writer lock: two may open a new store at the same time.
      guard let record = try SchemaRecord(in: transaction) else { return try create(transaction) }
      return try unchanged(record) ?? take(record, transaction)
    }
  }

  /// The schema where there is nothing to write; nil where indexes have to be built or dropped.
  private func unchanged(_ record: SchemaRecord) throws -> StoreSchema? {
    var wanted = record
    let differences = record.differences(from: try SchemaRecord(numbering: model))
    guard differences.isEmpty else { throw HeartwoodError.incompatible(engine.path, differences) }
    let (new, old) = try wanted.takeIndexes(of: model)
    guard !new.isEmpty || !old.isEmpty else { return try StoreSchema(model, record) }
    guard isReadOnly else { return nil }
    // Reading does without the indexes that are not there.
    var usable = record
    usable.indexes.removeAll(where: old.contains)
    return try StoreSchema(model, usable)
  }

  private func create(_ transaction: WriteTransaction) throws -> StoreSchema {
    guard transaction.count == 0 || acceptsOtherContent else { throw HeartwoodError.keysOnly(engine.path) }
    let record = try SchemaRecord(numbering: model)
    try transaction.put(KeySpace.schemaKey, record.encoded())
    return try StoreSchema(model, record)
  }

  private func take(_ record: SchemaRecord, _ transaction: WriteTransaction) throws -> StoreSchema {
    var record = record
    let (new, old) = try record.takeIndexes(of: model)
    record.model = try model.encoded()
    let schema = try StoreSchema(model, record)
    for index in old {
      _ = try transaction.deleteRange(.prefix(KeySpace.head(KeySpace.index, index.number)))
    }
    try build(
      schema.indexes.filter { index in new.contains { $0.number == index.number } }, schema, transaction)
    try transaction.put(KeySpace.schemaKey, record.encoded())
    return schema
  }

  /// The writer lock is held, so the newest generation has the rows that the transaction sees.
  private func build(
    _ indexes: [StoreIndex], _ schema: StoreSchema, _ transaction: WriteTransaction
  ) throws {
    let view = LogStoreView(try engine.snapshot(), schema)
    for index in indexes {
      try view.scanRows(of: index.entity.rootEntity, from: nil, reversed: false) { found in
        let covered = try index.entity.rootEntity.entity(numbered: found.row.entityNumber).isKindOf(
          entity: index.entity)
        if covered, let entry = IndexKey.entry(index, found.row, found.key) { try transaction.put(entry, []) }
        return true
      }
    }
  }
}

extension HeartwoodError {
  fileprivate static func keysOnly(_ path: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreIncompatibleSchema,
      "the store at \(path) holds keys and values, and no graph: nothing was written; open it with an Engine, or set "
        + "acceptsOtherContent of its PersistentStoreDescription to begin a graph in it")
  }

  fileprivate static func noModel(_ path: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) holds no objects yet, nor their model; open it for writing first")
  }
}
