import Foundation
import GraphTestSupport
import LineStore
import TestSupport
import Testing

@testable import Heartwood

/// Objects of a context whose store is removed and added again.
@Suite struct `A store that is opened again` {
  private let folder: TemporaryFolder
  private static let kinds = StoreKind.allCases.map(\.type) + [LineStore.kind]

  init() throws {
    folder = try TemporaryFolder()
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
  }

  private func open(_ kind: PersistentStore.StoreType) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Test", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    try container.persistentStoreCoordinator.addPersistentStore(type: kind, at: folder.store)
    return container
  }

  private func reopen(_ kind: PersistentStore.StoreType, in container: PersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    try coordinator.addPersistentStore(type: kind, at: folder.store)
  }

  @Test(arguments: Self.kinds)
  func `a context goes on with its objects`(kind: PersistentStore.StoreType) throws {
    let container = try open(kind)
    let context = container.newBackgroundContext()
    let (acme, ada, bob, eve) = (
      context.makeCompany("Acme"), context.makePerson("Ada"), context.makePerson("Bob"),
      context.makePerson("Eve")
    )
    for age in 1...3 {
      ada.age = Int64(age)
      bob.age = Int64(age)
      try context.save()
    }
    bob.age = 10
    context.delete(eve)
    try reopen(kind, in: container)
    ada.age = 4
    ada.company = acme
    try context.save()
    #expect(ada.age == 4 && bob.age == 10 && ada.company === acme)
    try reopen(kind, in: container)
    let child = ManagedObjectContext(.privateQueue, parent: context)
    try #require(child.existingObject(with: ada.objectID) as? Person).age = 5
    try child.save()
    try context.save()
    try container.close()

    let reader = try open(kind).newBackgroundContext()
    let people = try reader.fetch(Person.self, sort: [.ascending(\.name)])
    #expect(people.map(\.name) == ["Ada", "Bob"] && people.map(\.age) == [5, 10])
    #expect(people[0].company?.code == "Acme")
  }

  @Test(arguments: Self.kinds)
  func `what others have saved meanwhile is a conflict`(kind: PersistentStore.StoreType) throws {
    let container = try open(kind)
    let context = container.newBackgroundContext()
    let people = ["Ada", "Bob"].map { context.makePerson($0) }
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    do {
      let other = try open(kind)
      let context = other.newBackgroundContext()
      for person in try context.fetch(Person.self) { person.age = 7 }
      try context.save()
      try other.close()
    }
    try coordinator.addPersistentStore(type: kind, at: folder.store)
    people[0].age = 1
    let error = #expect(throws: HeartwoodError.self) { try context.save() }
    #expect(error?.code == .managedObjectMerge)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    context.refreshAllObjects()
    #expect(people.map(\.age) == [1, 7])
  }
}
