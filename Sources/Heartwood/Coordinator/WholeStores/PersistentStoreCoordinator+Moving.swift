import Foundation
import HeartwoodEngine

/// Moving of whole stores.
extension PersistentStoreCoordinator {
  /// Moves an open store to another folder ("save as"): copies its newest state, its history and its metadata, and opens the copy
  /// in place of the store, which is closed and stays where it is.
  ///
  /// Contexts of this coordinator go on with the copy: it has the same identifier, and its objects are the same. Unlike Core
  /// Data, nothing is loaded into memory. Saves of other coordinators and processes to the former store are not in the copy once
  /// this returns; those of this coordinator's contexts fail while it runs. Move a store in memory while no
  /// context saves to it.
  ///
  /// - Parameters:
  ///   - store: An open store of this coordinator. Its options are those of the copy, unless `options` says otherwise.
  ///   - url: A folder that is missing or empty, or that has an earlier backup of the store or a copy that was not finished; or a file that
  ///     is missing or empty. Its parent must exist. Without effect for a store in memory.
  ///   - options: Options by key for the copy.
  ///   - type: The kind of the copy, which may be another one than the store's. History is copied from `log` to `log` only. To or from a
  ///     kind that the program has registered, each object is copied: the copies have other identifiers, so reset contexts. Those of a store
  ///     that does not execute fetches itself (`IncrementalStore.executesFetches`) keep theirs in kinds that come with this library.
  ///   - progress: Is notified after every thousand objects that are copied so; other copies are made as a whole.
  /// - Returns: The copy. `store` may not be used any more.
  /// - Throws: `.persistentStoreOperation` if the store is not open in this coordinator, or if it cannot be copied to the folder;
  ///   `.persistentStoreDamaged`; `.persistentStoreIncompatibleVersionHash` if another program has migrated the store meanwhile; and the
  ///   reasons why the copy cannot be opened. The store stays open then, unless it was migrated, and a copy that is new is removed.
  /// - Complexity: Linear in the bytes of the store.
  @_disfavoredOverload @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, options: PersistentStore.Options? = nil,
    type: PersistentStore.StoreType = .log, progress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) throws -> PersistentStore {
    try requireOpen(store)
    guard type == .inMemory || !url.isOfMemory else {
      throw HeartwoodError(
        .persistentStoreInvalidType,
        "a store of type \(type.rawValue) needs a place: pass the URL of its folder or file")
    }
    let copy = PersistentStoreDescription(copying: store.settings)
    copy.type = type
    copy.url = url
    copy.createsStore = type == .inMemory
    // A kind that is read only says nothing about the copy.
    if Swift.type(of: store).isReadOnlyClass { copy.isReadOnly = false }
    for (key, value) in options ?? [:] { copy.setOption(value, forKey: key) }
    try copy.checkOptions()
    // A custom store has the entities of all configurations.
    let hasMore = Swift.type(of: store).isWhole && store.configurationName != nil
    if StoreClasses.all[type] != nil || store.log == nil || hasMore {
      return try copyObjects(of: store, to: copy, progress)
    }
    let target = try LogStoreOptions(copy)
    let contents = try store.requireLog()
    // 1. Copy most of it while the store is in use.
    let isCopiedTwice = type == .log && contents.file == nil
    let isNew =
      try isCopiedTwice
      && !Engine.containsStore(at: LogStore.path(of: url), orRest: false, fileSystem: copy.fileSystem)
    // A copy that fails must not stay: the next one could not extend it.
    return try removingCopy(isNew ? copy : nil) {
      if isCopiedTwice { try contents.writeFolder(at: url, copy.fileSystem) }
      // 2. Copy what was saved meanwhile, when this coordinator's contexts cannot save any more.
      do {
        return try exchangePosting(store) {
          try fillRest(of: store, contents, to: copy, target, isCopiedTwice)
        }
      } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
        // The copy has the newest state, whose model is that of the program that has migrated the store.
        throw HeartwoodError(
          .persistentStoreIncompatibleVersionHash,
          "the store at \(store.place) was not copied: another program has migrated it meanwhile; open it again with its new model",
          underlying: error)
      }
    }
  }

  /// - Parameter isCopiedTwice: Whether most of the store is in the copy already.
  private func fillRest(
    of store: PersistentStore, _ contents: LogStore, to copy: PersistentStoreDescription,
    _ target: LogStoreOptions, _ isCopiedTwice: Bool
  ) throws -> PersistentStoreDescription {
    let url = copy.url ?? store.url
    if let format = target.format {
      try contents.write(format, at: url, target)
    } else if copy.type == .inMemory {
      copy.filled = try contents.copyInMemory()
    } else if store.isInMemory || !isCopiedTwice {
      try contents.writeFolder(at: url, copy.fileSystem)
    }
    if !store.isInMemory {
      try store.close()
      if isCopiedTwice { try Self.copyRest(of: store, to: copy) }
    }
    return copy
  }

  /// - Parameter copy: The copy that is removed if `body` throws; nil for nothing.
  private func removingCopy<Result>(_ copy: PersistentStoreDescription?, _ body: () throws -> Result) throws
    -> Result
  {
    do {
      return try body()
    } catch {
      if let copy, let url = copy.url {
        try? Engine.destroy(at: LogStore.path(of: url), busyTimeout: 0, fileSystem: copy.fileSystem)
      }
      throw error
    }
  }

  /// As `exchange(_:_:)`, with the notifications. A store in memory is closed afterwards.
  private func exchangePosting(
    _ store: PersistentStore, _ body: () throws -> PersistentStoreDescription
  ) throws -> PersistentStore {
    postRemoval(of: store)
    let migrated = try exchange(store, body)
    if store.isInMemory { try store.close() }
    post(
      .persistentStoreCoordinatorStoresDidChange,
      StoresChanges(added: [migrated], removed: [store], replaced: [store, migrated]))
    return migrated
  }

  private func copyObjects(
    of store: PersistentStore, to copy: PersistentStoreDescription,
    _ progress: (@Sendable (MigrationProgress) -> Void)?
  ) throws -> PersistentStore {
    let log = MigrationLog(copy.migrationLog, progress: progress ?? copy.migrationProgress)
    return try exchangePosting(store) {
      try ObjectCopying(source: store, model: managedObjectModel, log: log.about(store.place)).fill(copy)
      if !store.isInMemory {
        store.willRemove(from: self)
        try store.close()
      }
      return copy
    }
  }

  private static func copyRest(of store: PersistentStore, to copy: PersistentStoreDescription) throws {
    let options = try LogStoreOptions(store.settings)
    try LogStore.withEngine(at: store.url, options: options) { engine in
      do {
        _ = try engine.backup(to: LogStore.path(of: copy.url ?? store.url), fileSystem: copy.fileSystem)
      } catch let error as EngineError where error.code == .exists {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the store at \(store.place) was not copied: another program migrated it or put another store in its place meanwhile; open it again",
          underlying: error)
      }
    }
  }
}
