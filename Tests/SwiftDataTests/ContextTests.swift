import Foundation
import SwiftData
import Testing

struct ContextTests {
  // SWD-14, SWD-18, SWD-26
  @Test func `a context lists what has changed`() throws {
    let context = try Library.context()
    #expect(!context.hasChanges && !context.autosaveEnabled)
    let (a, b) = (Author(name: "A"), Author(name: "B"))
    context.insert(a)
    context.insert(b)
    #expect(context.hasChanges && context.insertedModelsArray.count == 2)
    #expect(a.hasChanges && !a.isDeleted)
    try context.save()
    #expect(!context.hasChanges && !a.hasChanges)
    a.name = "C"
    context.delete(b)
    #expect(context.changedModelsArray.map { ($0 as? Author)?.name } == ["C"])
    #expect(context.deletedModelsArray.map { ($0 as? Author)?.name } == ["B"])
    #expect(b.isDeleted)
    try context.save()
    #expect(b.modelContext == nil && b.name == "B")
  }

  // SWD-15
  @Test func `an inserted model that is deleted before the save is never stored`() throws {
    let context = try Library.context()
    let author = Author(name: "A")
    context.insert(author)
    context.delete(author)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Author>()) == 0)
    #expect(author.name == "A")
  }

  // SWD-15
  @Test func `a deletion is taken back by inserting`() throws {
    let context = try Library.context()
    let author = Author(name: "A")
    context.insert(author)
    try context.save()
    context.delete(author)
    context.insert(author)
    #expect(!author.isDeleted)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Author>()) == [author])
  }

  // SWD-16
  @Test func `a rollback gives inserted models back their freedom`() throws {
    let context = try Library.context()
    let author = Author(name: "A")
    author.books = [Book(title: "T", year: 1)]
    context.insert(author)
    context.rollback()
    #expect(author.modelContext == nil && author.name == "A")
    #expect(!context.hasChanges)
    #expect(try context.fetchCount(FetchDescriptor<Author>()) == 0)
  }

  // SWD-16
  @Test func `a transaction is saved, or dropped as a whole`() throws {
    struct Failure: Error {}
    let context = try Library.context()
    try context.transaction { context.insert(Author(name: "A")) }
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Author>()) == 1)
    #expect(throws: Failure.self) {
      try context.transaction {
        context.insert(Author(name: "B"))
        throw Failure()
      }
    }
    #expect(!context.hasChanges)
    #expect(try context.fetchCount(FetchDescriptor<Author>()) == 1)
  }

  // SWD-09, SWD-15
  @Test func `models of a class are deleted by a predicate`() throws {
    let context = try Library.context()
    for year in 0..<10 { context.insert(Book(title: "T", year: year)) }
    try context.save()
    try context.delete(model: Book.self, where: #Predicate { $0.year < 4 })
    try context.delete(model: Book.self, where: #Predicate { $0.year == 9 })
    try context.save()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Book>()) == 5)
    try context.delete(model: Book.self)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    context.insert(SportsCar(name: "S"))
    context.insert(Vehicle(name: "V"))
    try context.save()
    try context.delete(model: Vehicle.self, includeSubclasses: false)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Vehicle>()).map(\.name) == ["S"])
  }

  // SWD-16
  @Test func `a failed save keeps the changes`() throws {
    let context = try Library.context()
    let ticket = Ticket(Project(key: "P"), 1)
    context.insert(ticket)
    try context.save()
    ticket.project.tickets = []
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(context.hasChanges)
    ticket.project = Project(key: "Q")
    try context.save()
    #expect(try ModelContext(context.container).fetch(FetchDescriptor<Ticket>()).first?.project.key == "Q")
  }

  // SWD-14
  @Test func `contexts see what others save`() throws {
    let container = try Library.container()
    let (first, second) = (ModelContext(container), ModelContext(container))
    let author = Author(name: "A")
    first.insert(author)
    try first.save()
    let seen = try #require(try second.fetch(FetchDescriptor<Author>()).first)
    author.name = "B"
    try first.save()
    second.processPendingChanges()
    #expect(seen.name == "B")
    seen.name = "C"
    try second.save()
    #expect(try first.fetch(FetchDescriptor<Author>()).first === author)
    #expect(author.name == "C")
    second.delete(seen)
    try second.save()
    #expect(try first.fetch(FetchDescriptor<Author>()).isEmpty)
    #expect(author.name == "C")
  }

  // SWD-27
  @Test func `changes are undone and redone`() throws {
    let context = try Library.context()
    let manager = UndoManager()
    context.undoManager = manager
    let author = Author(name: "A")
    context.insert(author)
    try context.save()
    author.name = "B"
    context.processPendingChanges()
    #expect(manager.canUndo)
    manager.undo()
    #expect(author.name == "A")
    manager.redo()
    #expect(author.name == "B")
  }

  // SWD-13, SWD-17
  @Test @MainActor func `the main context saves by itself`() async throws {
    let container = try Library.container()
    let context = container.mainContext
    #expect(context.autosaveEnabled && container.mainContext === context)
    context.insert(Author(name: "A"))
    #expect(context.hasChanges)
    while context.hasChanges { await Task.yield() }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Author>()) == 1)
  }

  // SWD-16
  @Test func `notifications of saves have the identifiers`() throws {
    let context = try Library.context()
    let box = Received()
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) {
      let key = ModelContext.NotificationKey.insertedIdentifiers.rawValue
      box.identifiers = $0.userInfo?[key] as? [PersistentIdentifier] ?? []
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let author = Author(name: "A")
    context.insert(author)
    try context.save()
    #expect(box.identifiers == [author.persistentModelID])
    let others = (0..<20).map { Author(name: "\($0)") }
    for other in others { context.insert(other) }
    try context.save()
    #expect(box.identifiers == others.map(\.persistentModelID))
  }

  // SWD-16
  @Test func `notifications say where in the history a save is, and which models an erased container had`()
    throws
  {
    let context = try Library.context()
    let box = Received()
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) {
      box.generation =
        $0.userInfo?[ModelContext.NotificationKey.queryGeneration.rawValue] as? DefaultHistoryToken
      box.invalidated =
        $0.userInfo?[ModelContext.NotificationKey.invalidatedAllIdentifiers.rawValue]
        as? [PersistentIdentifier]
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let author = Author(name: "A")
    context.insert(author)
    try context.save()
    let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    #expect(box.generation != nil && box.generation == last?.token && box.invalidated == nil)
    let identifier = author.persistentModelID
    try context.container.erase()
    context.processPendingChanges()
    #expect(box.invalidated == [identifier] && box.generation == nil)
  }

  private final class Received: @unchecked Sendable {
    var identifiers: [PersistentIdentifier] = []
    var generation: DefaultHistoryToken?
    var invalidated: [PersistentIdentifier]?
  }

  // SWD-13
  @Test func `an erased container is empty, and gives no identifier twice`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(url: folder.appending(path: "a.store"))
      let container = try ModelContainer(for: Author.self, configurations: configuration)
      let context = ModelContext(container)
      let author = Author(name: "A")
      context.insert(author)
      try context.save()
      let former = author.persistentModelID
      try container.erase()
      #expect(try context.fetchCount(FetchDescriptor<Author>()) == 0)
      #expect(author.name == "A" && author.modelContext == nil)
      author.name = "B"
      let new = Author(name: "N")
      context.insert(new)
      try context.save()
      #expect(new.persistentModelID != former)
      #expect((context.model(for: former) as? Author)?.name != "N")
    }
  }

  // SWD-14
  @Test func `models outlive their context`() throws {
    let container = try Library.container()
    let author = Author(name: "A", books: [Book(title: "T", year: 1)])
    do {
      let context = ModelContext(container)
      context.insert(author)
      try context.save()
    }
    let fetched = try ModelContext(container).fetch(FetchDescriptor<Author>())
    #expect(author.books.map(\.title) == ["T"])
    #expect(fetched.first?.books.map(\.title) == ["T"])
    var context: ModelContext? = ModelContext(container)
    let unsaved = Author(name: "U")
    context?.insert(unsaved)
    context = nil
    #expect(unsaved.name == "U")
    unsaved.name = "V"
    #expect(unsaved.name == "V")
  }
}
