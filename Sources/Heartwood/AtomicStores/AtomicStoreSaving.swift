import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// Brings the nodes of a custom store up to date with a transaction, and has the store write them.
final class AtomicStoreSaving: StoreOutside, Sendable {
  private struct Weak: @unchecked Sendable {
    weak var store: AtomicStore?
  }

  private let held: Weak
  /// The store changes its place itself.
  var path: String { held.store?.url.path ?? "" }
  let typeName: String
  private let changes = Guarded<[HistoryChange]>([])

  init(_ store: AtomicStore) {
    held = Weak(store: store)
    typeName = store.type.rawValue
  }

  func allows(_ feature: StoreFeature) -> Bool { false }

  /// Whether the store can be saved is known to its class alone.
  func prepare() {}

  func move(to path: String) -> Bool { !FileManager.default.fileExists(atPath: path) }

  func save(_ transaction: LogStoreTransaction, _ identifier: StoreIdentifier) throws {
    guard let store = held.store else { return }
    changes.withLock { $0 = transaction.changes }
    // The class has given out their keys; a copy of another kind goes on behind them.
    let inserts = transaction.changes.filter { $0.kind == .insert }
    for family in Dictionary(grouping: inserts, by: { $0.entity.rootEntity.number }).values {
      guard let last = family.max(by: { $0.key < $1.key }) else { continue }
      try transaction.noteGivenKey(last.key, last.entity.rootEntity)
    }
    try save(store, try transaction.view())
  }

  /// Makes nodes of everything in the store, and has it written.
  func saveAll() throws {
    guard let store = held.store else { return }
    let view = try store.contents.newestView()
    var all: [HistoryChange] = []
    for root in store.contents.schema.rootEntities {
      try view.scanRows(of: root, from: nil, reversed: false) { found in
        all.append(
          HistoryChange(
            kind: .insert, entity: try root.entity(numbered: found.row.entityNumber), key: found.key))
        return true
      }
    }
    changes.withLock { [all] in $0 = all }
    try save(store, view)
    noteCommitted()
  }

  private func save(_ store: AtomicStore, _ view: any StoreView) throws {
    try update(store, view)
    guard !store.settings.defersWriting else { return }
    do {
      try store.save()
    } catch  where error is HeartwoodError || store.passesErrorsOn {
      throw error
    } catch {
      throw HeartwoodError(
        .persistentStoreSave, "the store at \(path) was not saved: \(error)", underlying: error)
    }
  }

  func noteCommitted() {
    changes.withLock { $0 = [] }
    held.store?.noteSaved()
  }

  /// Makes the nodes of what the transaction has changed as they were.
  func noteFailed() {
    guard let store = held.store, !changes.withLock(\.isEmpty), let view = try? store.contents.newestView()
    else { return }
    try? update(store, view)
    noteCommitted()
  }

  /// Brings the nodes of the changed objects into agreement with a state of the store.
  private func update(_ store: AtomicStore, _ view: any StoreView) throws {
    // Of its own, as the coordinator of the store may have others, whose keys have their numbers.
    let coordinator = try PersistentStoreCoordinator(checking: store.managedObjectModel)
    try coordinator.adopt(store)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let changes = changes.withLock { $0 }
    try context.performAndWait {
      // First: a context that meets another store drops its pin.
      _ = try context.objectStore()
      context.view.pinned = view
      var (seen, removed, present) = (Set<RowAddress>(), [AtomicStoreCacheNode](), [ManagedObject]())
      for change in changes {
        let entity = change.entity
        guard seen.insert(RowAddress(entity, change.key)).inserted else { continue }
        let identifier = ManagedObjectID(entity: entity, key: change.key, store: store.contents.identity)
        if try view.row(entity.rootEntity, change.key) == nil {
          if let node = store.cacheNode(for: identifier) { removed.append(node) }
        } else {
          present.append(context.object(with: identifier))
        }
      }
      store.removeCacheNodes(removed)
      store.addCacheNodes(
        Set(present.filter { store.cacheNode(for: $0.objectID) == nil }.map(store.newCacheNode)))
      for object in present {
        if let node = store.cacheNode(for: object.objectID) { store.updateCacheNode(node, from: object) }
      }
      try context.throwIfUnreadable()
    }
  }
}
