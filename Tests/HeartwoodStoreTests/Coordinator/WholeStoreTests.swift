import Foundation
import GraphTestSupport
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Whole stores` {
  private let folder: TemporaryFolder
  private let coordinator: PersistentStoreCoordinator
  private let quick: PersistentStore.Options = [.timeout: 0]

  init() throws {
    folder = try TemporaryFolder()
    coordinator = PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(types: libraryTypes))
  }

  private var other: URL { folder.url.appending(path: "Other.heartwood") }

  private func open(_ url: URL) throws -> PersistentContainer {
    try PersistentContainer(name: "Library", types: libraryTypes, at: url)
  }

  @discardableResult
  private func make(_ url: URL, _ isbn: String) throws -> String {
    let container = try open(url)
    let context = container.newBackgroundContext()
    context.makeBook(isbn, isbn)
    try context.save()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    try container.close()
    return store.identifier
  }

  private func books(_ url: URL) throws -> [String] {
    let container = try open(url)
    defer { try? container.close() }
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
    return try container.newBackgroundContext().fetch(Book.self).map(\.isbn)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  // PSC-12
  @Test func `a destroyed store is empty, and another can be made in its folder`() throws {
    let identifier = try make(folder.store, "1")
    try coordinator.destroyPersistentStore(at: folder.store)
    #expect(throws: HeartwoodError.self) {
      try PersistentStoreCoordinator.metadataForPersistentStore(at: folder.store)
    }
    #expect(try books(folder.store) == [])
    #expect(try make(folder.store, "2") != identifier)
    #expect(try books(folder.store) == ["2"])
    try coordinator.destroyPersistentStore(at: other)
    #expect(try names == ["Store.heartwood"])
  }

  // PSC-12
  @Test func `a store that is open elsewhere is destroyed only by force`() throws {
    try make(folder.store, "1")
    let container = try open(folder.store)
    let error = heartwoodError { try coordinator.destroyPersistentStore(at: folder.store, options: quick) }
    #expect(error?.code == .persistentStoreTimeout && error?.message.contains("open elsewhere") == true)
    #expect(try container.newBackgroundContext().count(Book.self) == 1)

    try coordinator.destroyPersistentStore(
      at: folder.store, options: [.timeout: 0, .forceDestroy: true])
    #expect(try names == [])
    // The former store writes nothing to a new one.
    try make(folder.store, "2")
    let context = container.newBackgroundContext()
    context.makeBook("3", "3")
    #expect(throws: HeartwoodError.self) { try context.save() }
    try? container.close()
    #expect(try books(folder.store) == ["2"])
  }

  // PSC-12, PSC-13
  @Test func `a store that is open in the coordinator leaves it when it is destroyed or replaced`() throws {
    try make(other, "2")
    let container = try open(folder.store)
    let (own, context) = (container.persistentStoreCoordinator, container.newBackgroundContext())
    let description = try #require(own.persistentStores.first).settings
    context.makeBook("1", "1")
    try context.save()
    // Refused, as the source is missing: it is open again, with what it had.
    #expect(throws: HeartwoodError.self) {
      try own.replacePersistentStore(
        at: folder.store, withPersistentStoreFrom: folder.url.appending(path: "Nothing"))
    }
    #expect(try context.fetch(Book.self).map(\.isbn) == ["1"])
    try own.replacePersistentStore(at: folder.store, withPersistentStoreFrom: other)
    #expect(own.persistentStores.isEmpty)
    try own.addPersistentStore(with: description)
    #expect(try context.fetch(Book.self).map(\.isbn) == ["2"])
    try own.destroyPersistentStore(at: folder.store)
    #expect(own.persistentStores.isEmpty)
    try own.addPersistentStore(with: description)
    #expect(try context.fetch(Book.self).isEmpty)
    try container.close()
  }

  // PSC-12
  @Test(arguments: [false, true])
  func `a folder that is not a store is not destroyed`(isForced: Bool) throws {
    let letter = try folder.file("letter.txt", "letter")
    let error = heartwoodError {
      try coordinator.destroyPersistentStore(at: folder.url, options: [.forceDestroy: isForced])
    }
    #expect(error?.code == .persistentStoreOperation)
    #expect(
      heartwoodError { try coordinator.destroyPersistentStore(at: URL(fileURLWithPath: letter)) } != nil)
    #expect(try names == ["letter.txt"])
  }

  @Test func `a damaged store can be destroyed, and so can the rest of one`() throws {
    try make(folder.store, "1")
    let anchor = folder.store.appending(path: "anchor")
    try Data(repeating: 7, count: 100).write(to: anchor)
    #expect(throws: HeartwoodError.self) { try books(folder.store) }
    // As a crash leaves it after the first step.
    try FileManager.default.moveItem(at: anchor, to: folder.store.appending(path: "anchor.new"))
    try coordinator.destroyPersistentStore(at: folder.store)
    #expect(try books(folder.store) == [])
  }

  // PSC-13
  @Test func `a store is replaced by a copy of another one, history and identifier included`() throws {
    let identifier = try make(folder.store, "1")
    try make(other, "2")
    let source = try open(folder.store)
    let context = source.newBackgroundContext()
    context.makeBook("3", "3")
    try context.save()
    for _ in 0..<2 {
      try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: folder.store)
      #expect(try books(other).sorted() == ["1", "3"])
    }
    #expect(try names == ["Other.heartwood", "Store.heartwood"])
    let copy = try open(other)
    #expect(copy.persistentStoreCoordinator.persistentStores.first?.identifier == identifier)
    #expect(try copy.history().count == 2)
    try copy.close()
    try source.close()
  }

  // PSC-13
  @Test(arguments: [["reserve"], ["0000000000000002.pages", "reserve"], ["0000000000000001.log"]])
  func `what an interrupted replacement has left of the former store is removed by the next`(rest: [String])
    throws
  {
    try make(folder.store, "1")
    try make(other, "2")
    // As a crash leaves it while the files of the former store are removed, the mark of that last.
    let temporary = folder.url.appending(path: ".Other.heartwood.replacing")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
    for name in rest + ["anchor.new", "processes"] {
      try Data(repeating: 0, count: 100).write(to: temporary.appending(path: name))
    }
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: folder.store)
    #expect(try books(other) == ["1"])
    #expect(try names == ["Other.heartwood", "Store.heartwood"])
    // The same in the folder of a store that was being removed.
    try coordinator.destroyPersistentStore(at: other)
    for (mark, isDestroyed) in [("anchor.new", true), ("anchor.removed", true), ("anchor.removed", false)] {
      for name in rest + [mark] {
        try Data(repeating: 0, count: 100).write(to: other.appending(path: name))
      }
      if isDestroyed { try coordinator.destroyPersistentStore(at: other) }
      #expect(try books(other) == [])
      try coordinator.destroyPersistentStore(at: other)
    }
  }

  @Test func `a folder with a copy that was not finished says so`() throws {
    try make(folder.store, "1")
    try FileManager.default.moveItem(
      at: folder.store.appending(path: "anchor"), to: folder.store.appending(path: "anchor.new"))
    try Data().write(to: folder.store.appending(path: "0000000000000002.pages"))
    let error = heartwoodError { _ = try books(folder.store) }
    #expect(error?.message.contains("a copy of a store that was not finished") == true)
  }

  @Test func `a copy that fails after another program has put another store in place leaves nothing`() throws
  {
    try make(other, "2")
    let container = try open(folder.store)
    let context = container.newBackgroundContext()
    context.makeBook("1", "1")
    try context.save()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let copy = folder.url.appending(path: "Copy.heartwood")
    // The other store comes between the copy of most of the store and that of the rest.
    let (source, place) = (other, folder.store)
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreCoordinatorStoresWillChange, object: container.persistentStoreCoordinator,
      queue: nil
    ) { _ in
      try? FileManager.default.removeItem(at: place)
      try? FileManager.default.copyItem(at: source, to: place)
    }
    let error = heartwoodError {
      try container.persistentStoreCoordinator.migratePersistentStore(store, to: copy)
    }
    NotificationCenter.default.removeObserver(observer)
    #expect(error?.message.contains("replaced") == true, "\(error as Any)")
    try container.close()
    #expect(try books(copy) == [])
  }

  // PSC-13
  @Test func `a store is copied to a missing folder, and not to itself or from nothing`() throws {
    try make(folder.store, "1")
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: folder.store)
    #expect(try books(other) == ["1"])
    for source in [other, folder.url.appending(path: "Nothing")] {
      #expect(throws: HeartwoodError.self) {
        try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: source)
      }
    }
    #expect(try books(other) == ["1"])
    #expect(try names == ["Other.heartwood", "Store.heartwood"])
  }

  // PSC-13
  @Test func `a store that is open elsewhere, or cannot be exchanged, is not replaced`() throws {
    try make(folder.store, "1")
    try make(other, "2")
    let container = try open(other)
    let error = heartwoodError {
      try coordinator.replacePersistentStore(
        at: other, destinationOptions: quick, withPersistentStoreFrom: folder.store)
    }
    #expect(error?.code == .persistentStoreTimeout)
    try container.close()

    var options = EngineOptions()
    options.content = .graph
    let engine = try Engine(at: folder.store.path, options: options)
    #expect(throws: EngineError.self) {
      try engine.replaceStore(
        at: other.path, through: folder.path("temporary"), fileSystem: WithoutExchange())
    }
    try engine.close()
    #expect(try books(other) == ["2"])
  }

  // PSC-13
  @Test func `a store that was saved after its backup is not replaced by it, if that is asked for`()
    async throws
  {
    try make(folder.store, "1")
    let store = try open(folder.store)
    let token = try #require(store.persistentStoreCoordinator.currentPersistentHistoryToken())
    let backup = folder.url.appending(path: "Backup.heartwood")
    try store.persistentStoreCoordinator.backup(to: backup)
    let (coordinator, url) = (coordinator, folder.store)
    // It waits for the store to be closed, and decides only then.
    async let waiting: Void = inThread {
      try coordinator.replacePersistentStore(
        at: url, destinationOptions: [.timeout: 600.0], withPersistentStoreFrom: backup,
        ifUnchangedSince: token)
    }
    let context = store.newBackgroundContext()
    context.makeBook("2", "2")
    try context.save()
    try store.close()
    var error: HeartwoodError?
    do { try await waiting } catch let thrown as HeartwoodError { error = thrown }
    #expect(error?.code == .persistentStoreSave)
    #expect(error?.message.contains("what was saved would be lost") == true)
    #expect(try books(folder.store).sorted() == ["1", "2"])
    try make(other, "3")
    let foreign = heartwoodError {
      try coordinator.replacePersistentStore(
        at: other, withPersistentStoreFrom: backup, ifUnchangedSince: token)
    }
    #expect(foreign?.code == .persistentStoreSave && foreign?.message.contains("another store") == true)
    #expect(try books(other) == ["3"])
    try coordinator.replacePersistentStore(at: folder.store, withPersistentStoreFrom: backup)
    try coordinator.replacePersistentStore(
      at: folder.store, withPersistentStoreFrom: backup, ifUnchangedSince: token)
    #expect(try books(folder.store) == ["1"])
    #expect(try names == ["Backup.heartwood", "Other.heartwood", "Store.heartwood"])
  }

  @Test func `a replacement that a crash has cut short is begun again`() throws {
    try make(folder.store, "1")
    try make(other, "2")
    // As a crash leaves it before the folders are exchanged, and after that.
    let temporary = folder.url.appending(path: ".Other.heartwood.replacing")
    try make(temporary, "unfinished")
    #expect(try books(other) == ["2"])
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: folder.store)
    #expect(try books(other) == ["1"])
    #expect(try names == ["Other.heartwood", "Store.heartwood"])
  }

  // PSC-11
  @Test(arguments: [false, true])
  func `an open store moves to another folder, and its contexts go on`(inMemory: Bool) throws {
    let origin = inMemory ? URL(fileURLWithPath: "/dev/null") : folder.store
    let container = try open(origin)
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let book = context.makeBook("1", "1")
    try context.save()
    let store = try #require(coordinator.persistentStores.first)
    let moved = try coordinator.migratePersistentStore(store, to: other)
    #expect(coordinator.persistentStores == [moved] && moved.url == other)
    #expect(moved.identifier == store.identifier)
    book.title = "changed"
    context.makeBook("2", "2")
    try context.save()
    try container.close()
    #expect(try books(other).sorted() == ["1", "2"])
    if !inMemory { #expect(try books(folder.store) == ["1"]) }
  }

  // PSC-11
  @Test func `a store that cannot move stays open`() throws {
    try make(other, "other")
    let container = try open(folder.store)
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    context.makeBook("1", "1")
    try context.save()
    let store = try #require(coordinator.persistentStores.first)
    #expect(throws: HeartwoodError.self) { try coordinator.migratePersistentStore(store, to: other) }
    #expect(throws: HeartwoodError.self) {
      try coordinator.migratePersistentStore(store, to: URL(fileURLWithPath: "/dev/null"))
    }
    #expect(coordinator.persistentStores == [store])
    context.makeBook("2", "2")
    try context.save()
    try container.close()
    #expect(throws: HeartwoodError.self) { try coordinator.migratePersistentStore(store, to: other) }
    #expect(try books(folder.store).sorted() == ["1", "2"])
    #expect(try books(other) == ["other"])
  }
}

/// The machine's file system, without the ability to exchange folders.
private struct WithoutExchange: FileSystem {
  private let base = PosixFileSystem()

  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory { try base.openDirectory(path) }
  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }
}
