import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Traps of faults and identity` {
  /// A person with a company and two clubs, as another context of the same store sees it.
  private struct Pair {
    let here: ManagedObjectContext
    let there: ManagedObjectContext
    let mine: Person
    let theirs: Person

    init() throws {
      let container = try makeContainer()
      (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
      theirs = there.makePerson("Ada", age: 1, in: there.makeCompany("A"))
      theirs.nick = "A"
      theirs.clubs = [Club(context: there)]
      try there.save()
      mine = try #require(here.object(with: theirs.objectID) as? Person)
    }
  }

  // T27
  @Test func `asking for an existing object throws without asking what becomes of a fault`() throws {
    final class Strict: ManagedObjectContext, @unchecked Sendable {
      var asked = 0
      override func shouldHandleInaccessibleFault(
        _ fault: ManagedObject, for objectID: ManagedObjectID,
        triggeredByProperty property: PropertyDescription?
      ) -> Bool {
        asked += 1
        return true
      }
    }
    let container = try makeContainer()
    let there = container.newBackgroundContext()
    let person = there.makePerson("Ada")
    try there.save()
    let here = Strict(.privateQueue, coordinator: container.persistentStoreCoordinator)
    let fault = here.object(with: person.objectID)
    there.delete(person)
    try there.save()
    for _ in 0..<2 {
      let error = heartwoodError { _ = try here.existingObject(with: fault.objectID) }
      #expect(error?.code == .managedObjectReferentialIntegrity)
    }
    #expect(here.asked == 0 && fault.isFault && !fault.isDeleted)
    #expect((fault as? Person)?.name == "" && here.asked == 1 && fault.isDeleted)
  }

  // T29
  @Test func `reading one attribute loads all attributes and to-one references, and no to-many relationship`()
    throws
  {
    let pair = try Pair()
    let company = try #require(pair.theirs.company)
    #expect(pair.mine.isFault && pair.mine.name == "Ada" && !pair.mine.isFault)
    pair.theirs.age = 2
    pair.theirs.nick = nil
    pair.theirs.company = nil
    pair.theirs.clubs = []
    try pair.there.save()
    #expect(pair.mine.age == 1 && pair.mine.nick == "A")
    #expect(pair.mine.company?.objectID == company.objectID)
    #expect(pair.mine.hasFault(forRelationshipNamed: "clubs") && pair.mine.clubs.isEmpty)
  }

  // T33
  @Test
  func `a refetch keeps the values that were read, and takes those that were not edited where it refreshes`()
    throws
  {
    let pair = try Pair()
    #expect(pair.mine.age == 1)
    pair.mine.name = "Ida"
    pair.theirs.age = 2
    pair.theirs.nick = "theirs"
    try pair.there.save()
    let request = FetchRequest<Person>()
    #expect(try pair.here.fetch(request) == [pair.mine])
    #expect(pair.mine.age == 1 && pair.mine.nick == "A" && pair.mine.name == "Ida")
    request.shouldRefreshRefetchedObjects = true
    #expect(try pair.here.fetch(request) == [pair.mine])
    #expect(pair.mine.age == 2 && pair.mine.nick == "theirs" && pair.mine.name == "Ida")
    try pair.here.save()
    pair.there.refreshAllObjects()
    #expect(pair.theirs.name == "Ida" && pair.theirs.age == 2)
  }

  // T33
  @Test func `a refetch that refreshes does not hide a conflict of two edits`() throws {
    let pair = try Pair()
    pair.mine.age = 10
    pair.theirs.age = 2
    try pair.there.save()
    let request = FetchRequest<Person>()
    request.shouldRefreshRefetchedObjects = true
    _ = try pair.here.fetch(request)
    #expect(pair.mine.age == 10)
    #expect(heartwoodError { try pair.here.save() }?.code == .managedObjectMerge)
  }

  // T38
  @Test(arguments: [-1, 0, 3600])
  func `a fault reads the newest row at any staleness interval, a realised object keeps its values`(
    interval: Double
  ) throws {
    let pair = try Pair()
    pair.here.stalenessInterval = interval
    #expect(pair.mine.age == 1)
    pair.theirs.age = 2
    try pair.there.save()
    #expect(pair.mine.age == 1)
    pair.here.refresh(pair.mine, mergeChanges: false)
    #expect(pair.mine.age == 2)
    pair.here.refresh(pair.mine, mergeChanges: false)
    pair.theirs.age = 3
    try pair.there.save()
    #expect(pair.mine.isFault && pair.mine.age == 3)
  }
}
