import Foundation

extension Notification.Name {
  /// Posted by a coordinator before it adds or removes stores, also if that then fails. The object is the coordinator; the
  /// `userInfo` has the stores that are to be removed.
  public static let persistentStoreCoordinatorStoresWillChange = Notification.Name(
    "HeartwoodPersistentStoreCoordinatorStoresWillChange")
  /// Posted by a coordinator after it has added or removed stores. The object is the coordinator; the `userInfo` has the stores.
  public static let persistentStoreCoordinatorStoresDidChange = Notification.Name(
    "HeartwoodPersistentStoreCoordinatorStoresDidChange")
  /// Posted by a coordinator before it removes a store, which still can be read and saved to. The object is the coordinator; the
  /// `userInfo` has the store.
  public static let persistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "HeartwoodPersistentStoreCoordinatorWillRemoveStore")
  /// The same as Core Data posts it: the object is the store.
  package static let persistentStoreWillBeRemoved = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

extension PersistentStoreCoordinator {
  /// The keys in the `userInfo` of notifications about a coordinator's stores, by their raw values, which are Core Data's.
  public enum StoresKey: String, Hashable, Sendable, CaseIterable {
    /// Stores that were added, a `[PersistentStore]`.
    case addedStores = "added"
    /// Stores that were removed, or are to be removed, a `[PersistentStore]`.
    case removedStores = "removed"
    /// A store and the one that has replaced it in `migratePersistentStore`, a `[PersistentStore]`.
    case uuidChangedStores = "changed"
  }

  /// The changes of each adding and removing of stores, as an asynchronous sequence.
  ///
  /// Each use of the property is a sequence of its own, which begins with the call and ends when its iteration ends or the
  /// coordinator is released. Elements that are not consumed yet are kept. The sequence does not keep the coordinator.
  @_disfavoredOverload
  public var storesChanges: AsyncStream<StoresChanges> {
    let (stream, continuation) = AsyncStream<StoresChanges>.makeStream()
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreCoordinatorStoresDidChange, object: self, queue: nil
    ) { notification in
      if let changes = StoresChanges(notification) { continuation.yield(changes) }
    }
    let observation = EndingObservation(observer)
    continuation.onTermination = { _ in observation.end() }
    sequences.withLock { $0.append(StoresSequence(continuation)) }
    return stream
  }

  /// Posts that a store is about to be removed.
  func postRemoval(of store: PersistentStore) {
    let removed = StoresChanges(removed: [store])
    post(.persistentStoreCoordinatorStoresWillChange, removed)
    post(.persistentStoreCoordinatorWillRemoveStore, removed)
    NotificationCenter.default.post(
      name: .persistentStoreWillBeRemoved, object: store, userInfo: removed.userInfo)
  }

  /// Posts a notification of the coordinator's stores.
  func post(_ name: Notification.Name, _ changes: StoresChanges) {
    NotificationCenter.default.post(name: name, object: self, userInfo: changes.userInfo)
  }
}

/// Stores that a coordinator has added and removed, as its notifications report them.
public struct StoresChanges: Sendable {
  /// Stores that were added.
  public var addedStores: [PersistentStore] = []
  /// Stores that were removed, or are to be removed.
  public var removedStores: [PersistentStore] = []
  /// A store and the one that has replaced it in `migratePersistentStore`. Unlike Core Data's, both have the same identifier.
  public var uuidChangedStores: [PersistentStore] = []

  /// No changes.
  public init() {}

  /// The changes in a notification of a coordinator's stores; nil for any other notification.
  public init?(_ notification: Notification) {
    let names: [Notification.Name] = [
      .persistentStoreCoordinatorStoresWillChange, .persistentStoreCoordinatorStoresDidChange,
      .persistentStoreCoordinatorWillRemoveStore,
    ]
    guard names.contains(notification.name) else { return nil }
    func stores(_ key: PersistentStoreCoordinator.StoresKey) -> [PersistentStore] {
      notification.userInfo?[key.rawValue] as? [PersistentStore] ?? []
    }
    addedStores = stores(.addedStores)
    removedStores = stores(.removedStores)
    uuidChangedStores = stores(.uuidChangedStores)
  }

  init(added: [PersistentStore] = [], removed: [PersistentStore] = [], replaced: [PersistentStore] = []) {
    addedStores = added
    removedStores = removed
    uuidChangedStores = replaced
  }

  /// The stores under the raw values of `PersistentStoreCoordinator.StoresKey`, without empty lists.
  var userInfo: [String: Any] {
    let lists: [(PersistentStoreCoordinator.StoresKey, [PersistentStore])] = [
      (.addedStores, addedStores), (.removedStores, removedStores), (.uuidChangedStores, uuidChangedStores),
    ]
    return Dictionary(
      uniqueKeysWithValues: lists.filter { !$0.1.isEmpty }.map { ($0.0.rawValue, $0.1) })
  }
}

/// A sequence of a coordinator, which ends with it.
final class StoresSequence: Sendable {
  private let continuation: AsyncStream<StoresChanges>.Continuation

  init(_ continuation: AsyncStream<StoresChanges>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}

/// The observation behind a sequence.
private final class EndingObservation: @unchecked Sendable {
  /// Unchecked: notification centers accept tokens on any thread.
  private let token: any NSObjectProtocol

  init(_ token: any NSObjectProtocol) { self.token = token }

  func end() { NotificationCenter.default.removeObserver(token) }
}
