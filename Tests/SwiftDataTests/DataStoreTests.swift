import Foundation
import SwiftData
import Testing

/// A store of one file of JSON, as a program writes it.
final class FileStore: DataStore {
  typealias Configuration = FileStoreConfiguration
  typealias Snapshot = DefaultSnapshot

  let configuration: FileStoreConfiguration
  let identifier: String
  let schema: Schema

  init(_ configuration: FileStoreConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    identifier = configuration.fileURL.lastPathComponent
    schema = configuration.schema ?? Schema([])
  }

  private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
    guard FileManager.default.fileExists(atPath: configuration.fileURL.path) else { return [:] }
    let all = try JSONDecoder().decode([DefaultSnapshot].self, from: Data(contentsOf: configuration.fileURL))
    return Dictionary(uniqueKeysWithValues: all.map { ($0.persistentIdentifier, $0) })
  }

  func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<
    T, DefaultSnapshot
  > {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let all = try read()
    return DataStoreFetchResult(
      descriptor: request.descriptor, fetchedSnapshots: Array(all.values), relatedSnapshots: all)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var all = try read()
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: UUID())
    }
    for snapshot in request.inserted {
      guard let permanent = remapped[snapshot.persistentIdentifier] else { continue }
      all[permanent] = snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
    }
    for snapshot in request.updated {
      all[snapshot.persistentIdentifier] = snapshot.copy(
        persistentIdentifier: snapshot.persistentIdentifier, remappedIdentifiers: remapped)
    }
    for snapshot in request.deleted { all[snapshot.persistentIdentifier] = nil }
    try JSONEncoder().encode(Array(all.values)).write(to: configuration.fileURL)
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  func erase() throws { try? FileManager.default.removeItem(at: configuration.fileURL) }
}

struct FileStoreConfiguration: DataStoreConfiguration {
  typealias Store = FileStore
  var name: String
  var schema: Schema?
  var fileURL: URL

  init(name: String, schema: Schema? = nil, fileURL: URL) {
    self.name = name
    self.schema = schema
    self.fileURL = fileURL
  }
}

struct DataStoreTests {
  // SWD-35, SWD-36, SWD-38
  @Test func `a store of a program has models, relationships and changes`() throws {
    try Library.inFolder { folder in
      let configuration = FileStoreConfiguration(
        name: "file", schema: Schema([Author.self]), fileURL: folder.appending(path: "authors.json"))
      let author = Author(name: "A", books: [Book(title: "T", year: 1), Book(title: "U", year: 2)])
      do {
        let container = try ModelContainer(for: Author.self, configurations: configuration)
        let context = ModelContext(container)
        context.insert(author)
        try context.save()
        #expect(author.persistentModelID.storeIdentifier == "authors.json")
        author.name = "B"
        try context.save()
      }
      let container = try ModelContainer(for: Author.self, configurations: configuration)
      let context = ModelContext(container)
      let found = try #require(try context.fetch(FetchDescriptor<Author>()).first)
      #expect(found.name == "B" && found.persistentModelID == author.persistentModelID)
      #expect(found.books.map(\.title).sorted() == ["T", "U"])
      #expect(found.books.allSatisfy { $0.author === found })
      let late = FetchDescriptor<Book>(
        predicate: #Predicate { $0.year > 1 && $0.author?.name == "B" }, sortBy: [SortDescriptor(\.title)])
      #expect(try context.fetch(late).map(\.title) == ["U"])
      #expect(try context.fetchCount(late) == 1)
      let sorted = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year, order: .reverse)])
      #expect(try context.fetch(sorted).map(\.year) == [2, 1])
      let book = try #require(try context.fetch(late).first)
      context.delete(book)
      try context.save()
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Book>()) == 1)
      let id = try #require(found.books.first).persistentModelID
      #expect((ModelContext(container).model(for: id) as? Book)?.title == "T")
      try container.erase()
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Author>()) == 0)
    }
  }

  // SWD-27, SWD-34, SWD-36, SWD-39
  @Test func `the built-in store is a store as well`() throws {
    try Library.inFolder { folder in
      let configuration = ModelConfiguration(
        schema: Schema([Author.self]), url: folder.appending(path: "a.store"))
      let store = try DefaultStore(configuration, migrationPlan: nil)
      let context = ModelContext(try ModelContainer(for: Author.self, configurations: configuration))
      context.insert(Author(name: "A", books: [Book(title: "T", year: 1)]))
      try context.save()
      let request = DataStoreFetchRequest(
        descriptor: FetchDescriptor<Book>(), editingState: context.editingState)
      let result = try store.fetch(request)
      #expect(result.fetchedSnapshots.count == 1)
      let snapshot = try #require(result.fetchedSnapshots.first)
      let coded = try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(snapshot))
      #expect(coded.persistentIdentifier == snapshot.persistentIdentifier)
      #expect(try store.fetchCount(request) == 1)
      #expect(try store.fetchIdentifiers(request) == [snapshot.persistentIdentifier])
      _ = try store.save(
        DataStoreSaveChangesRequest(
          editingState: context.editingState, inserted: [], updated: [], deleted: [coded]))
      #expect(try store.fetchCount(request) == 0)
      #expect(try store.fetchHistory(HistoryDescriptor()).count == 2)
      #expect(store.identifier == snapshot.persistentIdentifier.storeIdentifier)
    }
  }
}
