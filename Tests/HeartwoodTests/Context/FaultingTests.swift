import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Faulting and identity` {
  // T32
  @Test func `two fetches of one row give one instance, two contexts give two`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    #expect(try context.fetch(Person.self).first === person)
    let other = container.newBackgroundContext()
    let twin = try #require(try other.fetch(Person.self).first)
    #expect(twin !== person)
    #expect(twin != person)
    #expect(twin.objectID == person.objectID)
  }

  // T28
  @Test
  func `a fetched object is a fault until a property is read, and inspection from outside keeps it one`()
    throws
  {
    let context = try makeContainer().newBackgroundContext()
    _ = context.makePerson("Ada")
    try context.save()
    context.reset()
    let person = try #require(try context.fetch(Person.self).first)
    #expect(person.isFault)
    _ = person.objectID
    _ = person.hashValue
    _ = person.description
    _ = person.isDeleted
    _ = person == person
    #expect(person.isFault)
    #expect(person.name == "Ada")
    #expect(!person.isFault)
  }

  @Test func `touching one attribute loads no to-many relationship`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    _ = context.makePerson("Ada", in: company)
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Company.self).first)
    #expect(again.name == "A")
    #expect(again.hasFault(forRelationshipNamed: "people"))
    _ = again.changedValues()
    #expect(again.hasFault(forRelationshipNamed: "people"))
    #expect(again.people.count == 1)
    #expect(!again.hasFault(forRelationshipNamed: "people"))
  }

  @Test func `an identifier without a row is no error before it is read`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    let id = person.objectID
    context.delete(person)
    try context.save()
    let ghost = try #require(context.object(with: id) as? Person)
    #expect(ghost.isFault)
    #expect(ghost.name == "")
    #expect(ghost.isDeleted)
    try context.save()
    #expect(
      heartwoodError { _ = try context.existingObject(with: id) }?.code
        == .managedObjectReferentialIntegrity)
  }

  @Test func `an inaccessible object makes the next save fail where it may not be deleted silently`() throws {
    let context = try makeContainer().newBackgroundContext()
    context.shouldDeleteInaccessibleFaults = false
    let person = context.makePerson("Ada")
    let other = context.makePerson("Eve")
    try context.save()
    let id = person.objectID
    context.delete(person)
    try context.save()
    let ghost = try #require(context.object(with: id) as? Person)
    _ = ghost.name
    other.age = 5
    #expect(heartwoodError { try context.save() }?.code == .managedObjectReferentialIntegrity)
    context.refresh(ghost, mergeChanges: false)
    try context.save()
  }

  @Test func `a realised object keeps its values when it is fetched again`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    let other = container.newBackgroundContext()
    let twin = try #require(try other.fetch(Person.self).first)
    twin.age = 2
    try other.save()
    #expect(try context.fetch(Person.self).first?.age == 1)
    context.refresh(person, mergeChanges: false)
    #expect(person.age == 2)
  }

  // T34
  @Test func `refresh with merging keeps edits, takes the store's other values and settles the conflict`()
    throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    let other = container.newBackgroundContext()
    let twin = try #require(try other.fetch(Person.self).first)
    twin.age = 2
    twin.name = "Eve"
    try other.save()
    person.name = "Ida"
    context.refresh(person, mergeChanges: true)
    #expect(person.name == "Ida")
    #expect(person.age == 2)
    try context.save()
    other.refreshAllObjects()
    #expect(twin.name == "Ida")
  }

  @Test func `an identifier of another store finds no object`() throws {
    let container = try makeContainer()
    let here = container.newBackgroundContext()
    _ = here.makePerson("Ada")
    try here.save()
    let another = PersistentContainer(name: "Another", managedObjectModel: container.managedObjectModel)
    another.persistentStoreDescriptions = container.persistentStoreDescriptions
    try another.loadPersistentStores()
    let there = another.newBackgroundContext()
    let stranger = there.makePerson("Eve")
    try there.save()
    #expect(here.registeredObject(for: stranger.objectID) == nil)
    let error = heartwoodError { _ = try here.existingObject(with: stranger.objectID) }
    #expect(error?.code == .managedObjectReferentialIntegrity)
    #expect(try here.count(for: FetchRequest<Person>(where: { $0 == stranger })) == 0)
  }

  @Test func `an object that discards its edits does not get deleted partners back`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("Oak")
    let people = ["Ada", "Eve", "Ida"].map { context.makePerson($0, in: company) }
    let club = Club(context: context)
    club.members = Set(people)
    try context.save()
    context.delete(people[0])
    context.delete(club)
    context.processPendingChanges()
    context.refresh(company, mergeChanges: false)
    context.refresh(people[1], mergeChanges: false)
    #expect(company.people == Set(people[1...]))
    #expect(people[1].clubs.isEmpty)
    try context.save()
    context.reset()
    #expect(try context.fetch(Company.self).first?.people.count == 2)
    #expect(try context.fetch(Person.self).allSatisfy { $0.clubs.isEmpty && $0.company != nil })
  }

  @Test func `discarded edits do not come back by undoing`() throws {
    let context = try makeContainer().newBackgroundContext()
    let undo = UndoStack()
    context.undoManager = undo
    let companies = ["Oak", "Elm"].map { context.makeCompany($0) }
    let person = context.makePerson("Ada", in: companies[0])
    try context.save()
    undo.removeAllActions()
    person.company = companies[1]
    context.processPendingChanges()
    undo.removeAllActions()
    context.refresh(companies[1], mergeChanges: false)
    context.processPendingChanges()
    #expect(!undo.canUndo)
    #expect(person.company == nil && companies.allSatisfy(\.people.isEmpty))
  }

  @Test func `refresh without merging discards edits`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    person.name = "Eve"
    context.refresh(person, mergeChanges: false)
    #expect(person.isFault)
    #expect(person.name == "Ada")
    #expect(!context.hasChanges)
  }

  // T36
  @Test func `rollback returns to the values of this context, not to those of the store`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    let other = container.newBackgroundContext()
    try #require(try other.fetch(Person.self).first).age = 7
    try other.save()
    person.age = 3
    context.rollback()
    #expect(person.age == 1)
    #expect(!context.hasChanges)
  }

  @Test func `a reset context holds no object`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    person.age = 4
    context.reset()
    #expect(context.registeredObjects.isEmpty)
    #expect(!context.hasChanges)
    #expect(person.managedObjectContext == nil)
    _ = person.name
  }

  @Test func `a pinned context keeps seeing its generation and moves past its own save only`() throws {
    let container = try makeContainer()
    let writer = container.newBackgroundContext()
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(.current)
    _ = writer.makePerson("Ada")
    try writer.save()
    // The context is pinned at its first read, which happens here.
    #expect(try reader.count(for: FetchRequest<Person>()) == 1)
    _ = writer.makePerson("Eve")
    try writer.save()
    #expect(try reader.count(for: FetchRequest<Person>()) == 1)
    _ = reader.makePerson("Own")
    try reader.save()
    #expect(try reader.count(for: FetchRequest<Person>()) == 3)
    try reader.setQueryGenerationFrom(nil)
    #expect(reader.queryGenerationToken == nil)
  }

  @Test func `a pinned context that saves a row changed since its pin meets a conflict`() throws {
    let container = try makeContainer()
    let writer = container.newBackgroundContext()
    let person = writer.makePerson("Ada")
    try writer.save()
    let reader = container.newBackgroundContext()
    try reader.setQueryGenerationFrom(.current)
    let same = try #require(try reader.fetch(Person.self).first)
    person.age = 1
    try writer.save()
    same.age = 2
    #expect(heartwoodError { try reader.save() }?.code == .managedObjectMerge)
  }

  @Test func `objects without references are released`() throws {
    let context = try makeContainer().newBackgroundContext()
    for index in 0..<3000 { _ = context.makePerson("P\(index)") }
    try context.save()
    context.reset()
    for start in stride(from: 0, to: 3000, by: 100) {
      let batch = try context.fetch(Person.self, limit: 100, offset: start)
      #expect(batch.count == 100)
    }
    #expect(context.registeredObjects.count < 2500)
  }
}

