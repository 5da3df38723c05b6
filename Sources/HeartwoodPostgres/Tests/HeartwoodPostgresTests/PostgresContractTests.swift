import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// The contract that every kind of store fulfils.
@Suite struct `A store in PostgreSQL` {
  @Test func `objects are saved with their relationships, and found again under the same identifiers`() throws
  {
    let world = try PostgresWorld()
    var context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<5).map { context.makePerson("\($0)", age: Int64($0), in: company) }
    company.ranking = [people[4], people[2]]
    people[0].idol = people[1]
    let club = Club(context: context)
    club.members = [people[1], people[3]]
    let other = context.makeCompany("B")
    other.partners = [company]
    try context.save()
    context.delete(people[3])
    people[2].age = 20
    people[2].nick = "nick"
    company.ranking.append(people[0])
    try context.save()
    let uris = people.map { $0.objectID.uriRepresentation() }
    try world.container.close()

    let second = try PostgresWorld(at: world.url)
    let coordinator = second.container.persistentStoreCoordinator
    context = second.context()
    let found = try uris.map { uri -> Person? in
      let identifier = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      return try? context.existingObject(with: identifier) as? Person
    }
    #expect(found.map { $0?.name } == ["0", "1", "2", nil, "4"])
    #expect(found.map { $0?.age } == [0, 1, 20, nil, 4])
    #expect(found[2]?.nick == "nick")
    #expect(found[0]?.idol?.name == "1")
    #expect(found[0]?.company?.ranking.map(\.name) == ["4", "2", "0"])
    #expect(found[0]?.company?.people.count == 4)
    #expect(found[0]?.company?.partners.map(\.code) == ["B"])
    #expect(try context.fetch(Club.self).map { $0.members.map(\.name) } == [["1"]])
    found[0]?.company?.ranking = [found[0], found[4]].compactMap(\.self)
    try context.save()
    let last = second.context()
    let again = try last.fetch(Company.self, where: { $0.code == "A" }).first
    #expect(again?.ranking.map(\.name) == ["0", "4"])
  }

  @Test func `every type of attribute comes back as it was saved`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    func fill(_ thing: Thing, _ sign: Int) {
      thing.small = sign > 0 ? .max : .min
      thing.medium = sign > 0 ? .max : .min
      thing.large = sign > 0 ? .max : .min
      thing.double = sign > 0 ? .greatestFiniteMagnitude : -.infinity
      thing.float = sign > 0 ? 0.1 : -.leastNonzeroMagnitude
      thing.decimal = Decimal(string: sign > 0 ? "12345678901234567890.123456789" : "-0.000000001")
      thing.flag = sign > 0
      thing.text = sign > 0 ? "Grüße 🌍 \\ ' \" {a,b} NULL" : ""
      thing.date = Date(timeIntervalSinceReferenceDate: sign > 0 ? 0.1 + 1e9 : -1e10 - 0.3)
      thing.data = Data([0, 1, 255, 0])
      thing.uuid = UUID()
      thing.url = URL(string: "https://example.org/ü?a=b")
    }
    let things = (0..<3).map { number in
      let thing = Thing(context: context)
      thing.number = number
      if number > 0 { fill(thing, number == 1 ? 1 : -1) }
      return thing
    }
    try context.save()
    for _ in 0..<2 {
      let again = try world.context().fetch(Thing.self, sort: [.ascending(\.number)])
      for (thing, found) in zip(things, again) {
        let values = { (thing: Thing) in
          thing.entity.attributesByName.keys.sorted().map {
            "\($0) \(String(describing: thing.value(forKey: $0)))"
          }
        }
        #expect(values(found) == values(thing))
      }
      #expect(again.count == 3)
      fill(things[0], 1)
      try context.save()
    }
    things[0].text = "a\0b"
    #expect(heartwoodError { try context.save() }?.code == .managedObjectValidation)
  }

  @Test
  func
    `a save over a newer version is a conflict that merge policies resolve, and deletes of deleted objects are none`()
    throws
  {
    let world = try PostgresWorld()
    let first = world.context()
    let (person, other) = (first.makePerson("a", age: 1), first.makePerson("o"))
    try first.save()
    let second = world.context()
    let same = try #require(second.existingObject(with: person.objectID) as? Person)
    same.age = 2
    try second.save()
    person.name = "b"
    other.name = "changed with it"
    let error = heartwoodError { try first.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.map(\.objectID) == [person.objectID])
    #expect(error?.mergeConflicts.map(\.newVersionNumber) == [2])
    #expect(try world.context().fetch(Person.self, sort: [.ascending(\.name)]).map(\.name) == ["a", "o"])
    first.mergePolicy = .mergeByPropertyObjectTrump
    try first.save()
    #expect(person.age == 2 && person.name == "b")
    second.refreshAllObjects()
    second.delete(same)
    try second.save()
    first.delete(person)
    try first.save()
    #expect(try world.context().fetch(Person.self).map(\.name) == ["changed with it"])
  }

  @Test func `a save of an object that others have deleted is a conflict`() throws {
    let world = try PostgresWorld()
    let (first, second) = (world.context(), world.context())
    let person = first.makePerson("a")
    try first.save()
    second.delete(second.object(with: person.objectID))
    try second.save()
    person.name = "b"
    let error = heartwoodError { try first.save() }
    #expect(error?.mergeConflicts.map(\.newVersionNumber) == [0])
    first.mergePolicy = .overwrite
    try first.save()
    #expect(try second.fetch(Person.self).map(\.name) == ["b"])
  }

  @Test func `values that must be unique are refused by the database, exchanged, and updated by imports`()
    throws
  {
    let world = try PostgresWorld()
    let first = world.context()
    let (a, b) = (first.makeCompany("A"), first.makeCompany("B"))
    a.size = 4
    try first.save()
    (a.code, b.code) = ("B", "A")
    try first.save()
    (a.code, b.code) = ("A", "B")
    try first.save()
    let context = world.context()
    let again = context.makeCompany("A")
    again.name = "new"
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.constraintConflicts.map(\.databaseObjectID) == [a.objectID])
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let all = try world.context().fetch(Company.self, sort: [.ascending(\.code)])
    #expect(all.map(\.name) == ["new", "B"] && all[0].size == 4 && all[0].objectID == a.objectID)
    let third = world.context()
    _ = (third.makeCompany("C"), third.makeCompany("C"))
    #expect(heartwoodError { try third.save() }?.constraintConflicts.first?.conflictingObjects.count == 2)
    let birds = world.context()
    for ring in ["1", "1", nil, nil] as [String?] {
      let bird = Parrot(context: birds)
      bird.ring = ring
    }
    #expect(heartwoodError { try birds.save() }?.code == .managedObjectConstraintMerge)
  }

  @Test func `a family of entities is one table, and each object is of its own entity`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let dogs = (0..<3).map { number in
      let dog = Dog(context: context)
      (dog.name, dog.trick) = ("dog \(number)", number == 1 ? "sit" : nil)
      return dog
    }
    let parrot = Parrot(context: context)
    (parrot.name, parrot.legs, parrot.span, parrot.words) = ("polly", 2, 0.5, 12)
    let bird = Bird(context: context)
    bird.name = "owl"
    let kennel = Kennel(context: context)
    kennel.dogs = [dogs[2], dogs[0]]
    try context.save()
    let reading = world.context()
    let all = try reading.fetch(Animal.self, sort: [.ascending(\.name)])
    #expect(all.map { $0.entity.name } == ["Dog", "Dog", "Dog", "Bird", "Parrot"])
    #expect((all[4] as? Parrot)?.words == 12 && (all[1] as? Dog)?.trick == "sit")
    #expect(try reading.fetch(Bird.self).count == 2)
    let request = FetchRequest<Bird>()
    request.includesSubentities = false
    #expect(try reading.fetch(request).map(\.name) == ["owl"])
    #expect(try reading.fetch(Kennel.self).first?.dogs.map(\.name) == ["dog 2", "dog 0"])
    let identifier = try #require(
      world.container.persistentStoreCoordinator.managedObjectID(
        forURIRepresentation: parrot.objectID.uriRepresentation()))
    #expect(identifier.entity.name == "Parrot")
    let object = reading.object(with: parrot.objectID)
    #expect(object is Parrot)
    #expect(
      try reading.count(for: FetchRequest<Animal>(where: { $0.legs == 2 })) == 1)
  }

  @Test
  func `relationships that are ordered on both sides, or have no inverse, come back as they were saved`()
    throws
  {
    let world = try PostgresWorld()
    let context = world.context()
    let songs = (0..<4).map { number in
      let song = Song(context: context)
      song.title = "\(number)"
      return song
    }
    let (first, second) = (Playlist(context: context), Playlist(context: context))
    (first.title, second.title) = ("first", "second")
    first.songs = [songs[2], songs[0], songs[3]]
    second.songs = [songs[0]]
    songs[0].playlists = [second, first]
    let things = (0..<3).map { _ in Thing(context: context) }
    songs[1].likes = [things[0], things[1]]
    try context.save()
    func titles(_ name: String) throws -> [String] {
      let context = world.context()
      let found = try context.fetch(Playlist.self, where: { $0.title == name }).first
      return try #require(found).songs.map(\.title)
    }
    #expect(try titles("first") == ["2", "0", "3"])
    let reading = world.context()
    let found = try reading.fetch(Song.self, sort: [.ascending(\.title)])
    #expect(found[0].playlists.map(\.title) == ["second", "first"])
    #expect(Set(found[1].likes.map(\.objectID)) == Set(things[..<2].map(\.objectID)))
    found[1].likes.remove(found[1].likes.first { $0.objectID == things[0].objectID }!)
    let list = try #require(reading.existingObject(with: first.objectID) as? Playlist)
    list.songs = [found[3], found[1], found[2]]
    try reading.save()
    #expect(try titles("first") == ["3", "1", "2"])
    #expect(try titles("second") == ["0"])
    reading.delete(found[1])
    try reading.save()
    #expect(try titles("first") == ["3", "2"])
    let pairs = try world.sql("SELECT count(*) FROM \"\(world.schema)\".\"Song.likes\"")
    #expect(pairs.integer(0, 0) == 0)
  }

  @Test func `a save that refers to an object that others have deleted is a conflict`() throws {
    let world = try PostgresWorld()
    let (first, second) = (world.context(), world.context())
    let company = first.makeCompany("A")
    try first.save()
    let same = try #require(second.existingObject(with: company.objectID) as? Company)
    let person = second.makePerson("a", in: same)
    first.delete(company)
    try first.save()
    let error = heartwoodError { try second.save() }
    #expect(error?.code == .managedObjectMerge && error?.mergeConflicts.map(\.objectID) == [person.objectID])
    #expect(try world.context().count(Person.self) == 0)
    second.mergePolicy = .mergeByPropertyStoreTrump
    try second.save()
    #expect(try world.context().fetch(Person.self).map { $0.company == nil } == [true])
  }

  @Test func `a deletion of an object to which others refer meanwhile is a conflict`() throws {
    let world = try PostgresWorld()
    let (first, second) = (world.context(), world.context())
    let company = first.makeCompany("A")
    try first.save()
    let same = try #require(second.existingObject(with: company.objectID) as? Company)
    #expect(same.people.isEmpty)
    _ = first.makePerson("a", in: company)
    try first.save()
    second.delete(same)
    let error = heartwoodError { try second.save() }
    #expect(error?.code == .managedObjectMerge && error?.mergeConflicts.map(\.objectID) == [company.objectID])
    let reading = world.context()
    #expect(try reading.fetch(Company.self).map(\.people.count) == [1])
  }

  @Test func `many objects are saved and read by statements of many rows`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let companies = (0..<10).map { context.makeCompany("\($0)") }
    for number in 0..<6000 {
      _ = context.makePerson("\(number)", age: Int64(number), in: companies[number % 10])
    }
    try context.save()
    let reading = world.context()
    let request = FetchRequest<Person>(where: { $0.age < 1000 }, sort: [.ascending(\.age)])
    request.relationshipKeyPathsForPrefetching = ["company"]
    let people = try reading.fetch(request)
    #expect(people.map(\.age) == Array(0..<1000))
    #expect(people[17].company?.code == "7")
    for person in people { person.age += 1 }
    try reading.save()
    #expect(try world.context().count(Person.self, where: { $0.age < 1000 }) == 999)
    for person in people { reading.delete(person) }
    try reading.save()
    #expect(try world.context().count(Person.self) == 5000)
  }

  @Test func `a batch update changes what a condition selects, by constants and expressions`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let company = context.makeCompany("A")
    let people = (0..<6).map { context.makePerson("\($0)", age: Int64($0), in: $0 < 4 ? company : nil) }
    try context.save()
    let request = BatchUpdateRequest(Person.self)
    request.predicate = try FormatPredicate("company.code == 'A' AND age > 1")
    request.set(\Person.nick, to: "n")
    request.set(\Person.age) { $0.age + 10 }
    request.resultType = .objectIDs
    let result = try context.execute(request, mergingInto: [context])
    #expect(Set(result.objectIDs) == Set(people[2..<4].map(\.objectID)))
    #expect(people.map(\.age) == [0, 1, 12, 13, 4, 5] && people[3].nick == "n")
    people[3].age = 0
    try context.save()
    let moving = BatchUpdateRequest(entityName: "Person")
    moving.propertiesToUpdate = ["company": company.objectID, "nick": NSNull()]
    moving.resultType = .count
    #expect(try context.execute(moving).count == 6)
    let reading = world.context()
    #expect(try reading.fetch(Company.self)[0].people.count == 6)
    #expect(try reading.count(Person.self, where: { $0.nick != nil }) == 0)
    people[0].name = "stale"
    #expect(heartwoodError { try context.save() }?.code == .managedObjectMerge)
  }

  @Test func `a batch insert writes its rows in one transaction, or none`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let company = context.makeCompany("A")
    try context.save()
    var number = 0
    let request = BatchInsertRequest(entityName: "Person") { row in
      guard number < 5003 else { return true }
      row = ["name": "p\(number)", "age": number % 7, "company": company.objectID]
      number += 1
      return false
    }
    request.resultType = .objectIDs
    let made = try #require(try context.execute(request, mergingInto: [context]).result as? [ManagedObjectID])
    #expect(made.count == 5003 && Set(made).count == 5003)
    #expect(company.people.count == 5003)
    #expect(try world.context().count(Person.self, where: { $0.age == 3 }) == 715)
    let person = try #require(try world.context().existingObject(with: made[5002]) as? Person)
    #expect(person.name == "p5002" && person.nick == nil)
    let twice = BatchInsertRequest(
      entityName: "Company", objects: [["code": "B"], ["code": "A"]])
    #expect(heartwoodError { try context.execute(twice) }?.code == .managedObjectConstraintMerge)
    #expect(try world.context().fetch(Company.self).map(\.code) == ["A"])
    let many = BatchInsertRequest(
      entityName: "Company", objects: [["code": "C", "people": [made[0], made[5001]]]])
    try context.execute(many)
    let moved = try world.context().fetch(Person.self, where: { $0.company.code == "C" })
    #expect(Set(moved.map(\.objectID.description)) == Set([made[0], made[5001]].map(\.description)))
  }

  @Test func `a batch delete follows the delete rules`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let companies = ["A", "B", "C"].map(context.makeCompany)
    for number in 0..<6 { _ = context.makePerson("\(number)", in: companies[number % 3]) }
    companies[0].partners = [companies[1], companies[2]]
    companies[1].ranking = Array(companies[2].people)
    let house = House(context: context)
    house.owner = companies[2]
    try context.save()
    let denied = heartwoodError {
      _ = try context.execute(
        BatchDeleteRequest(fetchRequest: FetchRequest<Company>(where: { $0.code > "A" })))
    }
    #expect(denied?.code == .validationRelationshipDeniedDelete)
    #expect(try world.context().count(Company.self) == 3)
    let request = BatchDeleteRequest(fetchRequest: FetchRequest<Company>(where: { $0.code < "C" }))
    request.resultType = .objectIDs
    let result = try context.execute(request, mergingInto: [context])
    #expect(result.count == 6 && result.objectIDs.count == 6)
    let reading = world.context()
    let left = try reading.fetch(Company.self)
    #expect(left.map(\.code) == ["C"] && left[0].people.count == 2 && left[0].partners.isEmpty)
    #expect(left[0].people.allSatisfy { $0.ranked == nil })
    #expect(try context.fetch(Company.self).map(\.code) == ["C"])
    let people = try reading.fetch(Person.self)
    #expect(
      try context.execute(BatchDeleteRequest(objectIDs: people.map(\.objectID))).result as? Bool == true)
    #expect(try world.context().count(Person.self) == 0)
  }

  @Test func `another model is refused, and so are tables that were changed`() throws {
    let world = try PostgresWorld()
    try world.container.close()
    let other = heartwoodError { _ = try PostgresWorld(at: world.url, types: [Thing.self], migrates: false) }
    #expect(other?.code == .persistentStoreIncompatibleVersionHash)
    _ = try world.sql("ALTER TABLE \"\(world.schema)\".\"Thing\" DROP COLUMN \"text\"")
    let changed = heartwoodError { _ = try PostgresWorld(at: world.url) }
    #expect(changed?.code == .persistentStoreOpen && changed?.message.contains("Thing.text") == true)
  }

  @Test func `metadata are kept, and a read-only store is read and not written`() throws {
    let world = try PostgresWorld()
    let coordinator = world.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.setMetadata(["note": "n", "count": 3], for: store)
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    try world.container.close()
    let description = PersistentStoreDescription(url: world.url)
    (description.type, description.isReadOnly) = (.postgres, true)
    let reading = PersistentContainer(name: "Test", managedObjectModel: coordinator.managedObjectModel)
    let opened = try reading.persistentStoreCoordinator.addPersistentStore(with: description)
    #expect(opened.identifier == store.identifier)
    #expect(try opened.metadata["note"] as? String == "n")
    #expect(try opened.metadata["count"] as? Int == 3)
    let second = reading.newBackgroundContext()
    #expect(try second.count(Person.self) == 1)
    _ = second.makePerson("b")
    #expect(heartwoodError { try second.save() }?.code == .persistentStoreSave)
    let empty = PersistentStoreDescription(url: try PostgresServer.shared.get().url())
    (empty.type, empty.isReadOnly) = (.postgres, true)
    let none = PersistentContainer(name: "Test", managedObjectModel: coordinator.managedObjectModel)
    #expect(
      heartwoodError { try none.persistentStoreCoordinator.addPersistentStore(with: empty) }?.code
        == .persistentStoreOpen)
  }

  @Test func `places that are no database are refused with what is wrong`() throws {
    func message(_ text: String) -> String {
      heartwoodError { _ = try PostgresWorld(at: URL(string: text)) }?.message ?? "no error"
    }
    #expect(message("mysql://a/b").contains("postgres://"))
    #expect(message("postgres://a/b?pool=none").contains("pool"))
    let secret = message("postgres://u:secret@127.0.0.1:1/b?connect_timeout=2")
    #expect(secret.contains("127.0.0.1") && !secret.contains("secret"))
  }
}
