import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodBytes

/// The stores of a model.
public typealias NSPersistentStoreCoordinator = PersistentStoreCoordinator

extension PersistentStoreCoordinator {
  /// A coordinator without stores.
  ///
  /// - Precondition: The model is valid.
  public convenience init(managedObjectModel model: NSManagedObjectModel) {
    model.bindClasses()
    model.errorTranslator = { $0.cocoaError(in: $1 as? NSManagedObjectContext) }
    do {
      try self.init(checkingStoredProperties: model)
    } catch {
      programError("\(error)")
    }
  }

  /// Opens a store.
  ///
  /// - Parameters:
  ///   - storeType: The kind, such as `NSSQLiteStoreType`, which is a store of Heartwood's engine.
  ///   - configuration: The configuration whose entities the store has; nil for all.
  ///   - storeURL: The place.
  ///   - options: Options by their names, such as `NSMigratePersistentStoresAutomaticallyOption`.
  /// - Returns: The store.
  /// - Throws: The store's error if it cannot be opened.
  @discardableResult
  public func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try asCocoa {
      try addStore(
        PersistentStoreDescription.make(
          type: storeType, configuration: configuration, url: storeURL, options: options), options)
    }
  }

  /// Opens a store, as `addPersistentStore(ofType:configurationName:at:options:)`.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Opens a store without options, as `addPersistentStore(ofType:configurationName:at:options:)`.
  @discardableResult
  public func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: nil)
  }

  /// Opens a store, in the background if its description says so.
  public func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let (sentDescription, sentBlock) = (SentBlock(storeDescription), SentBlock(block))
    @Sendable func open() {
      let description = sentDescription.block
      do {
        let converted = try asCocoa { try description.converted() }
        if let url = converted.url, url.isFileURL, !url.isOfMemory {
          try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        try asCocoa { _ = try addStore(converted, description.options) }
        sentBlock.block(description, nil)
      } catch {
        sentBlock.block(description, error)
      }
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global().async { open() }
    } else {
      open()
    }
  }

  /// The metadata of a store.
  public func metadata(for store: NSPersistentStore) -> [String: Any] {
    StoreTypes.named((try? anyMetadata(for: store)) ?? [:])
  }

  /// Sets the metadata of a store, which the next save writes.
  ///
  /// Where they cannot be set, as in a store that is open read-only, they stay as they were, and the next save of a context throws the reason.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    do {
      try setAnyMetadata(metadata, for: store)
    } catch {
      refuseAtNextSave(error)
    }
  }

  /// The metadata of a store that need not be open.
  ///
  /// - Throws: The store's error if it cannot be read.
  public static func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try asCocoa {
      try PersistentStoreDescription.check(options, type: storeType, url: url)
      if let type = StoreTypes.programClass(storeType) {
        return try type.metadataForPersistentStore(with: url)
      }
      let (kind, place) = (StoreTypes.kind(storeType), AppleStores.place(url))
      guard kind == .log, place == url, AppleStores.isFile(url) else {
        return StoreTypes.named(try anyMetadata(of: kind, at: kind == .log ? place : url))
      }
      AppleSQLiteStore.register()
      return StoreTypes.named(try anyMetadata(of: .appleSQLite, at: url))
    }
  }

  /// Sets the metadata of a store that is not open.
  ///
  /// - Throws: The store's error if it cannot be written.
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try asCocoa { try PersistentStoreDescription.check(options, type: storeType, url: url) }
    if let type = StoreTypes.programClass(storeType) {
      return try type.setMetadata(metadata, forPersistentStoreAt: url)
    }
    let kind = StoreTypes.kind(storeType)
    try setAnyMetadata(metadata, of: kind, at: kind == .log ? AppleStores.place(url) : url)
  }

  /// The metadata of a store that need not be open, as `metadataForPersistentStore(ofType:at:options:)`.
  ///
  /// - Parameter storeType: The kind; nil for any that the store turns out to have.
  @available(*, deprecated, message: "Use metadataForPersistentStore(ofType:at:options:)")
  @_disfavoredOverload
  public static func metadataForPersistentStore(ofType storeType: String?, at url: URL) throws -> [String:
    Any]
  {
    try metadataForPersistentStore(ofType: try StoreTypes.found(storeType, at: url), at: url, options: nil)
  }

  /// Sets the metadata of a store that is not open, as `setMetadata(_:forPersistentStoreOfType:at:options:)`.
  ///
  /// - Parameter storeType: The kind; nil for any that the store turns out to have.
  @available(*, deprecated, message: "Use setMetadata(_:forPersistentStoreOfType:at:options:)")
  @_disfavoredOverload
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
  ) throws {
    let type = try StoreTypes.found(storeType, at: url)
    try setMetadata(metadata, forPersistentStoreOfType: type, at: url, options: nil)
  }

  /// Deletes a store that is not open, with all its files.
  ///
  /// An empty folder stays at the place of a store of `NSSQLiteStoreType`, as an empty database does on Apple's systems.
  ///
  /// - Throws: The store's error if it cannot be deleted.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    let settings = try asCocoa { try PersistentStoreDescription.settings(options, type: storeType, url: url) }
    let (kind, place) = (StoreTypes.kind(storeType), AppleStores.place(url))
    if kind == .log, place != url || AppleStores.isFile(url) {
      // Both, so that the next opening does not bring back what was deleted.
      if place != url { try destroyAnyStore(at: place, type: kind, options: settings) }
      try AppleStores.remove(url)
    } else if FileManager.default.fileExists(atPath: url.path) {
      try destroyAnyStore(at: url, type: kind, options: settings)
    }
    // Core Data leaves an empty database, also where there was none, whose file many programs delete then.
    guard kind == .log, !url.isOfMemory else { return }
    if !FileManager.default.fileExists(atPath: url.path) {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }
  }

  /// Deletes a store that is not open, as `destroyPersistentStore(at:ofType:options:)`.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws { try destroyPersistentStore(at: url, ofType: type.rawValue, options: options) }

  /// Replaces a store by a copy of another one.
  ///
  /// - Throws: The store's error if it cannot be replaced.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    let settings = try asCocoa {
      try PersistentStoreDescription.check(sourceOptions, type: storeType, url: sourceURL)
      return try PersistentStoreDescription.settings(destinationOptions, type: storeType, url: destinationURL)
        .filter { $0.key == .timeout }
    }
    AppleSQLiteStore.register()
    try replaceAnyStore(
      at: AppleStores.isFile(destinationURL)
        ? AppleStores.copy(ofStoreAt: destinationURL) : AppleStores.place(destinationURL),
      from: AppleStores.place(sourceURL), type: StoreTypes.kind(storeType), options: settings)
  }

  /// Replaces a store by a copy of another one, as the method above.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: type.rawValue)
  }

  /// Moves the content of an open store to another place, and opens it there.
  ///
  /// - Returns: The store at the new place.
  /// - Throws: The store's error if it cannot be written.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> NSPersistentStore {
    try asCocoa { try PersistentStoreDescription.check(options, type: storeType, url: storeURL) }
    return try migrateAnyStore(store, to: storeURL, type: StoreTypes.kind(storeType))
  }

  /// The newest position in the history of each store; nil while none is open.
  ///
  /// - Parameter stores: Stores of the coordinator; nil or an empty list for all.
  public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
    let stores: [NSPersistentStore]? = stores?.compactMap { $0 as? NSPersistentStore }
    return currentPersistentHistoryToken(fromStores: stores)
  }

  /// Runs a block on the coordinator's queue, and returns at once.
  public func perform(_ block: @escaping () -> Void) {
    let sent = SentBlock(block)
    enqueueBlock { sent.block() }
  }

  /// Runs a block on the coordinator's queue, and waits for its result.
  public nonisolated(nonsending) func perform<Result, Failure: Error>(
    _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let sent = SentBlock(block)
    let result = await performBlock {
      SentBlock(Swift.Result { () throws(Failure) in try sent.block() })
    }
    return try result.block.get()
  }

  /// Runs a block on the coordinator's queue, and waits for it. As a function without a generic result it can be passed on as a value.
  @_disfavoredOverload
  public func performAndWait(_ block: () -> Void) { waitForBlock(block) }

  /// Moves the content of an open store to another place, as `migratePersistentStore(_:to:options:withType:)`.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  /// The metadata of a store that need not be open, as `metadataForPersistentStore(ofType:at:options:)`.
  public static func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: url, options: options)
  }

  /// Sets the metadata of a store that is not open, as `setMetadata(_:forPersistentStoreOfType:at:options:)`.
  public static func setMetadata(
    _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: url, options: options)
  }

  /// Does a part of `finishDeferredLightweightMigration()`, as the method that says whether work remains.
  @_disfavoredOverload
  public func finishDeferredLightweightMigrationTask() throws {
    let _: Bool = try finishDeferredLightweightMigrationTask()
  }

  /// Executes a request in a context.
  ///
  /// - Returns: Of a fetch, an array; of another request, its result.
  public func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any
  {
    let result: NSPersistentStoreResult = try context.execute(request)
    return (result as? FetchResult)?.results ?? result
  }
}
