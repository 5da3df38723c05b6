import Foundation
import Heartwood
import HeartwoodFiles

/// The open stores of a container.
final class OpenModelStores: Sendable {
  /// Unchecked: configurations are values, and stores of programs are used as their classes require.
  private struct State: @unchecked Sendable {
    var stores: [(store: PersistentStore, configuration: any DataStoreConfiguration)] = []
    var custom: [any DataStore] = []
    /// Contexts that follow the container's saves.
    var contexts: [WeakContext] = []
    var observers: [KeptObservation] = []
  }
  private struct WeakContext: Sendable { weak var context: ModelObjectContext? }
  private let state = Guarded(State())

  init() {}

  func add(_ store: PersistentStore, _ configuration: any DataStoreConfiguration) {
    state.withLock { $0.stores.append((store, configuration)) }
  }

  func add(_ store: any DataStore) { state.withLock { $0.custom.append(store) } }

  var custom: [any DataStore] { state.withLock { $0.custom } }
  var bridged: [BridgedStore] { all.compactMap { $0 as? BridgedStore } }
  var all: [PersistentStore] { state.withLock { $0.stores.map(\.store) } }

  func add(_ context: ModelObjectContext) {
    state.withLock { state in
      state.contexts.removeAll { $0.context == nil }
      state.contexts.append(WeakContext(context: context))
    }
  }

  var contexts: [ModelObjectContext] { state.withLock { $0.contexts.compactMap(\.context) } }

  /// Posts the container's notification for each save to a store.
  func begin(_ contents: ContainerContents) {
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: contents.coordinator, queue: nil
    ) { [weak contents] notification in
      NotificationCenter.default.post(
        name: ModelContainer.remoteChange, object: contents?.container, userInfo: notification.userInfo)
    }
    let kept = KeptObservation(observer)
    state.withLock { $0.observers.append(kept) }
  }

  /// Removes all objects of all stores.
  func erase(in container: ContainerContents) throws {
    let context = ModelObjectContext(container, isMain: false)
    do {
      for store in custom { try store.erase() }
      for store in bridged { store.noteErased() }
      for context in contexts { context.snapshots.removeAll() }
      guard bridged.count < all.count else { return contexts.forEach { $0.noteErased() } }
      for entity in container.models.model.entities where entity.superentity == nil {
        guard let name = entity.name else { continue }
        let request = BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObjectID>(entityName: name))
        _ = try context.execute(request)
      }
      if let token = container.coordinator.currentPersistentHistoryToken() {
        _ = try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: token))
      }
    } catch {
      throw SwiftDataError(.loadIssueModelContainer, "the stores cannot be erased", underlying: error)
    }
    for context in contexts { context.noteErased() }
  }
}
