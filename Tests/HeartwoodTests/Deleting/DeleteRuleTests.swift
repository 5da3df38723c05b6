import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Delete rules` {
  // T14
  @Test func `cascade deletes the children when pending changes are processed, not before`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", in: company)
    try context.save()
    context.delete(company)
    #expect(company.isDeleted)
    #expect(!person.isDeleted)
    context.processPendingChanges()
    #expect(person.isDeleted)
    try context.save()
    #expect(try context.count(for: FetchRequest<Person>()) == 0)
  }

  // T14
  @Test func `cascade waits for the save when deletes are not propagated at the end of the event`() throws {
    let context = try makeContainer().newBackgroundContext()
    context.propagatesDeletesAtEndOfEvent = false
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", in: company)
    try context.save()
    context.delete(company)
    context.processPendingChanges()
    #expect(!person.isDeleted)
    try context.save()
    #expect(try context.count(for: FetchRequest<Person>()) == 0)
  }

  // T15
  @Test func `deny permits the delete and makes the save fail, until a rollback`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let house = House(context: context)
    house.owner = company
    try context.save()
    context.delete(company)
    #expect(heartwoodError { try context.save() }?.code == .validationRelationshipDeniedDelete)
    #expect(company.isDeleted)
    context.rollback()
    #expect(!company.isDeleted)
    #expect(company.houses == [house])
  }

  // T16
  @Test func `deny passes when the destination is deleted in the same save`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let house = House(context: context)
    house.owner = company
    try context.save()
    context.delete(company)
    context.delete(house)
    try context.save()
    #expect(try context.count(for: FetchRequest<House>()) == 0)
    #expect(try context.count(for: FetchRequest<Company>()) == 0)
  }

  @Test(arguments: [false, true])
  func `a reference that the rule noAction has left denies no delete`(isBatch: Bool) throws {
    let place = URL(fileURLWithPath: "/dev/null")
    let context = try PersistentContainer(name: "Planes", types: [Pilot.self, Plane.self], at: place)
      .newBackgroundContext()
    let (gone, present) = (Pilot(context: context), Pilot(context: context))
    let planes = (0..<3).map { Plane(context: context, number: $0) }
    planes[0].pilots = [gone]
    planes[1].pilots = [gone, present]
    planes[0].leader = gone
    try context.save()
    context.delete(gone)
    try context.save()
    context.reset()
    func delete(_ number: Int64) throws {
      if isBatch {
        let planes = FetchRequest<Plane>(where: { $0.number == number })
        try context.execute(BatchDeleteRequest(fetchRequest: planes))
      } else {
        try context.fetch(Plane.self, where: { $0.number == number }).forEach(context.delete)
        try context.save()
      }
    }
    try delete(0)
    #expect(heartwoodError { try delete(1) }?.code == .validationRelationshipDeniedDelete)
    context.rollback()
    try context.fetch(Pilot.self).forEach(context.delete)
    try context.save()
    try delete(1)
    #expect(try context.fetch(Plane.self).map(\.number) == [2])
    // A new object denies it, too.
    let last = try #require(try context.fetch(Plane.self).first)
    last.pilots = [Pilot(context: context)]
    context.delete(last)
    #expect(heartwoodError { try context.save() }?.code == .validationRelationshipDeniedDelete)
  }

  @Test func `nullify removes the deleted object from the other side`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let ada = context.makePerson("Ada", in: company)
    let club = Club(context: context)
    club.members = [ada]
    company.ranking = [ada]
    try context.save()
    context.delete(ada)
    try context.save()
    #expect(club.members.isEmpty)
    #expect(company.people.isEmpty)
    #expect(company.ranking.isEmpty)
    context.refreshAllObjects()
    #expect(club.members.isEmpty)
    #expect(company.people.isEmpty)
    #expect(company.ranking.isEmpty)
  }

  // T17
  @Test func `without an inverse the source keeps a reference to a deleted row`() throws {
    let context = try makeContainer().newBackgroundContext()
    let ada = context.makePerson("Ada")
    let fan = context.makePerson("Fan")
    fan.idol = ada
    try context.save()
    let id = ada.objectID
    context.delete(ada)
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Person.self).first)
    #expect(again.name == "Fan")
    let ghost = try #require(again.idol)
    #expect(ghost.objectID == id)
    #expect(ghost.name == "")
    #expect(ghost.isDeleted)
  }

  @Test func `a reference to an object that was never saved and is deleted is refused with its reason`()
    throws
  {
    let context = try makeContainer().newBackgroundContext()
    let (ada, fan) = (context.makePerson("Ada"), context.makePerson("Fan"))
    fan.idol = ada
    context.delete(ada)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.message.contains("never saved") == true && error?.message.contains("has changed") == false)
    fan.idol = nil
    try context.save()
    #expect(try context.fetch(Person.self).map(\.name) == ["Fan"])
  }

  // T18
  @Test func `cascade reaches destinations that do not point back`() throws {
    final class Album: ManagedObject {
      @Attribute var title = ""
      @Relationship(deleteRule: .cascade) var pictures: Set<Picture>
    }
    final class Picture: ManagedObject {
      @Attribute var title = ""
    }
    let context = try PersistentContainer(
      name: "Albums", types: [Album.self, Picture.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let album = Album(context: context)
    album.pictures = [Picture(context: context), Picture(context: context)]
    _ = Picture(context: context)
    try context.save()
    context.reset()
    context.delete(try #require(try context.fetch(Album.self).first))
    try context.save()
    #expect(try context.count(for: FetchRequest<Picture>()) == 1)
  }

  // T19
  @Test func `a cycle of cascades deletes each object once`() throws {
    final class Node: ManagedObject {
      @Attribute var label = ""
      @Relationship(inverse: { $0.previous }, deleteRule: .cascade) var next: Node?
      @Relationship(inverse: { $0.next }) var previous: Node?
    }
    let container = try PersistentContainer(
      name: "Ring", types: [Node.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let a = Node(context: context)
    let b = Node(context: context)
    a.next = b
    b.next = a
    try context.save()
    context.delete(a)
    try context.save()
    #expect(try context.count(for: FetchRequest<Node>()) == 0)
  }

  // T25
  @Test func `relationships are whole while an object prepares for its deletion`() throws {
    final class Root: ManagedObject {
      @Attribute var seen: Int64 = 0
      @Relationship(inverse: { $0.root }, deleteRule: .cascade) var leaves: Set<Leaf>
      var leavesAtDeletion = 0
      override func prepareForDeletion() { leavesAtDeletion = leaves.count }
    }
    final class Leaf: ManagedObject {
      @Attribute var label = ""
      @Relationship(inverse: { $0.leaves }) var root: Root?
    }
    let container = try PersistentContainer(
      name: "Trees", types: [Root.self, Leaf.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    let root = Root(context: context)
    Leaf(context: context).root = root
    try context.save()
    context.delete(root)
    #expect(root.leavesAtDeletion == 1)
  }

  // T24
  @Test func `a deleted and saved object can be read without harm`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada", age: 36)
    try context.save()
    context.delete(person)
    try context.save()
    #expect(!person.isDeleted)
    #expect(person.managedObjectContext == nil)
    _ = person.name
    _ = person.company
    _ = person.clubs
  }
}

private final class Pilot: ManagedObject {
  @Relationship(inverse: { $0.pilots }, deleteRule: .noActionDeleteRule) var planes: Set<Plane>
  @Relationship(inverse: { $0.leader }, deleteRule: .noActionDeleteRule) var led: Set<Plane>
}

private final class Plane: ManagedObject {
  @Attribute var number: Int64 = 0
  @Relationship(inverse: { $0.planes }, deleteRule: .denyDeleteRule) var pilots: Set<Pilot>
  @Relationship(inverse: { $0.led }, deleteRule: .denyDeleteRule) var leader: Pilot?

  convenience init(context: ManagedObjectContext, number: Int) {
    self.init(context: context)
    self.number = Int64(number)
  }
}
