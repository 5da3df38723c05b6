import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Removal and replacement of whole stores.
extension PersistentStoreCoordinator {
  /// Removes a store with all its data. The folder stays, so that a new store can be made in it. Does nothing if there is no
  /// folder, or an empty one. A store that is open in this coordinator is closed first, and leaves it as with `remove(_:)`.
  ///
  /// After a crash the store is as before, or the folder contains no store; calling this again removes the rest.
  ///
  /// - Parameters:
  ///   - url: The folder of the store, which may be damaged. `/dev/null` is left alone.
  ///   - type: The kind of store. Of a kind that the program has registered, what is at the file URL of an atomic store is removed; an
  ///     incremental one is removed by its class (`IncrementalStore.destroyStore(at:options:)`), which may refuse.
  ///   - options: `.timeout`: how long to wait for others that have the store open. `.forceDestroy`: removes the store also
  ///     then, with its folder; their next reads and saves may fail.
  ///   - fileSystem: The file system of the folder. Force works on this machine's only.
  /// - Throws: `.persistentStoreTimeout` if another process, or an engine or another coordinator of this one, has the log store open for
  ///   writing; `.persistentStoreOperation` if the folder contains something else. Nothing is changed then. The file of a store of one file is
  ///   removed also while it is open: the next save of who has it open fails.
  public func destroyPersistentStore(
    at url: URL, type: PersistentStore.StoreType = .log, options: PersistentStore.Options? = nil,
    fileSystem: any FileSystem = PosixFileSystem()
  ) throws {
    if let storeClass = StoreClasses.all[type], !storeClass.isWhole {
      return try closingOwnStore({ $0.url == url }) {
        try storeClass.destroyStore(at: url, options: options ?? [:])
      }
    }
    let (isForced, options) = try Self.forcing(options)
    if let storeClass = StoreClasses.all[type] {
      guard url.isFileURL else { throw HeartwoodError.foreign(storeClass, url, "destroyed") }
      guard !url.isOfMemory, FileManager.default.fileExists(atPath: url.path) else { return }
      return try closingOwnStore(at: LogStore.path(of: url)) {
        try Self.changing("the store at \(url.path) could not be destroyed") {
          try FileManager.default.removeItem(at: url)
        }
      }
    }
    var opening = try LogStoreOptions(reading: type, at: url, options)
    opening.fileSystem = fileSystem
    let path = LogStore.path(of: url)
    guard !url.isOfMemory, type != .inMemory else { return }
    let destroyed = opening
    try closingOwnStore(at: path) { try Self.destroy(path, destroyed, isForced) }
  }

  private static func destroy(_ path: String, _ opening: LogStoreOptions, _ isForced: Bool) throws {
    let fileSystem = opening.fileSystem
    try changing("the store at \(path) could not be destroyed") {
      if let format = opening.format {
        return try StoreFile.destroy(format, at: path, opening, isForced: isForced)
      }
      if isForced, fileSystem.isOnThisMachine {
        guard try Engine.containsStore(at: path, fileSystem: fileSystem) else { return }
        // Under another name first: who opens the store meanwhile finds none.
        let aside = HiddenFolder(beside: URL(fileURLWithPath: path), "destroyed-\(UUID().uuidString)").path
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        // Who had opened it already may still make a file in it.
        for _ in 0..<10 where FileManager.default.fileExists(atPath: aside) {
          try? FileManager.default.removeItem(atPath: aside)
        }
        // Folders that a killed call has left.
        HiddenFolder.removeAll(beside: URL(fileURLWithPath: path), "destroyed-")
      } else {
        try Engine.destroy(
          at: path, busyTimeout: opening.engine.busyTimeout, fileSystem: fileSystem)
      }
    }
  }

