import Foundation
import GraphTestSupport
import Heartwood
import Observation
import Testing

@Suite struct `Observation of objects` {
  /// Whether `change` changes what `read` has read, as the Observation framework sees it.
  private func notices(_ change: () throws -> Void, whileReading read: () -> Void) rethrows -> Bool {
    final class Flag: @unchecked Sendable { var isSet = false }
    let flag = Flag()
    withObservationTracking(read) { flag.isSet = true }
    try change()
    return flag.isSet
  }

  private struct World {
    let container: PersistentContainer
    let context: ManagedObjectContext
    let company: Company
    let person: Person

    init() throws {
      container = try makeContainer()
      context = container.newBackgroundContext()
      context.isObservable = true
      company = context.makeCompany("A")
      person = context.makePerson("Ada", age: 36, in: company)
      try context.save()
    }

    /// Saves a change of the same person by another context.
    func changeElsewhere(_ change: (Person) -> Void) throws {
      let other = container.newBackgroundContext()
      change(try #require(other.object(with: person.objectID) as? Person))
      try other.save()
    }
  }

  @Test(arguments: [true, false])
  func `the relationships of an object whose delete was saved become empty, which is seen`(isElsewhere: Bool)
    throws
  {
    let world = try World()
    let (person, company) = (world.person, world.company)
    #expect(
      try notices {
        if isElsewhere {
          let other = world.container.newBackgroundContext()
          other.delete(other.object(with: person.objectID))
          try other.save()
          world.context.refresh(person, mergeChanges: true)
        } else {
          world.context.delete(person)
          world.context.processPendingChanges()
        }
        try world.context.save()
      } whileReading: {
        _ = person.company
      })
    #expect(
      try notices {
        world.context.delete(company)
        try world.context.save()
      } whileReading: {
        _ = company.people
      })
    #expect(person.company == nil && person.managedObjectContext == nil && company.people.isEmpty)
  }

  // OBJ-33
  @Test func `an assignment is seen by those who have read the property, and by no others`() throws {
    let world = try World()
    let person = world.person
    #expect(
      notices {
        person.name = "Eva"
      } whileReading: {
        _ = person.name
      })
    #expect(
      notices {
        person.name = "Ida"
      } whileReading: {
        _ = person.name
      })
    #expect(
      !notices {
        person.name = "Ada"
      } whileReading: {
        _ = person.age
      })
    #expect(
      !notices {
        person.name = "Eva"
      } whileReading: {
        _ = world.company.name
      })
    #expect(
      notices {
        person.nick = "E"
      } whileReading: {
        _ = person.value(forKey: "nick")
      })
    #expect(
      notices {
        person.setValue(37, forKey: "age")
      } whileReading: {
        _ = person.age
      })
  }

  @Test func `a value is the old one when the change is announced, and the new one when it is read again`()
    throws
  {
    let world = try World()
    let person = world.person
    nonisolated(unsafe) var announced: String?
    nonisolated(unsafe) let observed = person
    withObservationTracking {
      _ = observed.name
    } onChange: {
      announced = observed.name
    }
    person.name = "Eva"
    #expect(announced == "Ada" && person.name == "Eva")
  }

  // OBJ-33
  @Test func `relationships are seen from both sides, in every form`() throws {
    let world = try World()
    let (context, company, person) = (world.context, world.company, world.person)
    #expect(
      notices {
        _ = context.makePerson("B", in: company)
      } whileReading: {
        _ = company.people
      })
    #expect(
      notices {
        _ = context.makePerson("C", in: company)
      } whileReading: {
        _ = company.$people.count
      })
    #expect(
      notices {
        person.company = nil
      } whileReading: {
        for _ in company.$people {}
      })
    #expect(
      notices {
        company.$people.insert(person)
      } whileReading: {
        _ = person.company
      })
    #expect(
      notices {
        company.people = []
      } whileReading: {
        _ = company.$people.contains(person)
      })
    #expect(
      notices {
        company.$ranking.insert(person, at: 0)
      } whileReading: {
        _ = company.ranking
      })
    #expect(
      notices {
        company.ranking = []
      } whileReading: {
        _ = company.objectIDs(forRelationshipNamed: "ranking")
      })
    #expect(
      !notices {
        company.$people.insert(person)
      } whileReading: {
        _ = company.houses
      })
  }

  // OBJ-33
  @Test func `what others have saved is seen at a merge and at a refresh, if the value differs`() throws {
    let world = try World()
    let (context, person) = (world.context, world.person)
    try world.changeElsewhere { $0.age = 40 }
    #expect(
      notices {
        context.refresh(person, mergeChanges: true)
      } whileReading: {
        _ = person.age
      })
    #expect(person.age == 40)
    try world.changeElsewhere { $0.age = 41 }
    #expect(
      !notices {
        context.refresh(person, mergeChanges: true)
      } whileReading: {
        _ = person.name
      })
    try world.changeElsewhere { $0.age = 42 }
    let changes = ObjectIDChanges(updatedObjectIDs: [person.objectID])
    #expect(
      notices {
        context.merge(changes)
      } whileReading: {
        _ = person.age
      })
    #expect(
      notices {
        context.refresh(person, mergeChanges: false)
      } whileReading: {
        _ = person.age
      })
    #expect(person.isFault && person.age == 42)
    #expect(
      try notices {
        try world.changeElsewhere { $0.company = nil }
        context.refresh(world.company, mergeChanges: true)
      } whileReading: {
        _ = world.company.people
      })
    #expect(world.company.people.isEmpty)
  }

  @Test func `rollback, undo and redo are seen, a save is not`() throws {
    let world = try World()
    let (context, person) = (world.context, world.person)
    context.undoManager = UndoStack()
    person.name = "Eva"
    #expect(
      try !notices {
        try context.save()
      } whileReading: {
        _ = (person.name, person.company)
      })
    #expect(
      notices {
        context.undo()
      } whileReading: {
        _ = person.name
      })
    #expect(person.name == "Ada")
    #expect(
      notices {
        context.redo()
      } whileReading: {
        _ = person.name
      })
    person.name = "Ida"
    #expect(
      notices {
        context.rollback()
      } whileReading: {
        _ = person.name
      })
    #expect(person.name == "Eva")
  }

  @Test func `an observation goes on after saves and faults`() throws {
    let world = try World()
    let person = world.person
    let changed = try notices {
      try world.context.save()
      person.name = "Eva"
    } whileReading: {
      _ = person.name
    }
    #expect(changed)
    world.context.refresh(person, mergeChanges: false)
    #expect(
      notices {
        person.name = "Ida"
      } whileReading: {
        _ = person.name
      })
  }

  @Test func `contexts of the main queue are observable by themselves, others when they say so`() throws {
    let world = try World()
    #expect(world.container.viewContext.isObservable)
    #expect(!world.container.newBackgroundContext().isObservable)
    world.context.isObservable = false
    #expect(
      !notices {
        world.person.name = "Eva"
      } whileReading: {
        _ = world.person.name
      })
    world.context.isObservable = true
    #expect(
      notices {
        world.person.name = "Ida"
      } whileReading: {
        _ = world.person.name
      })
  }

  @Test func `an object that only its observer has read is kept, so that its changes are seen`() throws {
    let world = try World()
    let context = world.container.newBackgroundContext()
    context.isObservable = true
    let id = world.person.objectID
    let isSeen = try notices {
      for _ in try context.fetch(Company.self) {}
      context.processPendingChanges()
      try world.changeElsewhere { $0.age = 50 }
      context.merge(ObjectIDChanges(updatedObjectIDs: [id]))
    } whileReading: {
      _ = context.object(with: id, as: Person.self).age
    }
    #expect(isSeen)
  }
}
