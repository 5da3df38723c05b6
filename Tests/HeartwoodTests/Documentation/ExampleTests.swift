import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Runs the examples of the README and of the first article.
@Suite struct `Examples of the documents` {
  @Test func `the example of the README does what it says, each time that it is run`() throws {
    final class Country: ManagedObject {
      @Attribute(.unique) var code = ""
      @Attribute var name = ""
      @Attribute(.indexed) var population: Int64?
      @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>
      @Relationship(inverse: { $0.neighbours }) var neighbours: Set<Country>
    }

    final class City: ManagedObject {
      @Attribute(.preservesValueInHistoryOnDeletion) var name = ""
      @Relationship(inverse: { $0.cities }) var country: Country?
    }

    let url = URL(fileURLWithPath: "world.heartwood")
    try? FileManager.default.removeItem(at: url)
    defer { try? FileManager.default.removeItem(at: url) }
    for _ in 1...2 {
      let container = try PersistentContainer(name: "World", types: [Country.self, City.self], at: url)
      let context = container.viewContext
      context.mergePolicy = .mergeByPropertyObjectTrump

      let france = Country(context: context)
      france.code = "FR"
      france.name = "France"
      france.population = 68_000_000
      try context.save()

      let large = try context.fetch(
        Country.self, where: { $0.population > 50_000_000 }, sort: [.ascending(\.name)], limit: 10)
      print(large.map(\.name))
      #expect(large.map(\.name) == ["France"])
      try container.close()
    }
  }

  @Test func `the example of the first article does what it says`() async throws {
    final class Country: ManagedObject {
      @Attribute(.unique) var code = ""
      @Attribute var name = ""
      @Attribute(.indexed) var population: Int64?
      @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>
    }
    final class City: ManagedObject {
      @Attribute(.preservesValueInHistoryOnDeletion) var name = ""
      @Relationship(inverse: { $0.cities }) var country: Country?
    }
    let url = URL(fileURLWithPath: "/dev/null")
    let container = try PersistentContainer(name: "World", types: [Country.self, City.self], at: url)
    let context = container.viewContext

    let france = Country(context: context)
    france.code = "FR"
    france.name = "France"
    let paris = City(context: context)
    paris.name = "Paris"
    paris.country = france
    #expect(france.cities == [paris])
    france.$cities.insert(paris)
    try context.save()
    let token = container.persistentStoreCoordinator.currentPersistentHistoryToken()

    let large = try context.fetch(
      Country.self, where: { $0.population > 50_000_000 }, sort: [.ascending(\.name)], limit: 10)
    #expect(large.isEmpty)

    do {
      let request = FetchRequest<Country>(entityName: "Country")
      request.predicate = try FormatPredicate(
        "ANY cities.name BEGINSWITH[cd] %@ AND population BETWEEN {1, 9000000}", "sao")
      #expect(try context.fetch(request).isEmpty)
    }

    let id = france.objectID
    try await container.performBackgroundTask { context in
      let france = try context.existingObject(with: id)
      context.delete(france)
      try context.save()
    }

    let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    let result = try context.execute(request)
    let deleted = try #require(result.transactions.last?.changes).compactMap(\.tombstone)
    #expect(deleted.contains { $0["name"] as? String == "Paris" })

    let coordinator = container.persistentStoreCoordinator
    context.reset()
    try context.setQueryGenerationFrom(try coordinator.queryGenerationToken(forGeneration: 2))
    #expect(try context.count(for: FetchRequest<City>()) == 1)
    try context.setQueryGenerationFrom(nil)
    #expect(try context.count(for: FetchRequest<City>()) == 0)
  }

  @Test func `an application is notified of the saves of other processes`() async throws {
    let folder = try TemporaryFolder()
    let url = folder.store
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let description = PersistentStoreDescription(url: url)
    description.postsRemoteChangeNotifications = true
    container.persistentStoreDescriptions = [description]
    try await container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let id = try await context.perform {
      let ada = context.makeAuthor("Ada")
      try context.save()
      return ada.objectID
    }
    var token = container.currentHistoryToken

    let (saves, news) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
    ) { _ in
      news.yield()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let other = try PersistentContainer(name: "Library", types: libraryTypes, at: url)
    try await other.performBackgroundTask { context in
      try context.fetch(Author.self).first?.country = "FR"
      try context.save()
    }
    let last = container.currentHistoryToken

    for await _ in saves {
      token = try await context.perform { [token] in
        let news = try context.execute(.fetchHistory(after: token))
        for change in news.changes {
          guard let object = context.registeredObject(for: change.changedObjectID) else { continue }
          context.refresh(object, mergeChanges: true)
        }
        return news.transactions.last?.token ?? token
      }
      if token == last { break }
    }
    let country = try await context.perform { (try context.existingObject(with: id) as? Author)?.country }
    #expect(country == "FR")
    try other.close()
    try container.close()
  }
}
