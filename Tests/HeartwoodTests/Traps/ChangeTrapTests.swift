import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Traps of change tracking and saving` {
  // T01
  @Test func `a value that a property has already is a change, and its save writes no version of the row`()
    throws
  {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (ada, bea) = (here.makePerson("Ada", age: 1), here.makePerson("Bea"))
    try here.save()
    let twin = try #require(there.existingObject(with: ada.objectID) as? Person)
    ada.name = "Ada"
    ada.company = nil
    bea.age = 2
    #expect(ada.hasChanges && here.hasChanges && !ada.hasPersistentChangedValues)
    try here.save()
    #expect(!ada.hasChanges)
    let changes = try #require(try container.history().last?.changes)
    #expect(changes.map(\.changedObjectID) == [bea.objectID])
    // Another version of the row would be a conflict here.
    twin.age = 7
    try there.save()
    #expect(try container.newBackgroundContext().count(Person.self, where: { $0.age == 7 }) == 1)
  }

  // T02
  @Test func `an object that is inserted and deleted before the save has no row, no history and no report`()
    throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let saved = Heard(context, .managedObjectContextDidSave)
    let company = context.makeCompany("A")
    let ada = context.makePerson("Ada", in: company)
    context.processPendingChanges()
    context.delete(ada)
    #expect(context.deletedObjects.isEmpty && !ada.isInserted)
    try context.save()
    #expect(saved.all.map(\.deletedObjects) == [[]] && saved.all.map(\.insertedObjects) == [[company]])
    #expect(
      try container.history().compactMap(\.changes).joined().map(\.changedObjectID) == [company.objectID])
    #expect(ada.managedObjectContext == nil && company.people.isEmpty)
    #expect(try container.newBackgroundContext().count(Person.self) == 0)
  }

  // T07
  @Test(arguments: ["validation", "row", "uniqueness", "reference"])
  func `a save that fails leaves changes, identifiers and undo as they were`(cause: String) throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (kept, owner) = (here.makeCompany("A"), here.makeCompany("B"))
    let (ada, bea) = (here.makePerson("Ada", age: 1, in: kept), here.makePerson("Bea", in: kept))
    House(context: here).owner = owner
    try here.save()
    let stack = UndoStack()
    here.undoManager = stack
    let new = here.makePerson("Cid", in: kept)
    here.processPendingChanges()
    ada.age = 5
    ada.company = owner
    here.delete(bea)
    switch cause {
    case "validation": here.delete(owner)
    case "row":
      (there.object(with: ada.objectID) as? Person)?.age = 9
      try there.save()
    case "uniqueness": _ = here.makeCompany("B")
    default:
      here.makePerson("Dot").company = kept
      there.delete(there.object(with: kept.objectID))
      try there.save()
    }
    here.processPendingChanges()
    let before = Snapshot(here, stack)
    for _ in 0..<2 {
      #expect(throws: HeartwoodError.self) { try here.save() }
      #expect(Snapshot(here, stack) == before)
    }
    #expect(new.isInserted && new.objectID.isTemporaryID && bea.isDeleted)
    while stack.canUndo { here.undo() }
    #expect(ada.age == 1 && ada.company === kept && !bea.isDeleted && kept.people == [ada, bea])
  }

  /// The state that a failed save must not change.
  private struct Snapshot: Equatable {
    let inserted, updated, deleted: Set<ManagedObjectID>
    let values: [ManagedObjectID: String]
    let undoCount: Int

    init(_ context: ManagedObjectContext, _ stack: UndoStack) {
      inserted = Set(context.insertedObjects.map(\.objectID))
      updated = Set(context.updatedObjects.map(\.objectID))
      deleted = Set(context.deletedObjects.map(\.objectID))
      let objects = context.registeredObjects.filter(\.hasChanges)
      values = Dictionary(
        uniqueKeysWithValues: objects.map { object in
          (
            object.objectID,
            object.changedValues().map { "\($0.key)=\(describe($0.value))" }.sorted().joined()
          )
        })
      undoCount = stack.undoCount
    }
  }
}

/// A value as text, without a set's random order.
private func describe(_ value: Any) -> String {
  switch value {
  case let objects as Set<ManagedObject>: "\(objects.map { "\($0.objectID)" }.sorted())"
  case let objects as [ManagedObject]: "\(objects.map(\.objectID))"
  case let object as ManagedObject: "\(object.objectID)"
  default: "\(value)"
  }
}
