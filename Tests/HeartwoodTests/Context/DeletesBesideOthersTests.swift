import Foundation
import GraphTestSupport
import Heartwood
import Testing

private let resolving: [MergePolicyType] = [
  .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
]

/// Deletes beside what other contexts save: no reference is left to what is gone, and nothing is lost without a conflict.
@Suite struct `Deletes beside the changes of others` {
  private let container: PersistentContainer
  private let here: ManagedObjectContext
  private let there: ManagedObjectContext

  init() throws {
    container = try makeContainer()
    (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  private func expectSound(_ comment: Comment? = nil) throws {
    #expect(try container.persistentStoreCoordinator.verify().findings == [], comment)
  }

  @Test func `an object leaves and joins relationships that were loaded before others moved it`() throws {
    let (oak, elm) = (there.makeCompany("Oak"), there.makeCompany("Elm"))
    let (ada, eve) = (there.makePerson("Ada"), there.makePerson("Eve", in: elm))
    try there.save()
    let companies = try here.fetch(Company.self, sort: [.ascending(\.code)])
    #expect(companies.map(\.people.count) == [1, 0])
    let saves = Heard(there, .managedObjectContextDidSave)
    (ada.company, eve.company) = (oak, nil)
    try there.save()
    let people = try here.fetch(Person.self, sort: [.ascending(\.name)])
    #expect(people[0].company == companies[1] && people[1].company == nil)
    people[0].company = nil
    people[1].company = companies[0]
    for save in saves.notifications { here.mergeChanges(fromContextDidSave: save) }
    #expect(companies[0].people == [people[1]] && companies[1].people.isEmpty)
    try here.save()
    here.reset()
    #expect(
      try here.fetch(Company.self, sort: [.ascending(\.code)]).map { $0.people.map(\.name) } == [["Eve"], []])
    try expectSound()
  }

  @Test func `an object joins again what it has left here and elsewhere`() throws {
    here.mergePolicy = .mergeByPropertyObjectTrump
    let (elm, oak) = (here.makeCompany("Elm"), here.makeCompany("Oak"))
    let person = here.makePerson("Ada", in: elm)
    try here.save()
    let saves = Heard(there, .managedObjectContextDidSave)
    person.company = oak
    there.object(with: person.objectID, as: Person.self).company = nil
    try there.save()
    for save in saves.notifications { here.mergeChanges(fromContextDidSave: save) }
    person.company = elm
    #expect(elm.people == [person] && oak.people.isEmpty)
    here.delete(elm)
    here.processPendingChanges()
    #expect(person.isDeleted)
    try here.save()
    try expectSound()
  }

  @Test func `an object stays where it was put although others have put it there and taken it out again`()
    throws
  {
    let elm = here.makeCompany("Elm")
    let person = here.makePerson("Ada")
    try here.save()
    let saves = Heard(there, .managedObjectContextDidSave)
    let twin = there.object(with: person.objectID, as: Person.self)
    let house = there.object(with: elm.objectID, as: Company.self)
    person.company = elm
    twin.company = house
    try there.save()
    here.refresh(elm, mergeChanges: true)
    #expect(elm.people == [person])
    twin.company = nil
    try there.save()
    for save in saves.notifications { here.mergeChanges(fromContextDidSave: save) }
    #expect(person.company == elm && elm.people == [person])
    here.mergePolicy = .mergeByPropertyObjectTrump
    try here.save()
    here.reset()
    #expect(try here.fetch(Company.self).first?.people.count == 1)
    try expectSound()
  }

  @Test(arguments: [
    (MergePolicyType.mergeByPropertyObjectTrump, true), (.mergeByPropertyStoreTrump, true),
    (.mergeByPropertyStoreTrump, false),
  ])
  func `a reference to an object that others have deleted gives way to what they have set`(
    _ policy: MergePolicyType, merges: Bool
  ) throws {
    here.mergePolicy = MergePolicy(merge: policy)
    let (oak, elm) = (here.makeCompany("Oak"), here.makeCompany("Elm"))
    let (person, house) = (here.makePerson("Ada"), House(context: here))
    try here.save()
    let saves = Heard(there, .managedObjectContextDidSave)
    (person.company, person.ranked, house.owner) = (oak, oak, oak)
    here.processPendingChanges()
    let other = there.object(with: elm.objectID, as: Company.self)
    there.object(with: person.objectID, as: Person.self).company = other
    there.object(with: person.objectID, as: Person.self).ranked = other
    there.object(with: house.objectID, as: House.self).owner = other
    there.delete(there.object(with: oak.objectID))
    try there.save()
    if merges {
      for save in saves.notifications { here.mergeChanges(fromContextDidSave: save) }
    } else {
      here.refreshAllObjects()
    }
    try here.save()
    #expect(elm.people == [person])
    #expect(elm.ranking == [person])
    #expect(elm.houses == [house])
    here.reset()
    let again = try #require(try here.fetch(Company.self, where: { $0.code == "Elm" }).first)
    #expect(again.people.count == 1)
    #expect(again.ranking.count == 1)
    #expect(again.houses.count == 1)
    try expectSound()
  }

  @Test(arguments: [false, true])
  func `an object that is inserted again is in the relationships of contexts that merge it`(
    isFetched: Bool
  ) throws {
    there.mergePolicy = .mergeByPropertyObjectTrump
    let company = here.makeCompany("Oak")
    let person = here.makePerson("Ada", in: company)
    let club = Club(context: here)
    club.members = [person]
    try here.save()
    let saves = Heard(there, .managedObjectContextDidSave)
    let twin = there.object(with: person.objectID, as: Person.self)
    twin.age = 5
    #expect(twin.clubs.count == 1)
    here.delete(person)
    try here.save()
    #expect(company.people.isEmpty && club.members.isEmpty)
    try there.save()
    if isFetched { #expect(try here.fetch(Person.self).count == 1) }
    for save in saves.notifications { here.mergeChanges(fromContextDidSave: save) }
    #expect(company.people.map(\.age) == [5] && club.members == company.people)
    try expectSound()
  }

  @Test(arguments: [false, true])
  func `a new object that is deleted before it was saved leaves no reference, whatever its delete rules`(
    isSaved: Bool
  ) throws {
    let house = House(context: here)
    let fan = here.makePerson("Ada")
    if isSaved { try here.save() }
    // Houses deny the delete of their owner.
    let company = here.makeCompany("A")
    house.owner = company
    fan.ranked = company
    here.delete(company)
    try here.save()
    #expect(house.owner == nil && fan.ranked == nil)
    try expectSound()
  }

  @Test func `a reference to a new object that is gone is refused where the model cannot take it out`() throws
  {
    let (fan, idol) = (here.makePerson("Ada"), here.makePerson("Bea"))
    fan.idol = idol
    here.delete(idol)
    #expect(heartwoodError { try here.save() }?.code == .managedObjectMerge)
    fan.idol = nil
    try here.save()
    try expectSound()
  }

  @Test(arguments: [false, true])
  func `a child's reference to a new object that the parent has deleted is a conflict`(isMerging: Bool) throws
  {
    _ = here.makePerson("Ada")
    try here.save()
    _ = here.makeCompany("draft")
    let child = ManagedObjectContext(.privateQueue, parent: here)
    child.automaticallyMergesChangesFromParent = isMerging
    try child.performAndWait {
      let person = try #require(try child.fetch(Person.self).first)
      person.company = try child.fetch(Company.self).first
    }
    try here.performAndWait {
      here.delete(try #require(try here.fetch(Company.self).first))
      try here.save()
    }
    let error = child.performAndWait { heartwoodError { try child.save() } }
    try here.performAndWait {
      let second = heartwoodError { try here.save() }
      #expect([error, second].contains { $0?.code == .managedObjectMerge })
      here.rollback()
      try here.save()
    }
    try expectSound()
  }

  // MRG-01
  @Test(arguments: [MergePolicyType.error] + resolving, [false, true])
  func `an object that others put into the order of a deleted one refers to nothing`(
    type: MergePolicyType, isEdited: Bool
  ) throws {
    let (company, person) = (there.makeCompany("A"), there.makePerson("Ada"))
    let club = Club(context: there)
    try there.save()
    here.mergePolicy = MergePolicy(merge: type)
    let mine = try #require(try here.fetch(Person.self).first)
    #expect(mine.ranked == nil && mine.clubs.isEmpty)
    if isEdited { mine.clubs.insert(try #require(here.object(with: club.objectID) as? Club)) }
    here.delete(try here.existingObject(with: company.objectID))
    here.processPendingChanges()
    company.ranking = [person]
    try there.save()
    let error = heartwoodError { try here.save() }
    if type == .error {
      #expect(error?.code == .managedObjectMerge)
      // The error advises this.
      here.refreshAllObjects()
      try here.save()
    } else {
      #expect(error == nil)
    }
    try expectSound("\(type)")
    let fresh = container.newBackgroundContext()
    #expect(try fresh.count(Company.self) == 0)
    #expect(
      try fresh.fetch(Person.self).map { $0.ranked == nil && $0.clubs.count == (isEdited ? 1 : 0) } == [true])
  }

  // UND-02
  @Test func `a delete that others take back meets the edits that were made before it`() throws {
    there.undoManager = UndoStack()
    let theirs = there.makePerson("first")
    try there.save()
    let mine = try #require(try here.fetch(Person.self).first)
    mine.name = "mine"
    there.delete(theirs)
    try there.save()
    there.undo()
    theirs.name = "theirs"
    try there.save()
    #expect(heartwoodError { try here.save() }?.code == .managedObjectMerge)
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(Person.self).map(\.name) == ["theirs"])
  }

  @Test(arguments: [false, true])
  func `a child's edit of an object whose delete the parent has saved is a conflict`(isSaved: Bool) throws {
    let person = here.makePerson("first")
    try here.save()
    let child = ManagedObjectContext(.privateQueue, parent: here)
    let edited = try child.performAndWait {
      let edited = try #require(child.object(with: person.objectID) as? Person)
      edited.name = "child's"
      return edited
    }
    try here.performAndWait {
      here.delete(person)
      if isSaved { try here.save() } else { here.processPendingChanges() }
    }
    child.performAndWait {
      #expect(heartwoodError { try child.save() }?.code == .managedObjectMerge)
      #expect(child.hasChanges && edited.name == "child's")
    }
  }

  @Test func `an object whose delete two contexts have taken back is fetched once`() throws {
    let mine = here.makePerson("a")
    try here.save()
    here.undoManager = UndoStack()
    there.mergePolicy = .overwrite
    let theirs = try #require(try there.fetch(Person.self).first)
    theirs.name = "b"
    here.delete(mine)
    try here.save()
    here.undo()
    try there.save()
    #expect(try here.fetch(Person.self).map(\.objectID) == [mine.objectID])
    #expect(try here.count(Person.self) == 1)
    for number in 0..<40 { _ = here.makePerson("\(number)") }
    #expect(try here.fetch(Person.self, where: { $0.name == "a" }).count == 1)
    #expect(try here.count(Person.self) == 41)
  }

  @Test func `a context that merges a delete shows it in the relationships that it has loaded`() throws {
    let (person, club) = (there.makePerson("Ada"), Club(context: there))
    try there.save()
    let mine = try #require(try here.fetch(Club.self).first)
    #expect(mine.members.isEmpty)
    there.automaticallyMergesChangesFromParent = true
    try there.performAndWait {
      person.clubs = [club]
      try there.save()
      #expect(person.clubs.count == 1)
    }
    // It does not know of the person.
    here.delete(mine)
    try here.save()
    there.performAndWait {
      #expect(person.clubs.isEmpty && person.$clubs.count == 0 && !there.hasChanges)
    }
  }

  @Test func `a context that merges an object's new owner shows it on both sides`() throws {
    let (left, right) = (there.makeCompany("L"), there.makeCompany("R"))
    let person = there.makePerson("Ada", in: left)
    try there.save()
    try there.performAndWait {
      #expect(left.people == [person] && right.people.isEmpty)
      let update = BatchUpdateRequest(entityName: "Person")
      update.propertiesToUpdate = ["company": right.objectID]
      try here.execute(update)
      there.merge(ObjectIDChanges(updatedObjectIDs: [person.objectID]))
      #expect(person.company === right && left.people.isEmpty && right.people == [person])
    }
  }

  @Test(arguments: [MergePolicyType.mergeByPropertyStoreTrump, .rollback])
  func `a policy that keeps an object takes it out of an owner that is deleted with it`(type: MergePolicyType)
    throws
  {
    let (company, house) = (there.makeCompany("A"), House(context: there))
    let person = there.makePerson("Ada", in: company)
    person.ranked = company
    house.street = "S"
    try there.save()
    here.mergePolicy = MergePolicy(merge: type)
    let mine = try #require(try here.existingObject(with: person.objectID) as? Person)
    #expect(mine.company?.people.count == 1 && mine.ranked?.ranking.count == 1)
    let owner = try #require(mine.company)
    here.delete(mine)
    here.processPendingChanges()
    here.delete(owner)
    here.processPendingChanges()
    person.nick = "edited"
    try there.save()
    try here.save()
    try expectSound("\(type)")
    // The cascade of its company reaches it after all.
    let fresh = container.newBackgroundContext()
    #expect(try fresh.count(Company.self) == 0 && fresh.count(Person.self) == 0)
  }

  @Test func `an order that is set here has no object that is deleted here and was put into it elsewhere`()
    throws
  {
    let container = try PersistentContainer(
      name: "Lists", types: [Tagged.self, TagList.self], at: URL(fileURLWithPath: "/dev/null"))
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (first, second, list) = (Tagged(context: there), Tagged(context: there), TagList(context: there))
    try there.save()
    let mine = try #require(try here.existingObject(with: second.objectID) as? Tagged)
    #expect(mine.lists.isEmpty)
    second.lists.insert(list)
    try there.save()
    let mineList = try #require(try here.existingObject(with: list.objectID) as? TagList)
    mineList.$tagged.insert(try #require(here.object(with: first.objectID) as? Tagged), at: 0)
    here.delete(mine)
    try here.save()
    #expect(mineList.tagged.map(\.objectID) == [first.objectID])
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(TagList.self).map { $0.tagged.map(\.objectID) } == [[first.objectID]])
    #expect(try container.persistentStoreCoordinator.verify().findings == [])
  }
}

private final class Tagged: ManagedObject {
  @Relationship(inverse: { $0.tagged }) var lists: Set<TagList>
}

private final class TagList: ManagedObject {
  @Relationship(inverse: { $0.lists }) var tagged: [Tagged]
}
