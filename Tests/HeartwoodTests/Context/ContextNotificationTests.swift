import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Notifications of contexts` {
  // NOT-01, NOT-10, T08
  @Test func `several edits of one object in an event are reported once`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    let heard = Heard(context, .managedObjectContextObjectsDidChange)
    person.name = "Bea"
    person.age = 1
    person.name = "Cid"
    context.processPendingChanges()
    #expect(heard.all.map(\.updatedObjects) == [[person]])
    context.processPendingChanges()
    #expect(heard.all.count == 1)
  }

  // NOT-01
  @Test func `an event reports what was inserted, updated and deleted, each object in one set`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (first, second) = (context.makePerson("Ada"), context.makePerson("Bea"))
    try context.save()
    let heard = Heard(context, .managedObjectContextObjectsDidChange)
    let third = context.makePerson("Cid")
    first.age = 7
    second.age = 8
    context.delete(second)
    let fourth = context.makePerson("Dan")
    context.delete(fourth)
    context.processPendingChanges()
    #expect(heard.all.count == 1)
    #expect(heard.all.first?.insertedObjects == [third])
    #expect(heard.all.first?.updatedObjects == [first])
    #expect(heard.all.first?.deletedObjects == [second])
    context.delete(third)
    context.processPendingChanges()
    #expect(heard.all.last?.deletedObjects == [third])
  }

  // NOT-11, T21
  @Test func `a child that moves is reported with both parents`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (left, right) = (context.makeCompany("A"), context.makeCompany("B"))
    let person = context.makePerson("Ada", in: left)
    try context.save()
    let heard = Heard(context, .managedObjectContextObjectsDidChange)
    person.company = right
    context.processPendingChanges()
    #expect(heard.all.map(\.updatedObjects) == [[person, left, right]])
    #expect(left.people.isEmpty && right.people == [person])
  }

  // NOT-02, NOT-03, NOT-04, NOT-06
  @Test func `a save reports its objects, and their permanent identifiers`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (old, gone) = (context.makePerson("Ada"), context.makePerson("Bea"))
    try context.save()
    let will = Heard(context, .managedObjectContextWillSave)
    let did = Heard(context, .managedObjectContextDidSave)
    let identifiers = Heard(context, .managedObjectContextDidSaveObjectIDs)
    let new = context.makePerson("Cid")
    old.age = 1
    context.delete(gone)
    let goneID = gone.objectID
    try context.save()
    #expect(will.notifications.count == 1)
    #expect(did.all.map(\.insertedObjects) == [[new]])
    #expect(did.all.map(\.updatedObjects) == [[old]])
    #expect(did.all.map(\.deletedObjects) == [[gone]])
    let changes = try #require(
      identifiers.notifications.first?.userInfo.map { ObjectIDChanges(userInfo: $0) })
    #expect(changes.insertedObjectIDs == [new.objectID])
    #expect(!new.objectID.isTemporaryID)
    #expect(changes.updatedObjectIDs == [old.objectID])
    #expect(changes.deletedObjectIDs == [goneID])
    #expect(changes.queryGeneration != nil)
    try context.save()
    #expect(did.all.map(\.isEmpty) == [false, true] && identifiers.notifications.count == 2)
  }

  // CTX-20, T37
  @Test func `a reset reports once that all objects are invalid`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    let heard = Heard(context, .managedObjectContextObjectsDidChange)
    context.reset()
    #expect(heard.all.count == 1)
    #expect(heard.all.first?.isInvalidatingAll == true)
    #expect(heard.all.first?.invalidatedAllObjectIDs == [person.objectID])
    #expect(heard.all.first?.deletedObjects.isEmpty == true)
    #expect(context.registeredObjects.isEmpty)
    #expect(person.managedObjectContext == nil && person.isFault && person.name == "")
  }

  // CTX-19, NOT-01
  @Test func `a rollback reports what it restores and what leaves`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (edited, deleted) = (context.makePerson("Ada"), context.makePerson("Bea"))
    try context.save()
    let inserted = context.makePerson("Cid")
    edited.age = 3
    context.delete(deleted)
    context.processPendingChanges()
    let heard = Heard(context, .managedObjectContextObjectsDidChange)
    context.rollback()
    #expect(heard.all.map(\.deletedObjects) == [[inserted]])
    #expect(heard.all.first?.insertedObjects == [deleted])
    #expect(heard.all.first?.refreshedObjects == [edited])
    #expect(edited.age == 0 && !deleted.isDeleted && inserted.managedObjectContext == nil)
  }

  // T09, OBJ-21
  @Test func `values of the current event are those before it, changed values those after it`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    person.age = 2
    #expect(person.changedValuesForCurrentEvent()["age"] as? Int64 == 1)
    #expect(person.changedValues()["age"] as? Int64 == 2)
    context.processPendingChanges()
    #expect(person.changedValuesForCurrentEvent().isEmpty)
    person.age = 3
    person.company = company
    #expect(person.changedValuesForCurrentEvent()["age"] as? Int64 == 2)
    #expect(person.changedValuesForCurrentEvent()["company"] is NSNull)
    #expect(person.changedValues()["age"] as? Int64 == 3)
    person.age = 2
    #expect(person.changedValuesForCurrentEvent()["age"] == nil)
    #expect(context.makePerson("Bea").changedValuesForCurrentEvent().isEmpty)
  }

  @Test func `observers of changed objects get the values before the event that they are notified of`() throws
  {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let (ada, bea) = (context.makePerson("Ada", age: 1), context.makePerson("Bea", age: 5, in: company))
    try context.save()
    _ = company.people
    let observer = CurrentEvents([ada, bea, company], of: context) { changes in
      guard changes == [["age"], ["company"], ["people"]] else { return }
      #expect(ada.changedValuesForCurrentEvent()["age"] as? Int64 == 1)
      // Changes by an observer are an event of their own.
      ada.nick = "A"
      #expect(Array(ada.changedValuesForCurrentEvent().keys) == ["nick"])
    }
    ada.age = 2
    bea.company = nil
    context.processPendingChanges()
    #expect(bea.changedValuesForCurrentEvent().isEmpty)
    context.processPendingChanges()
    context.processPendingChanges()
    #expect(observer.heard == [[["age"], ["company"], ["people"]], [["nick"], [], []]])
    #expect(ada.changedValuesForCurrentEvent().isEmpty)
  }

  /// The properties that each of some objects names as changed in the current event, at each notification of changed objects.
  private final class CurrentEvents: @unchecked Sendable {
    private(set) var heard: [[[String]]] = []
    private var token: (any NSObjectProtocol)?

    init(_ objects: [ManagedObject], of context: ManagedObjectContext, _ then: @escaping ([[String]]) -> Void)
    {
      nonisolated(unsafe) let (objects, then) = (objects, then)
      token = NotificationCenter.default.addObserver(
        forName: .managedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [weak self] _ in
        let changes = objects.map { $0.changedValuesForCurrentEvent().keys.sorted() }
        self?.heard.append(changes)
        then(changes)
      }
    }

    deinit { token.map(NotificationCenter.default.removeObserver) }
  }

  // OBJ-10
  @Test func `the description of an object shows its values, and loads nothing`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", age: 36, in: company)
    #expect(person.description.contains("(age: 36, clubs: not loaded"))
    #expect(person.description.contains("name: \"Ada\", nick: nil"))
    try context.save()
    context.reset()
    let found = try #require(try context.fetch(Company.self).first)
    #expect(found.description.hasSuffix(", fault"))
    #expect(found.isFault)
    _ = found.name
    #expect(found.description.contains("people: not loaded"))
    #expect(found.hasFault(forRelationshipNamed: "people"))
  }
}

@Suite struct `Sequences of a context` {
  // NOT-13, NOT-14
  @Test func `saves, changes and merges come as sequences, and end with the context`() async throws {
    let container = try makeContainer()
    var saved: [ObjectIDChanges] = []
    var changed = 0
    let streams: (AsyncStream<ObjectIDChanges>, AsyncStream<ObjectIDChanges>) = try {
      let context = container.newBackgroundContext()
      let streams = (context.saves, context.objectChanges)
      let person = context.makePerson("Ada")
      try context.save()
      person.age = 2
      try context.save()
      context.reset()
      return streams
    }()
    for await save in streams.0 { saved.append(save) }
    for await _ in streams.1 { changed += 1 }
    #expect(saved.map(\.insertedObjectIDs.count) == [1, 0])
    #expect(saved.map(\.updatedObjectIDs.count) == [0, 1])
    #expect(saved.allSatisfy { $0.queryGeneration != nil })
    #expect(changed == 3)
  }
}

@Suite struct `Committed values` {
  // OBJ-22, T10
  @Test func `to-many relationships are among the committed values if they are loaded or named`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", in: company)
    try context.save()
    context.reset()
    let found = try #require(try context.fetch(Company.self).first)
    #expect(found.committedValues(forKeys: nil)["people"] == nil)
    #expect(found.hasFault(forRelationshipNamed: "people"))
    #expect(found.committedValues(forKeys: ["people"])["people"] as? [ManagedObjectID] == [person.objectID])
    found.people = []
    #expect(found.committedValues(forKeys: nil)["people"] as? [ManagedObjectID] == [person.objectID])
    #expect(found.committedValues(forKeys: ["name"]).keys.sorted() == ["name"])
  }

  // QGN-05, T63
  @Test func `a child context has no query generation of its own`() throws {
    let root = try makeContainer().newBackgroundContext()
    _ = root.makePerson("Ada")
    try root.save()
    let child = ManagedObjectContext(.privateQueue, parent: root)
    #expect(throws: HeartwoodError.self) { try child.setQueryGenerationFrom(.current) }
    try root.setQueryGenerationFrom(.current)
    #expect(child.queryGenerationToken == nil)
    #expect(try child.count(Person.self) == 1)
  }
}
