import Dispatch
import Foundation
import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// Owns the open stores that contexts read from and save to, and the model that all use.
///
/// With several stores, contexts see the objects of all together. Each store has the entities of a configuration of the model, or all. It
/// may be used from any thread.
public final class PersistentStoreCoordinator: NSObject, Sendable {
  /// The model of the stores. The coordinator's initialiser has frozen it.
  public let managedObjectModel: ManagedObjectModel

  private let open: Guarded<OpenStoreList>
  /// Counts how often a store was added or removed. Contexts read it before each read, because acquiring `open`'s lock there would be slow. It is
  /// incremented under that lock. A context that sees an old number reads from a store that was open when the read began.
  ///
  /// An object of its own: many refer weakly to a coordinator, which makes counting references to it slow.
  let openings = OpeningCount()
  /// The contexts that merge saves by themselves.
  let followers = ContextFollowers()
  /// By the identifier of their stores; nil while no context follows the saves of others.
  private let remoteFollowers = Guarded<[StoreIdentity: RemoteFollower]?>(nil)
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

  /// A coordinator of a model without entities, such as for a double in tests.
  public convenience override init() { self.init(managedObjectModel: ManagedObjectModel(entities: [])) }

  /// A coordinator without a store.
  ///
  /// - Precondition: The model is valid. `init(checking:)` throws instead.
  @_disfavoredOverload
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
  public convenience init(checking managedObjectModel: ManagedObjectModel) throws {
    try managedObjectModel.checkForUse()
    try self.init(checkingStoredProperties: managedObjectModel)
  }

  /// As `init(checking:)`; a fetched property that cannot be used is an error when it is used, as in Core Data.
  package convenience init(checkingStoredProperties managedObjectModel: ManagedObjectModel) throws {
    try self.init(checkingStoredProperties: managedObjectModel, keepsBytesWithoutTransformers: false)
  }

  /// - Parameter keepsBytes: Whether transformable values without a registered transformer are the bytes that are stored, whatever the model says.
  init(
    checkingStoredProperties managedObjectModel: ManagedObjectModel,
    keepsBytesWithoutTransformers keepsBytes: Bool
  )
    throws
  {
    ObjectMaking.check()
    try managedObjectModel.checkExpressions()
    self.managedObjectModel = managedObjectModel
    keepsBytesWithoutTransformers = keepsBytes
    open = Guarded(OpenStoreList(managedObjectModel))
    super.init()
  }

  private let keepsBytesWithoutTransformers: Bool

  /// The open stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { open.withLock { $0.stores } }

