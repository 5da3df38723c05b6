import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Removing, replacing and trying whole stores.
@Suite struct `Whole stores in PostgreSQL` {
  private func coordinator() throws -> PersistentStoreCoordinator {
    try PersistentStoreCoordinator(checking: ManagedObjectModel(types: allTypes))
  }

  private func fill(_ world: PostgresWorld) throws {
    let context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[3], people[1]]
    let club = Club(context: context)
    club.members = [people[0], people[2]]
    let list = Playlist(context: context)
    list.songs = (0..<3).map { number in
      let song = Song(context: context)
      song.title = "\(number)"
      return song
    }
    try context.save()
  }

  @Test func `a destroyed store leaves nothing, and a new one can be made in its place`() throws {
    let world = try PostgresWorld()
    try fill(world)
    let url = world.url
    try world.container.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .postgres)
    #expect(world.container.persistentStoreCoordinator.persistentStores.isEmpty)
    let rows = try world.sql("SELECT 1 FROM pg_namespace WHERE nspname = '\(world.schema)'")
    #expect(rows.count == 0)
    // Again: there is nothing.
    try coordinator().destroyPersistentStore(at: url, type: .postgres)
    let again = try PostgresWorld(at: url)
    #expect(try again.context().count(Person.self) == 0)
  }

  @Test func `destroying a store leaves what is not of it`() throws {
    let world = try PostgresWorld()
    try fill(world)
    _ = try world.sql("CREATE TABLE \"\(world.schema)\".other (a int)")
    try world.container.close()
    try coordinator().destroyPersistentStore(at: world.url, type: .postgres)
    let left = try world.sql(
      "SELECT table_name::text FROM information_schema.tables WHERE table_schema = '\(world.schema)'")
    #expect((0..<left.count).map { left.text($0, 0) } == ["other"])
    // A schema without a store is left alone.
    try coordinator().destroyPersistentStore(at: world.url, type: .postgres)
    #expect(try world.sql("SELECT * FROM \"\(world.schema)\".other").count == 0)
  }

  @Test func `a view of others over a table prevents the destruction, and the store is as before`() throws {
    let world = try PostgresWorld()
    try fill(world)
    _ = try world.sql(
      "CREATE VIEW \"\(world.schema)\".names AS SELECT name FROM \"\(world.schema)\".\"Person\"")
    let error = heartwoodError {
      try world.container.persistentStoreCoordinator.destroyPersistentStore(at: world.url, type: .postgres)
    }
    #expect(error?.code == .persistentStoreOperation && error?.message.contains("names") == true)
    // It was closed first, and is open again.
    #expect(world.container.persistentStoreCoordinator.persistentStores.count == 1)
    #expect(try world.context().count(Person.self) == 5)
  }

  @Test func `a store that others have open is destroyed only by force`() throws {
    let world = try PostgresWorld()
    try fill(world)
    let error = heartwoodError {
      try coordinator().destroyPersistentStore(at: world.url, type: .postgres, options: [.timeout: 0])
    }
    #expect(error?.code == .persistentStoreTimeout)
    #expect(try world.context().count(Person.self) == 5)
    try coordinator().destroyPersistentStore(at: world.url, type: .postgres, options: [.forceDestroy: true])
    #expect(heartwoodError { _ = try world.context().count(Person.self) } != nil)
  }

  @Test func `a store is replaced by another one with its objects, its history and its identifier`() throws {
    let (source, target) = (try PostgresWorld(), try PostgresWorld())
    try fill(source)
    let context = target.context()
    _ = context.makeCompany("former")
    try context.save()
    let uris = try source.context().fetch(Person.self).map { $0.objectID.uriRepresentation() }
    let token = try #require(source.container.currentHistoryToken)
    try target.container.close()
    try coordinator().replacePersistentStore(
      at: target.url, withPersistentStoreFrom: source.url, type: .postgres)
    let copied = try PostgresWorld(at: target.url)
    let found = copied.context()
    #expect(try found.fetch(Company.self).map(\.code) == ["A"])
    #expect(try found.fetch(Company.self).first?.ranking.map(\.name) == ["3", "1"])
    #expect(try found.fetch(Playlist.self).first?.songs.map(\.title) == ["0", "1", "2"])
    #expect(try found.fetch(Club.self).first?.members.count == 2)
    #expect(Set(try found.fetch(Person.self).map { $0.objectID.uriRepresentation() }) == Set(uris))
    #expect(try copied.container.history(after: token).isEmpty)
    // Both go on for themselves, with other numbers than what is there.
    _ = found.makePerson("new")
    try found.save()
    #expect(try copied.container.history(after: token).count == 1)
    #expect(try source.context().count(Person.self) == 5)
    try copied.container.close()
    let missing = try PostgresServer.shared.get().url()
    let error = heartwoodError {
      try coordinator().replacePersistentStore(
        at: target.url, withPersistentStoreFrom: missing, type: .postgres)
    }
    #expect(error?.code == .persistentStoreOpen)
    #expect(try PostgresWorld(at: target.url).context().count(Person.self) == 6)
  }

  @Test func `a rehearsal finds what prevents a migration, and leaves the store as it is`() throws {
    func model(_ change: (EntityDescription) -> Void) -> ManagedObjectModel {
      let name = AttributeDescription(name: "name", type: .string)
      name.isOptional = true
      let age = AttributeDescription(name: "age", type: .integer64)
      age.isOptional = true
      let person = EntityDescription(name: "Person", properties: [name, age])
      change(person)
      return ManagedObjectModel(entities: [person])
    }
    PostgresStore.register()
    let url = try PostgresServer.shared.get().url()
    let former = try PersistentStoreCoordinator(checking: model { _ in })
    try former.addPersistentStore(type: .postgres, at: url)
    let context = ManagedObjectContext(.privateQueue, coordinator: former)
    try context.performAndWait {
      for (name, age) in [("a", 1), ("b", nil), ("c", 300)] as [(String, Int?)] {
        let person = ManagedObject(
          entity: former.managedObjectModel.entitiesByName["Person"]!, insertInto: context)
        person.setValue(name, forKey: "name")
        person.setValue(age, forKey: "age")
      }
      try context.save()
    }
    let later = model { person in
      let age = person.attributesByName["age"]
      age?.validationRules = [.number(atMost: 200)]
      person.ownProperties.append(AttributeDescription(name: "nick", type: .string))
      person.attributesByName["nick"]?.isOptional = true
    }
    let description = PersistentStoreDescription(url: url)
    description.type = .postgres
    let report = try #require(
      try PersistentStoreCoordinator.rehearseMigration(with: description, to: later))
    #expect(report.violations.count == 1 && report.violations[0].property == "age", "\(report.violations)")
    #expect(report.violations[0].preventsMigration == false)
    // A value that is missing where one must be prevents it.
    let strict = model { person in
      let nick = AttributeDescription(name: "nick", type: .string)
      nick.isOptional = false
      person.ownProperties.append(nick)
    }
    let refused = Result { try PersistentStoreCoordinator.rehearseMigration(with: description, to: strict) }
    if case .success(let report) = refused {
      #expect(report?.violations.contains(where: \.preventsMigration) == true)
    } else if case .failure(let error) = refused {
      #expect((error as? HeartwoodError)?.code == .migration, "\(error)")
    }
    // The store is as it was, and still open here.
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    let left = try context.performAndWait { try context.count(for: request) }
    #expect(left == 3)
    let same = try PersistentStoreCoordinator.rehearseMigration(with: description, to: model { _ in })
    #expect(same == nil)
    let schema = try PostgresAddress(url).schema
    let copies = try PostgresConnection(PostgresAddress(url)).query(
      "SELECT 1 FROM pg_namespace WHERE starts_with(nspname::text, '\(schema).')")
    #expect(copies.count == 0)
  }
}
