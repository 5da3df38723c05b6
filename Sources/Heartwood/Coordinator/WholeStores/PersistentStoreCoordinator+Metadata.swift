import Foundation
import HeartwoodFiles

/// Metadata: what a program notes about a store, and what the store says about itself.
extension PersistentStoreCoordinator {
  /// The metadata of an open store: what was set last, saved or not, and the store's own values under the keys of `PersistentStore.MetadataKey`.
  ///
  /// Integers come as `Int`, numbers with a fraction as `Double`.
  ///
  /// - Throws: `.persistentStoreOperation` if the store is not open in this coordinator; the store's error if it cannot be read.
  @_disfavoredOverload
  public func metadata(for store: PersistentStore) throws -> [String: Any] {
    try requireOpen(store)
    return try store.metadata
  }

  /// Replaces the metadata of an open store. It is written with the next save of a context to the store, and lost if there is
  /// none. A save without changed objects writes it too.
  ///
  /// - Parameters:
  ///   - metadata: Strings, Booleans, numbers, dates, data, UUIDs, URLs, and arrays and dictionaries of them; nil for none. The
  ///     store's own values, under the keys of `PersistentStore.MetadataKey`, are left out: they cannot be changed.
  ///   - store: A store of this coordinator.
  /// - Throws: `.persistentStoreOperation` for a value of another type, or if the store is not open in this coordinator;
  ///   `.persistentStoreSave` if it is read-only. What was set before then stays.
  @_disfavoredOverload
  public func setMetadata(_ metadata: [String: Any]?, for store: PersistentStore) throws {
    try requireOpen(store)
    try store.setMetadata(try StoreMetadata(settable: metadata))
  }

  /// The metadata of a store that need not be open. Creates and changes nothing.
  ///
  /// If the program that had it open was killed, they are those that the next opening finds: one for writing recovers what that program has
  /// saved last, and one with the option `.readOnly` may not.
  ///
  /// - Parameters:
  ///   - type: The kind of store. Of a kind that the program has registered, the class reads them.
  ///   - url: The folder of the store.
  ///   - options: Options as for `addPersistentStore(type:configuration:at:options:)`.
  /// - Throws: `.persistentStoreOpen` if the folder has no store of objects, or if it cannot be read.
  @_disfavoredOverload
  public static func metadataForPersistentStore(
    type: PersistentStore.StoreType = .log, at url: URL, options: PersistentStore.Options? = nil
  ) throws -> [String: Any] {
    if StoreClasses.all[type] != nil { return try metadata(ofProgramType: type, url, options) }
    let opening = try LogStoreOptions(reading: type, at: url, options)
    let (record, metadata, identity) = try LogStore.metadata(at: url, options: opening)
    return try metadata.completed(record, identity, type)
  }

  /// Replaces the metadata of a store that need not be open, at once. Neither creates a store nor changes anything else in one.
  ///
  /// - Parameters:
  ///   - metadata: As for `setMetadata(_:for:)`.
  ///   - type: The kind of store. One of a kind that the program has registered is opened with the model that its class keeps, and saved.
  ///   - url: The folder of the store.
  ///   - options: Options as for `addPersistentStore(type:configuration:at:options:)`.
  /// - Throws: `.persistentStoreOperation` for a value of another type; `.persistentStoreOpen` if the folder has no store of
  ///   objects, or if it cannot be opened for writing; `.persistentStoreSave` if it cannot be written.
  @_disfavoredOverload
  public static func setMetadata(
    _ metadata: [String: Any]?, type: PersistentStore.StoreType = .log, at url: URL,
    options: PersistentStore.Options? = nil
  ) throws {
    let settable = try StoreMetadata(settable: metadata)
    if StoreClasses.all[type] != nil { return try setMetadata(metadata, ofProgramType: type, url, options) }
    let opening = try LogStoreOptions(reading: type, at: url, options)
    try LogStore.setMetadata(settable, at: url, options: opening)
  }

