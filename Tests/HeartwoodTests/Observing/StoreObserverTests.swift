import Dispatch
import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodEngine
import HeartwoodFiles
import Synchronization
import TestSupport
import Testing

@Suite struct `An observer of a store` {
  private final class Told: Sendable {
    private let events = Mutex<[StoreEvent]>([])

    func add(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    func take() -> [StoreEvent] {
      events.withLock { events in
        defer { events = [] }
        return events
      }
    }

    /// The first event of a kind; forgets all.
    func take<Payload>(_ payload: (StoreEvent) -> Payload?) throws -> Payload {
      let all = take()
      return try #require(all.lazy.compactMap(payload).first, "\(all)")
    }
  }

  private let told = Told()
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.observer = StoreObserver(slowFetches: .seconds(3600)) { [told] in told.add($0) }
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.newBackgroundContext()
    context.name = "import"
    context.transactionAuthor = "Ada"
    _ = told.take()
  }

  /// 2000 books by one author.
  private func fill() throws {
    let author = context.makeAuthor("Ada")
    for number in 0..<2000 { context.makeBook("\(number)", "t", pages: Int64(number), by: author) }
    try context.save()
    _ = told.take()
  }

  @Test func `a save is told once with what it wrote, after the transaction of the engine`() throws {
    context.makeBook("1", "One")
    let two = context.makeBook("2", "Two")
    try context.save()
    let events = told.take()
    #expect(events.map(name) == ["committed", "saved"], "\(events)")
    guard case .saved(let save)? = events.last else { return }
    #expect(save.contextName == "import" && save.author == "Ada" && save.failure == nil)
    #expect((save.inserted, save.updated, save.deleted) == (2, 0, 0) && save.duration > .zero)

    two.title = "Zwei"
    try context.save()
    #expect(try told.take { $0.save }.updated == 1)
    context.delete(two)
    try context.save()
    #expect(try told.take { $0.save }.deleted == 1)
    try context.save()
    #expect(told.take().isEmpty)
  }

  @Test func `a save that fails is told with its conflicts and its error`() throws {
    let book = context.makeBook("1", "One")
    try context.save()
    let other = container.newBackgroundContext()
    let same = try #require(try other.fetch(Book.self).first)
    same.title = "Uno"
    try other.save()
    _ = told.take()
    book.title = "Eins"
    other.makeBook("1", "One again")
    #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(throws: HeartwoodError.self) { try other.save() }
    let events = told.take()
    #expect(events.map(name) == ["conflicted", "saved", "conflicted", "saved"], "\(events)")
    let conflicts = events.compactMap(\.conflicts)
    #expect(conflicts.map(\.rows) == [1, 0] && conflicts.map(\.constraints) == [0, 1])
    #expect(conflicts.allSatisfy { $0.entityNames == ["Book"] })
    #expect(events.compactMap(\.save).allSatisfy { $0.failure != nil && $0.updated == 0 })
  }

  @Test func `a conflict that the merge policy resolves is told before the save`() throws {
    let book = context.makeBook("1", "One")
    try context.save()
    let other = container.newBackgroundContext()
    try #require(try other.fetch(Book.self).first).title = "Uno"
    try other.save()
    book.title = "Eins"
    context.mergePolicy = .mergeByPropertyObjectTrump
    _ = told.take()
    try context.save()
    let events = told.take()
    #expect(events.filter { name($0) == "conflicted" }.count == 1)
    #expect(events.last?.save?.failure == nil && events.last?.save?.updated == 1, "\(events)")
  }

  @Test func `a fetch is told with its rows, and with a plan only if it is slow`() throws {
    try fill()
    #expect(try context.fetch(Book.self, where: { $0.pages == 7 }).count == 1)
    let fast = try told.take { $0.fetch }
    #expect((fast.kind, fast.entityName, fast.rowsRead, fast.rowsReturned) == (.fetch, "Book", 2000, 1))
    #expect(!fast.isSlow && fast.plan.steps.isEmpty && fast.advice == nil && fast.duration > .zero)
    #expect("\(fast)".hasPrefix("fetch of Book: 2000 read, 1 returned, "), "\(fast)")
    #expect(try context.count(Book.self) == 2000)
    #expect(try told.take { $0.fetch }.kind == .count)
  }

  @Test func `a slow fetch is told with its plan and the index that would help`() throws {
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.observer = StoreObserver(slowFetches: .zero) { [told] in told.add($0) }
    let model = try ManagedObjectModel(types: libraryTypes)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for number in 0..<2000 { context.makeBook("\(number)", "t", pages: Int64(number)) }
    try context.save()
    _ = told.take()
    #expect(try context.fetch(Book.self, where: { $0.pages == 7 }).count == 1)
    let slow = try told.take { $0.fetch }
    #expect(slow.isSlow && slow.plan.steps.contains { $0.hasPrefix("scan: Book") }, "\(slow)")
    #expect(slow.advice == "an index on Book.pages would spare reading most of the rows")
    #expect(slow.plan.details.allSatisfy { $0.duration == nil })
  }

