import Dispatch
import Foundation
import HeartwoodBytes
import HeartwoodFiles
import HeartwoodEngine
import Synchronization

/// Owns the open store that contexts read from and save to, and the model that both use.
///
/// Unlike Core Data's, a coordinator has at most one store. It may be used from any thread.
public final class PersistentStoreCoordinator: Sendable {
  /// The model of the store. The coordinator's initialiser has frozen it.
  public let managedObjectModel: ManagedObjectModel

  private let open = Guarded<PersistentStore?>(nil)
  /// Counts how often a store was added or removed. Contexts read it before each read, because acquiring `open`'s lock
  /// there would be slow. It is incremented under that lock. A context that sees an old number reads from a store that was
  /// open when the read began.
  private let openings = Atomic(0)
  /// The contexts that merge saves by themselves.
  let followers = ContextFollowers()
  private let remoteFollower = Guarded<RemoteFollower?>(nil)
  /// The sequences that end with the coordinator.
  let sequences = Guarded<[StoresSequence]>([])
  /// The queue of `perform`.
  let queue = DispatchQueue(label: "Heartwood coordinator")
  private let label = Guarded<String?>(nil)

  /// A name for debugging; it has no effect.
  public var name: String? {
    get { label.withLock { $0 } }
    set { label.withLock { $0 = newValue } }
  }

  /// A coordinator without a store.
  ///
  /// - Precondition: The model is valid. `init(checking:)` throws instead.
  public convenience init(managedObjectModel: ManagedObjectModel) {
    do {
      try self.init(checking: managedObjectModel)
    } catch {
      programError("\(error)")
    }
  }

  /// A coordinator without a store.
  ///
  /// - Throws: A description of the error in the model.
  public init(checking managedObjectModel: ManagedObjectModel) throws {
    try managedObjectModel.checkDerivations()
    try managedObjectModel.checkFetchedProperties()
    self.managedObjectModel = managedObjectModel
  }

  /// The open stores: none or one.
  public var persistentStores: [PersistentStore] { open.withLock { $0.map { [$0] } ?? [] } }

  /// The open store at a URL; nil if there is none.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url.standardizedFileURL == url.standardizedFileURL }
  }

  /// The location of a store; that of a store in memory is `/dev/null`.
  public func url(for store: PersistentStore) -> URL { store.url }

  /// Opens a store, or creates it if it is missing and the description allows it. Waits for it, whatever
  /// `shouldAddStoreAsynchronously` says.
  ///
  /// - Throws: `.persistentStoreOpen` if there is no store, it cannot be read, an option is unknown, or the coordinator already
  ///   has a store; `.persistentStoreTimeout` if another process or engine holds it for longer than the timeout;
  ///   `.persistentStoreIncompatibleVersionHash` if it was written with another model and may not be migrated, and the errors of
  ///   migrations;
  ///   `.persistentStoreDamaged`; `.coreData` if a transformer of the model is not registered. The message says what is wrong
  ///   and what to do.
  @discardableResult
  public func addPersistentStore(with description: PersistentStoreDescription) throws -> PersistentStore {
    post(.persistentStoreCoordinatorStoresWillChange, StoresChanges())
    let store = try attach { try opened(description) }
    post(.persistentStoreCoordinatorStoresDidChange, StoresChanges(added: [store]))
    if description.finishesDeferredMigrationInBackground, !description.isReadOnly {
      finishDeferred(description)
    }
    return store
  }

  private func opened(_ description: PersistentStoreDescription) throws -> PersistentStore {
    let store = try PersistentStore(opening: description, managedObjectModel)
    if description.postsRemoteChangeNotifications { store.beginNotices(by: self) }
    return store
  }

  /// - Parameter body: Opens the store, under the lock.
  private func attach(_ body: () throws -> PersistentStore) throws -> PersistentStore {
    try open.withLock { open in
      if let open { throw HeartwoodError.storeIsOpen(open.url) }
      try managedObjectModel.checkTransformers()
      let store = try body()
      open = store
      openings.add(1, ordering: .releasing)
      return store
    }
  }

  /// - Returns: Whether the store was open.
  private func detach(_ store: PersistentStore) -> Bool {
    open.withLock { open in
      guard open === store else { return false }
      open = nil
      openings.add(1, ordering: .releasing)
      return true
    }
  }

  /// Replaces the open store by one that `body` makes.
  ///
  /// - Parameters:
  ///   - store: The open store.
  ///   - body: Closes it, unless it is in memory, and describes the new one. Meanwhile the coordinator has no store. If it throws,
  ///     the former store is opened again.
  /// - Throws: What `body` throws, or the reason why the new store cannot be opened.
  func exchange(
    _ store: PersistentStore, _ body: () throws -> PersistentStoreDescription
  ) throws -> PersistentStore {
    guard detach(store) else { throw HeartwoodError.storeIsForeign(store.url) }
    let isFollowing = endFollowing()
    defer { if isFollowing { followOtherProcesses() } }
    do {
      let description = try body()
      return try attach { try opened(description) }
    } catch {
      _ = try? attach { try store.isInMemory ? store : opened(store.description) }
      throw error
    }
  }

  /// Tells contexts about the saves of others from now on.
  func followOtherProcesses() {
    guard let store = open.withLock({ $0?.contents }) else { return }
    let made = remoteFollower.withLock { follower -> RemoteFollower? in
      guard follower == nil else { return nil }
      follower = RemoteFollower(after: store.newestGeneration)
      return follower
    }
    made?.begin(store, followers)
  }

  func noteOwnSave(_ number: UInt64) { remoteFollower.withLock { $0 }?.noteOwn(number) }

  /// - Returns: Whether contexts were told about the saves of others.
  @discardableResult
  private func endFollowing() -> Bool {
    let former = remoteFollower.withLock { follower in
      defer { follower = nil }
      return follower
    }
    former?.end()
    return former != nil
  }

  /// Closes a store. Contexts of this coordinator throw at their next read.
  ///
  /// - Throws: `.persistentStoreOperation` if the store is not open in this coordinator; also if changes in memory cannot
  ///   be written, but then the store is closed all the same.
  public func remove(_ store: PersistentStore) throws {
    let removed = StoresChanges(removed: [store])
    if persistentStores.contains(where: { $0 === store }) {
      post(.persistentStoreCoordinatorStoresWillChange, removed)
      post(.persistentStoreCoordinatorWillRemoveStore, removed)
    }
    guard detach(store) else { throw HeartwoodError.storeIsForeign(store.url) }
    endFollowing()
    defer { post(.persistentStoreCoordinatorStoresDidChange, removed) }
    try store.close()
  }

  /// Closes the store, if there is one.
  ///
  /// - Throws: As `remove(_:)`.
  public func close() throws {
    for store in persistentStores { try remove(store) }
  }

  /// The store that contexts read from; nil while none is open.
  var objectStore: (any ObjectStore)? { open.withLock { $0?.contents } }

  /// Changes whenever a store is added or removed. While it stays the same, so does `objectStore`.
  var openingNumber: Int { openings.load(ordering: .acquiring) }

  /// The open store, for operations without a context.
  ///
  /// - Throws: `.persistentStoreOperation` if no store is open.
  func openStore() throws -> LogStore {
    guard let store = open.withLock({ $0 }) else {
      throw HeartwoodError(
        .persistentStoreOperation, "this coordinator has no store: add one with addPersistentStore(with:)")
    }
    return store.contents
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