@Suite struct `Batch faulting` {
  private struct World {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let people: [Person]

    /// Thirty faults, made by a relationship.
    init() throws {
      container = try makeContainer()
      let writer = container.newBackgroundContext()
      let company = writer.makeCompany("A")
      for number in 0..<30 { _ = writer.makePerson("P\(number)", age: Int64(number), in: company) }
      try writer.save()
      context = container.newBackgroundContext()
      let same = try #require(try context.fetch(Company.self).first)
      people = same.$people.sorted { $0.objectID < $1.objectID }
    }
  }

  // OBJ-12, T29
  @Test func `firing a fault loads the rows of its neighbours, which stay faults`() throws {
    let world = try World()
    #expect(world.people.allSatisfy { $0.isFault && !$0.hasRow })
    #expect(world.people[3].age == 3)
    let loaded = world.people.filter(\.hasRow)
    #expect(
      loaded.count > 8 && loaded.count <= 16 && world.people.filter { !$0.isFault } == [world.people[3]])
    #expect(world.people.map(\.age) == Array(0..<30))
    #expect(!world.context.hasChanges)
    // Faults again: as those that never had a row.
    for person in world.people { world.context.refresh(person, mergeChanges: false) }
    #expect(world.people.allSatisfy { $0.isFault && !$0.hasRow })
    #expect(world.people[20].age == 20)
    let again = world.people.filter(\.hasRow)
    #expect(again.count > 4 && again.count <= 16)
    #expect(world.people.map(\.age) == Array(0..<30))
  }

  // OBJ-12
  @Test func `a neighbour shows what is newest when it is read, and is deleted without a conflict`() throws {
    let world = try World()
    #expect(world.people[3].age == 3 && world.people[4].hasRow && world.people[5].hasRow)
    let other = world.container.newBackgroundContext()
    for number in [4, 5] { other.object(with: world.people[number].objectID, as: Person.self).age = 100 }
    other.delete(other.object(with: world.people[6].objectID))
    try other.save()
    #expect(world.people[4].age == 100)
    world.context.delete(world.people[5])
    #expect(world.people[6].age == 0 && world.people[6].isDeleted)
    try world.context.save()
    #expect(try world.context.count(Person.self) == 28)
  }

  @Test func `a pinned context shows its generation in neighbours, too`() throws {
    let world = try World()
    try world.context.setQueryGenerationFrom(.current)
    #expect(world.people[3].age == 3)
    let other = world.container.newBackgroundContext()
    other.object(with: world.people[4].objectID, as: Person.self).age = 100
    try other.save()
    #expect(world.people[4].age == 4)
  }
}