  /// Replaces a store by a copy of another one: its newest state, its history and its metadata. The copy has the identifier of
  /// the other, and its objects have the same URIs. This is also the right way to copy a store, to a folder that is missing or
  /// empty.
  ///
  /// A destination that is open in this coordinator is closed first, and leaves it as with `remove(_:)`: add it again. The source may be in
  /// use. After a crash the folder contains its former store or the whole copy. A hidden folder beside it
  /// may be left then, which the next replacement uses and removes.
  ///
  /// Stores of a kind that the program has registered are replaced by their class (`IncrementalStore.replaceStore(at:options:from:sourceOptions:)`), which
  /// may refuse. A source of another kind, whose class `PersistentStore.recognises(_:)` it, is copied object by object with the model that it was written with.
  ///
  /// - Parameters:
  ///   - destination: The folder to replace; a missing or empty one is filled. Its parent must exist.
  ///   - destinationOptions: `.timeout`: how long to wait for others that have that store open.
  ///   - source: The folder of the store to copy. It is opened for writing, so that saves which an unclean end left to be
  ///     recovered are copied too, unless the options say `.readOnly`.
  ///   - sourceOptions: Options for opening the source.
  ///   - token: A position in the history of the destination, such as the newest one of a backup of it that is the source: the destination is
  ///     replaced only if nothing was saved to it since. That is decided once others cannot save to it any more. Nil to replace it in
  ///     whatever state it is.
  ///   - type: The kind of both stores.
  ///   - fileSystem: The file system of both folders.
  /// - Throws: `.persistentStoreSave` if something was saved to the destination after `token`, or if that is of another store.
  ///   `.persistentStoreTimeout` if another process, or an engine or another coordinator of this one, has the destination open
  ///   for writing; `.persistentStoreOperation` if it contains something else or is the source, or if the file system cannot
  ///   exchange folders in one step (destroy the destination first then); `.persistentStoreOpen` if there is no source;
  ///   `.persistentStoreDamaged`. The destination is as before then. A file is replaced also while it is open.
  /// - Complexity: Linear in the bytes of the source.
  public func replacePersistentStore(
    at destination: URL, destinationOptions: PersistentStore.Options? = nil,
    withPersistentStoreFrom source: URL, sourceOptions: PersistentStore.Options? = nil,
    ifUnchangedSince token: PersistentHistoryToken? = nil,
    type: PersistentStore.StoreType = .log, fileSystem: any FileSystem = PosixFileSystem()
  ) throws {
    if let storeClass = StoreClasses.all[type] {
      guard !storeClass.isWhole, token == nil else {
        throw HeartwoodError.foreign(storeClass, destination, "replaced")
      }
      return try closingOwnStore({ $0.url == destination }) {
        try storeClass.replaceStore(
          at: destination, options: destinationOptions ?? [:], from: source,
          sourceOptions: sourceOptions ?? [:])
      }
    }
    var target = try LogStoreOptions(reading: type, at: destination, destinationOptions)
    target.fileSystem = fileSystem
    var origin = try LogStoreOptions(reading: type, at: source, sourceOptions)
    origin.createsStore = false
    origin.fileSystem = fileSystem
    if let known = StoreClasses.recognising(source) {
      return try replacePersistentStore(
        at: destination, destinationOptions, withStoreOf: known.type, source, sourceOptions,
        ifUnchangedSince: token, type, fileSystem)
    }
    let path = LogStore.path(of: destination)
    guard path != LogStore.path(of: source) else {
      throw HeartwoodError(.persistentStoreOperation, "the store at \(path) cannot replace itself")
    }
    let (opening, sourceOpening) = (target, origin)
    try closingOwnStore(at: path) {
      try Self.replace(path, opening, with: source, sourceOpening, ifUnchangedSince: token)
    }
  }

