import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Failures that random work on trees of contexts has found, made small.
@Suite struct `Changes that meet in a tree of contexts` {
  private let container: PersistentContainer
  private let here: ManagedObjectContext
  private let there: ManagedObjectContext

  init() throws {
    container = try makeContainer()
    (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  private func mine<Object: ManagedObject>(_ object: Object, in context: ManagedObjectContext) throws
    -> Object
  {
    try #require(try context.existingObject(with: object.objectID) as? Object)
  }

  @Test func `a value that was set to what it was does not replace a newer one`() throws {
    let theirs = there.makePerson("Ada", age: 1)
    try there.save()
    let person = try mine(theirs, in: here)
    (person.age, person.nick) = (1, "mine")
    theirs.age = 2
    try there.save()
    here.refresh(person, mergeChanges: true)
    #expect(person.age == 2 && person.nick == "mine")
    try here.save()
    there.refreshAllObjects()
    #expect(theirs.age == 2 && theirs.nick == "mine")
  }

  @Test func `a merge policy does not prefer a value that was set to what it was`() throws {
    let theirs = there.makePerson("Ada", age: 1)
    try there.save()
    let person = try mine(theirs, in: here)
    here.mergePolicy = .mergeByPropertyObjectTrump
    (person.age, person.nick) = (1, "mine")
    theirs.age = 2
    try there.save()
    try here.save()
    there.refreshAllObjects()
    #expect(theirs.age == 2 && theirs.nick == "mine" && person.age == 2)
  }

  @Test func `a merge policy leaves an object that both have moved with one owner`() throws {
    let companies = ["A", "B", "C"].map(there.makeCompany)
    let theirs = there.makePerson("Ada", in: companies[0])
    try there.save()
    let owners = try companies.map { try mine($0, in: here) }
    let person = try mine(theirs, in: here)
    here.mergePolicy = .mergeByPropertyObjectTrump
    person.company = owners[1]
    theirs.company = companies[2]
    try there.save()
    try here.save()
    #expect(person.company === owners[1] && owners.map(\.people.count) == [0, 1, 0])
    there.refreshAllObjects()
    #expect(theirs.company === companies[1] && companies.map(\.people.count) == [0, 1, 0])
  }

  @Test func `a refresh of an object that both have moved leaves it with one owner`() throws {
    let companies = ["A", "B", "C"].map(there.makeCompany)
    let theirs = there.makePerson("Ada", in: companies[0])
    try there.save()
    let owners = try companies.map { try mine($0, in: here) }
    let person = try mine(theirs, in: here)
    #expect(owners.map(\.people.count) == [1, 0, 0])
    person.company = owners[1]
    theirs.company = companies[2]
    try there.save()
    here.refreshAllObjects()
    #expect(person.company === owners[1] && owners.map(\.people.count) == [0, 1, 0])
    try here.save()
    there.refreshAllObjects()
    #expect(companies.map(\.people.count) == [0, 1, 0])
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test func `a child that moves an object which its parent has moved leaves it with one owner`() throws {
    let owners = ["A", "B", "C"].map(here.makeCompany)
    let person = here.makePerson("Ada", in: owners[0])
    owners[0].ranking = [person]
    try here.save()
    let child = ManagedObjectContext(.privateQueue, parent: here)
    let copy = try mine(person, in: child)
    copy.company = try mine(owners[1], in: child)
    try mine(owners[1], in: child).ranking = [copy]
    person.company = owners[2]
    owners[2].ranking = [person]
    try child.save()
    #expect(person.company === owners[1] && owners.map(\.people) == [[], [person], []])
    #expect(person.ranked === owners[1] && owners.map(\.ranking) == [[], [person], []])
    try here.save()
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    let again = try there.fetch(Company.self, sort: [.ascending(\.code)])
    #expect(again.map(\.ranking.count) == [0, 1, 0])
  }

  @Test func `a child's reference to an object that its parent saves meanwhile is stored`() throws {
    let company = here.makeCompany("A")
    let person = here.makePerson("Ada")
    let child = ManagedObjectContext(.privateQueue, parent: here)
    let copy = try mine(person, in: child)
    copy.company = try mine(company, in: child)
    try mine(company, in: child).ranking = [copy]
    try here.save()
    #expect(try child.count(Person.self, where: { $0.company.code == "A" }) == 1)
    try child.save()
    #expect(person.company === company && company.people == [person] && company.ranking == [person])
    try here.save()
    #expect(try there.fetch(Person.self).first?.company?.code == "A")
    #expect(try there.fetch(Company.self).first?.ranking.map(\.name) == ["Ada"])
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test func `a link that both have removed shows when it is made again`() throws {
    let club = Club(context: there)
    let theirs = there.makePerson("Ada")
    club.members = [theirs]
    try there.save()
    let person = try mine(theirs, in: here)
    person.clubs = []
    club.members = []
    try there.save()
    here.refreshAllObjects()
    #expect(person.clubs.isEmpty)
    club.members = [theirs]
    try there.save()
    here.refreshAllObjects()
    #expect(person.clubs.map(\.objectID) == [club.objectID])
  }

  @Test func `an order that was set to what it was does not replace a newer one`() throws {
    let company = there.makeCompany("A")
    let people = ["Ada", "Bea", "Cid"].map { there.makePerson($0) }
    company.ranking = people
    try there.save()
    let copy = try mine(company, in: here)
    copy.ranking.reverse()
    copy.ranking.reverse()
    company.ranking.swapAt(0, 1)
    try there.save()
    here.refreshAllObjects()
    #expect(copy.ranking.map(\.name) == ["Bea", "Ada", "Cid"])
  }

  @Test func `an object that only lost a relation is deleted where its row is deleted`() throws {
    let (left, right) = (there.makeCompany("A"), there.makeCompany("B"))
    let theirs = there.makePerson("Ada", in: left)
    try there.save()
    let (owner, person) = (try mine(left, in: here), try mine(theirs, in: here))
    #expect(owner.people == [person])
    person.company = try mine(right, in: here)
    #expect(owner.hasChanges)
    theirs.company = nil
    there.delete(left)
    try there.save()
    here.refreshAllObjects()
    #expect(owner.isDeleted && person.company?.code == "B")
    #expect(try here.fetch(Company.self).map(\.code) == ["B"])
    try here.save()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.fetch(Person.self).first?.company?.code == "B")
  }

  // CTX-26
  @Test func `a grandchild merges by itself what its grandparent merges`() async throws {
    let middle = ManagedObjectContext(.privateQueue, parent: here)
    let child = ManagedObjectContext(.privateQueue, parent: middle)
    for context in [here, middle, child] { context.automaticallyMergesChangesFromParent = true }
    let id = try await there.perform {
      let person = there.makePerson("Ada", age: 1)
      try there.save()
      return person.objectID
    }
    let held = try await child.perform { try Held(#require(child.existingObject(with: id) as? Person)) }
    #expect(await child.perform { held.object.age } == 1)
    try await there.perform {
      (there.object(with: id) as? Person)?.age = 2
      try there.save()
    }
    for context in [here, middle] { await context.perform {} }
    #expect(await child.perform { held.object.age } == 2)
  }

  // CTX-43
  @Test func `a child reads objects whose parent saves them at the same time`() async throws {
    for round in 0..<60 {
      let child = ManagedObjectContext(.privateQueue, parent: here)
      let (parent, grandchild) = (here, ManagedObjectContext(.privateQueue, parent: child))
      let id = await parent.perform { parent.makePerson("\(round)", age: Int64(round)).objectID }
      let fault = await grandchild.perform { Held(grandchild.object(with: id)) }
      async let save: Void = parent.perform { try parent.save() }
      async let age = grandchild.perform {
        let person = fault.object as? Person
        return (person?.age, fault.object.isDeleted)
      }
      try await save
      let read = await age
      #expect(read.0 == Int64(round) && !read.1)
      await grandchild.perform { (fault.object as? Person)?.nick = "edited" }
      try await grandchild.perform { try grandchild.save() }
      try await child.perform { try child.save() }
    }
    let parent = here
    #expect(try await parent.perform { try parent.count(Person.self, where: { $0.nick == "edited" }) } == 60)
  }
}
