import Foundation

/// The objects whose rows could not be read, with the reason for each.
typealias UnreadableObjects = [ManagedObjectID: HeartwoodError]

/// Loading the rows of faults, and handling failures to do so.
///
/// Reading a property cannot throw. An object whose row is damaged or cannot be read shows default values and is marked
/// unreadable. The context keeps the error: its next fetch or save throws it, and nothing is saved until the object is
/// refreshed. So no value derived from a wrong one becomes durable.
extension ManagedObjectContext {
  /// Prepares a fetch: applies pending delete rules, and throws the error of an unreadable object if there is one.
  func beginReading() throws {
    processPendingChanges()
    try showReturned()
    try throwIfUnreadable()
  }

  /// Takes back that objects were deleted of which an earlier view had no row, where the view that is read now has one.
  ///
  /// - Complexity: A look-up for each of them where the store has a new generation, and always in a child context.
  func showReturned() throws {
    guard changes.gone.contains(where: { $0.state.contains(.withoutRow) }) else { return }
    let rows = try readingView()
    guard parent != nil || view.generationWithoutRows != rows.generation else { return }
    view.generationWithoutRows = rows.generation
    for object in Array(changes.gone) where object.state.contains(.withoutRow) {
      guard try rows.withRow(object.entity.rootEntity, object.identifier.key, { $0 != nil }) else { continue }
      undelete(object)
      event.refreshed.append(object)
    }
  }

  /// Loads the row of a fault.
  func fire(_ object: ManagedObject) {
    object.dropStalePrefetch()
    guard !object.state.contains(.inserted), !object.hasRow else { return }
    let number = object.fetchBatch
    do {
      let view = try readingView()
      // Another store may have taken the place of the object's.
      guard object.contextReference != nil else { return }
      let observation = observation
      let reader = view.forOneReader()
      defer { withExtendedLifetime(reader) {} }
      guard let row = try reader.row(object.entity.rootEntity, object.identifier.key) else {
        return handleInaccessible(object)
      }
      if row.entityNumber == object.entity.number {
        object.adopt(checkedRow: row.bytes)
      } else {
        let own = try object.entity.rootEntity.entity(numbered: row.entityNumber)
        throw HeartwoodError.misnamed(object.identifier, own)
      }
      if let batch = fetchBatches.take(number) {
        loadRows(of: batch)
      } else {
        prefetchSiblings(of: object, in: view)
      }
      observation?.tell {
        .faulted(FiredFault(entityName: object.entity.displayName, relationshipName: nil, duration: $0))
      }
    } catch {
      noteUnreadable(error, object)
    }
  }

  /// Marks the object unreadable and keeps the error for the next fetch or save.
  func noteUnreadable(_ error: any Error, _ object: ManagedObject) {
    object.state.insert(.unreadable)
    unreadable[object.identifier] = HeartwoodError.unreadable(object.identifier, because: error)
  }

  /// Throws the error of an unreadable object, if there is one.
  package func throwIfUnreadable() throws {
    guard !unreadable.isEmpty else { return }
    // The smallest key, so that the same program always throws the same error.
    if let first = unreadable.min(by: { $0.key.key < $1.key.key }) { throw first.value }
  }

  /// Treats an object without unsaved changes whose row turned out to be deleted.
  func handleInaccessible(_ object: ManagedObject) {
    if let store = view.store, object.identifier.key.isPermanentKey,
      !store.hasStore(of: object.identifier.key)
    {
      return noteUnreadable(HeartwoodError.closedStore(object.identifier), object)
    }
    guard !RetiredKeys.contains(object.identifier.key) else {
      return noteUnreadable(HeartwoodError.retiredIdentifier(object.identifier), object)
    }
    guard shouldHandleInaccessibleFault(object, for: object.identifier, triggeredByProperty: nil) else {
      return noteUnreadable(HeartwoodError.noRow(object.identifier), object)
    }
    markInaccessible(object)
    object.state.insert(.withoutRow)
  }

  /// Makes an object a deleted one whose row is gone already. Delete rules are not applied.
  func markInaccessible(_ object: ManagedObject) {
    note(object)
    editCount &+= 1
    object.state.remove(.updated)
    changes.updated.remove(object)
    object.state.formUnion([.deleted, .inaccessible])
    changes.deleted.remove(object)
    changes.gone.append(object)
  }
}

