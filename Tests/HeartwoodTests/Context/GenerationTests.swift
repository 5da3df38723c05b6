import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Query generations` {
  // QGN-07
  @Test func `moving to another generation leaves registered objects as they are until they are refreshed`()
    throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    try context.setQueryGenerationFrom(.current)
    let name = try FormatPredicate("name == 'Eve'")
    let request = FetchRequest<Person>()
    request.predicate = name
    #expect(try context.fetch(request).isEmpty)
    let other = container.newBackgroundContext()
    try #require(try other.fetch(Person.self).first).name = "Eve"
    try other.save()
    try context.setQueryGenerationFrom(.current)
    #expect(try context.fetch(request) == [person])
    #expect(person.name == "Ada")
    context.refreshAllObjects()
    #expect(person.name == "Eve")
  }

  @Test func `registered are the objects that the program references or has changed`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    func insert() throws {
      for name in ["Ada", "Bob", "Eve"] { _ = context.makePerson(name) }
      #expect(context.registeredObjects.count == 3)
      try context.save()
    }
    try insert()
    #expect(context.registeredObjects.isEmpty)
    let person = try #require(try context.fetch(Person.self, where: { $0.name == "Eve" }).first)
    #expect(context.registeredObjects == [person])
    try context.fetch(Person.self, where: { $0.name == "Ada" }).first?.age = 7
    #expect(context.registeredObjects.count == 2)
    context.retainsRegisteredObjects = true
    #expect(try context.fetch(Person.self).count == 3)
    #expect(context.registeredObjects.count == 3)
  }

  // QGN-08
  @Test func `a pinned context reads no removed store, and pins the next one at its first read`() throws {
    let container = try makeContainer()
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let id = try savedPerson("Ada", in: container)
    try context.setQueryGenerationFrom(.current)
    #expect(try context.fetch(Person.self).count == 1)
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    #expect(throws: HeartwoodError.self) { try context.fetch(Person.self) }
    #expect(throws: HeartwoodError.self) { try context.existingObject(with: id) }

    try coordinator.addPersistentStore(with: PersistentStoreDescription())
    _ = try savedPerson("Zoe", in: container)
    #expect(try context.fetch(Person.self).map(\.name) == ["Zoe"])
    _ = try savedPerson("Bob", in: container)
    #expect(try context.fetch(Person.self).map(\.name) == ["Zoe"])
    try context.setQueryGenerationFrom(.current)
    #expect(try context.fetch(Person.self).count == 2)
  }

  // Findings: an idle context keeps the generation of its last read
  @Test func `a context that is idle after perform keeps no generation, unless it is pinned`() async throws {
    let container = try makeContainer()
    _ = try savedPerson("Ada", in: container)
    let context = container.newBackgroundContext()
    let count = try await context.perform {
      let count = try context.fetch(Person.self).count
      #expect(context.view.held != nil)
      return count
    }
    #expect(count == 1)
    #expect(await context.perform { context.view.held == nil })
    try await context.perform {
      try context.setQueryGenerationFrom(.current)
      _ = try context.fetch(Person.self)
    }
    #expect(await context.perform { context.view.pinned != nil })
  }

  private func savedPerson(_ name: String, in container: PersistentContainer) throws -> ManagedObjectID {
    let context = container.newBackgroundContext()
    let person = context.makePerson(name)
    try context.save()
    return person.objectID
  }

  // CNC-06
  @Test(arguments: [true, false])
  func `an object does not keep its context: it shows what was read, and a fault its defaults`(deletes: Bool)
    throws
  {
    let container = try makeContainer()
    let id = try savedPerson("Ada", in: container)
    let other = try savedPerson("Eve", in: container)
    var context: ManagedObjectContext? = container.newBackgroundContext()
    context?.shouldDeleteInaccessibleFaults = deletes
    weak let former = context
    let person = try #require(try context?.existingObject(with: id) as? Person)
    let fault = try #require(context?.object(with: other) as? Person)
    #expect(fault.isFault)
    context = nil
    #expect(former == nil && person.managedObjectContext == nil)
    #expect(person.name == "Ada" && fault.name == "" && fault.age == 0)
    #expect(!fault.isDeleted && fault.managedObjectContext == nil)
  }
}