  /// Calls `body` with what the class of a program's store reads of it, before it is opened.
  ///
  /// - Parameter model: Any model, with which its class reads the metadata.
  /// - Throws: `.persistentStoreOpen` if there is no store: none is made.
  static func withMetadata<Result>(
    of given: PersistentStoreDescription, readBy model: ManagedObjectModel = ManagedObjectModel(entities: []),
    _ body: (PersistentStore, [String: any Sendable]) throws -> Result
  ) throws -> Result {
    let description = PersistentStoreDescription(copying: given)
    description.isReadOnly = true
    return try StoreClasses.withMetadata(of: description, readBy: model) { store, metadata in
      guard metadata[PersistentStore.MetadataKey.storeUUID] != nil else {
        throw HeartwoodError(
          .persistentStoreOpen, "there is no store of type \(given.type.rawValue) at \(store.place)")
      }
      return try body(store, metadata)
    }
  }

  private static func metadata(
    ofProgramType type: PersistentStore.StoreType, _ url: URL, _ options: PersistentStore.Options?
  ) throws -> [String: Any] {
    try withMetadata(of: PersistentStoreDescription(type: type, url: url, options: options)) { _, metadata in
      var values: [String: Any] = metadata.filter { $0.key != PersistentStore.MetadataKey.modelData }
      values[PersistentStore.MetadataKey.storeType] = type.rawValue
      return values
    }
  }

  /// Opens a custom store with the model that its class keeps, and saves other metadata.
  private static func setMetadata(
    _ metadata: [String: Any]?, ofProgramType type: PersistentStore.StoreType, _ url: URL,
    _ options: PersistentStore.Options?
  ) throws {
    let description = PersistentStoreDescription(type: type, url: url, options: options)
    let model = try withMetadata(of: description) { try $0.formerModel($1) }
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
    defer { try? coordinator.close() }
    try coordinator.setMetadata(metadata, for: store)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait { try context.save() }
  }

  /// - Throws: `.persistentStoreOperation` if the store is not open in this coordinator.
  func requireOpen(_ store: PersistentStore) throws {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the store at \(store.url.path) is not open in this coordinator; add it first")
    }
  }
}

extension _PersistentStoreValues where Self: PersistentStore {
  /// The metadata, as `PersistentStoreCoordinator.metadata(for:)` returns it.
  ///
  /// - Throws: The store's error if it cannot be read.
  @_disfavoredOverload public var metadata: [String: Any] {
    get throws { try allMetadata() }
  }
}

/// The version of a model in a store, as metadata have it.
private struct StoredModelVersion {
  let hashes: [String: Data]
  let identifiers: [String]
  let checksum: String

  /// Of models that were asked for, by their bytes: a model whose hashes are computed is frozen, and lives as long as the process.
  private static let known = Guarded<[[UInt8]: StoredModelVersion]>([:])

  static func of(_ bytes: [UInt8]) throws -> StoredModelVersion {
    if let version = known.withLock({ $0[bytes] }) { return version }
    let model = try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let version = StoredModelVersion(
      hashes: model.entityVersionHashesByName, identifiers: model.versionIdentifiers.sorted(),
      checksum: model.versionChecksum)
    known.withLock { $0[bytes] = version }
    return version
  }
}

extension StoreMetadata {
  /// The metadata that a program may set: without the store's own values.
  init(settable values: [String: Any]?) throws(HeartwoodError) {
    try self.init((values ?? [:]).filter { !PersistentStore.MetadataKey.all.contains($0.key) })
  }

  /// The values with those of the store itself.
  func completed(
    _ record: SchemaRecord, _ identity: StoreIdentity, _ type: PersistentStore.StoreType
  ) throws -> [String: Any] {
    typealias Key = PersistentStore.MetadataKey
    let version = try StoredModelVersion.of(record.model)
    var all = anyValues
    all[Key.storeType] = type.rawValue
    all[Key.storeUUID] = identity.text ?? ""
    all[Key.modelVersionHashes] = version.hashes
    all[Key.modelVersionIdentifiers] = version.identifiers
    all[Key.modelVersionChecksum] = version.checksum
    if record.hasDeferredWork { all[Key.hasDeferredLightweightMigration] = true }
    return all
  }
}
