import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// Owners with tasks, as a model that exists only at run time: a task needs a title and an owner, a team
/// has two members or more.
private func makeTasks() throws -> ManagedObjectContext {
  let owner = EntityDescription(
    name: "Owner", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
  let title = AttributeDescription(name: "title", type: .string, isOptional: false)
  let task = EntityDescription(
    name: "Task", properties: [title, AttributeDescription(name: "hours", type: .integer64)])
  let tasks = RelationshipDescription(name: "tasks", destination: task, isToMany: true)
  let mandatory = RelationshipDescription(name: "owner", destination: owner, isToMany: false)
  mandatory.isOptional = false
  let team = RelationshipDescription(name: "team", destination: owner, isToMany: true)
  team.minCount = 2
  team.maxCount = 3
  let duties = RelationshipDescription(name: "duties", destination: task, isToMany: true)
  (tasks.inverseRelationship, mandatory.inverseRelationship) = (mandatory, tasks)
  (team.inverseRelationship, duties.inverseRelationship) = (duties, team)
  owner.properties += [tasks, duties]
  task.properties += [mandatory, team]
  let container = PersistentContainer(
    name: "Tasks", managedObjectModel: ManagedObjectModel(entities: [owner, task]))
  container.persistentStoreDescriptions = [
    PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
  ]
  try container.loadPersistentStores()
  return container.newBackgroundContext()
}

extension ManagedObjectContext {
  fileprivate func make(_ entity: String) throws -> ManagedObject {
    let model = try #require(persistentStoreCoordinator?.managedObjectModel)
    return ManagedObject(entity: try #require(model.entitiesByName[entity]), insertInto: self)
  }

  fileprivate func makeTask() throws -> ManagedObject {
    let task = try make("Task")
    task.setValue("Write", forKey: "title")
    task.setValue(try make("Owner"), forKey: "owner")
    return task
  }
}

@Suite struct `Validation` {
  // T03
  @Test func `a mandatory property may be nil until the save, which names it`() throws {
    let context = try makeTasks()
    let task = try context.makeTask()
    task.setValue(nil, forKey: "title")
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .validationMissingMandatoryProperty)
    #expect(error?.property == "title")
    #expect(error?.objectIDs == [task.objectID])
    #expect(error?.message.contains("Task.title") == true)
    task.setValue("Write", forKey: "title")
    try context.save()
  }

  @Test func `several failures are thrown as one error that carries them all`() throws {
    let context = try makeTasks()
    let task = try context.make("Task")
    let other = try context.makeTask()
    other.setValue(nil, forKey: "owner")
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .validationMultipleErrors)
    #expect(error?.details.map(\.code) == Array(repeating: .validationMissingMandatoryProperty, count: 3))
    #expect(error?.details.compactMap(\.property).sorted() == ["owner", "owner", "title"])
    #expect(error?.objectIDs.contains(task.objectID) == true)
    #expect(context.hasChanges)
  }

  @Test func `an object of an abstract entity is used in a context, and its save is refused`() throws {
    let shape = EntityDescription(
      name: "Shape", properties: [AttributeDescription(name: "name", type: .string, isOptional: true)])
    let circle = EntityDescription(
      name: "Circle", properties: [AttributeDescription(name: "radius", type: .double)])
    shape.isAbstract = true
    shape.subentities = [circle]
    let container = PersistentContainer(
      name: "Shapes", managedObjectModel: ManagedObjectModel(entities: [shape, circle]))
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    let round = try context.make("Circle")
    let (one, other) = (try context.make("Shape"), try context.make("Shape"))
    one.setValue("any", forKey: "name")
    let request = FetchRequest<ManagedObject>(entityName: "Shape")
    #expect(try Set(context.fetch(request)) == [round, one, other])
    try context.obtainPermanentIDs(for: [one])
    let child = ManagedObjectContext(concurrencyType: .privateQueue)
    child.parent = context
    _ = try child.make("Shape")
    for saved in [context, child] {
      let error = heartwoodError { try saved.save() }
      #expect(error?.code == .managedObjectValidation && error?.message.contains("Shape is abstract") == true)
    }
    #expect(
      heartwoodError { try context.save() }.map { Set($0.objectIDs) } == [one.objectID, other.objectID])
    context.delete(one)
    context.delete(other)
    try context.save()
    context.reset()
    #expect(try context.fetch(request).map(\.entity.name) == ["Circle"])
  }

  // T20
  @Test func `a mandatory relationship that a delete empties makes the save fail on the survivor`() throws {
    let context = try makeTasks()
    let task = try context.makeTask()
    try context.save()
    context.delete(try #require(task.value(forKey: "owner") as? ManagedObject))
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .validationMissingMandatoryProperty)
    #expect(error?.objectIDs == [task.objectID])
    context.rollback()
    #expect(task.value(forKey: "owner") != nil)
  }

  // T22
  @Test func `an optional to-many may be empty, and else has its least and greatest number`() throws {
    let context = try makeTasks()
    let task = try context.makeTask()
    try context.save()
    let owners = try (0..<4).map { _ in try context.make("Owner") }
    task.setValue(Set(owners.prefix(1)), forKey: "team")
    let few = heartwoodError { try context.save() }
    #expect(few?.code == .validationRelationshipLacksMinimumCount)
    #expect(few?.message.contains("1 of at least 2") == true)
    task.setValue(Set(owners), forKey: "team")
    #expect(heartwoodError { try context.save() }?.code == .validationRelationshipExceedsMaximumCount)
    task.setValue(Set(owners.prefix(2)), forKey: "team")
    try context.save()
    task.setValue([], forKey: "team")
    try context.save()
  }

  @Test func `a class may refuse values, and its own errors are carried`() throws {
    struct TooOld: Error {}
    final class Horse: ManagedObject {
      @Attribute var age: Int64 = 0
      @Attribute var name: String?
      override func validateValue(_ value: inout Any?, forKey key: String) throws {
        if key == "age", let age = value as? Int64, age > 40 { throw TooOld() }
      }
    }
    let context = try PersistentContainer(
      name: "Stable", types: [Horse.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let horse = Horse(context: context)
    horse.age = 41
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectValidation)
    #expect(error?.underlying is TooOld)
    horse.age = 40
    try context.save()
    horse.age = 50
    #expect(heartwoodError { try context.save() }?.underlying is TooOld)
  }

  // T06
  @Test func `values set by willSave are validated and saved`() throws {
    final class Note: ManagedObject {
      @Attribute var text: String?
      @Attribute var length: Int64 = 0
      override func willSave() {
        let length = Int64(text?.count ?? 0)
        if self.length != length { self.length = length }
      }
      override func validateValue(_ value: inout Any?, forKey key: String) throws {
        struct TooLong: Error {}
        if key == "length", let length = value as? Int64, length > 5 { throw TooLong() }
      }
    }
    let context = try PersistentContainer(
      name: "Notes", types: [Note.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let note = Note(context: context)
    note.text = "four"
    try context.save()
    #expect(note.length == 4)
    context.reset()
    #expect(try context.fetch(Note.self).first?.length == 4)
    try #require(try context.fetch(Note.self).first).text = "too long"
    #expect(heartwoodError { try context.save() }?.code == .managedObjectValidation)
  }

  @Test func `a willSave that sets a value every time causes an error instead of an endless loop`() throws {
    final class Restless: ManagedObject {
      @Attribute var count: Int64 = 0
      override func willSave() { count += 1 }
    }
    let context = try PersistentContainer(
      name: "Restless", types: [Restless.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    _ = Restless(context: context)
    let error = heartwoodError { try context.save() }
    #expect(error?.message.contains("willSave") == true)
    #expect(context.hasChanges)
  }

  // T11
  @Test func `a primitive value set alone is not saved`() throws {
    let context = try makeTasks()
    let task = try context.makeTask()
    try context.save()
    task.setPrimitiveValue(7, forKey: "hours")
    #expect(!task.hasChanges)
    try context.save()
    context.reset()
    let request = FetchRequest<ManagedObject>(entityName: "Task")
    #expect(try context.fetch(request).first?.value(forKey: "hours") == nil)
  }

  // G16
  @Test func `failures within failures are single details of the error`() throws {
    final class Form: ManagedObject {
      @Attribute(validated: .length(1...)) var title = ""
      override func validateForInsert() throws {
        let (one, two) = (
          HeartwoodError(.managedObjectValidation, "one"), HeartwoodError(.managedObjectValidation, "two")
        )
        let foundation = NSError(
          domain: NSCocoaErrorDomain, code: 1560, userInfo: ["NSDetailedErrors": [one, two]])
        do {
          try super.validateForInsert()
        } catch let error as HeartwoodError {
          let nested = HeartwoodError(.validationMultipleErrors, "own", details: [two, error])
          throw HeartwoodError(
            .validationMultipleErrors, "all",
            details: [HeartwoodError(.validationMultipleErrors, "more", details: [one, nested])])
        }
        throw foundation
      }
    }
    let context = try PersistentContainer(
      name: "Forms", types: [Form.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    let form = Form(context: context)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .validationMultipleErrors)
    #expect(error?.details.count == 3 && error?.details.allSatisfy { $0.details.isEmpty } == true)
    #expect(error?.details.prefix(2).map(\.message) == ["one", "two"])
    #expect(error?.details.last?.property == "title")
    form.title = "T"
    let other = heartwoodError { try context.save() }
    #expect(other?.details.map(\.message) == ["one", "two"])
  }
}
