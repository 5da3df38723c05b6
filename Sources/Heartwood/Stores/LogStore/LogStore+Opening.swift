import Foundation
import HeartwoodBytes
import HeartwoodEngine
import HeartwoodFiles

/// The options for opening a store.
struct LogStoreOptions: Sendable {
  /// Nothing is written, not even to recover after a crash.
  var isReadOnly = false
  /// Whether a missing store is created. Ignored if `isReadOnly`.
  var createsStore = true
  /// The durability of saves.
  var durability = Durability.full
  /// Whether files are read instead of mapped, so that a failing disk is reported as an error.
  var isBuffered = false
  /// Whether a graph may be created in a store that contains something else.
  var acceptsOtherContent = false
  /// Whether saves are recorded in the history.
  var tracksHistory = true
  /// Which history each save deletes; nil for none.
  var retention: HistoryRetention?
  /// The names of the entities that the store has; nil for all of the model.
  var entityNames: Set<String>?
  /// Seconds to wait for others; nil for the engine's default.
  var timeout: Double?
  /// Named in the history of each save; nil to name none.
  var program: SavingProgram?
  /// The log of migrations.
  var migrationLog = MigrationLog(nil)
  /// The form of a store that is one file; nil for a store in a folder.
  var format: StoreFileFormat?
  /// The engine of a store in memory that has something already.
  var filled: Engine?
  /// The file system of the store.
  var fileSystem: any FileSystem = PosixFileSystem()
  /// Further options of the engine; nil for the defaults.
  var base: EngineOptions?
  /// Gets what the engine does; nil for nothing.
  var events: (@Sendable (EngineEvent) -> Void)?

  var engine: EngineOptions {
    var options = base ?? EngineOptions()
    options.access = isReadOnly ? .readOnly : .readWrite
    options.createsStore = createsStore && !isReadOnly
    options.reading = isBuffered ? .buffered : .mapped
    options.durability = durability
    options.content = .graph
    if let timeout { options.busyTimeout = timeout }
    options.acceptsOtherContent = acceptsOtherContent
    options.events = events ?? options.events
    return options
  }
}

extension LogStore {
  /// Opens the store in a folder, or creates it.
  ///
  /// Stores that are open at the same path in this process share one engine. "/dev/null" is a new store in memory.
  ///
  /// - Parameter check: Sees the store's model, if it is described otherwise than the new one, before the store takes that.
  /// - Throws: `.persistentStoreIncompatibleVersionHash` if the store was written with another model,
  ///   `.persistentStoreIncompatibleSchema` if it contains keys and values of another kind,
  ///   `.persistentStoreOpen` and `.persistentStoreDamaged` with the engine's error as `underlying`; what `check` throws.
  static func open(
    at url: URL, model: ManagedObjectModel, options: LogStoreOptions = LogStoreOptions(),
    replacing check: ((ManagedObjectModel) throws -> Void)? = nil
  ) throws -> LogStore {
    try model.freeze()
    let path = Self.path(of: url)
    return try HeartwoodError.translating("the store at \(path) could not be opened", .persistentStoreOpen) {
      // A file is read without its lock, and read again with it if the opening has something to write: others may have written it.
      if let store = try open(path, model, options, isLocked: false, check) { return store }
      guard let store = try open(path, model, options, isLocked: true, check) else {
        programError("an opening that holds the lock of its file is final")
      }
      return store
    }
  }

  /// - Parameter isLocked: Whether the lock of the file of the store is held until it is open.
  /// - Returns: Nil if the lock would have to be held, as there is something to write.
  private static func open(
    _ path: String, _ model: ManagedObjectModel, _ options: LogStoreOptions, isLocked: Bool,
    _ check: ((ManagedObjectModel) throws -> Void)?
  ) throws -> LogStore? {
    let (engine, file) = try openEngine(path, options, isLocked: isLocked)
    defer { file?.endPreparation() }
    let loaded = engine.newestGeneration
    let schema = try SchemaOpening(engine, path, model, options, check).run()
    let store = LogStore(
      engine, schema, isReadOnly: options.isReadOnly, program: options.program,
      tracksHistory: options.tracksHistory && file == nil, retention: options.retention, file: file,
      entityNames: options.entityNames)
    if let file, !options.isReadOnly, engine.newestGeneration != loaded {
      guard isLocked else {
        try? engine.close()
        return nil
      }
      try file.save(contents: store.newestView(), engine.storeIdentifier)
      file.noteCommitted()
    }
    try store.refuseUntrackedHistory()
    return store
  }

  /// The engine of the store at a path: in its folder, or in memory with what a file has.
  ///
  /// - Parameter isLocked: Whether the lock of the file is held until a save has ended or `endPreparation()` is called.
  static func openEngine(
    _ path: String, _ options: LogStoreOptions, isLocked: Bool = false
  ) throws -> (Engine, StoreFile?) {
    try HeartwoodError.opening(path) {
      if let filled = options.filled { return (filled, nil) }
      if let format = options.format {
        return try StoreFile.load(format, at: path, options, isLocked: isLocked)
      }
      return (try Engine(at: path, options: options.engine, fileSystem: options.fileSystem), nil)
    }
  }