  @Test func `faults of objects and of relationships are told`() throws {
    try fill()
    let reader = container.newBackgroundContext()
    let author = try #require(try reader.fetch(Author.self).first)
    let identifier = author.objectID
    _ = told.take()
    #expect(author.books.count == 2000)
    _ = author.books.first
    #expect(told.take().compactMap(\.fault).map(\.relationshipName) == ["books"])
    let other = container.newBackgroundContext()
    let fault = try #require(other.object(with: identifier) as? Author)
    #expect(fault.name == "Ada" && fault.country == nil)
    let faults = told.take().compactMap(\.fault)
    #expect(faults.count == 1 && faults[0].relationshipName == nil && faults[0].entityName == "Author")
  }

  @Test func `a merge is told with how many objects it concerns`() throws {
    let book = context.makeBook("1", "One")
    try context.save()
    let other = container.newBackgroundContext()
    other.name = "reader"
    _ = try other.fetch(Book.self)
    _ = told.take()
    var changes = ObjectIDChanges()
    changes.updatedObjectIDs = [book.objectID]
    other.merge(changes)
    let merge = try told.take { $0.merge }
    #expect((merge.contextName, merge.inserted, merge.updated, merge.deleted) == ("reader", 0, 1, 0))
  }

  @Test func `children are told of their fetches, and their parent of its save`() async throws {
    try fill()
    let child = ManagedObjectContext(.privateQueue, parent: context)
    try await child.perform {
      try #require(try child.fetch(Book.self, where: { $0.isbn == "7" }).first).title = "Seven"
      try child.save()
    }
    #expect(told.take().map(name) == ["fetched"])
    try context.save()
    #expect(told.take().map(name) == ["committed", "saved"])
  }

  @Test func `a store without an observer, and one of one file, tell nothing of an engine`() throws {
    let folder = try TemporaryFolder()
    let description = PersistentStoreDescription(url: folder.url.appending(path: "a.json"))
    description.type = .json
    description.observer = StoreObserver { [told] in told.add($0) }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.makeBook("1", "One")
    try context.save()
    #expect(told.take().map(name) == ["saved"])

    let plain = try makeLibrary().newBackgroundContext()
    plain.makeBook("1", "One")
    try plain.save()
    #expect(told.take().isEmpty)
  }

  /// Another thread saves to both stores, while the closure waits for it.
  @Test func `no lock is held while a save to two stores is told`() throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let isBusy = Mutex(false)
    let stores = try ["a", "b"].map { place in
      let description = PersistentStoreDescription(url: folder.url.appending(path: place))
      description.observer = StoreObserver { [told] event in
        guard coordinator.persistentStores.count == 2, !isBusy.withLock({ $0 }),
          case .engine(.committed) = event
        else { return }
        told.add(event)
        isBusy.withLock { $0 = true }
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          #expect(throws: Never.self) { try Self.saveToAll(coordinator) }
          finished.signal()
        }
        #expect(finished.wait(timeout: .now() + 60) == .success, "a lock is held")
        isBusy.withLock { $0 = false }
      }
      return try coordinator.addPersistentStore(with: description)
    }
    #expect(stores.count == 2)
    _ = told.take()
    try Self.saveToAll(coordinator)
    #expect(told.take().map(name).suffix(2) == ["committed", "committed"])
  }

  /// Saves an object to each store.
  private static func saveToAll(_ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    for store in coordinator.persistentStores { context.assign(context.makeSubject("one"), to: store) }
    try context.save()
  }

  private func name(_ event: StoreEvent) -> String {
    switch event {
    case .saved: "saved"
    case .conflicted: "conflicted"
    case .fetched: "fetched"
    case .faulted: "faulted"
    case .merged: "merged"
    case .engine(.opened): "opened"
    case .engine(.committed): "committed"
    case .engine(.checkpointed): "checkpointed"
    case .engine(.compacted): "compacted"
    }
  }
}

extension StoreEvent {
  fileprivate var save: ExecutedSave? { if case .saved(let save) = self { save } else { nil } }
  fileprivate var conflicts: SaveConflicts? { if case .conflicted(let met) = self { met } else { nil } }
  fileprivate var fetch: ExecutedFetch? { if case .fetched(let fetch) = self { fetch } else { nil } }
  fileprivate var fault: FiredFault? { if case .faulted(let fault) = self { fault } else { nil } }
  fileprivate var merge: MergedChanges? { if case .merged(let merge) = self { merge } else { nil } }
}
