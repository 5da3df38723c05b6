import Foundation

/// The objects whose rows could not be read, with the reason for each.
typealias UnreadableObjects = [ManagedObjectID: HeartwoodError]

/// How an object gets its row, and what happens when it cannot.
///
/// Reading a property cannot throw. An object whose row is damaged or out of reach reads as its
/// defaults and is marked unreadable, and the context keeps the error: its next fetch or save throws
/// it, and nothing is saved until the object is refreshed. Nothing derived from a wrong value becomes
/// durable.
extension ManagedObjectContext {
  /// Gives a fault its row.
  func fire(_ object: ManagedObject) {
    guard !object.identifier.isTemporaryID, !object.hasRow else { return }
    do {
      let view = try readingView()
      guard let row = try view.row(object.entity.rootEntity, object.identifier.key) else {
        return handleInaccessible(object)
      }
      if row.entityNumber == object.entity.number {
        object.adopt(checkedRow: row.bytes)
      } else {
        try object.adopt(row: row.bytes)
      }
    } catch {
      noteUnreadable(error, object)
    }
  }

  /// Keeps the error for the next fetch or save, and marks the object.
  func noteUnreadable(_ error: any Error, _ object: ManagedObject) {
    object.state.insert(.unreadable)
    unreadable[object.identifier] = HeartwoodError.unreadable(object.identifier, because: error)
  }

  /// Throws what reading properties could not throw.
  package func throwIfUnreadable() throws {
    // The smallest key, so that the same program throws the same error.
    if let first = unreadable.min(by: { $0.key.key < $1.key.key }) { throw first.value }
  }

  private func handleInaccessible(_ object: ManagedObject) {
    guard shouldDeleteInaccessibleFaults else {
      return noteUnreadable(HeartwoodError.noRow(object.identifier), object)
    }
    object.state.remove(.updated)
    changes.updated.remove(object)
    object.state.formUnion([.deleted, .inaccessible])
    if !changes.deleted.contains(object) { changes.deleted.append(object) }
  }
}

/// Which state of the store the context reads.
struct ViewHolder {
  /// The view of the last read; let go at the end of the event.
  var held: (any StoreView)?
  /// The view that the context is pinned to.
  var pinned: (any StoreView)?
  /// The coordinator's store, as it was at its opening number.
  var store: (any ObjectStore)?
  var openingNumber = 0
  /// What the identifiers of the store's rows carry.
  var identity = StoreIdentity.none
  /// Whether the next read pins the newest generation.
  var pinsAtNextRead = false
}

extension ManagedObjectContext {
  /// The state that reads see: the pinned generation, else the newest.
  func readingView() throws -> any StoreView {
    if let pinned = view.pinned { return pinned }
    let store = try objectStore()
    if let held = view.held, held.generation == store.newestGeneration { return held }
    let newest = try store.view()
    if view.pinsAtNextRead {
      view.pinned = newest
      view.pinsAtNextRead = false
    } else {
      view.held = newest
    }
    return newest
  }

  /// What the identifiers of this context's rows carry.
  var storeIdentity: StoreIdentity { openStore() == nil ? .none : view.identity }

  /// The store behind the coordinator.
  ///
  /// - Throws: `.persistentStoreOperation` when there is none.
  func objectStore() throws -> any ObjectStore {
    if let store = openStore() { return store }
    throw HeartwoodError(
      .persistentStoreOperation,
      "this context has no store: create it with a coordinator to which a persistent store was added")
  }

  /// The coordinator's store; asked for only where a store was added or removed since the last time.
  private func openStore() -> (any ObjectStore)? {
    guard let coordinator = persistentStoreCoordinator else { return nil }
    let number = coordinator.openingNumber
    if number != view.openingNumber {
      view.store = coordinator.objectStore
      view.identity = view.store?.identity ?? .none
      view.openingNumber = number
    }
    return view.store
  }
}
