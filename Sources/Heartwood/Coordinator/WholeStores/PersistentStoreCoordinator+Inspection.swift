import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Inspection and maintenance of a whole store.
extension PersistentStoreCoordinator {
  /// The model that a store on disk was written with, for programs that do not have it as code.
  ///
  /// Creates and changes nothing. If a program was killed while it migrated the store, or after, it is the model that the next opening
  /// finds: one for writing recovers what that program has saved last, and one with the option `.readOnly` may not.
  ///
  /// - Parameters:
  ///   - url: The folder of the store, or its file.
  ///   - options: Options as for `addPersistentStore(type:configuration:at:options:)`.
  /// - Throws: `.persistentStoreOpen` if there is no store, or if it cannot be read.
  public static func managedObjectModel(
    ofStoreAt url: URL, options: PersistentStore.Options? = nil
  ) throws -> ManagedObjectModel {
    if let known = StoreClasses.recognising(url),
      let model = try known.storeClass.managedObjectModel(ofStoreAt: url)
    {
      return model
    }
    var opening = try LogStoreOptions(reading: .log, at: url, options)
    opening.format = StoreFile.format(at: LogStore.path(of: url), opening.fileSystem)
    return try LogStore.model(at: url, options: opening)
  }

  /// The kind of a store by its folder, or by the first bytes of its file; nil if it is none. A kind of a program's class is known if
  /// the class `recognises(_:)` the place.
  @_disfavoredOverload
  public static func typeOfPersistentStore(at url: URL) -> PersistentStore.StoreType? {
    let path = LogStore.path(of: url)
    if let format = StoreFile.format(at: path, PosixFileSystem()) {
      return PersistentStore.StoreType(rawValue: format.rawValue)
    }
    if (try? Engine.containsStore(at: path, fileSystem: PosixFileSystem())) == true { return .log }
    return StoreClasses.recognising(url)?.type
  }

  /// Reads and checks everything in the store: bytes, tree, rows, indexes, relationships, history.
  ///
  /// - Parameters:
  ///   - store: The store; nil for the only one.
  ///   - progress: Called repeatedly with the bytes done and the bytes in total.
  /// - Returns: A report of all findings; it is empty if the store is intact.
  /// - Throws: If the store cannot be read at all.
  /// - Complexity: Linear in the size of the store.
  @_disfavoredOverload
  public func verify(
    _ store: PersistentStore? = nil, progress: ((Int64, Int64) -> Void)? = nil
  ) throws -> StoreReport {
    try openStore(store).verify(progress: progress)
  }

  /// As `verify(_:progress:)`, of what the only store has as of a past generation, and without the parts of its files that only others need.
  ///
  /// - Throws: Also if the store has the generation no more, or if it was written before a migration.
  package func verify(asOf generation: UInt64) throws -> StoreReport {
    try openStore().verify(at: generation)
  }

  /// The model that the only store had in a past generation.
  ///
  /// - Throws: If the store has the generation no more.
  package func managedObjectModel(asOf generation: UInt64) throws -> ManagedObjectModel {
    try openStore().model(at: generation)
  }

  /// Reclaims the space of old versions of changed and deleted objects. Contexts can be used meanwhile.
  ///
  /// The history and all saved objects are kept. Earlier generations can no longer be opened if they need reclaimed
  /// files; generations that contexts are pinned to, or that are held by name, stay readable.
  ///
  /// - Parameter store: The store; nil for the only one.
  /// - Throws: `.persistentStoreSave` for a store that is open read-only, `.persistentStoreDamaged`, and errors of a disk
  ///   that fails or is full. Space that was not reclaimed then stays as it was.
  /// - Complexity: Linear in the number of objects and in the bytes that are moved.
  @discardableResult
  @_disfavoredOverload
  public func reclaim(_ store: PersistentStore? = nil) throws -> ReclaimedSpace {
    try openStore(store).reclaim()
  }

  /// Writes the newest state of the store, and the history that its files contain, to another folder as a store of its
  /// own. Contexts can be used meanwhile.
  ///
  /// If the folder contains an earlier backup of this store, only new data is copied, and the new backup replaces it. The
  /// backup has the store's identifier, and its objects have the same URIs. To restore it, close the store and copy the
  /// backup's folder to the store's location. Open the backup itself read-only: after it was written to, it accepts no
  /// further backups.
  ///
  /// - Parameters:
  ///   - store: The store; nil for the only one.
  ///   - url: A folder that is missing, empty, or contains an earlier backup of this store. Its parent must exist.
  ///   - fileSystem: The file system of that folder; nil for the one that the store's file system has for copies: a copy of an encrypted
  ///     store is encrypted.
  /// - Throws: `.persistentStoreDamaged` if data of the store is damaged; also if the folder contains other files, and if a
  ///   disk fails or is full. The folder's contents then stay as they were.
  /// - Complexity: Linear in the bytes that are new.
  @discardableResult
  @_disfavoredOverload
  public func backup(
    _ store: PersistentStore? = nil, to url: URL, fileSystem: (any FileSystem)? = nil
  ) throws -> BackupReport {
    try openStore(store).backup(to: url, fileSystem)
  }

  /// Counts and sizes of the store's parts.
  ///
  /// - Parameter store: The store; nil for the only one.
  /// - Throws: If the folder cannot be read.
  @_disfavoredOverload
  public func statistics(of store: PersistentStore? = nil) throws -> EngineStatistics {
    try openStore(store).statistics()
  }
}

extension PersistentStore.StoreType {
  /// The kind of the store at a place; that of a log where there is none.
  static func ofStore(at url: URL) -> PersistentStore.StoreType {
    PersistentStoreCoordinator.typeOfPersistentStore(at: url) ?? .log
  }
}
