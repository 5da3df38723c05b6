import Dispatch
import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Stores without a history` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(tracksHistory: Bool) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let description = PersistentStoreDescription(url: folder.store)
    description.tracksHistory = tracksHistory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  private func save(_ isbn: String, in container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    context.makeBook(isbn, isbn)
    try context.save()
  }

  // HIS-02
  @Test func `saves without history are not recorded, and earlier tokens expire`() throws {
    let silent = try open(tracksHistory: false)
    try save("1", in: silent)
    let token = try #require(silent.currentHistoryToken)
    #expect(try silent.history().isEmpty)
    #expect(try silent.history(after: token).isEmpty)
    try save("2", in: silent)
    let error = heartwoodError { _ = try silent.history(after: token) }
    #expect(error?.code == .persistentHistoryTokenExpired)
    #expect(try silent.persistentStoreCoordinator.verify().findings == [])
    try silent.close()

    let recording = try open(tracksHistory: true)
    let start = try #require(recording.currentHistoryToken)
    try save("3", in: recording)
    #expect(try recording.history(after: start).count == 1)
    #expect(try recording.history().count == 1)
    #expect(try recording.persistentStoreCoordinator.verify().findings == [])
    try recording.close()
  }

  // HIS-02, T68
  @Test func `a store with a history is not opened without, until its history is deleted`() throws {
    let recording = try open(tracksHistory: true)
    try save("1", in: recording)
    try recording.close()
    let error = heartwoodError { _ = try open(tracksHistory: false) }
    #expect(error?.code == .persistentStoreOpen && error?.message.contains("delete its history") == true)

    let again = try open(tracksHistory: true)
    _ = try again.newBackgroundContext().execute(.deleteHistory(before: .distantFuture))
    try again.close()
    let silent = try open(tracksHistory: false)
    try save("2", in: silent)
    #expect(try silent.newBackgroundContext().count(Book.self) == 2)
    #expect(try silent.history().isEmpty)
    try silent.close()
  }

  // HIS-02, T68
  @Test func `saves are recorded again as soon as another coordinator records one`() throws {
    let silent = try open(tracksHistory: false)
    try save("1", in: silent)
    let recording = try open(tracksHistory: true)
    try save("2", in: recording)
    let token = try #require(recording.currentHistoryToken)
    try save("3", in: silent)
    #expect(try recording.history(after: token).count == 1)
    #expect(try recording.history().count == 2)
    #expect(try recording.persistentStoreCoordinator.verify().findings == [])
    try silent.close()
    try recording.close()
  }

  // HIS-19
  @Test func `remote changes of a store without history carry no token`() throws {
    let description = PersistentStoreDescription(url: folder.store)
    description.tracksHistory = false
    description.postsRemoteChangeNotifications = true
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let store = try coordinator.addPersistentStore(with: description)
    let heard = DispatchSemaphore(value: 0)
    let keys = Guarded<Set<String>>([])
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
    ) { notification in
      let names = Set((notification.userInfo ?? [:]).keys.map { "\($0)" })
      keys.withLock { $0 = names }
      heard.signal()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.makeBook("1", "a")
    try context.save()
    try #require(heard.wait(timeout: .now() + 60) == .success)
    #expect(keys.withLock { $0 } == ["NSStoreUUID", "storeURL"])
    #expect(!store.identifier.isEmpty)
    try coordinator.close()
  }
}
