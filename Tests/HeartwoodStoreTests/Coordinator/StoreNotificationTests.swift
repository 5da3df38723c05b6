import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Notifications of a coordinator's stores` {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    coordinator = PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: libraryTypes))
  }

  private static let names: [Notification.Name] = [
    .persistentStoreCoordinatorStoresWillChange, .persistentStoreCoordinatorWillRemoveStore,
    .persistentStoreCoordinatorStoresDidChange,
  ]

  /// The notifications that the coordinator posts while `body` runs.
  private func posted(_ body: () throws -> Void) rethrows -> [(Notification.Name, StoresChanges)] {
    let heard = Guarded<[(Notification.Name, StoresChanges)]>([])
    let observers = Self.names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { notification in
        if let changes = StoresChanges(notification) { heard.withLock { $0.append((name, changes)) } }
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    try body()
    return heard.withLock { $0 }
  }

  // NOT-08
  @Test func `adding, moving and removing a store is reported before and after`() throws {
    let added = try posted { try coordinator.addPersistentStore(at: folder.store) }
    let store = try #require(coordinator.persistentStores.first)
    #expect(added.map(\.0) == [Self.names[0], Self.names[2]])
    #expect(added.map(\.1.addedStores) == [[], [store]])

    let moved = try posted {
      try coordinator.migratePersistentStore(store, to: folder.url.appending(path: "Other"))
    }
    let other = try #require(coordinator.persistentStores.first)
    #expect(moved.map(\.0) == Self.names)
    #expect(moved.map(\.1.removedStores) == [[store], [store], [store]])
    #expect(moved.last?.1.addedStores == [other] && moved.last?.1.uuidChangedStores == [store, other])

    let removed = try posted { try coordinator.remove(other) }
    #expect(removed.map(\.0) == Self.names)
    #expect(removed.allSatisfy { $0.1.removedStores == [other] && $0.1.addedStores.isEmpty })
    #expect(posted { #expect(throws: HeartwoodError.self) { try coordinator.remove(other) } }.isEmpty)
  }

  // NOT-08
  @Test func `a store that is about to be removed can still be saved to`() throws {
    try coordinator.addPersistentStore(at: folder.store)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let saved = Guarded(false)
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreCoordinatorWillRemoveStore, object: coordinator, queue: nil
    ) { _ in
      context.performAndWait {
        context.makeBook("1", "a")
        saved.withLock { $0 = (try? context.save()) != nil }
      }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try coordinator.close()
    #expect(saved.withLock { $0 })
  }

  // NOT-08, NOT-13
  @Test func `changes of stores come as a sequence, which ends with the coordinator`() async throws {
    var owner: PersistentStoreCoordinator? = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let changes = try #require(owner?.storesChanges)
    let store = try owner?.addPersistentStore(type: .inMemory, at: nil)
    let identifier = try #require(store?.identifier)
    try owner?.close()
    owner = nil
    var heard: [StoresChanges] = []
    for await change in changes { heard.append(change) }
    #expect(heard.map { $0.addedStores.map(\.identifier) } == [[identifier], []])
    #expect(heard.map { $0.removedStores.map(\.identifier) } == [[], [identifier]])
  }
}
