import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Snapshots of objects` {
  /// A saved person of a company, in a context of its own, and a second context.
  private struct World {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    let person: Person

    init() throws {
      container = try makeContainer()
      context = container.newBackgroundContext()
      other = container.newBackgroundContext()
      person = context.makePerson("Ada", age: 36, in: context.makeCompany("A"))
      try context.save()
    }
  }

  private actor Editor {
    func rename(_ snapshot: ObjectSnapshot, to name: String) -> ObjectSnapshot {
      var changed = snapshot
      changed[\Person.name] = name
      return changed
    }
  }

  @Test func `a snapshot crosses actors, is changed there, and is applied and saved in another context`()
    async throws
  {
    let container = try makeContainer()
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let snapshot = try await context.perform {
      let person = context.makePerson("Ada", age: 36)
      try context.save()
      return person.snapshot()
    }
    #expect(snapshot.entityName == "Person" && !snapshot.hasChanges)
    let changed = await Editor().rename(snapshot, to: "Eva")
    #expect(
      changed.changedKeys == ["name"] && changed[\Person.name] == "Eva" && snapshot[\Person.name] == "Ada")
    try await other.perform {
      try other.apply(changed)
      try other.save()
    }
    let name = try await context.perform {
      context.refreshAllObjects()
      return try context.fetch(Person.self).map(\.name)
    }
    #expect(name == ["Eva"])
  }

  @Test func `a snapshot has values by key path and by name, and identifiers of destinations`() throws {
    let world = try World()
    let company = try #require(world.person.company)
    let snapshot = world.person.snapshot(including: ["clubs"])
    #expect(snapshot[\Person.age] == 36 && snapshot[\Person.nick] == nil)
    #expect(snapshot["age"] as? Int64 == 36 && snapshot["nick"] == nil)
    #expect(snapshot[\Person.company] == company.objectID)
    #expect(snapshot.objectIDs(forRelationshipNamed: "company") == [company.objectID])
    #expect(snapshot[\Person.clubs] == [] && company.snapshot()[\Company.people] == nil)
    #expect(company.snapshot(including: ["people"])[\Company.people] == [world.person.objectID])
    #expect(snapshot == world.person.snapshot(including: ["clubs"]) && snapshot.id == world.person.objectID)
    #expect("\(snapshot)".contains("name: Ada"))
    world.person.age = 37
    #expect(snapshot != world.person.snapshot(including: ["clubs"]))
  }

  @Test func `applying writes only what was changed, and keeps what others have changed`() throws {
    let world = try World()
    var snapshot = world.person.snapshot()
    snapshot[\Person.name] = "Eva"
    snapshot[\Person.company] = nil
    world.person.age = 40
    world.person.apply(unchecked: snapshot)
    #expect(world.person.name == "Eva" && world.person.age == 40 && world.person.company == nil)
    #expect(world.person.changedValues().keys.sorted() == ["age", "company", "name"])
  }

  @Test func `a value that was changed on both sides is a conflict, unless it is overwritten or the same`()
    throws
  {
    let world = try World()
    var snapshot = world.person.snapshot()
    try snapshot.setValue("Eva", forKey: "name")
    snapshot[\Person.age] = 41
    world.person.name = "Ida"
    try world.context.save()
    let error = try #require(heartwoodError { try world.other.apply(snapshot) })
    #expect(error.code == .managedObjectMerge && error.message.contains("name of"))
    #expect(!world.other.hasChanges)
    let applied = try #require(try world.other.apply(snapshot, overwriting: true) as? Person)
    #expect(applied.name == "Eva" && applied.age == 41)
    applied.age = 50
    #expect(heartwoodError { try world.other.apply(snapshot) }?.message.contains("age of") == true)
  }

  @Test func `differences of a to-many relationship are merged`() throws {
    let world = try World()
    let company = try #require(world.person.company)
    let (eva, ida) = (world.context.makePerson("Eva"), world.context.makePerson("Ida"))
    try world.context.save()
    var snapshot = company.snapshot(including: ["people"])
    snapshot[\Company.people] = [eva.objectID]
    company.people.insert(ida)
    try company.apply(snapshot)
    #expect(company.people == [eva, ida] && world.person.company == nil)
  }

  @Test func `a snapshot of another entity, of a deleted object, or with an unfit value is refused`() throws {
    let world = try World()
    let company = try #require(world.person.company)
    let error = try #require(heartwoodError { try world.person.apply(company.snapshot()) })
    #expect(error.code == .managedObjectValidation)
    #expect(error.message.contains("a snapshot of Company cannot be applied to"))
    var snapshot = world.person.snapshot()
    #expect(heartwoodError { try snapshot.setValue(1, forKey: "name") }?.property == "name")
    #expect(heartwoodError { try snapshot.setValue(1, forKey: "colour") }?.property == "colour")
    #expect(heartwoodError { try snapshot.setValue([1], forKey: "company") }?.property == "company")
    try snapshot.setValue(world.person.objectID, forKey: "company")
    #expect(heartwoodError { try world.person.apply(snapshot) }?.property == "company")
    world.context.delete(world.person)
    try world.context.save()
    let gone = heartwoodError { try world.other.apply(snapshot) }
    #expect(gone?.code == .managedObjectReferentialIntegrity)
  }

  @Test func `a snapshot is a template for another object`() throws {
    let world = try World()
    let copy = Person(context: world.context)
    try copy.apply(world.person.snapshot())
    #expect(copy.name == "Ada" && copy.age == 36 && copy.company === world.person.company)
    #expect(world.person.company?.people == [copy, world.person])
  }

  @Test func `a snapshot of an unsaved object is applied after its save`() throws {
    let world = try World()
    let person = world.context.makePerson("New")
    var snapshot = person.snapshot()
    snapshot[\Person.name] = "Newer"
    try world.context.save()
    try world.context.apply(snapshot)
    #expect(person.name == "Newer")
  }
}

extension Person {
  fileprivate func apply(unchecked snapshot: ObjectSnapshot) {
    #expect(throws: Never.self) { try apply(snapshot) }
  }
}
