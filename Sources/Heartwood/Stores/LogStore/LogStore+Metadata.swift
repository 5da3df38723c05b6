import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Metadata that is written with the next save.
struct PendingMetadata: Sendable {
  let bytes: [UInt8]
  /// Distinguishes it from metadata that was set later.
  let number: Int

  /// The bytes to write to a store.
  func bytes(for writer: WriteTransaction) throws -> [UInt8] {
    let metadata = try bytes.withUnsafeBytes { try StoreMetadata(decoding: $0) }
    return try metadata.withOwnValues(of: writer).encoded()
  }
}

/// Metadata that a program has set and no save has written yet.
final class MetadataToSave: Sendable {
  private struct State {
    var pending: PendingMetadata?
    var count = 0
  }
  private let state = Guarded(State())

  var pending: PendingMetadata? { state.withLock { $0.pending } }

  func set(_ metadata: StoreMetadata) {
    let bytes = metadata.encoded()
    state.withLock { state in
      state.count += 1
      state.pending = PendingMetadata(bytes: bytes, number: state.count)
    }
  }

  /// Forgets what was written, unless something else was set meanwhile.
  func noteWritten(_ written: PendingMetadata?) {
    guard let written else { return }
    state.withLock { state in
      if state.pending?.number == written.number { state.pending = nil }
    }
  }
}

extension LogStore {
  /// The metadata that was set last, whether it is saved or not.
  func metadata() throws -> StoreMetadata {
    if let pending = metadataToSave.pending {
      return try pending.bytes.withUnsafeBytes { try StoreMetadata(decoding: $0) }
    }
    return try HeartwoodError.translating("the store's metadata cannot be read") {
      try StoreMetadata(in: engine.snapshot())
    }
  }

  /// Keeps metadata for the next save.
  ///
  /// - Throws: `.persistentStoreSave` if the store is read-only.
  func setMetadata(_ metadata: StoreMetadata) throws {
    try refuseIfReadOnly()
    metadataToSave.set(metadata)
  }

  /// Writes metadata that was set, in a transaction of its own. Does nothing if there is none.
  func savePendingMetadata() throws {
    guard metadataToSave.pending != nil else { return }
    _ = try save(TransactionInfo()) { _ in }
  }

  /// The record of the model and the metadata of a store that need not be open, as an opening with these options finds them. Changes nothing.
  ///
  /// - Throws: `.persistentStoreOpen` if the store has no model yet or cannot be opened.
  static func metadata(
    at url: URL, options: LogStoreOptions
  ) throws -> (SchemaRecord, StoreMetadata, StoreIdentity) {
    try reading(at: url, options: options) { engine in
      let snapshot = try engine.snapshot()
      guard let record = try SchemaRecord(in: snapshot) else { throw HeartwoodError.noModel(path(of: url)) }
      return (record, try StoreMetadata(in: snapshot), StoreIdentity(uuid: UUID(engine.storeIdentifier)))
    }
  }

  /// Replaces the metadata of a store that need not be open. Changes nothing else in it.
  ///
  /// - Throws: `.persistentStoreOpen` if the store has no model yet or cannot be opened, `.persistentStoreSave` if it cannot be written.
  static func setMetadata(_ metadata: StoreMetadata, at url: URL, options: LogStoreOptions) throws {
    var options = options
    options.createsStore = false
    try withEngine(at: url, options: options, isChanging: true) { engine in
      try HeartwoodError.translating("the metadata could not be saved", .persistentStoreSave) {
        try engine.write { transaction in
          guard try SchemaRecord(in: transaction) != nil else { throw HeartwoodError.noModel(path(of: url)) }
          try transaction.put(KeySpace.metadataKey, metadata.withOwnValues(of: transaction).encoded())
        }
      }
    }
  }

  /// Opens the engine of a store without a model, and closes it.
  ///
  /// - Parameter isChanging: Whether `body` changes the store: the lock of a file is held from before it is read then.
  /// - Throws: Errors of the engine that `body` throws are those of the store, unless `isAboutAnother`: then they are thrown as they are.
  static func withEngine<Result>(
    at url: URL, options: LogStoreOptions, isChanging: Bool = false, isAboutAnother: Bool = false,
    _ body: (Engine) throws -> Result
  ) throws -> Result {
    let path = Self.path(of: url)
    func own<Value>(_ body: () throws -> Value) throws -> Value {
      try HeartwoodError.translating("the store at \(path) could not be opened", .persistentStoreOpen, body)
    }
    let (engine, file) = try own { try openEngine(path, options, isLocked: isChanging) }
    var isClosed = false
    defer {
      file?.endPreparation()
      if !isClosed { try? engine.close() }
    }
    let loaded = engine.newestGeneration
    let result = try isAboutAnother ? body(engine) : own { try body(engine) }
    return try own {
      if let file, !options.isReadOnly, engine.newestGeneration != loaded { try save(engine, to: file) }
      isClosed = true
      try engine.close()
      return result
    }
  }

  /// Writes what an engine has to the file of its store, with the model that it has.
  static func save(_ engine: Engine, to file: StoreFile) throws {
    let snapshot = try engine.snapshot()
    guard let record = try SchemaRecord(in: snapshot) else { return }
    let model = try record.model.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    try file.save(contents: LogStoreView(snapshot, try StoreSchema(model, record)), engine.storeIdentifier)
    file.noteCommitted()
  }

  /// A new engine in memory with what this store has, under the same identifier.
  func copyInMemory() throws -> Engine {
    let copy = try Self.emptyInMemory(engine.storeIdentifier)
    let snapshot = try engine.snapshot()
    try copy.write { transaction in
      try snapshot.scan { key, value in
        // Without the history, whose transactions are those of the other engine.
        if BinaryStoreFile.keeps(key) { try transaction.put(key, value) }
        return true
      }
    }
    return copy
  }

  /// A new engine in memory.
  static func emptyInMemory(_ identifier: StoreIdentifier?) throws -> Engine {
    var options = EngineOptions()
    options.content = .graph
    options.newIdentifier = identifier
    return try Engine(at: "/dev/null", options: options)
  }

  /// Writes what this store has to a file that does not exist yet.
  func write(_ format: StoreFileFormat, at url: URL, _ options: LogStoreOptions) throws {
    let file = try StoreFile.toCreate(format, at: Self.path(of: url), options)
    defer { file.endPreparation() }
    try Self.save(engine, to: file)
  }

  /// Writes what this store has to a folder that is missing or empty.
  func writeFolder(at url: URL, _ fileSystem: any FileSystem) throws {
    _ = try HeartwoodError.translating("the store cannot be copied") {
      try engine.backup(to: url.path, fileSystem: fileSystem)
    }
  }
}

extension StoreMetadata {
  /// The same, with what migrations have noted in a store, which programs do not set.
  func withOwnValues(of reader: some KeyValueReader) throws -> StoreMetadata {
    let stored = try StoreMetadata(in: reader)
    var metadata = self
    for key in Self.ownKeys { metadata.values[key] = stored.values[key] }
    return metadata
  }

  /// The metadata of a store; empty if it has none.
  init(in reader: some KeyValueReader) throws {
    guard let bytes = try KeySpace.metadataKey.withUnsafeBytes({ try reader.pointer(of: $0) }) else {
      self.init()
      return
    }
    self = try StoreMetadata(decoding: bytes)
  }
}
