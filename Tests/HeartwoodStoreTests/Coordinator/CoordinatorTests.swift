import Dispatch
import Foundation
import GraphTestSupport
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Coordinators` {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    folder = try TemporaryFolder()
    coordinator = PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: libraryTypes))
  }

  // PSC-02, PSC-05, PSC-19, CON-12
  @Test func `a store is added by its URL and options, and found by them`() throws {
    coordinator.name = "Library"
    #expect(coordinator.name == "Library")
    let store = try coordinator.addPersistentStore(
      type: .log, configuration: nil, at: folder.store,
      options: [.timeout: 3, .historyTracking: true, .remoteChangeNotificationPost: true])
    #expect(coordinator.persistentStore(for: folder.store) === store)
    #expect(coordinator.url(for: store) == folder.store)
    #expect(!store.isReadOnly)
    try coordinator.close()
    #expect(throws: HeartwoodError.self) {
      try coordinator.addPersistentStore(configuration: "Half", at: folder.store)
    }
    #expect(throws: HeartwoodError.self) { try coordinator.addPersistentStore(at: nil) }
    let memory = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    #expect(coordinator.url(for: memory).path == "/dev/null")
    try coordinator.close()
  }

  // CON-12, CON-14
  @Test func `options by key are those of the description's properties, and nil restores the default`() throws
  {
    let description = PersistentStoreDescription(url: folder.store)
    #expect(description.timeout == 5 && !description.isReadOnly && description.tracksHistory)
    #expect(!description.shouldAddStoreAsynchronously)
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    description.setOption(true, forKey: .readOnly)
    description.setOption(2.5, forKey: .timeout)
    description.setOption(false, forKey: .historyTracking)
    description.setOption(true, forKey: .remoteChangeNotificationPost)
    #expect(description.isReadOnly && description.timeout == 2.5 && !description.tracksHistory)
    #expect(description.postsRemoteChangeNotifications)
    #expect(description.options[.timeout] as? Double == 2.5 && description.options.count == 7)
    for key in description.options.keys { description.setOption(nil, forKey: key) }
    #expect(!description.isReadOnly && description.timeout == 5 && description.tracksHistory)
    try coordinator.addPersistentStore(with: description)
    // A description has no effect on a store that is open.
    description.isReadOnly = true
    #expect(coordinator.persistentStores.first?.isReadOnly == false)
    try coordinator.close()
  }

  // CON-12
  @Test func `an unknown option and a value of another type are refused by name`() throws {
    let unknown = PersistentStore.OptionKey(rawValue: "Pragmas")
    let wrong: [(PersistentStore.OptionKey, any Sendable)] = [
      (unknown, 1), (.readOnly, "yes"), (.timeout, -1), (.timeout, true), (.forceDestroy, true),
    ]
    for (key, value) in wrong {
      let error = heartwoodError {
        try coordinator.addPersistentStore(at: folder.store, options: [key: value])
      }
      #expect(error?.code == .persistentStoreOpen && error?.message.contains("\(key)") == true)
    }
    for timeout in [-1, Double.nan] {
      let description = PersistentStoreDescription(url: folder.store)
      description.timeout = timeout
      let error = heartwoodError { try coordinator.addPersistentStore(with: description) }
      #expect(error?.code == .persistentStoreOpen && error?.message.contains("timeout") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
  }

  @Test func `a description with two ways to migrate is refused`() throws {
    let description = PersistentStoreDescription(url: folder.store)
    description.mappingModel = MappingModel()
    description.stagedMigrationManager = StagedMigrationManager([])
    let error = heartwoodError { try coordinator.addPersistentStore(with: description) }
    #expect(error?.code == .persistentStoreOpen && error?.message.contains("mappingModel") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
  }

  // CON-14
  @Test func `a store that another holds for longer than the timeout is an error of its own`() throws {
    let engine = try Engine(
      at: folder.store.path, options: EngineOptions(sharing: .exclusive))
    let error = heartwoodError {
      try coordinator.addPersistentStore(at: folder.store, options: [.timeout: 0])
    }
    #expect(error?.code == .persistentStoreTimeout && error?.code.rawValue == 134090)
    #expect((error?.underlying as? EngineError)?.code == .locked)
    try engine.close()
    try coordinator.addPersistentStore(at: folder.store, options: [.timeout: 0])
    try coordinator.close()
  }

  // PSC-03, CON-14
  @Test func `a store may be added on another thread`() throws {
    let description = PersistentStoreDescription(url: folder.store)
    description.shouldAddStoreAsynchronously = true
    let done = DispatchSemaphore(value: 0)
    let lock = NSLock()
    let error = Guarded<(any Error)?>(nil)
    lock.lock()
    coordinator.addPersistentStore(with: description) { _, failure in
      error.withLock { $0 = failure }
      // Would wait for ever on this thread.
      lock.withLock {}
      done.signal()
    }
    lock.unlock()
    try #require(done.wait(timeout: .now() + 60) == .success)
    #expect(error.withLock { $0 } == nil)
    #expect(coordinator.persistentStores.count == 1)
    description.shouldAddStoreAsynchronously = false
    let second = Guarded<(any Error)?>(nil)
    coordinator.addPersistentStore(with: description) { _, failure in second.withLock { $0 = failure } }
    #expect(second.withLock { $0 } is HeartwoodError)
    try coordinator.close()
  }

  // CON-04
  @Test func `a container loads its store without blocking the task that waits for it`() async throws {
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try await container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    try container.close()
    container.persistentStoreDescriptions[0].type = .init(rawValue: "XML")
    await #expect(throws: HeartwoodError.self) { try await container.loadPersistentStores() }
    container.persistentStoreDescriptions[0].type = .log
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let error = await withCheckedContinuation { continuation in
      container.loadPersistentStores { continuation.resume(returning: $1) }
    }
    #expect(error == nil)
    try container.close()
  }

  // CON-02, CON-09
  @Test func `a subclass of the container chooses the default folder`() throws {
    let container = SharedContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    #expect(container.persistentStoreDescriptions.map(\.url?.path) == ["/group/Library.heartwood"])
  }

  // PSC-18
  @Test func `blocks run on the coordinator's queue one at a time, and calls may be nested`() async throws {
    let count = Guarded(0)
    let other = PersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    let nested = coordinator.performAndWait { other.performAndWait { coordinator.performAndWait { 7 } } }
    #expect(nested == 7)
    schedule(10) { count.withLock { $0 += 1 } }
    let seen = await coordinator.perform { count.withLock { $0 } }
    #expect(seen == 10)
    await #expect(throws: HeartwoodError.self) {
      try await self.coordinator.perform { () throws -> Int in throw HeartwoodError(.coreData, "refused") }
    }
    #expect(throws: HeartwoodError.self) {
      try coordinator.performAndWait { throw HeartwoodError(.coreData, "refused") }
    }
  }

  private func schedule(_ count: Int, _ block: @escaping @Sendable () -> Void) {
    for _ in 0..<count { coordinator.perform(block) }
  }

  // PSC-15
  @Test func `a coordinator executes requests with a context of its own`() throws {
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let book = context.makeBook("1", "a")
    try context.save()
    #expect(try coordinator.execute(FetchRequest<Book>(), with: context) == [book])
    let history = try coordinator.execute(.fetchHistory(after: Date.distantPast), with: context)
    #expect(history.transactions.count == 1)
    let other = try makeLibrary()
    #expect(throws: HeartwoodError.self) {
      try coordinator.execute(FetchRequest<Book>(), with: other.newBackgroundContext())
    }
    try coordinator.close()
  }
}

private final class SharedContainer: PersistentContainer, @unchecked Sendable {
  override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/group") }
}
