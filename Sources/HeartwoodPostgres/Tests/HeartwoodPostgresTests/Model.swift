import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Every kind of relationship and of delete rule.
final class Company: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute var name = ""
  @Attribute(.indexed) var size: Int64?
  @Relationship(inverse: { $0.company }, deleteRule: .cascade) var people: Set<Person>
  @Relationship(inverse: { $0.owner }, deleteRule: .deny) var houses: Set<House>
  @Relationship(inverse: { $0.partners }) var partners: Set<Company>
  @Relationship(inverse: { $0.ranked }) var ranking: [Person]
}

final class Person: ManagedObject {
  @Attribute(.indexed) var name = ""
  @Attribute var age: Int64 = 0
  @Attribute var nick: String?
  @Relationship(inverse: { $0.people }) var company: Company?
  @Relationship(inverse: { $0.ranking }) var ranked: Company?
  @Relationship(inverse: { $0.members }) var clubs: Set<Club>
  @Relationship(deleteRule: .noAction) var idol: Person?
}

final class House: ManagedObject {
  @Attribute var street = ""
  @Relationship(inverse: { $0.houses }) var owner: Company?
}

final class Club: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.clubs }) var members: Set<Person>
}

/// A family of entities.
class Animal: ManagedObject {
  @Attribute var name = ""
  @Attribute var legs: Int16 = 4
}

final class Dog: Animal {
  @Attribute var trick: String?
  @Relationship(inverse: { $0.dogs }) var kennel: Kennel?
}

class Bird: Animal {
  @Attribute var span = 0.0
  @Attribute(.unique) var ring: String?
}

final class Parrot: Bird {
  @Attribute var words: Int32 = 0
}

final class Kennel: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.kennel }) var dogs: [Dog]
}

/// Ordered on both sides.
final class Playlist: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.playlists }) var songs: [Song]
}

final class Song: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.songs }) var playlists: [Playlist]
  @Relationship(deleteRule: .noAction) var likes: Set<Thing>
}

/// Every type of attribute.
final class Thing: ManagedObject {
  @Attribute var number = 0
  @Attribute var small: Int16?
  @Attribute var medium: Int32?
  @Attribute var large: Int64?
  @Attribute var double: Double?
  @Attribute var float: Float?
  @Attribute var decimal: Decimal?
  @Attribute var flag: Bool?
  @Attribute var text: String?
  @Attribute var date: Date?
  @Attribute var data: Data?
  @Attribute var uuid: UUID?
  @Attribute var url: URL?
}

let allTypes: [ManagedObject.Type] = [
  Company.self, Person.self, House.self, Club.self, Animal.self, Dog.self, Bird.self, Parrot.self,
  Kennel.self,
  Thing.self, Playlist.self, Song.self,
]

/// A store in a schema of its own.
struct PostgresWorld {
  let url: URL
  let container: PersistentContainer

  init(
    at url: URL? = nil, types: [ManagedObject.Type] = allTypes, model: ManagedObjectModel? = nil,
    migrates: Bool = true,
    tracksHistory: Bool = true, postsRemoteChanges: Bool = false
  ) throws {
    PostgresStore.register()
    self.url = try url ?? PostgresServer.shared.get().url()
    container = PersistentContainer(
      name: "Test", managedObjectModel: try model ?? ManagedObjectModel(types: types))
    let description = PersistentStoreDescription(url: self.url)
    description.type = .postgres
    description.shouldMigrateStoreAutomatically = migrates
    description.tracksHistory = tracksHistory
    description.postsRemoteChangeNotifications = postsRemoteChanges
    try container.persistentStoreCoordinator.addPersistentStore(with: description)
  }

  func context() -> ManagedObjectContext { container.newBackgroundContext() }

  /// Lets several threads count in one company, and make a company of three people in each round, until they have saved it: a conflict is
  /// met by reading again.
  ///
  /// - Parameter others: Makes what else is saved in a round.
  func countAtOnce(
    writers: Int, rounds: Int,
    _ others: @escaping @Sendable (ManagedObjectContext, Company, [Person]) -> Void = { _, _, _ in }
  ) throws {
    let context = context()
    context.makeCompany("all").size = 0
    try context.save()
    let threads = (0..<writers).map { writer in
      Answer {
        let context = self.context()
        for round in 0..<rounds {
          try context.performAndWait {
            while true {
              let all = try #require(try context.fetch(Company.self, where: { $0.code == "all" }).first)
              all.size = (all.size ?? 0) + 1
              let own = context.makeCompany("\(writer) \(round)")
              others(context, own, (0..<3).map { context.makePerson("\($0)", in: own) })
              do {
                try context.save()
                break
              } catch let error as HeartwoodError where error.code == .managedObjectMerge {
                context.reset()
              }
            }
          }
        }
      }
    }
    for thread in threads { try thread.get() }
  }

  /// Executes SQL beside the store.
  func sql(_ text: String) throws -> PostgresRows {
    try PostgresConnection(PostgresAddress(url)).query(text)
  }

  /// Waits until a count is greater than 0.
  func wait(until count: String) throws {
    let connection = try PostgresConnection(PostgresAddress(url))
    for _ in 0..<30_000 {
      if try connection.query(count).integer(0, 0) > 0 { return }
      usleep(1000)
    }
    throw PostgresServer.Failure(message: "never: \(count)")
  }

  var store: PostgresStore {
    get throws {
      guard let store = container.persistentStoreCoordinator.persistentStores.first as? PostgresStore else {
        throw PostgresServer.Failure(message: "the store is closed")
      }
      return store
    }
  }

  var schema: String { (try? PostgresAddress(url).schema) ?? "" }
}

extension ManagedObjectContext {
  func makePerson(_ name: String, age: Int64 = 0, in company: Company? = nil) -> Person {
    let person = Person(context: self)
    person.name = name
    person.age = age
    person.company = company
    return person
  }

  func makeCompany(_ code: String) -> Company {
    let company = Company(context: self)
    company.code = code
    company.name = code
    return company
  }
}

/// The `HeartwoodError` that `body` throws, if any.
func heartwoodError(_ body: () throws -> Void) -> HeartwoodError? {
  do {
    try body()
    return nil
  } catch {
    return error as? HeartwoodError
  }
}

/// A value that another thread has found out.
final class Answer<Value: Sendable>: @unchecked Sendable {
  private let condition = NSCondition()
  private var result: Result<Value, any Error>?

  /// Calls `body` on another thread.
  init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [self] in
      let made = Result { try body() }
      condition.withLock {
        result = made
        condition.broadcast()
      }
    }
  }

  /// Waits for it.
  func get() throws -> Value {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result { return try result.get() }
      condition.wait()
    }
  }
}
