import Foundation
import SwiftData
import Testing

@ModelActor
actor Librarian {
  func add(_ names: [String]) throws -> [PersistentIdentifier] {
    let authors = names.map { Author(name: $0) }
    for author in authors { modelContext.insert(author) }
    try modelContext.save()
    return authors.map(\.persistentModelID)
  }

  func rename(_ id: PersistentIdentifier, to name: String) throws -> Bool {
    guard let author = self[id, as: Author.self] else { return false }
    author.name = name
    try modelContext.save()
    return true
  }

  func name(of id: PersistentIdentifier) -> String? { self[id, as: Author.self]?.name }
  func book(_ id: PersistentIdentifier) -> String? { self[id, as: Book.self]?.title }

  func saveByItself() { modelContext.autosaveEnabled = true }
  func hasChanges() -> Bool { modelContext.hasChanges }

  func addWithoutSaving(_ name: String) { modelContext.insert(Author(name: name)) }

  /// Saved at its suspension, and at its end.
  func addBeforeAndAfter(_ pause: @Sendable () async -> Void) async {
    modelContext.insert(Author(name: "before"))
    await pause()
    modelContext.insert(Author(name: "after"))
  }

  /// Whether it runs where its executor's jobs run.
  func isIsolated() -> Bool {
    assertIsolated()
    return modelExecutor.modelContext === modelContext && modelContext.container == modelContainer
  }
}

/// Members and an initialiser of its own.
@ModelActor
public actor Counter {
  private var step = 1
  var count = 0

  init(_ container: ModelContainer, step: Int) {
    modelContainer = container
    modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
    self.step = step
  }

  func next() throws -> Int {
    count += step
    return try modelContext.fetchCount(FetchDescriptor<Author>()) * count
  }
}

struct ModelActorTests {
  let container: ModelContainer

  init() throws { container = try Library.container() }

  private func names() throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)])).map(\.name)
  }

  // SWD-28
  @Test func `a model actor works with a context of its own, and finds models by identifiers`() async throws {
    let librarian = Librarian(modelContainer: container)
    let ids = try await librarian.add(["A", "B"])
    #expect(try names() == ["A", "B"])
    #expect(await librarian.isIsolated())
    #expect(try await librarian.rename(ids[0], to: "C"))
    #expect(try names() == ["B", "C"])
    let context = ModelContext(container)
    let author = try #require(context.model(for: ids[1]) as? Author)
    context.delete(author)
    try context.save()
    // No row, and another class.
    #expect(await librarian.name(of: ids[1]) == nil)
    #expect(await librarian.name(of: ids[0]) == "C")
    #expect(await librarian.book(ids[0]) == nil)
    #expect(try await librarian.rename(ids[1], to: "D") == false)
  }

  // SWD-28
  @Test func `the jobs of a model actor run one after the other`() async throws {
    let librarian = Librarian(modelContainer: container)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 { group.addTask { _ = try await librarian.add(["\(number)"]) } }
      try await group.waitForAll()
    }
    #expect(try names().count == 20)
  }

  // SWD-28
  @Test func `a model actor may have members and an initialiser of its own`() async throws {
    _ = try await Librarian(modelContainer: container).add(["A", "B"])
    let counter = Counter(container, step: 2)
    #expect(try await counter.next() == 4)
    #expect(try await counter.next() == 8)
  }

  // SWD-17, SWD-28
  @Test func `the context of a model actor saves at suspensions and ends, if it is to save by itself`()
    async throws
  {
    let librarian = Librarian(modelContainer: container)
    await librarian.addWithoutSaving("unsaved")
    #expect(await librarian.hasChanges())
    #expect(try names().isEmpty)
    await librarian.saveByItself()
    while await librarian.hasChanges() { await Task.yield() }
    #expect(try names() == ["unsaved"])
    let container = container
    let seen = Seen()
    await librarian.addBeforeAndAfter {
      // The actor waits for this, so what is found was saved at its suspension.
      while seen.names.count < 2 {
        seen.names = (try? ModelContext(container).fetch(FetchDescriptor<Author>()))?.map(\.name) ?? []
        await Task.yield()
      }
    }
    #expect(seen.names.sorted() == ["before", "unsaved"])
    while await librarian.hasChanges() { await Task.yield() }
    #expect(try names() == ["after", "before", "unsaved"])
  }

  private final class Seen: @unchecked Sendable { var names: [String] = [] }
}
