import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct `Containers` {
  private func open(_ url: URL) throws -> PersistentContainer {
    try PersistentContainer(name: "Library", types: libraryTypes, at: url)
  }

  @Test func `saved objects are there after reopening`() throws {
    let folder = try TemporaryFolder()
    let container = try open(folder.store)
    let context = container.newBackgroundContext()
    context.makeBook("1", "a", by: context.makeAuthor("Ada"))
    try context.save()
    try container.close()
    let again = try open(folder.store)
    let reader = again.newBackgroundContext()
    let book = try #require(try reader.fetch(Book.self).first)
    #expect(book.title == "a")
    #expect(book.author?.name == "Ada")
    try again.close()
  }

  @Test func `two stores in memory share nothing`() throws {
    let one = try makeLibrary()
    let two = try makeLibrary()
    let context = one.newBackgroundContext()
    let book = context.makeBook("1", "a")
    try context.save()
    #expect(try one.newBackgroundContext().count(Book.self) == 1)
    #expect(try two.newBackgroundContext().count(Book.self) == 0)
    let stores = [one, two].compactMap { $0.persistentStoreCoordinator.persistentStores.first?.identifier }
    #expect(Set(stores).count == 2)
    let uri = book.objectID.uriRepresentation()
    #expect(two.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) == nil)
  }

  @Test func `the store type in memory needs no location`() throws {
    let description = PersistentStoreDescription()
    description.type = .inMemory
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    context.makeBook("1", "a")
    try context.save()
    #expect(try context.count(Book.self) == 1)
  }

  @Test func `an identifier survives as text`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    let book = context.makeBook("1", "a")
    #expect(
      container.persistentStoreCoordinator.managedObjectID(
        forURIRepresentation: book.objectID.uriRepresentation()) == nil, "a temporary identifier")
    try context.save()
    let uri = book.objectID.uriRepresentation()
    let id = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
    #expect(id == book.objectID)
    #expect(try context.existingObject(with: try #require(id)) === book)
    let wrong = try #require(URL(string: "x-coredata://nowhere/Book/p1"))
    #expect(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: wrong) == nil)
  }

  // OID-04, PSC-14
  @Test func `a URI that names another entity of the family gets the entity of the row`() throws {
    let container = try makeLibrary()
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let book = context.makeBook("1", "a")
    try context.save()
    let uri = book.objectID.uriRepresentation().absoluteString
    let wrong = uri.replacingOccurrences(of: "/Book/", with: "/Comic/")
    #expect(coordinator.managedObjectID(for: wrong)?.entity.name == "Book")
    #expect(coordinator.managedObjectID(for: uri) == book.objectID)
    #expect(coordinator.managedObjectID(for: "nothing") == nil)
  }

  // CON-16
  @Test func `a store in memory with the URL of a folder is loaded once, and nothing is made on disk`() throws
  {
    let folder = try TemporaryFolder()
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let description = PersistentStoreDescription(url: folder.url.appending(path: "Parent/Store"))
    description.type = .inMemory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test func `a container loads its store once, also beside another store of its coordinator`() throws {
    let container = try makeLibrary()
    try container.persistentStoreCoordinator.addPersistentStore(with: PersistentStoreDescription())
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  @Test func `a closed container's contexts throw`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try container.close()
    #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(throws: HeartwoodError.self) { try context.fetch(Book.self) }
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test func `a store that must exist is not created`() throws {
    let folder = try TemporaryFolder()
    let description = PersistentStoreDescription(url: folder.store)
    description.createsStore = false
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let error = #expect(throws: HeartwoodError.self) { try coordinator.addPersistentStore(with: description) }
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.message.contains(folder.store.path) == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func `a read-only store is read and not written`() throws {
    let folder = try TemporaryFolder()
    let writable = try open(folder.store)
    let context = writable.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    try writable.close()

    let description = PersistentStoreDescription(url: folder.store)
    description.isReadOnly = true
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let reader = container.newBackgroundContext()
    #expect(try reader.count(Book.self) == 1)
    reader.makeBook("2", "b")
    #expect(throws: HeartwoodError.self) { try reader.save() }
    #expect(try container.newBackgroundContext().count(Book.self) == 1)
    try container.close()
  }

  @Test func `the completion handler is called on success and on failure`() throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(types: libraryTypes)
    let container = PersistentContainer(name: "Library", managedObjectModel: model)
    let description = PersistentStoreDescription(url: folder.store)
    description.createsStore = false
    container.persistentStoreDescriptions = [description]
    let errors = Guarded<[(any Error)?]>([])
    container.loadPersistentStores { _, error in errors.withLock { $0.append(error) } }
    #expect(errors.withLock { $0.count == 1 && $0[0] is HeartwoodError })
    description.createsStore = true
    container.loadPersistentStores { _, error in errors.withLock { $0.append(error) } }
    #expect(errors.withLock { $0.count == 2 && $0[1] == nil })
    try container.close()
  }

  @Test func `a background task runs with a context of its own and returns its result`() async throws {
    let container = try makeLibrary()
    let id = try await container.performBackgroundTask { context in
      let book = context.makeBook("1", "a")
      try context.save()
      return book.objectID
    }
    #expect(!id.isTemporaryID)
    let title = try await container.performBackgroundTask { context in
      try (context.existingObject(with: id) as? Book)?.title
    }
    #expect(title == "a")
    await withCheckedContinuation { continuation in
      container.performBackgroundTask { context in
        _ = context
        continuation.resume()
      }
    }
  }

  @Test func `the model of a store can be read without knowing it`() throws {
    let folder = try TemporaryFolder()
    try open(folder.store).close()
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    #expect(Set(model.entities.compactMap(\.name)) == ["Author", "Book", "Comic", "Subject"])
    #expect(model.entitiesByName["Book"]?.attributesByName["year"]?.type == .integer64)
    #expect(throws: HeartwoodError.self) {
      try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.url.appending(path: "Nothing"))
    }
  }

  @Test func `a sound store has no findings, and its generations can be listed and read`() throws {
    let folder = try TemporaryFolder()
    let container = try open(folder.store)
    let context = container.newBackgroundContext()
    context.makeBook("1", "a")
    try context.save()
    let token = try container.persistentStoreCoordinator.newestQueryGenerationToken()
    context.makeBook("2", "b")
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    #expect(try coordinator.verify().findings == [])
    let numbers = try coordinator.generations().map(\.generation.rawValue)
    #expect(numbers.contains(try #require(token.generation)))

    let data = try JSONEncoder().encode(token)
    let past = try JSONDecoder().decode(QueryGenerationToken.self, from: data)
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(past)
    #expect(try reader.fetch(Book.self).map(\.isbn) == ["1"])
    #expect(throws: HeartwoodError.self) { try coordinator.queryGenerationToken(forGeneration: 1 << 40) }
    try container.close()
  }

  // CON-01
  @Test(arguments: ["xcdatamodeld", "xcdatamodel", "json", "resources"])
  func `a container finds its model by name among the resources`(ending: String) throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(types: libraryTypes)
    var place = folder.url
    if ending == "resources" {
      place = folder.url.appending(path: "Package_App.resources")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    }
    switch ending {
    case "json": try model.encodedDocument().write(to: place.appending(path: "Shelf.json"))
    case "xcdatamodeld":
      let bundle = place.appending(path: "Shelf.xcdatamodeld")
      try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
      try model.writeXcodeModel(to: bundle.appending(path: "Shelf.xcdatamodel"))
    default: try model.writeXcodeModel(to: place.appending(path: "Shelf.xcdatamodel"))
    }
    let bundle = try #require(Bundle(url: folder.url))
    let container = try PersistentContainer(name: "Shelf", bundles: [bundle])
    #expect(container.name == "Shelf")
    #expect(container.managedObjectModel.versionChecksum == model.versionChecksum)
    #expect(container.persistentStoreDescriptions.first?.url?.lastPathComponent == "Shelf.heartwood")
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: folder.store)]
    try container.loadPersistentStores()
    try container.close()
    let error = heartwoodError { _ = try PersistentContainer(name: "Table", bundles: [bundle]) }
    #expect(error?.message.contains("no model called Table") == true)
    #expect(
      ending == "json" || error?.message.contains("Shelf.xcdatamodel") == true, "\(error?.message ?? "")")
    #expect(heartwoodError { _ = try PersistentContainer(name: "Table") }?.code == .coreData)
  }
}
