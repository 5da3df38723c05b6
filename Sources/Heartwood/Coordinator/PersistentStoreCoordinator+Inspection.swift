import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Looking at a store as a whole.
extension PersistentStoreCoordinator {
  /// The model that a store on disk was written with, for programs that do not have it as code.
  ///
  /// Nothing is created or changed.
  ///
  /// - Throws: `.persistentStoreOpen` when there is no store at this place, or when it cannot be read.
  public static func managedObjectModel(ofStoreAt url: URL) throws -> ManagedObjectModel {
    try LogStore.model(at: url)
  }

  /// Reads everything in the store and checks it: bytes, tree, rows, indexes, relationships, history.
  ///
  /// - Parameter progress: called now and then with how much is done and how much there is, in bytes.
  /// - Returns: everything found, in sentences; nothing where the store is sound.
  /// - Throws: when the store cannot be read at all.
  /// - Complexity: linear in the size of the store.
  public func verify(progress: ((Int64, Int64) -> Void)? = nil) throws -> StoreReport {
    try openStore().verify(progress: progress)
  }

  /// The transactions in the store's log, oldest first, each of which can be read as it was left.
  ///
  /// - Throws: when the log cannot be read.
  /// - Complexity: linear in the size of the log.
  public func generations() throws -> [GenerationRecord] { try openStore().generations() }

  /// Gives back the space that changed and deleted objects once took, while contexts go on.
  ///
  /// The history and all saved objects stay. Generations from before can't be opened any more where they need what was
  /// given back; those that contexts hold stay whole.
  ///
  /// - Throws: `.persistentStoreSave` for a store that is open for reading only, `.persistentStoreDamaged`, and when the disk
  ///   fails or is full; what was not given back stays as it was.
  /// - Complexity: linear in the number of objects, and in the bytes that are moved.
  @discardableResult
  public func reclaim() throws -> ReclaimedSpace { try openStore().reclaim() }

  /// Writes the newest state of the store, and the history that its files hold, to another folder as a store of its own,
  /// while contexts go on.
  ///
  /// Where the folder holds an earlier backup of this store, only what is new is copied, and the new backup takes its place.
  /// It has the store's identifier and holds objects with the same URIs: to go back to it, close the store and copy the
  /// backup's folder to the store's place. Open the backup itself for reading only; once it was written to, it takes no
  /// further backups.
  ///
  /// - Parameters:
  ///   - url: A folder that is missing, empty, or holds an earlier backup of this store. Its parent has to be there.
  ///   - fileSystem: Where that folder is.
  /// - Throws: `.persistentStoreDamaged` where something in the store is; where the folder holds other things; and when a disk
  ///   fails or is full. What the folder held stays as it was.
  /// - Complexity: linear in the bytes that are new.
  @discardableResult
  public func backup(to url: URL, fileSystem: any FileSystem = PosixFileSystem()) throws -> BackupReport {
    try openStore().backup(to: url, fileSystem)
  }

  /// Counts and sizes of the store's parts.
  ///
  /// - Throws: when the folder cannot be read.
  public func statistics() throws -> EngineStatistics { try openStore().statistics() }
}

extension PersistentStore {
  convenience init(opening description: PersistentStoreDescription, _ model: ManagedObjectModel) throws {
    guard let url = description.url else {
      throw HeartwoodError(
        .persistentStoreOpen, "the store's description has no URL: set the folder of the store")
    }
    let kinds: [StoreType] = [.log, .inMemory]
    guard kinds.contains(description.type) else {
      throw HeartwoodError(
        .persistentStoreInvalidType,
        "there is no kind of store called \(description.type.rawValue); there are Log and InMemory")
    }
    let place = description.type == .inMemory ? URL(fileURLWithPath: "/dev/null") : url
    var options = LogStoreOptions(
      isReadOnly: description.isReadOnly, createsStore: description.createsStore,
      durability: description.durability, isBuffered: description.isBuffered)
    options.acceptsOtherContent = description.acceptsOtherContent
    options.fileSystem = description.fileSystem
    options.base = description.engineOptions
    let contents = try LogStore.open(at: place, model: model, options: options)
    self.init(contents, url: place, type: description.type, isReadOnly: description.isReadOnly)
  }
}
