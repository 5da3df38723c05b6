import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

/// Identifiers and undo where a save goes to a parent first.
@Suite struct `Identifiers in a tree of contexts` {
  @Test func `a child's memory of temporary keys does not grow with the saves of its life`() throws {
    let root = try makeContainer().newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let company = child.makeCompany("A")
    var people: [Person] = []
    for round in 1...20 {
      for number in 1...10 { people.append(child.makePerson("\(round)/\(number)", in: company)) }
      try child.save()
      try root.save()
      #expect(company.people.count == 10 * round)
      #expect(child.permanentKeys.count <= 20)
    }
    #expect(people.allSatisfy { $0.company === company && !$0.objectID.isTemporaryID })
    #expect(
      people.allSatisfy { !$0.hasPersistentChangedValues && child.registeredObject(for: $0.objectID) === $0 })
    #expect(try root.count(Person.self, where: { $0.company.code == "A" }) == 200)
  }

  @Test
  func `rows that a child has read from its parent's unsaved objects have permanent keys after the save`()
    throws
  {
    let root = try makeContainer().newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let person = root.makePerson("Ada", in: root.makeCompany("A"))
    let mine = try #require(child.fetch(Person.self).first)
    #expect(mine.name == "Ada")
    try root.save()
    for name in ["Bea", "Cid", "Dan"] {
      _ = root.makePerson(name)
      try root.save()
      _ = mine.objectID
      _ = child.registeredObject(for: person.objectID)
    }
    #expect(mine.objectID == person.objectID)
    #expect(mine.company?.code == "A")
    #expect(mine.company?.people == [mine])
    #expect(try child.fetch(Person.self, where: { $0.company.code == "A" }) == [mine])
  }

  @Test func `an object of a child is inserted though its parent has asked for its identifier before`() throws
  {
    for reads in [false, true] {
      let root = try makeContainer().newBackgroundContext()
      let child = ManagedObjectContext(.privateQueue, parent: root)
      let ada = child.makePerson("Ada")
      try child.obtainPermanentIDs(for: [ada])
      let asked = root.object(with: ada.objectID, as: Person.self)
      if reads { #expect(asked.name == "" && asked.isDeleted) }
      try child.save()
      #expect(asked.isInserted && !asked.isDeleted && asked.name == "Ada")
      try root.save()
      root.reset()
      #expect(try root.fetch(Person.self).map(\.name) == ["Ada"])
    }
  }

  @Test func `an object whose delete a parent takes back is shown in its child again`() throws {
    for way in ["fetch", "refresh", "existing"] {
      let root = try makeContainer().newBackgroundContext()
      let child = ManagedObjectContext(.privateQueue, parent: root)
      let ada = root.makePerson("Ada")
      try root.save()
      root.delete(ada)
      let mine = child.object(with: ada.objectID, as: Person.self)
      #expect(mine.name == "" && mine.isDeleted)
      root.rollback()
      switch way {
      case "fetch": #expect(try child.fetch(Person.self) == [mine])
      case "refresh": child.refresh(mine, mergeChanges: true)
      default: #expect(try child.existingObject(with: ada.objectID) === mine)
      }
      #expect(mine.name == "Ada" && !mine.isDeleted)
      mine.name = "Eva"
      try child.save()
      try root.save()
      root.reset()
      #expect(try root.fetch(Person.self).map(\.name) == ["Eva"])
    }
  }

  // CTX-29
  @Test func `an object that a child has saved obtains the identifier that its parent writes it under`()
    throws
  {
    let root = try makeContainer().newBackgroundContext()
    let middle = ManagedObjectContext(.privateQueue, parent: root)
    let child = ManagedObjectContext(.privateQueue, parent: middle)
    let ada = child.makePerson("Ada")
    try child.save()
    try middle.save()
    try child.obtainPermanentIDs(for: [ada])
    let identifier = ada.objectID
    #expect(!identifier.isTemporaryID)
    #expect(root.insertedObjects.map(\.objectID) == [identifier])
    #expect(try child.fetch(Person.self, where: { $0.name == "Ada" }) == [ada])
    try root.save()
    #expect(ada.objectID == identifier)
    #expect(try root.fetch(Person.self).map(\.objectID) == [identifier])
    ada.age = 3
    try child.save()
    #expect(try middle.fetch(Person.self).map(\.age) == [3])
  }

  @Test func `a child still reads its parent's new object after that has obtained its identifier`() throws {
    let root = try makeContainer().newBackgroundContext()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    let person = root.makePerson("Ada", in: root.makeCompany("A"))
    let mine = try #require(child.fetch(Person.self).first)
    try root.obtainPermanentIDs(for: [person])
    child.refresh(mine, mergeChanges: false)
    #expect(mine.name == "Ada" && mine.objectID == person.objectID)
    #expect(mine.company?.people == [mine])
  }

  // UND-03, UND-04
  @Test(arguments: [false, true])
  func `a delete that a child has saved is undone in the parent, too`(isSaved: Bool) throws {
    let container = try makeContainer()
    let root = container.newBackgroundContext()
    let company = root.makeCompany("A")
    for name in ["Ada", "Bea"] { _ = root.makePerson(name, age: 7, in: company) }
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    child.undoManager = UndoStack()
    let mine = try #require(child.object(with: company.objectID) as? Company)
    child.delete(mine)
    try child.save()
    if isSaved { try root.save() }
    #expect(try root.count(Person.self) == 0)
    child.undo()
    try child.save()
    #expect(try root.fetch(Person.self, sort: [.ascending(\.name)]).map(\.name) == ["Ada", "Bea"])
    try root.save()
    let fresh = container.newBackgroundContext()
    let saved = try fresh.fetch(Company.self)
    #expect(saved.map(\.code) == ["A"])
    #expect(saved.map(\.objectID) == [mine.objectID])
    #expect(saved.flatMap { $0.people.map { "\($0.name) \($0.age)" } }.sorted() == ["Ada 7", "Bea 7"])
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }
}