  /// Replaces a store by what one of a program's kind has: by a copy that is made beside it first.
  private func replacePersistentStore(
    at destination: URL, _ destinationOptions: PersistentStore.Options?,
    withStoreOf kind: PersistentStore.StoreType, _ source: URL, _ sourceOptions: PersistentStore.Options?,
    ifUnchangedSince token: PersistentHistoryToken?, _ type: PersistentStore.StoreType,
    _ fileSystem: any FileSystem
  ) throws {
    let model = try Self.managedObjectModel(ofStoreAt: source, options: sourceOptions)
    let coordinator = try PersistentStoreCoordinator(
      checkingStoredProperties: model, keepsBytesWithoutTransformers: true)
    let store = try coordinator.addPersistentStore(type: kind, at: source, options: sourceOptions)
    defer { try? coordinator.close() }
    let beside = HiddenFolder(beside: destination, "copied-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: beside.url) }
    let copy = PersistentStoreDescription(type: type, url: beside.url, options: nil)
    copy.fileSystem = fileSystem
    try ObjectCopying(source: store, model: model, log: MigrationLog(nil).about(store.place)).fill(copy)
    try replacePersistentStore(
      at: destination, destinationOptions: destinationOptions, withPersistentStoreFrom: beside.url,
      ifUnchangedSince: token, type: type, fileSystem: fileSystem)
  }

  private static func replace(
    _ path: String, _ target: LogStoreOptions, with source: URL, _ origin: LogStoreOptions,
    ifUnchangedSince token: PersistentHistoryToken?
  ) throws {
    let fileSystem = target.fileSystem
    try changing("the store at \(path) could not be replaced") {
      if let format = target.format {
        guard token == nil else {
          throw HeartwoodError(
            .persistentStoreUnsupportedRequestType,
            "the store at \(path) is of type \(format.rawValue), which has no history, and no token of one; nothing was changed"
          )
        }
        let file = try StoreFile.replacing(format, at: path, target)
        defer { file.endPreparation() }
        return try LogStore.withEngine(at: source, options: origin, isAboutAnother: true) {
          try LogStore.save($0, to: file)
        }
      }
      try LogStore.withEngine(at: source, options: origin, isAboutAnother: true) { engine in
        let temporary = HiddenFolder(beside: URL(fileURLWithPath: path), "replacing").path
        let mayRemove = fileSystem.isOnThisMachine
        do {
          _ = try engine.replaceStore(
            at: path, through: temporary, busyTimeout: target.engine.busyTimeout, fileSystem: fileSystem,
            after: token.map { token in { try token.requireNewest(in: $0, path) } })
          if mayRemove { try? FileManager.default.removeItem(atPath: temporary) }
        } catch {
          // A folder without a store: one that another replacement makes is in use.
          if mayRemove, (try? Engine.containsStore(at: temporary, fileSystem: fileSystem)) == false,
            (error as? EngineError)?.code != .locked
          {
            try? FileManager.default.removeItem(atPath: temporary)
          }
          throw error
        }
      }
    }
  }

  /// Changes what is at a path. A store of this coordinator there is closed first; if the change throws, it is opened again.
  private func closingOwnStore(at path: String, _ change: () throws -> Void) throws {
    try closingOwnStore(
      { !$0.isInMemory && $0.url.isFileURL && LogStore.path(of: $0.url) == path }, change)
  }

  private func closingOwnStore(
    _ isThere: (PersistentStore) -> Bool, _ change: () throws -> Void
  ) throws {
    guard let store = persistentStores.first(where: isThere) else { return try change() }
    let removed = StoresChanges(removed: [store])
    postRemoval(of: store)
    store.willRemove(from: self)
    do {
      try removing(store) {
        // Changes that it has not written are lost with it.
        try? store.close()
        try change()
      }
    } catch {
      let opened = persistentStores.first(where: isThere)
      let changes = opened.map { StoresChanges(added: [$0], removed: [store], replaced: [store, $0]) }
      post(.persistentStoreCoordinatorStoresDidChange, changes ?? removed)
      throw error
    }
    post(.persistentStoreCoordinatorStoresDidChange, removed)
  }

  /// Takes the option to force out of others.
  private static func forcing(
    _ options: PersistentStore.Options?
  ) throws(HeartwoodError) -> (Bool, PersistentStore.Options?) {
    guard let force = options?[.forceDestroy] else { return (false, options) }
    guard let isForced = force as? Bool else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the option \(PersistentStore.OptionKey.forceDestroy) takes a Bool, not \(type(of: force)) \(force)")
    }
    return (isForced, options?.filter { $0.key != .forceDestroy })
  }

  /// Translates the errors of an operation on a whole store.
  private static func changing(_ what: String, _ body: () throws -> Void) throws {
    do {
      try HeartwoodError.translating(what) { try body() }
    } catch let error as HeartwoodError where (error.underlying as? EngineError)?.code == .locked {
      throw HeartwoodError(.persistentStoreTimeout, error.message, underlying: error.underlying)
    } catch let error as CocoaError {
      throw HeartwoodError(
        .persistentStoreOperation, "\(what): \(error.localizedDescription)", underlying: error)
    }
  }
}

extension PersistentHistoryToken {
  /// - Throws: `.persistentStoreSave` if the store is another one, or something was saved to it after this position.
  fileprivate func requireNewest(in store: HeldStore, _ path: String) throws {
    guard StoreIdentity(uuid: UUID(store.storeIdentifier)).text == storeID else {
      throw HeartwoodError(
        .persistentStoreSave,
        "the store at \(path) is not replaced: the token is of another store, \(storeID)")
    }
    let newest = try store.snapshot().number(KeySpace.newestHistoryKey)
    guard newest ?? 0 > transactionNumber else { return }
    throw HeartwoodError(
      .persistentStoreSave,
      "the store at \(path) is not replaced: it was saved after transaction \(transactionNumber), and what was saved would be lost"
    )
  }
}
