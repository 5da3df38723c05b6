import Dispatch
import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// `EndToEnd/NoticeTests` of the command uses a second process.
@Suite struct `A coordinator that posts remote changes` {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel

  init() throws {
    folder = try TemporaryFolder()
    model = try ManagedObjectModel(types: libraryTypes)
  }

  /// - Parameter isApart: Whether the coordinator has its own engine, as a separate process would.
  private func open(posts: Bool = true, isApart: Bool = false, at url: URL? = nil) throws
    -> PersistentStoreCoordinator
  {
    let description = PersistentStoreDescription(url: url ?? folder.store)
    description.postsRemoteChangeNotifications = posts
    if isApart { description.fileSystem = FaultInjectingFileSystem(base: PosixFileSystem()) }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(with: description)
    return coordinator
  }

  @Test(arguments: [true, false])
  func `a coordinator posts saves of other processes, and a context merges them from the history`(
    isApart: Bool
  ) throws {
    let writing = try open(posts: false)
    let reading = try open(isApart: isApart)
    let writer = ManagedObjectContext(.privateQueue, coordinator: writing)
    let ada = try writer.performAndWait {
      let ada = writer.makeAuthor("Ada")
      ada.country = "GB"
      try writer.save()
      return ada.objectID.uriRepresentation()
    }
    let reader = ManagedObjectContext(.privateQueue, coordinator: reading)
    let id = try #require(reading.managedObjectID(forURIRepresentation: ada))
    let country = { try reader.performAndWait { (try reader.existingObject(with: id) as? Author)?.country } }
    #expect(try country() == "GB")
    var token = reading.currentPersistentHistoryToken()
    let posted = Posted(by: reading)

    try writer.performAndWait {
      try #require(try writer.fetch(Author.self).first).country = "FR"
      try writer.save()
    }
    try posted.wait(for: try #require(writing.currentPersistentHistoryToken()))

    // A context shows the same values until it is refreshed.
    #expect(try country() == "GB")
    try reader.performAndWait {
      let news = try reader.execute(.fetchHistory(after: token)).transactions
      for change in news.flatMap({ $0.changes ?? [] }) {
        guard let object = reader.registeredObject(for: change.changedObjectID) else { continue }
        reader.refresh(object, mergeChanges: true)
      }
      token = news.last?.token ?? token
    }
    #expect(try country() == "FR")
    #expect(token == posted.all.last?.token)
    try reading.close()
    try writing.close()
  }

  @Test(arguments: ["/dev/null", nil])
  func `a coordinator posts its own saves, with the store's identifier and location`(memory: String?) throws {
    let url = memory.map { URL(fileURLWithPath: $0) } ?? folder.store
    let coordinator = try open(at: url)
    let posted = Posted(by: coordinator)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for name in ["Ada", "Eve"] {
      try context.performAndWait {
        _ = context.makeAuthor(name)
        try context.save()
      }
      try posted.wait(for: try #require(coordinator.currentPersistentHistoryToken()))
    }
    let store = try #require(coordinator.persistentStores.first)
    #expect(
      posted.all.allSatisfy { $0.token.storeID == store.identifier && $0.storeUUID == store.identifier })
    #expect(posted.all.allSatisfy { $0.url == store.url && !$0.isOnMainThread })
    #expect(posted.all.map(\.token) == posted.all.map(\.token).sorted())
    try coordinator.close()
  }

  @Test func `a coordinator posts nothing without the option, or after it is closed`() throws {
    let (silent, closed, noting) = (try open(posts: false), try open(), try open())
    let all = [silent, closed, noting].map(Posted.init)
    try closed.close()
    let context = ManagedObjectContext(.privateQueue, coordinator: noting)
    try context.performAndWait {
      _ = context.makeAuthor("Ada")
      try context.save()
    }
    try all[2].wait(for: try #require(noting.currentPersistentHistoryToken()))
    #expect(all[0].all.isEmpty && all[1].all.isEmpty)
    for coordinator in [silent, noting] { try coordinator.close() }
  }

  @Test func `a coordinator may be closed by its observer`() throws {
    let noting = try open()
    let isClosed = DispatchSemaphore(value: 0)
    let center = NotificationCenter.default
    let token = center.addObserver(forName: .persistentStoreRemoteChange, object: noting, queue: nil) {
      try? ($0.object as? PersistentStoreCoordinator)?.close()
      isClosed.signal()
    }
    defer { center.removeObserver(token) }
    let writing = try open(posts: false)
    let context = ManagedObjectContext(.privateQueue, coordinator: writing)
    try context.performAndWait {
      _ = context.makeAuthor("Ada")
      try context.save()
    }
    try #require(isClosed.wait(timeout: .now() + 60) == .success)
    #expect(noting.persistentStores.isEmpty)
    try writing.close()
  }
}

/// The notifications that a coordinator has posted.
final class Posted: Sendable {
  struct Note: Sendable {
    let token: PersistentHistoryToken
    let storeUUID: String?
    let url: URL?
    let isOnMainThread: Bool
  }

  private let notes = Guarded<[Note]>([])
  private let news = DispatchSemaphore(value: 0)
  private let observer = Guarded<Observer?>(nil)

  private struct Observer: @unchecked Sendable {
    let token: any NSObjectProtocol
  }

  init(by coordinator: PersistentStoreCoordinator) {
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
    ) { [weak self] notification in
      self?.note(notification)
    }
    self.observer.withLock { $0 = Observer(token: observer) }
  }

  deinit {
    if let observer = observer.withLock({ $0 }) { NotificationCenter.default.removeObserver(observer.token) }
  }

  private func note(_ notification: Notification) {
    typealias Key = PersistentStoreCoordinator.NotificationKey
    let said = notification.userInfo ?? [:]
    guard let token = said[Key.persistentHistoryToken.rawValue] as? PersistentHistoryToken else { return }
    let note = Note(
      token: token, storeUUID: said[Key.storeUUID.rawValue] as? String,
      url: said[Key.persistentStoreURL.rawValue] as? URL, isOnMainThread: Thread.isMainThread)
    notes.withLock { $0.append(note) }
    news.signal()
  }

  /// A new array: no sanitizer sees the release of a shared array by another thread.
  var all: [Note] { notes.withLock { $0.map(\.self) } }

  func wait(for token: PersistentHistoryToken) throws {
    while all.last.map({ $0.token < token }) ?? true {
      try #require(news.wait(timeout: .now() + 60) == .success, "\(token) was not posted")
    }
  }
}
