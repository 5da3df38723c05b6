import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Nested contexts` {
  // CTX-41
  @Test func `a child fetches what its parent shows, unsaved changes included`() throws {
    let parent = try makeContainer().newBackgroundContext()
    let (ada, bea) = (parent.makePerson("Ada", age: 1), parent.makePerson("Bea", age: 2))
    try parent.save()
    ada.age = 10
    parent.delete(bea)
    let cid = parent.makePerson("Cid", age: 3)
    let child = ManagedObjectContext(.privateQueue, parent: parent)
    #expect(try child.fetch(Person.self, sort: [.ascending(\.name)]).map(\.age) == [10, 3])
    #expect(try child.fetch(Person.self, where: { $0.age > 5 }).map(\.name) == ["Ada"])
    #expect(try child.fetch(Person.self, where: { $0.name == "Cid" }).map(\.objectID) == [cid.objectID])
    #expect(try child.count(Person.self) == 2)
    #expect(try child.count(Person.self, where: { $0.age < 5 }) == 1)
    let mine = try #require(child.existingObject(with: cid.objectID) as? Person)
    #expect(mine !== cid && mine.name == "Cid" && !mine.isInserted && !child.hasChanges)
    #expect(throws: HeartwoodError.self) { try child.existingObject(with: bea.objectID) }
  }

  // CTX-41
  @Test func `a child sees relationships with the parent's unsaved changes`() throws {
    let parent = try makeContainer().newBackgroundContext()
    let company = parent.makeCompany("A")
    let (ada, bea) = (parent.makePerson("Ada", in: company), parent.makePerson("Bea"))
    try parent.save()
    bea.company = company
    ada.company = nil
    let cid = parent.makePerson("Cid", in: company)
    company.ranking = [cid, ada]
    let child = ManagedObjectContext(.privateQueue, parent: parent)
    let mine = try #require(child.object(with: company.objectID) as? Company)
    #expect(Set(mine.people.map(\.name)) == ["Bea", "Cid"])
    #expect(mine.ranking.map(\.name) == ["Cid", "Ada"])
    #expect(
      try child.fetch(Person.self, where: { $0.company.code == "A" }, sort: [.ascending(\.name)]).map(\.name)
        == ["Bea", "Cid"])
    #expect(try child.fetch(Company.self, where: { $0.people.count == 2 }) == [mine])
    #expect((child.object(with: cid.objectID) as? Person)?.company === mine)
  }

  // CTX-41
  @Test func `a child no longer sees changes that its parent has discarded`() throws {
    let parent = try makeContainer().newBackgroundContext()
    let (ada, bea) = (parent.makePerson("Ada", age: 1), parent.makePerson("Bea", age: 2))
    try parent.save()
    (ada.age, bea.age) = (10, 20)
    let first = ManagedObjectContext(.privateQueue, parent: parent)
    #expect(try first.fetch(Person.self, sort: [.ascending(\.name)]).map(\.age) == [10, 20])
    parent.refresh(ada, mergeChanges: false)
    let second = ManagedObjectContext(.privateQueue, parent: parent)
    #expect(try second.fetch(Person.self, sort: [.ascending(\.name)]).map(\.age) == [1, 20])
    #expect(try second.fetch(Person.self, where: { $0.age == 1 }).map(\.name) == ["Ada"])
  }

  // CTX-42, T60
  @Test func `a save moves changes one level up, and the store is written by the root's save only`() throws {
    let container = try makeContainer()
    let root = container.newBackgroundContext()
    let company = root.makeCompany("A")
    let ada = root.makePerson("Ada", age: 1, in: company)
    let bea = root.makePerson("Bea", in: company)
    try root.save()
    let transactions = try container.history().count
    let middle = ManagedObjectContext(.privateQueue, parent: root)
    let child = ManagedObjectContext(.privateQueue, parent: middle)
    let mine = try #require(child.object(with: ada.objectID) as? Person)
    mine.age = 7
    child.delete(child.object(with: bea.objectID))
    let cid = child.makePerson("Cid", in: mine.company)
    try child.save()
    #expect(!child.hasChanges && middle.hasChanges && !root.hasChanges)
    #expect(!cid.isInserted && cid.objectID.isTemporaryID)
    #expect(try container.history().count == transactions)
    try middle.save()
    #expect(!middle.hasChanges && root.hasChanges)
    #expect(ada.age == 7 && bea.isDeleted)
    #expect(Set(company.people.map(\.name)) == ["Ada", "Cid"])
    #expect(root.insertedObjects.map(\.objectID) == [cid.objectID])
    #expect(try container.history().count == transactions)
    try root.save()
    #expect(try container.history().count == transactions + 1)
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(Person.self, sort: [.ascending(\.name)]).map(\.age) == [7, 0])
    #expect(try fresh.fetch(Company.self).first?.people.count == 2)
  }

  // CTX-43, T61, OID-05
  @Test func `identifiers become permanent in the whole tree with the root's save`() throws {
    let root = try makeContainer().newBackgroundContext()
    let middle = ManagedObjectContext(.privateQueue, parent: root)
    let child = ManagedObjectContext(.privateQueue, parent: middle)
    let company = child.makeCompany("A")
    let ada = child.makePerson("Ada", in: company)
    try child.save()
    try middle.save()
    #expect(ada.objectID.isTemporaryID)
    let temporary = ada.objectID
    try root.save()
    let saved = try #require(try root.fetch(Person.self).first)
    #expect(!ada.objectID.isTemporaryID)
    #expect(ada.objectID == saved.objectID)
    #expect(child.registeredObject(for: saved.objectID) === ada)
    #expect(child.registeredObject(for: temporary) === ada)
    #expect(ada.company === company && company.people == [ada])
    #expect(!ada.hasPersistentChangedValues)
    ada.age = 5
    try child.save()
    try middle.save()
    try root.save()
    #expect(saved.age == 5)
    #expect(try root.fetch(Company.self).first?.people == [saved])
  }

  // CTX-29
  @Test func `a child may obtain permanent identifiers before it saves`() throws {
    let root = try makeContainer().newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let ada = child.makePerson("Ada")
    try child.obtainPermanentIDs(for: [ada])
    let identifier = ada.objectID
    #expect(!identifier.isTemporaryID && ada.isInserted)
    try child.save()
    try root.save()
    #expect(ada.objectID == identifier)
    #expect(try root.fetch(Person.self).map(\.objectID) == [identifier])
  }

  // T62
  @Test func `the parent's copy of a child's new object has the child's values`() throws {
    let container = try PersistentContainer(
      name: "Tracked", types: [Tracked.self], at: URL(fileURLWithPath: "/dev/null"))
    let root = container.newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let object = Tracked(context: child)
    object.title = "mine"
    object.stamp = 42
    try child.save()
    let copy = try #require(root.insertedObjects.first as? Tracked)
    #expect(copy.title == "mine" && copy.stamp == 42)
  }

  // MRG-20
  @Test func `a child's save overwrites the parent's unsaved values, property by property`() throws {
    let root = try makeContainer().newBackgroundContext()
    let ada = root.makePerson("Ada", age: 1)
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let mine = try #require(child.object(with: ada.objectID) as? Person)
    mine.age = 2
    ada.age = 3
    ada.nick = "A"
    try child.save()
    #expect(ada.age == 2 && ada.nick == "A")
  }

  // MRG-11
  @Test
  func `a child that changed an object which its parent has deleted meets a conflict, and moves nothing`()
    throws
  {
    let root = try makeContainer().newBackgroundContext()
    let (ada, bea) = (root.makePerson("Ada"), root.makePerson("Bea"))
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let mine = try #require(child.object(with: ada.objectID) as? Person)
    mine.age = 2
    (child.object(with: bea.objectID) as? Person)?.age = 2
    root.delete(ada)
    let error = heartwoodError { try child.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.map(\.newVersionNumber) == [0])
    #expect(bea.age == 0 && child.updatedObjects.count == 2)
  }

  // CTX-42
  @Test func `validation runs at each level, and a failed save of a child leaves the parent as it was`()
    throws
  {
    let root = try makeContainer().newBackgroundContext()
    let company = root.makeCompany("A")
    _ = House(context: root).owner = company
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    child.delete(child.object(with: company.objectID))
    #expect(heartwoodError { try child.save() }?.code == .validationRelationshipDeniedDelete)
    #expect(!root.hasChanges && !company.isDeleted)
  }

  // CTX-44
  @Test func `a parent's changes do not appear in realised objects of a child without a refresh`() throws {
    let root = try makeContainer().newBackgroundContext()
    let ada = root.makePerson("Ada", age: 1)
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let mine = try #require(child.object(with: ada.objectID) as? Person)
    #expect(mine.age == 1)
    ada.age = 2
    #expect(mine.age == 1)
    child.refresh(mine, mergeChanges: true)
    #expect(mine.age == 2)
    child.rollback()
    #expect(mine.age == 2)
  }

  @Test func `a child's object that is inserted and deleted in both contexts leaves no trace`() throws {
    let container = try makeContainer()
    let root = container.newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let ada = child.makePerson("Ada")
    try child.save()
    child.delete(ada)
    try child.save()
    #expect(root.insertedObjects.isEmpty)
    try root.save()
    #expect(try container.history().isEmpty)
    #expect(try child.fetch(Person.self).isEmpty)
  }

  // CTX-04
  @Test func `a context may get its parent after it is made`() throws {
    let root = try makeContainer().newBackgroundContext()
    _ = root.makePerson("Ada")
    let child = ManagedObjectContext(.privateQueue)
    child.parent = root
    #expect(try child.fetch(Person.self).map(\.name) == ["Ada"])
    #expect(child.persistentStoreCoordinator === root.persistentStoreCoordinator)
  }

  // CNC-04
  @Test func `children on their own queues save to a parent at the same time`() async throws {
    let root = try makeContainer().newBackgroundContext()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let child = ManagedObjectContext(.privateQueue, parent: root)
          for round in 0..<20 {
            try await child.perform {
              _ = child.makePerson("\(number)", age: Int64(round))
              try child.save()
              _ = try child.fetch(Person.self, where: { $0.name == "\(number)" })
            }
            try await root.perform { try root.save() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await root.perform { try root.count(Person.self) } == 160)
  }
}
