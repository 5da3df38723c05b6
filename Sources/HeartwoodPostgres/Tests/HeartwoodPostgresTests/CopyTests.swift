import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Copying stores to PostgreSQL and back.
@Suite struct `Copies to PostgreSQL and back` {
  private static func folder() throws -> URL {
    let url = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: "hwpg-copy-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// A log store with every kind of property.
  private static func makeStore(at url: URL, people: Int) throws {
    let container = PersistentContainer(
      name: "Copy", managedObjectModel: try ManagedObjectModel(types: allTypes))
    try container.persistentStoreCoordinator.addPersistentStore(type: .log, at: url)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let companies = (0..<20).map { context.makeCompany("C\($0)") }
      companies[0].partners = [companies[1], companies[2]]
      var all: [Person] = []
      for number in 0..<people {
        let person = context.makePerson(
          "person \(number)", age: Int64(number % 70), in: companies[number % 20])
        if number % 7 == 0 { person.nick = "n\(number)" }
        if number > 0, number % 5 == 0 { person.idol = all[number - 1] }
        all.append(person)
      }
      companies[3].ranking = [all[9], all[2], all[5]]
      let clubs = (0..<5).map { number in
        let club = Club(context: context)
        club.title = "club \(number)"
        club.members = Set(all.filter { $0.age % 5 == Int64(number) }.prefix(300))
        return club
      }
      withExtendedLifetime(clubs) {}
      let songs = (0..<10).map { number in
        let song = Song(context: context)
        song.title = "\(number)"
        return song
      }
      let (first, second) = (Playlist(context: context), Playlist(context: context))
      first.songs = [songs[4], songs[1], songs[7]]
      second.songs = [songs[1], songs[4]]
      songs[1].playlists = [second, first]
      let thing = Thing(context: context)
      (thing.small, thing.large, thing.double, thing.float) = (-3, .min, 0.1, 0.25)
      (thing.decimal, thing.flag, thing.text) = (Decimal(string: "-12.50"), false, "ü 🌍")
      (thing.date, thing.data, thing.uuid) = (
        Date(timeIntervalSinceReferenceDate: -0.7), Data([0, 9]), UUID()
      )
      thing.url = URL(string: "https://example.org")
      songs[0].likes = [thing]
      let kennel = Kennel(context: context)
      kennel.dogs = (0..<3).map { number in
        let dog = Dog(context: context)
        dog.name = "dog \(number)"
        return dog
      }
      let parrot = Parrot(context: context)
      (parrot.ring, parrot.words) = ("r", 7)
      let gone = context.makePerson("gone")
      try context.save()
      context.delete(gone)
      try context.save()
    }
    try container.close()
  }

  @Test func `a store is copied to PostgreSQL and back, and every object is the same`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (store, back) = (folder.appending(path: "a.heartwood"), folder.appending(path: "b.heartwood"))
    try Self.makeStore(at: store, people: 3_000)
    let url = try PostgresServer.shared.get().url()
    let there = try StoreCopy(from: store, to: url).run()
    #expect(there.objects["Person"] == 3_000 && there.objects["Dog"] == 3 && there.objects["Parrot"] == 1)
    #expect(there.continuedFrom == 0)
    let world = try PostgresWorld(at: url)
    let context = world.context()
    #expect(
      try context.fetch(Company.self, where: { $0.code == "C3" }).first?.ranking.map(\.name) == [
        "person 9", "person 2", "person 5",
      ])
    #expect(try context.fetch(Kennel.self).first?.dogs.map(\.name) == ["dog 0", "dog 1", "dog 2"])
    // Objects that are made from now on have other numbers.
    _ = context.makePerson("new")
    _ = context.makeCompany("new")
    try context.save()
    context.delete(try #require(try context.fetch(Company.self, where: { $0.code == "new" }).first))
    try context.save()
    try world.container.close()
    let again = try StoreCopy(from: url, to: back).run()
    #expect(again.objects["Person"] == 3_001)
    let container = PersistentContainer(
      name: "Back", managedObjectModel: try ManagedObjectModel(types: allTypes))
    try container.persistentStoreCoordinator.addPersistentStore(type: .log, at: back)
    let read = container.newBackgroundContext()
    #expect(
      try read.fetch(Playlist.self).map { $0.songs.map(\.title) }.sorted { $0.count > $1.count } == [
        ["4", "1", "7"], ["1", "4"],
      ])
    try container.close()
    // A copy that is there is only compared: this one has an object more.
    #expect(
      heartwoodError { _ = try StoreCopy(from: store, to: url).run() }?.code == .persistentStoreOperation)
  }

  @Test func `a copy that is killed goes on with the next call, and ends with the same`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appending(path: "a.heartwood")
    try Self.makeStore(at: store, people: 20_000)
    let url = try PostgresServer.shared.get().url()
    for line in ["objects of Person: 6000 of", "relationship Club.members", "compared"] {
      let process = try OtherProcess("heartwood-postgres", ["copy", store.path, url.absoluteString])
      process.readUntil(line)
      kill(process.process.processIdentifier, SIGKILL)
      process.process.waitUntilExit()
      #expect(process.process.terminationReason == .uncaughtSignal)
    }
    let last = try OtherProcess("heartwood-postgres", ["copy", store.path, url.absoluteString])
    let notes = last.rest()
    last.process.waitUntilExit()
    #expect(last.process.terminationStatus == 0, "\(notes)")
    #expect(notes.contains("not copied: the history"))
    let world = try PostgresWorld(at: url)
    #expect(try world.context().count(Person.self) == 20_000)
    let left = try world.sql(
      "SELECT 1 FROM pg_namespace WHERE starts_with(nspname::text, '\(world.schema).')")
    #expect(left.count == 0)
    try world.container.close()
    // From there to a folder: a killed one leaves no store, and the next one makes it.
    let back = folder.appending(path: "back.heartwood")
    let process = try OtherProcess("heartwood-postgres", ["copy", url.absoluteString, back.path])
    process.readUntil("Person")
    kill(process.process.processIdentifier, SIGKILL)
    process.process.waitUntilExit()
    #expect(PersistentStoreCoordinator.typeOfPersistentStore(at: back) == nil)
    let whole = try OtherProcess("heartwood-postgres", ["copy", url.absoluteString, back.path])
    let said = whole.rest()
    whole.process.waitUntilExit()
    #expect(whole.process.terminationStatus == 0, "\(said)")
    #expect(PersistentStoreCoordinator.typeOfPersistentStore(at: back) == .log)
  }

  @Test func `a copy starts again if the store was changed since it was interrupted`() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = folder.appending(path: "a.heartwood")
    try Self.makeStore(at: store, people: 8_000)
    let url = try PostgresServer.shared.get().url()
    let process = try OtherProcess("heartwood-postgres", ["copy", store.path, url.absoluteString])
    process.readUntil("objects of Person: 4000 of")
    kill(process.process.processIdentifier, SIGKILL)
    process.process.waitUntilExit()
    let container = PersistentContainer(
      name: "Copy", managedObjectModel: try ManagedObjectModel(types: allTypes))
    try container.persistentStoreCoordinator.addPersistentStore(type: .log, at: store)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for person in try context.fetch(Person.self) { person.age += 1 }
      try context.save()
    }
    try container.close()
    let report = try StoreCopy(from: store, to: url).run()
    #expect(report.continuedFrom == 0 && report.objects["Person"] == 8_000)
  }
}
