import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Saving` {
  // T30
  @Test func `a saved object has a permanent identifier and is found again`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada", age: 36)
    let before = person.objectID
    #expect(before.isTemporaryID)
    try context.save()
    #expect(!person.objectID.isTemporaryID)
    #expect(person.objectID != before)
    #expect(try context.fetch(Person.self).map(\.name) == ["Ada"])
    #expect(!context.hasChanges)
  }

  @Test func `setting a value to its old value is a change that writes nothing`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    let transactions = try container.history().count
    person.name = "Ada"
    #expect(person.hasChanges)
    #expect(!person.hasPersistentChangedValues)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try container.history().count == transactions)
  }

  @Test func `an object that is inserted and deleted before a save leaves no trace`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    context.delete(person)
    try context.save()
    #expect(try context.count(for: FetchRequest<Person>()) == 0)
    #expect(try container.history().isEmpty)
    #expect(context.deletedObjects.isEmpty)
  }

  // T13
  @Test func `a save without changes makes no transaction`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    try context.save()
    #expect(try container.history().isEmpty)
  }

  @Test func `a failed save leaves the context as it was and usable`() throws {
    let context = try makeContainer().newBackgroundContext()
    let saved = context.makeCompany("A")
    try context.save()
    let twin = context.makeCompany("A")
    let other = context.makePerson("Ada", in: twin)
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    let conflict = try #require(error?.constraintConflicts.first)
    #expect(conflict.constraint == ["code"])
    #expect(conflict.constraintValues.map { "\($0)" } == ["A"])
    #expect(conflict.databaseObjectID == saved.objectID)
    #expect(conflict.conflictingObjects == [twin])
    #expect(context.insertedObjects == [twin, other])
    #expect(twin.objectID.isTemporaryID)
    #expect(other.company === twin)
    twin.code = "B"
    try context.save()
    #expect(try context.count(for: FetchRequest<Company>()) == 2)
    #expect(twin.people == [other])
  }

  @Test func `new objects with one value of a constraint conflict with one another`() throws {
    let context = try makeContainer().newBackgroundContext()
    let twins: Set = [context.makeCompany("A"), context.makeCompany("A"), context.makeCompany("A")]
    _ = context.makeCompany("B")
    let error = heartwoodError { try context.save() }
    let conflict = try #require(error?.constraintConflicts.first)
    #expect(error?.constraintConflicts.count == 1)
    #expect(conflict.databaseObjectID == nil)
    #expect(Set(conflict.conflictingObjects) == twins)
    #expect(error?.message.contains(#"several unsaved objects have code = "A""#) == true)
  }

  @Test func `two edits of one row conflict, and neither context loses anything`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let second = container.newBackgroundContext()
    let person = first.makePerson("Ada", age: 1)
    try first.save()
    let same = try #require(try second.existingObject(with: person.objectID) as? Person)
    person.age = 2
    same.name = "Eve"
    try first.save()
    let error = heartwoodError { try second.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.first?.oldVersionNumber == 1)
    #expect(error?.mergeConflicts.first?.newVersionNumber == 2)
    #expect(same.name == "Eve")
    #expect(second.hasChanges)
    second.refresh(same, mergeChanges: true)
    #expect(same.age == 2)
    #expect(same.name == "Eve")
    try second.save()
    first.refreshAllObjects()
    #expect(person.name == "Eve")
  }

  // T52
  @Test func `an unchanged object that is watched makes a save fail when its row has changed`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let second = container.newBackgroundContext()
    let ada = first.makePerson("Ada")
    let eve = first.makePerson("Eve")
    try first.save()
    let watched = try second.existingObject(with: ada.objectID)
    let edited = try #require(try second.existingObject(with: eve.objectID) as? Person)
    second.detectConflicts(for: watched)
    edited.age = 3
    ada.age = 4
    try first.save()
    #expect(heartwoodError { try second.save() }?.code == .managedObjectMerge)
    second.refresh(watched, mergeChanges: false)
    try second.save()
    first.refreshAllObjects()
    #expect(eve.age == 3)
  }

  @Test func `a row that another context has deleted is a conflict with version 0`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let second = container.newBackgroundContext()
    let person = first.makePerson("Ada")
    try first.save()
    let same = try #require(try second.existingObject(with: person.objectID) as? Person)
    same.age = 9
    first.delete(person)
    try first.save()
    let error = heartwoodError { try second.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.mergeConflicts.first?.newVersionNumber == 0)
  }

  @Test func `deleting an object in both contexts is no conflict`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let second = container.newBackgroundContext()
    let person = first.makePerson("Ada")
    try first.save()
    let same = try second.existingObject(with: person.objectID)
    first.delete(person)
    second.delete(same)
    try first.save()
    try second.save()
    #expect(try second.count(for: FetchRequest<Person>()) == 0)
  }

  @Test func `a reference to a row that was deleted meanwhile is refused`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let second = container.newBackgroundContext()
    let company = first.makeCompany("A")
    try first.save()
    let same = try #require(try second.existingObject(with: company.objectID) as? Company)
    _ = second.makePerson("Ada", in: same)
    first.delete(company)
    try first.save()
    #expect(heartwoodError { try second.save() }?.code == .managedObjectMerge)
  }

  // T31
  @Test func `permanent identifiers can be obtained before the save, and a rollback drops the object`() throws
  {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ada", in: company)
    try context.obtainPermanentIDs(for: [company, person])
    #expect(!company.objectID.isTemporaryID)
    #expect(company.isInserted)
    #expect(company.people == [person])
    let id = company.objectID
    try context.save()
    #expect(company.objectID == id)
    #expect(person.company === company)
    let other = context.makeCompany("B")
    try context.obtainPermanentIDs(for: [other])
    context.rollback()
    #expect(other.managedObjectContext == nil)
    #expect(throws: HeartwoodError.self) { try context.existingObject(with: other.objectID) }
  }
}