  /// - Throws: `.persistentStoreOpen` if saves are not to be recorded in the history that the store keeps.
  private func refuseUntrackedHistory() throws {
    guard !tracksHistory, !isReadOnly, file == nil, try newestView().keepsHistory else { return }
    try? engine.close()
    throw HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) has a history, in which saves without tracksHistory would be missing: open it with "
        + "tracksHistory, or delete its history first, unless it has exchanged change sets, which are made of it"
    )
  }

  /// The model that a store was written with, as an opening with these options finds it. Changes nothing.
  ///
  /// - Throws: `.persistentStoreOpen` if the store has no model yet or cannot be opened.
  static func model(
    at url: URL, options: LogStoreOptions
  ) throws -> ManagedObjectModel {
    try reading(at: url, options: options) { try model(in: $0.snapshot(), path(of: url)) }
  }

  static func model(in snapshot: Snapshot, _ path: String) throws -> ManagedObjectModel {
    guard let record = try SchemaRecord(in: snapshot) else { throw HeartwoodError.noModel(path) }
    return try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
  }

  static func path(of url: URL) -> String {
    guard url.path != "/dev/null" else { return url.path }
    let given = url.standardizedFileURL
    let (path, folder) = (given.resolvingSymlinksInPath().path, given.deletingLastPathComponent())
    // Of the path of a file that is missing, Foundation resolves no part.
    guard path == given.path, folder.path.count < path.count, !FileManager.default.fileExists(atPath: path)
    else { return path }
    return URL(fileURLWithPath: Self.path(of: folder)).appendingPathComponent(given.lastPathComponent).path
  }
}

extension URL {
  /// Where the store at this URL is: the same for all URLs of the place.
  package var placeOfStore: String { isFileURL ? LogStore.path(of: self) : absoluteString }
}

extension SchemaRecord {
  /// The record of a store; nil if none was written yet.
  init?(in reader: some KeyValueReader) throws {
    guard let bytes = try KeySpace.schemaKey.withUnsafeBytes({ try reader.pointer(of: $0) }) else {
      return nil
    }
    self = try SchemaRecord(decoding: bytes)
  }
}

/// Reconciles a store's schema record with a model: writes the record of a new store, refuses another model, builds and drops indexes.
private struct SchemaOpening {
  private let engine: Engine
  private let path: String
  private let model: ManagedObjectModel
  private let isReadOnly: Bool
  private let acceptsOtherContent: Bool
  private let names: Set<String>?
  private let check: ((ManagedObjectModel) throws -> Void)?

  init(
    _ engine: Engine, _ path: String, _ model: ManagedObjectModel, _ options: LogStoreOptions,
    _ check: ((ManagedObjectModel) throws -> Void)?
  ) {
    self.engine = engine
    self.path = path
    self.model = model
    self.check = check
    isReadOnly = options.isReadOnly
    acceptsOtherContent = options.acceptsOtherContent
    names = options.entityNames
  }

  func run() throws -> StoreSchema {
    let schema = try opened()
    // Marks stores of earlier versions, which wrote no mark.
    if !isReadOnly, engine.content == nil { engine.mark(.graph) }
    return schema
  }

  private func opened() throws -> StoreSchema {
    if let record = try SchemaRecord(in: engine.snapshot()), let schema = try unchanged(record) {
      return schema
    }
    guard !isReadOnly else { throw HeartwoodError.noModel(path) }
    return try engine.write { transaction in
      // Checked again under the writer lock: two processes may open a new store at the same time.
      guard let record = try SchemaRecord(in: transaction) else { return try create(transaction) }
      return try unchanged(record) ?? take(record, transaction)
    }
  }

  /// The schema if nothing has to be written; nil if indexes have to be built or dropped, or if the stored description of the
  /// model is another one: rules, default values and class names are in no version hash.
  private func unchanged(_ record: SchemaRecord) throws -> StoreSchema? {
    var wanted = record
    let differences = record.differences(from: try SchemaRecord(numbering: model, names))
    guard differences.isEmpty else { throw HeartwoodError.incompatible(path, differences) }
    let (new, old) = try wanted.takeIndexes(of: model, names)
    let describesModel = try record.model == model.encoded(names)
    if let check, !describesModel {
      try check(record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) })
    }
    guard !new.isEmpty || !old.isEmpty || !describesModel else { return try StoreSchema(model, record) }
    guard isReadOnly else { return nil }
    // A read-only store uses only those of the model's indexes that exist.
    var usable = record
    usable.indexes.removeAll(where: old.contains)
    return try StoreSchema(model, usable)
  }

  private func create(_ transaction: WriteTransaction) throws -> StoreSchema {
    guard transaction.count == 0 || acceptsOtherContent else { throw HeartwoodError.keysOnly(path) }
    let record = try SchemaRecord(numbering: model, names)
    try transaction.put(KeySpace.schemaKey, record.encoded())
    return try StoreSchema(model, record)
  }

  private func take(_ record: SchemaRecord, _ transaction: WriteTransaction) throws -> StoreSchema {
    var record = record
    let (new, old) = try record.takeIndexes(of: model, names)
    record.model = try model.encoded(names)
    let schema = try StoreSchema(model, record)
    for index in old {
      _ = try transaction.deleteRange(.prefix(KeySpace.head(KeySpace.index, index.number)))
    }
    try build(
      schema.indexes.filter { index in new.contains { $0.number == index.number } }, schema, transaction)
    try transaction.put(KeySpace.schemaKey, record.encoded())
    return schema
  }

  /// - Precondition: The caller holds the writer lock, so that the newest generation has the rows that the transaction sees.
  private func build(
    _ indexes: [StoreIndex], _ schema: StoreSchema, _ transaction: WriteTransaction
  ) throws {
    let view = LogStoreView(try engine.snapshot(), schema)
    var entries = KeyChanges()
    for index in indexes {
      try view.scanRows(of: index.entity.rootEntity, from: nil, reversed: false) { found in
        let covered = try index.entity.rootEntity.entity(numbered: found.row.entityNumber).isKindOf(
          entity: index.entity)
        if covered { entries.add(.put, index, found.row, found.key) }
        if entries.count > 500_000 { try entries.write(to: transaction) }
        return true
      }
      try entries.write(to: transaction)
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

  static func noModel(_ path: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(path) holds no objects yet, nor their model; open it for writing first")
  }
}