  /// The open store at a URL; nil if there is none.
  @_disfavoredOverload
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.url.placeOfStore == url.placeOfStore }
  }

  /// The location of a store; that of a store in memory is `/dev/null`.
  public func url(for store: PersistentStore) -> URL { store.url }

  /// Changes the location of a store that each save writes as a whole: the next save writes it there. What is at the former place stays as it is.
  ///
  /// Unlike Core Data, this never connects a store to what is at the other place: `migratePersistentStore(_:to:type:)` moves any store.
  ///
  /// - Parameters:
  ///   - url: The new location: of no file, or of an empty one, in a folder that exists.
  ///   - store: A store of the coordinator, of type Binary, JSON or XML or of a class that derives from ``AtomicStore``.
  /// - Returns: False if the location was not changed, because of the type of the store or of what is there, or because the store is read-only.
  public func setURL(_ url: URL, for store: PersistentStore) -> Bool {
    // The place is reserved meanwhile, as for a store that is being opened there.
    guard persistentStores.contains(store), !store.isReadOnly, !url.isOfMemory,
      let reservation = try? open.withLock({ try $0.reserve(for: url) })
    else { return false }
    defer { open.withLock { $0.release(reservation) } }
    return store.move(to: url)
  }

  /// Has the next save of a context fail, as the call that asks for a change cannot.
  package func refuseAtNextSave(_ refusal: any Error) { open.withLock { $0.refusal = refusal } }

  /// - Throws: The last change that was refused since the last save.
  func throwRefusal() throws {
    let refusal = open.withLock { list in
      defer { list.refusal = nil }
      return list.refusal
    }
    if let refusal { throw refusal }
  }

  /// Opens a store, or creates it if it is missing and the description allows it. Waits for it, whatever `shouldAddStoreAsynchronously` says.
  ///
  /// - Throws: `.persistentStoreOpen` if there is no store, it cannot be read, an option is unknown, or the coordinator has it, or a copy of it,
  ///   open already; `.coreData` if the model has no such configuration, or has a relationship between entities that are in no configuration
  ///   together; `.persistentStoreTimeout` if another process or engine holds it for longer than the timeout;
  ///   `.persistentStoreIncompatibleVersionHash` if it was written with another model and may not be migrated, and the errors of migrations;
  ///   `.persistentStoreDamaged`; `.coreData` if a transformer of the model is not registered. The message says what is wrong and what to do.
  @discardableResult
  public func addPersistentStore(with description: PersistentStoreDescription) throws -> PersistentStore {
    post(.persistentStoreCoordinatorStoresWillChange, StoresChanges())
    let reservation = try open.withLock { list throws(HeartwoodError) in
      try list.reserve(for: description.place)
    }
    let store = try attach(at: reservation) { try opened(description) }
    store.didAdd(to: self)
    post(.persistentStoreCoordinatorStoresDidChange, StoresChanges(added: [store]))
    OpeningNotes.report(managedObjectModel.declarationNotes, description.noteLog)
    if description.finishesDeferredMigrationInBackground, !description.isReadOnly {
      finishDeferred(description, store)
    }
    return store
  }

  /// Reads from a store that another coordinator has open, and that closes it.
  func adopt(_ store: PersistentStore) throws {
    let reservation = try open.withLock { list throws(HeartwoodError) in try list.reserve(for: nil) }
    _ = try attach(at: reservation) { store }
  }

  /// Opens a store without the lock, and puts it into its place. If that fails, the place is released.
  ///
  /// - Parameter body: Opens the store. The coordinator, its other stores and their contexts can be used meanwhile.
  private func attach(
    at reservation: OpenStoreList.Reservation, _ body: () throws -> PersistentStore
  ) throws -> PersistentStore {
    var opened: PersistentStore?
    do {
      if !keepsBytesWithoutTransformers { try managedObjectModel.checkTransformers() }
      let store = try body()
      opened = store
      try open.withLock { list throws(HeartwoodError) in
        try list.fill(reservation, with: store)
        openings.increment()
      }
      if remoteFollowers.withLock({ $0 != nil }) { follow(store) }
      return store
    } catch {
      open.withLock { $0.release(reservation) }
      try? opened?.close()
      throw error
    }
  }

  /// - Returns: Whether the store was open.
  private func detach(_ store: PersistentStore) -> Bool {
    let wasOpen = open.withLock { open in
      let wasOpen = open.remove(store)
      if wasOpen { openings.increment() }
      return wasOpen
    }
    if wasOpen { endFollowing(store) }
    return wasOpen
  }

  /// Takes a store out, and reserves its place for another one.
  private func withdraw(_ store: PersistentStore) throws(HeartwoodError) -> OpenStoreList.Reservation {
    let reservation = open.withLock { open in
      let reservation = open.withdraw(store)
      if reservation != nil { openings.increment() }
      return reservation
    }
    guard let reservation else { throw HeartwoodError.storeIsForeign(store.url) }
    endFollowing(store)
    return reservation
  }

  /// Replaces the open store by one that `body` makes.
  ///
  /// - Parameters:
  ///   - store: The open store.
  ///   - body: Closes it, unless it is in memory, and describes the new one. Meanwhile the coordinator does not have it. If it throws,
  ///     the former store is opened again.
  /// - Throws: The error of `body`, or the reason why the new store cannot be opened.
  func exchange(
    _ store: PersistentStore, _ body: () throws -> PersistentStoreDescription
  ) throws -> PersistentStore {
    let reservation = try withdraw(store)
    return try attach(at: reservation) {
      do {
        return try opened(body())
      } catch {
        if let former = try? store.isInMemory ? store : opened(store.settings) {
          _ = try? attach(at: reservation) { former }
        }
        throw error
      }
    }
  }

  /// Removes an open store.
  ///
  /// - Parameters:
  ///   - store: The open store.
  ///   - body: Closes it, and is called when the coordinator does not have it any more. If it throws, the store is opened again.
  func removing(_ store: PersistentStore, _ body: () throws -> Void) throws {
    let reservation = try withdraw(store)
    do { try body() } catch {
      _ = try? attach(at: reservation) { try opened(store.settings) }
      throw error
    }
    open.withLock { $0.release(reservation) }
  }

  /// Tells contexts about the saves of others from now on.
  func followOtherProcesses() {
    remoteFollowers.withLock { if $0 == nil { $0 = [:] } }
    for store in persistentStores { follow(store) }
  }

  private func follow(_ store: PersistentStore) {
    guard let followed = store.objectStore as? any FollowedStore, let newest = followed.newestSave else {
      return
    }
    let made = remoteFollowers.withLock { followers -> RemoteFollower? in
      guard followers?[followed.identity] == nil else { return nil }
      let made = RemoteFollower(after: newest)
      followers?[followed.identity] = made
      return made
    }
    made?.begin(followed, followers)
  }

  /// Notes the transactions of a save of one of its contexts.
  func noteOwnSave(_ saved: StoreGenerations) {
    guard let followers = remoteFollowers.withLock({ $0 }) else { return }
    // The history of others says itself which saves are the coordinator's own.
    let logs = persistentStores.compactMap { $0.log?.identity }
    for member in saved.members where logs.contains(member.store) {
      followers[member.store]?.noteOwn(member.number)
    }
  }

  private func endFollowing(_ store: PersistentStore) {
    remoteFollowers.withLock { $0?.removeValue(forKey: store.objectStore.identity) }?.end()
  }

  /// Closes a store. Its objects leave the contexts of this coordinator at their next use; without another store, contexts throw at
  /// their next read.
  ///
  /// - Throws: `.persistentStoreOperation` if the store is not open in this coordinator; also if changes in memory cannot
  ///   be written, but then the store is closed all the same.
  public func remove(_ store: PersistentStore) throws {
    let removed = StoresChanges(removed: [store])
    if persistentStores.contains(where: { $0 === store }) {
      postRemoval(of: store)
      store.willRemove(from: self)
    }
    guard detach(store) else { throw HeartwoodError.storeIsForeign(store.url) }
    defer { post(.persistentStoreCoordinatorStoresDidChange, removed) }
    try store.close()
  }

  /// Closes the stores, if there are any.
  ///
  /// - Throws: As `remove(_:)`, the first error; all stores are closed all the same.
  @_disfavoredOverload
  public func close() throws {
    var failure: (any Error)?
    for store in persistentStores {
      do { try remove(store) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// The store that contexts read from: the only one, or all as one; nil while none is open.
  var objectStore: (any ContextStore)? { open.withLock { $0.objectStore } }

  /// Changes whenever a store is added or removed. While it stays the same, so does `objectStore`.
  var openingNumber: Int { openings.number }

  /// A store, or the only open one, for operations on one.
  ///
  /// - Throws: `.persistentStoreOperation` if the store is not open here, or if nil is given and none or several are open.
  func openStore(_ store: PersistentStore? = nil) throws -> LogStore {
    if let store {
      try requireOpen(store)
      return try store.requireLog()
    }
    let stores = persistentStores
    guard let store = stores.first else { throw HeartwoodError.noOpenStore }
    guard stores.count == 1 else { throw HeartwoodError.severalStores(stores) }
    return try store.requireLog()
  }

  /// - Throws: `.persistentStoreOperation` if no store is open.
  func requireStore() throws {
    guard !persistentStores.isEmpty else { throw HeartwoodError.noOpenStore }
  }

  /// The open stores on the engine.
  ///
  /// - Throws: `.persistentStoreOperation` if no store is open; `.persistentStoreUnsupportedRequestType` if none of them is one.
  func openStores() throws -> [LogStore] {
    let stores = persistentStores
    guard let first = stores.first else { throw HeartwoodError.noOpenStore }
    let logs = stores.compactMap(\.log)
    return logs.isEmpty ? [try first.requireLog()] : logs
  }
}

extension ManagedObjectModel {
  /// Freezes the model, and checks what a coordinator needs.
  ///
  /// - Throws: A description of the error in the model.
  func checkForUse() throws(HeartwoodError) {
    try checkFetchedProperties()
    try checkExpressions()
  }
}

extension HeartwoodError {
  fileprivate static var noOpenStore: HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation, "this coordinator has no store: add one with addPersistentStore(with:)")
  }

  fileprivate static func severalStores(_ stores: [PersistentStore]) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "this coordinator has \(stores.count) stores, at \(stores.map(\.place).joined(separator: ", ")): say which one is meant"
    )
  }

  static func storeIsForeign(_ url: URL) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOperation,
      "the store at \(url.path) is not open in this coordinator; nothing was closed")
  }
}

/// How often a store was added to a coordinator or removed from it.
final class OpeningCount: Sendable {
  private let count = Atomic(0)

  var number: Int { count.load(ordering: .acquiring) }

  func increment() { count.add(1, ordering: .releasing) }
}