/// The views of the store that the context reads.
struct ViewHolder {
  /// The view of the last read; reused until the store has a newer generation, released by a
  /// save, by a reset and at the end of `perform`.
  var held: (any StoreView)?
  /// The view that the context is pinned to.
  var pinned: (any StoreView)?
  /// The generation that was asked last for the rows of objects that had none.
  var generationWithoutRows: UInt64?
  /// The coordinator's store when its opening number was `openingNumber`.
  var store: (any ContextStore)?
  var openingNumber = 0
  /// The log of fetches; nil if none is wanted.
  var fetchLog: FetchLog?
  /// The observer of what the context does; nil if there is none.
  var observer: StoreObserver?
  /// The store identity in the identifiers of this store's rows.
  var identity = StoreIdentity.none
  /// The store identity of the registered objects: that of the last store.
  var identityOfObjects = StoreIdentity.none
  /// Whether the next read pins the newest generation.
  var pinsAtNextRead = false
}

extension ManagedObjectContext {
  /// The view that reads use: the pinned generation, otherwise the newest.
  func readingView() throws -> any StoreView {
    if let parent { return try viewOfParent(parent) }
    // First: a pin to a store that was removed is dropped.
    let store = try objectStore()
    if let pinned = view.pinned { return try store.view(pinnedTo: pinned, for: self) }
    if let held = view.held, held.generation == store.newestGeneration { return held }
    let newest = try store.view(for: self)
    if view.pinsAtNextRead {
      view.pinned = newest
      view.pinsAtNextRead = false
    } else {
      view.held = newest
    }
    return newest
  }

  /// The store identity in the identifiers of this context's rows.
  var storeIdentity: StoreIdentity { openStore() == nil ? .none : view.identity }

  /// The log of fetches; nil if none is wanted.
  var fetchLog: FetchLog? { openStore() == nil ? nil : view.fetchLog }

  /// An observation that begins here; nil without an observer.
  var observation: StoreObservation? {
    // A child reads its parent's view, and a context that has read nothing has not asked for its store.
    let knowsObserver = parent == nil && view.store != nil
    guard knowsObserver || openStore() != nil else { return nil }
    return view.observer.map(StoreObservation.init)
  }

  /// The coordinator's store.
  ///
  /// - Throws: `.persistentStoreOperation` if there is none.
  func objectStore() throws -> any ContextStore {
    if let store = openStore() { return store }
    throw HeartwoodError(
      .persistentStoreOperation,
      "this context has no store: create it with a coordinator to which a persistent store was added")
  }

  /// The coordinator's store, cached; queried again only after a store was added or removed.
  private func openStore() -> (any ContextStore)? {
    if let ownOpenings, ownOpenings.number == view.openingNumber { return view.store }
    guard let coordinator = persistentStoreCoordinator else { return nil }
    let number = coordinator.openingNumber
    if number != view.openingNumber {
      let settings = coordinator.persistentStores.first?.settings
      view.observer = settings?.observer
      view.fetchLog = FetchLog(settings?.fetchLog, settings?.observer)
      followStore(coordinator.objectStore, number)
    }
    return view.store
  }

  /// Continues with the store that the coordinator has now. The views of the former one are released, and if it is another
  /// store, so are all objects: their identifiers may be those of other rows there.
  private func followStore(_ store: (any ContextStore)?, _ number: Int) {
    view.store = store
    usedObjects?.end()
    usedObjects = store?.makeUsedObjects()
    view.identity = store?.identity ?? .none
    view.openingNumber = number
    view.held = nil
    if view.pinned != nil {
      view.pinned = nil
      view.pinsAtNextRead = true
    }
    guard view.identity != .none else { return }
    let former = view.identityOfObjects
    view.identityOfObjects = view.identity
    if former != .none, former != view.identity, !view.identity.hasFirst(former) {
      reset()
    } else if former != .none {
      compareVersionsOfReopened()
    }
    trackers.noteStores()
  }

  /// Compares the registered objects with the rows of a store that was opened again, where versions begin again with each opening: in
  /// stores that are read whole. An object with the values of its row gets the version of it. The next save of another one is a conflict.
  private func compareVersionsOfReopened() {
    guard let store = view.store, store.countsVersionsAnew(), let rows = try? readingView() else { return }
    var versions: [(ManagedObject, former: UInt32, version: UInt32)] = []
    for object in identities.objects where !object.state.contains(.inserted) {
      guard let row = object.row, store.countsVersionsAnew(object.identifier.key) else { continue }
      let former = row.version
      let (root, key) = (object.entity.rootEntity, object.identifier.key)
      let found = try? rows.withRow(root, key) { found in
        found.map { (version: $0.version, isEqual: $0.hasValues(of: row)) }
      }
      guard let found = found ?? nil else { continue }
      object.setVersion(found.isEqual ? found.version : found.version &+ 1)
      if found.isEqual, found.version != former { versions.append((object, former, found.version)) }
    }
    publishVersions(versions)
  }
}
