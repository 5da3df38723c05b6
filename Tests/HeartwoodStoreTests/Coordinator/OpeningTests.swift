import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// A store of the program that calls what a test wants while it is loaded.
private final class CallingStore: AtomicStore, @unchecked Sendable {
  static let kind = PersistentStore.StoreType(rawValue: "Calling")
  private static let calls = Guarded<[URL: @Sendable (CallingStore) throws -> Void]>([:])

  /// - Parameter call: Called while the store at a place is loaded.
  static func place(_ call: @escaping @Sendable (CallingStore) throws -> Void) -> URL {
    PersistentStoreCoordinator.registerStoreClass(CallingStore.self, type: kind)
    let url = URL(string: "calling://test/\(UUID())")!
    calls.withLock { $0[url] = call }
    return url
  }

  override func load() throws {
    let url = url
    try Self.calls.withLock { $0[url] }?(self)
  }
  override func save() throws {}
}

@Suite struct `Opening a store` {
  private let folder: TemporaryFolder
  private let container: PersistentContainer

  init() throws {
    folder = try TemporaryFolder()
    container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
  }

  private var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  @Test func `the coordinator, its other stores and their contexts can be used while a store is opened`()
    throws
  {
    try coordinator.addPersistentStore(at: folder.store)
    let context = container.newBackgroundContext()
    _ = context.makePerson("A", age: 1)
    try context.save()
    let container = container
    let seen = Guarded<[String]>([])
    let url = CallingStore.place { store in
      let coordinator = container.persistentStoreCoordinator
      let context = container.newBackgroundContext()
      let names = try context.fetch(Person.self).map(\.name)
      _ = context.makePerson("B", age: 2)
      try context.save()
      let error = #expect(throws: HeartwoodError.self) {
        try coordinator.addPersistentStore(type: CallingStore.kind, at: store.url)
      }
      seen.withLock {
        $0 = names + coordinator.persistentStores.map(\.type.rawValue) + [error?.message ?? ""]
      }
    }
    let added = try coordinator.addPersistentStore(type: CallingStore.kind, at: url)
    let known = seen.withLock { $0 }
    #expect(known.prefix(2) == ["A", PersistentStore.StoreType.log.rawValue] && known.count == 3)
    #expect(known.last?.contains("being opened") == true)
    #expect(coordinator.persistentStores.map(\.type) == [.log, CallingStore.kind])
    try coordinator.remove(added)
    #expect(try context.fetch(Person.self).count == 2)
    try container.close()
  }

  @Test
  func `a store that asks for the stores of its coordinator can be opened with another thread asking, too`()
    async throws
  {
    let container = container
    let url = CallingStore.place { _ in
      // Another thread would wait for ever for a lock that this one had.
      let asked = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = container.persistentStoreCoordinator.persistentStores
        asked.signal()
      }
      asked.wait()
    }
    try coordinator.addPersistentStore(type: CallingStore.kind, at: url)
    #expect(coordinator.persistentStores.count == 1)
    try container.close()
  }

  @Test func `a store that was not opened leaves its place to another`() throws {
    struct Refusal: Error {}
    let isRefused = Guarded(true)
    let url = CallingStore.place { _ in if isRefused.withLock({ $0 }) { throw Refusal() } }
    #expect(throws: Refusal.self) { try coordinator.addPersistentStore(type: CallingStore.kind, at: url) }
    #expect(coordinator.persistentStores.isEmpty)
    isRefused.withLock { $0 = false }
    try coordinator.addPersistentStore(type: CallingStore.kind, at: url)
    #expect(coordinator.persistentStores.count == 1)
    #expect(throws: HeartwoodError.self) {
      try coordinator.addPersistentStore(type: CallingStore.kind, at: url)
    }
    try container.close()
  }

  @Test func `other stores can be used while one is migrated`() throws {
    let old = PersistentContainer(
      name: "Old", managedObjectModel: try ManagedObjectModel(types: [Book.self, Author.self, Subject.self]))
    try old.persistentStoreCoordinator.addPersistentStore(at: folder.store)
    old.viewContext.makeBook("1", "T")
    try old.viewContext.save()
    try old.close()

    let new = PersistentContainer(
      name: "New", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let coordinator = new.persistentStoreCoordinator
    try coordinator.addPersistentStore(at: folder.url.appending(path: "Other"))
    let description = PersistentStoreDescription(url: folder.store)
    let counts = Guarded<[Int]>([])
    description.migrationLog = { _ in
      let context = new.newBackgroundContext()
      _ = context.makeAuthor("\(UUID())")
      try? context.save()
      counts.withLock { $0.append(coordinator.persistentStores.count) }
    }
    try coordinator.addPersistentStore(with: description)
    let seen = counts.withLock { $0 }
    #expect(!seen.isEmpty && Set(seen) == [1])
    #expect(try new.viewContext.count(Author.self) == seen.count && new.viewContext.count(Book.self) == 1)
    try new.close()
  }

  @Test func `a replacement that fails leaves the former store open, and names what is wrong`() throws {
    let store = try coordinator.addPersistentStore(at: folder.store)
    let context = container.newBackgroundContext()
    _ = context.makePerson("A", age: 1)
    try context.save()
    let source = folder.url.appending(path: "Source")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: false)
    #expect(throws: (any Error).self) {
      try coordinator.replacePersistentStore(at: folder.store, withPersistentStoreFrom: source, type: .log)
    }
    let other = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let filled = folder.url.appending(path: "Filled")
    try other.persistentStoreCoordinator.addPersistentStore(at: filled)
    try other.close()
    // The destination is in use, which is no fault of the source.
    let error = #expect(throws: HeartwoodError.self) {
      try PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: companyTypes))
        .replacePersistentStore(at: folder.store, withPersistentStoreFrom: filled, type: .log)
    }
    #expect(error?.message.contains(folder.store.lastPathComponent) == true)
    #expect(error?.message.contains(filled.path) != true)
    #expect(coordinator.persistentStores.map(\.url) == [store.url])
    #expect(try context.fetch(Person.self).map(\.name) == ["A"])
    try container.close()
  }

  @Test func `two references of a store of the program never have one key`() {
    var references = StoreReferences()
    let first = references.name("a", 1, hash: 5, check: 10)
    let second = references.name("b", 1, hash: 5, check: 11)
    let again = references.name("a", 1, hash: 5, check: 10)
    let ofAnother = references.name("b", 2, hash: 5, check: 11)
    let last = references.name("z", 1, hash: .max, check: 1)
    let around = references.name("y", 1, hash: .max, check: 2)
    #expect(first == again && first != second && ofAnother == first && last != around)
    #expect(references[1, first] as? String == "a" && references[1, second] as? String == "b")
    #expect(references[2, ofAnother] as? String == "b")
    #expect(references[1, last] as? String == "z" && references[1, around] as? String == "y")
  }
}
