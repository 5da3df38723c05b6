import Foundation
import HeartwoodBytes
import HeartwoodFiles
import HeartwoodEngine
import Synchronization

/// Holds the open store that contexts read from and save to, and the model that both follow.
///
/// This version has one store for each coordinator. A coordinator may be used from any thread.
public final class PersistentStoreCoordinator: Sendable {
  /// The model of the store. Using it here has frozen it.
  public let managedObjectModel: ManagedObjectModel

  private let open = Guarded<PersistentStore?>(nil)
  /// How often a store was added or removed: contexts look at it before each read, which a lock would slow down.
  /// It is counted under the lock, and a context that sees an old number reads from a store that was open when
  /// the read began.
  private let openings = Atomic(0)

  /// A coordinator without a store.
  ///
  /// - Precondition: the model is sound. `init(checking:)` throws instead.
  public convenience init(managedObjectModel: ManagedObjectModel) {
    do {
      try self.init(checking: managedObjectModel)
    } catch {
      programError("\(error)")
    }
  }

  /// A coordinator without a store.
  ///
  /// - Throws: a sentence about what is wrong in the model.
  public init(checking managedObjectModel: ManagedObjectModel) throws {
    try managedObjectModel.freeze()
    self.managedObjectModel = managedObjectModel
  }

  /// The open stores: none or one.
  public var persistentStores: [PersistentStore] { open.withLock { $0.map { [$0] } ?? [] } }

  /// The open store at a place; nil where there is none.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url.standardizedFileURL == url.standardizedFileURL }
  }

  /// Opens a store, or makes it where there is none and the description allows it.
  ///
  /// - Throws: `.persistentStoreOpen` when there is no store, it is locked by another process or it
  ///   cannot be read, `.persistentStoreIncompatibleVersionHash` when it was written with another model,
  ///   `.persistentStoreDamaged`; what is wrong and what to do stands in the message.
  @discardableResult
  public func addPersistentStore(with description: PersistentStoreDescription) throws -> PersistentStore {
    try open.withLock { open in
      if let open { throw HeartwoodError.storeIsOpen(open.url) }
      let store = try PersistentStore(opening: description, managedObjectModel)
      if description.postsRemoteChangeNotifications { store.beginNotices(by: self) }
      open = store
      openings.add(1, ordering: .releasing)
      return store
    }
  }

  /// Closes a store. Contexts of this coordinator throw at their next read from it.
  ///
  /// - Throws: when what is in memory cannot be written; the store is closed all the same.
  public func remove(_ store: PersistentStore) throws {
    let isOpen = open.withLock { open in
      guard open === store else { return false }
      open = nil
      openings.add(1, ordering: .releasing)
      return true
    }
    guard isOpen else { throw HeartwoodError.storeIsForeign(store.url) }
    try store.close()
  }

  /// Closes the store, if there is one.
  ///
  /// - Throws: as `remove(_:)`.
  public func close() throws {
    for store in persistentStores { try remove(store) }
  }

  /// What contexts read from; nil while there is no store.
  var objectStore: (any ObjectStore)? { open.withLock { $0?.contents } }

  /// Tells whether the store is still the one that it was when the number was the same.
  var openingNumber: Int { openings.load(ordering: .acquiring) }

  /// The open store, for what contexts are not needed for.
  func openStore() throws -> LogStore {
    guard let store = open.withLock({ $0 }) else {
      throw HeartwoodError(
        .persistentStoreOperation, "this coordinator has no store: add one with addPersistentStore(with:)")
    }
    return store.contents
  }
}

/// Identifiers and generations.
extension PersistentStoreCoordinator {
  /// The identifier that a text stands for; nil where it is of another store, of an entity that the
  /// model does not have, or no lasting identifier.
  public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
    guard let parts = ManagedObjectID.parts(of: url), let identity = objectStore?.identity,
      identity.uuid == parts.store, let entity = managedObjectModel.entitiesByName[parts.entityName]
    else { return nil }
    return ManagedObjectID(entity: entity, key: parts.key, store: identity)
  }

  /// A token of a past generation, by the number of its transaction.
  ///
  /// - Throws: when there is no store, or it has not come to this generation yet.
  public func queryGenerationToken(forGeneration number: UInt64) throws -> QueryGenerationToken {
    let newest = try openStore().newestGeneration
    guard number <= newest else {
      throw HeartwoodError(
        .persistentStoreOperation, "there is no generation \(number) yet: the newest is \(newest)")
    }
    return QueryGenerationToken(generation: number)
  }

  /// A token of the newest generation as it is now.
  ///
  /// - Throws: when there is no store.
  public func newestQueryGenerationToken() throws -> QueryGenerationToken {
    QueryGenerationToken(generation: try openStore().newestGeneration)
  }

  /// The newest point of the history; nil while there is no store. What was saved before it is not
  /// fetched after it.
  ///
  /// - Parameter stores: nil, or the coordinator's store.
  public func currentPersistentHistoryToken(fromStores stores: [PersistentStore]? = nil)
    -> PersistentHistoryToken?
  {
    guard let store = persistentStores.first, stores?.contains(where: { $0 === store }) ?? true else {
      return nil
    }
    return PersistentHistoryToken(
      storeID: store.identifier, transactionNumber: store.contents.newestGeneration)
  }
}

extension HeartwoodError {
  static func storeIsOpen(_ url: URL) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "this coordinator has a store already, at \(url.path): a coordinator has one; make another "
        + "coordinator, or remove the open store first")
  }

  static func storeIsForeign(_ url: URL) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "the store at \(url.path) is not open in this coordinator; nothing was closed")
  }
}
