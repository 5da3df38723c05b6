import Foundation
import GraphTestSupport
import TestSupport
import Testing

@testable import Heartwood

private final class Employer: ManagedObject {
  @Attribute var name = ""
  @Attribute var least: Int64 = 0
  @Relationship(inverse: { $0.employer }) var staff: Set<Employee>

  override class var fetchedProperties: [FetchedPropertyDescription] {
    let request = FetchRequest<ManagedObject>(entityName: "Employee")
    request.predicate = try? FormatPredicate("employer != $FETCH_SOURCE AND age >= $FETCH_SOURCE.least")
    request.sortDescriptors = [NamedSort("age")]
    return [FetchedPropertyDescription(name: "candidates", fetchRequest: request)]
  }

  var candidates: [Employee] { fetchedObjects(forKey: "candidates") }
}

private final class Employee: ManagedObject {
  @Attribute var name = ""
  @Attribute var age: Int64 = 0
  @Relationship(inverse: { $0.staff }) var employer: Employer?

  override class var fetchedProperties: [FetchedPropertyDescription] {
    let request = FetchRequest<ManagedObject>(entityName: "Employee")
    request.predicate = try? FormatPredicate(
      "employer.name == $FETCH_SOURCE.employer.name AND SELF != $FETCH_SOURCE AND name != $FETCHED_PROPERTY")
    request.sortDescriptors = [NamedSort("name")]
    let wanted = FetchRequest<ManagedObject>(entityName: "Employee")
    wanted.predicate = try? FormatPredicate(
      "name == $FETCHED_PROPERTY.userInfo.wanted AND name != $FETCHED_PROPERTY.name")
    let named = FetchedPropertyDescription(name: "named", fetchRequest: wanted)
    named.userInfo = ["wanted": "Bea"]
    return [FetchedPropertyDescription(name: "colleagues", fetchRequest: request), named]
  }
}

// MOD-50
@Suite struct `Fetched properties` {
  private let folder: TemporaryFolder
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    container = try PersistentContainer(
      name: "Work", types: [Employer.self, Employee.self], at: folder.store)
    context = container.newBackgroundContext()
  }

  private func makeEmployee(_ name: String, age: Int64, of employer: Employer?) -> Employee {
    let employee = Employee(context: context)
    (employee.name, employee.age, employee.employer) = (name, age, employer)
    return employee
  }

  @Test func `a fetched property may use its own name and user info`() throws {
    _ = makeEmployee("Ada", age: 20, of: nil)
    let bea = makeEmployee("Bea", age: 40, of: nil)
    try context.save()
    #expect(bea.fetchedObjects(forKey: "named") == [bea])
  }

  @Test func `a fetched property has what the request finds, with the object in place of its variables`()
    throws
  {
    let (mill, mine) = (Employer(context: context), Employer(context: context))
    (mill.name, mill.least, mine.name) = ("Mill", 30, "Mine")
    let ada = makeEmployee("Ada", age: 20, of: mine)
    let bea = makeEmployee("Bea", age: 40, of: mine)
    let cid = makeEmployee("Cid", age: 35, of: nil)
    let dan = makeEmployee("Dan", age: 50, of: mill)
    // A missing employer is no employer: nil is unequal to one.
    #expect(mill.candidates == [cid, bea])
    try context.save()
    #expect(mill.candidates == [cid, bea] && mine.candidates == [cid, dan])
    #expect(ada.value(forKey: "colleagues") as? [Employee] == [bea])
    #expect((dan.value(forKey: "colleagues") as? [Employee])?.isEmpty == true)
    cid.employer = mine
    try context.save()
    // The result is that of the first use, until the object is a fault.
    #expect(ada.fetchedObjects(forKey: "colleagues") == [bea])
    context.refresh(ada, mergeChanges: false)
    #expect(ada.fetchedObjects(forKey: "colleagues") == [bea, cid])
    // Also with its changes.
    cid.employer = nil
    try context.save()
    ada.age = 21
    context.refresh(ada, mergeChanges: true)
    #expect(ada.age == 21 && ada.fetchedObjects(forKey: "colleagues") == [bea])
  }

  @Test func `a fetched property cannot be set, and conditions cannot use it`() throws {
    let ada = makeEmployee("Ada", age: 20, of: nil)
    #expect(
      heartwoodError { try ada.assign([ada], forKey: "colleagues") }?.message.contains("colleagues") == true)
    let request = FetchRequest<Employee>()
    request.predicate = try FormatPredicate("colleagues.@count > 1")
    #expect(heartwoodError { _ = try context.fetch(request) }?.message.contains("colleagues") == true)
  }

  @Test
  func `fetched properties are in the model of the store and in files of Xcode, and in no version hash`()
    throws
  {
    let model = container.managedObjectModel
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: folder.store)
    let property = try #require(stored.entitiesByName["Employer"]?.fetchedPropertiesByName["candidates"])
    #expect(property.fetchRequest?.entityName == "Employee")
    let predicate = "\(property.fetchRequest?.predicate as Any)"
    #expect(predicate.contains("$FETCH_SOURCE.least"))
    let file = folder.url.appendingPathComponent("Work.xcdatamodel")
    var left: [String] = []
    try model.writeXcodeModel(to: file) { left.append($0) }
    let read = try ManagedObjectModel(contentsOf: file) { left.append($0) }
    #expect(
      read.entitiesByName["Employee"]?.fetchedPropertiesByName.keys.sorted() == ["colleagues", "named"])
    #expect(read.versionChecksum == model.versionChecksum && left.isEmpty, "\(left)")
    let plain = ManagedObjectModel(entities: [
      EntityDescription(name: "Employee"), EntityDescription(name: "Employer"),
    ])
    let other = EntityDescription(name: "A", properties: [AttributeDescription(name: "a", type: .string)])
    let fetched = FetchedPropertyDescription(
      name: "all", fetchRequest: FetchRequest<ManagedObject>(entityName: "B"))
    let same = EntityDescription(
      name: "A", properties: [AttributeDescription(name: "a", type: .string), fetched])
    let first = ManagedObjectModel(entities: [other, EntityDescription(name: "B")])
    let second = ManagedObjectModel(entities: [same, EntityDescription(name: "B")])
    #expect(first.versionChecksum == second.versionChecksum && plain.versionChecksum != first.versionChecksum)
  }

  @Test(arguments: [
    ("B", "nothing == 1", "no property 'nothing'"), ("B", "b == $FETCH_SOURCE.c", "no property 'c'"),
    ("B", "b == $OTHER", "$OTHER has no value"), ("C", nil, "no entity of the model"),
    (nil, nil, "names no entity"),
  ])
  func `a model whose fetched property is wrong is refused with the reason`(
    entity: String?, predicate: String?, reason: String
  ) throws {
    let request = entity.map { FetchRequest<ManagedObject>(entityName: $0) } ?? FetchRequest<ManagedObject>()
    request.predicate = try predicate.map { try FormatPredicate($0) }
    let owner = EntityDescription(
      name: "A",
      properties: [
        AttributeDescription(name: "a", type: .string),
        FetchedPropertyDescription(name: "found", fetchRequest: request),
      ])
    let other = EntityDescription(
      name: "B", properties: [AttributeDescription(name: "b", type: .string)])
    let model = ManagedObjectModel(entities: [owner, other])
    let error = heartwoodError { _ = try PersistentStoreCoordinator(checking: model) }
    #expect(
      error?.message.contains(reason) == true && error?.message.contains("A.found") == true, "\(error as Any)"
    )
  }
}

@Suite struct `Fetched properties across stores` {
  // MOD-50
  @Test(arguments: [PersistentStore.StoreType.log, .json, .xml, .binary])
  func `a store whose fetched property leads to another store is opened and read by itself`(
    type: PersistentStore.StoreType
  ) throws {
    let folder = try TemporaryFolder()
    for round in 1...2 {
      let model = try ManagedObjectModel(types: [Reader.self, Story.self]) { model in
        for name in ["Reader", "Story"] {
          model.setEntities(model.entities.filter { $0.name == name }, forConfigurationName: name)
        }
      }
      let container = PersistentContainer(name: "Readers", managedObjectModel: model)
      container.persistentStoreDescriptions = ["Reader", "Story"].map { name in
        let description = PersistentStoreDescription(url: folder.url.appending(path: name))
        (description.configuration, description.type) = (name, type)
        return description
      }
      try container.loadPersistentStores()
      let context = container.newBackgroundContext()
      let reader = Reader(context: context)
      let story = Story(context: context)
      (reader.number, story.number) = (round, round)
      try context.save()
      #expect(try context.fetch(Reader.self).map(\.stories.count) == Array(repeating: 1, count: round))
      try container.close()
      let url = folder.url.appending(path: "Reader")
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
      #expect(model.isConfiguration(withName: "Reader", compatibleWithStoreMetadata: metadata))
    }
  }
}

private final class Reader: ManagedObject {
  @Attribute var number = 0
  var stories: [Story] { fetchedObjects(forKey: "stories") }

  override class var fetchedProperties: [FetchedPropertyDescription] {
    let request = FetchRequest<ManagedObject>(entityName: "Story")
    request.predicate = try? FormatPredicate("number == $FETCH_SOURCE.number")
    return [FetchedPropertyDescription(name: "stories", fetchRequest: request)]
  }
}

private final class Story: ManagedObject {
  @Attribute var number = 0
}
