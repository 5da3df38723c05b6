import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// An object that keeps a list of its callbacks.
final class Tracked: ManagedObject {
  @Attribute var title = ""
  @Attribute var stamp: Int64 = 0
  @Relationship(inverse: { $0.parent }, deleteRule: .cascade) var children: Set<Tracked>
  @Relationship(inverse: { $0.children }) var parent: Tracked?
  var calls: [String] = []
  var onWillSave: (Tracked) -> Void = { _ in }
  var onPrepareForDeletion: (Tracked) -> Void = { _ in }

  override func awakeFromInsert() {
    calls.append("awakeFromInsert")
    title = "new"
  }
  override func awakeFromFetch() {
    calls.append("awakeFromFetch")
    stamp = -1
  }
  override func awake(fromSnapshotEvents flags: SnapshotEventType) {
    calls.append("snapshot \(flags.rawValue)")
  }
  override func prepareForDeletion() {
    calls.append("prepareForDeletion")
    onPrepareForDeletion(self)
  }
  override func willSave() {
    calls.append("willSave")
    onWillSave(self)
  }
  override func didSave() { calls.append(isDeleted ? "didSave of a delete" : "didSave") }
  override func willTurnIntoFault() { calls.append("willTurnIntoFault \(title)") }
  override func didTurnIntoFault() { calls.append("didTurnIntoFault") }
}

@Suite struct `The life cycle of objects` {
  private func makeContext() throws -> ManagedObjectContext {
    try PersistentContainer(name: "Tracked", types: [Tracked.self], at: URL(fileURLWithPath: "/dev/null"))
      .newBackgroundContext()
  }

  // OBJ-23, CTX-08
  @Test func `awakeFromInsert is called once, also for an object that was made without a context`() throws {
    let context = try makeContext()
    let direct = Tracked(context: context)
    #expect(direct.calls == ["awakeFromInsert"])
    let free = Tracked(entity: direct.entity, insertInto: nil)
    #expect(free.calls.isEmpty)
    context.insert(free)
    #expect(free.calls == ["awakeFromInsert"])
    #expect(free.title == "new" && free.isInserted && free.objectID.isTemporaryID)
    context.insert(free)
    #expect(free.calls.count == 1)
  }

  // OBJ-24
  @Test func `a property that awakeFromFetch sets does not mark the object as changed`() throws {
    let context = try makeContext()
    _ = Tracked(context: context)
    try context.save()
    context.reset()
    let object = try #require(try context.fetch(Tracked.self).first)
    #expect(object.title == "new")
    #expect(object.calls == ["awakeFromFetch"])
    #expect(object.stamp == -1)
    #expect(!object.hasChanges && !context.hasChanges)
  }

  // OBJ-27, OBJ-28
  @Test func `willSave and didSave are called once for each object of a save`() throws {
    let context = try makeContext()
    let object = Tracked(context: context)
    let child = Tracked(context: context)
    try context.save()
    #expect(object.calls == ["awakeFromInsert", "willSave", "didSave"])
    object.title = "edited"
    context.delete(child)
    try context.save()
    #expect(object.calls.suffix(2) == ["willSave", "didSave"])
    #expect(child.calls.suffix(3) == ["prepareForDeletion", "willSave", "didSave of a delete"])
  }

  // OBJ-27; findings: rounds of willSave look at edits only
  @Test func `an object that a willSave inserts or deletes gets its own willSave`() throws {
    let context = try makeContext()
    let object = Tracked(context: context)
    let doomed = Tracked(context: context)
    try context.save()
    var made: Tracked?
    object.onWillSave = { _ in if made == nil { made = Tracked(context: context) } }
    object.title = "edited"
    try context.save()
    #expect(made?.calls == ["awakeFromInsert", "willSave", "didSave"])
    object.onWillSave = { _ in context.delete(doomed) }
    object.title = "edited again"
    try context.save()
    #expect(doomed.calls.suffix(3) == ["prepareForDeletion", "willSave", "didSave of a delete"])
    #expect(try context.count(Tracked.self) == 2)
  }

  // T05
  @Test
  func `a willSave that always changes a value ends in an error, one that compares first runs at most twice`()
    throws
  {
    let context = try makeContext()
    let object = Tracked(context: context)
    object.onWillSave = { $0.stamp += 1 }
    #expect(heartwoodError { try context.save() }?.code == .coreData)
    object.calls = []
    object.onWillSave = { if $0.stamp != 7 { $0.stamp = 7 } }
    try context.save()
    #expect(object.calls == ["willSave", "willSave", "didSave"])
    #expect(object.stamp == 7)
  }

  // T25, OBJ-26; findings: prepareForDeletion of two objects that delete each other
  @Test func `two objects that delete each other in prepareForDeletion are both deleted`() throws {
    let context = try makeContext()
    let (left, right) = (Tracked(context: context), Tracked(context: context))
    try context.save()
    left.onPrepareForDeletion = { _ in context.delete(right) }
    right.onPrepareForDeletion = { _ in context.delete(left) }
    context.delete(left)
    #expect(context.deletedObjects == [left, right])
    try context.save()
    #expect(try context.count(Tracked.self) == 0)
  }

  // OBJ-29
  @Test func `values can be read before an object turns into a fault, and are gone after it`() throws {
    let context = try makeContext()
    let object = Tracked(context: context)
    try context.save()
    object.calls = []
    context.refresh(object, mergeChanges: false)
    #expect(object.calls == ["willTurnIntoFault new", "didTurnIntoFault"])
    #expect(object.isFault)
  }

  // OBJ-25
  @Test func `rollback and refresh wake the object from a snapshot`() throws {
    let context = try makeContext()
    let object = Tracked(context: context)
    try context.save()
    object.title = "edited"
    object.calls = []
    context.refresh(object, mergeChanges: true)
    #expect(object.calls == ["snapshot 32"])
    #expect(object.title == "edited")
    context.rollback()
    #expect(object.calls == ["snapshot 32", "snapshot 16"])
    #expect(object.title == "new")
  }

  // Findings: insert(_:) of a deleted object, of one whose delete was saved
  @Test func `an object that is deleted and inserted again keeps its edits, and they are saved`() throws {
    let context = try makeContext()
    let object = Tracked(context: context)
    try context.save()
    object.title = "edited"
    context.delete(object)
    context.insert(object)
    #expect(object.isUpdated && !object.isDeleted)
    try context.save()
    context.reset()
    #expect(try context.fetch(Tracked.self).map(\.title) == ["edited"])
  }

  @Test func `an object whose delete was saved is inserted as a new one, with its attributes only`() throws {
    let context = try makeContext()
    let (parent, child) = (Tracked(context: context), Tracked(context: context))
    child.parent = parent
    child.title = "kept"
    try context.save()
    context.delete(parent)
    try context.save()
    #expect(child.managedObjectContext == nil)
    context.insert(child)
    #expect(child.isInserted && child.objectID.isTemporaryID)
    child.title = "kept"
    #expect(child.parent == nil)
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Tracked.self).first)
    #expect(again.title == "kept" && again.parent == nil)
  }
}

@Suite struct `Refreshing` {
  // CTX-22, CTX-28; findings: refresh of a row that is gone
  @Test func `refreshing an unchanged object whose row was deleted elsewhere makes it a deleted one`() throws
  {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let person = here.makePerson("Ada")
    try here.save()
    there.delete(there.object(with: person.objectID))
    try there.save()
    here.refresh(person, mergeChanges: true)
    #expect(person.isDeleted)
    #expect(person.name == "Ada")
    #expect(try here.fetch(Person.self).isEmpty)
    try here.save()
    #expect(person.managedObjectContext == nil)
  }

  // Findings: refresh of a new object that has a permanent identifier
  @Test func `refreshing a new object with a permanent identifier keeps its values`() throws {
    let context = try makeContainer().newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.obtainPermanentIDs(for: [person])
    context.refresh(person, mergeChanges: false)
    context.refresh(person, mergeChanges: true)
    #expect(person.name == "Ada" && person.isInserted)
    try context.save()
    context.reset()
    #expect(try context.fetch(Person.self).map(\.name) == ["Ada"])
  }

  // CTX-21, T35; findings: refresh takes back one side only
  @Test func `discarding an object's changes takes them back on both sides of its relationships`() throws {
    let context = try makeContainer().newBackgroundContext()
    let (left, right) = (context.makeCompany("A"), context.makeCompany("B"))
    let person = context.makePerson("Ada", in: left)
    let club = Club(context: context)
    try context.save()
    person.company = right
    person.clubs.insert(club)
    context.refresh(person, mergeChanges: false)
    #expect(person.isFault)
    #expect(left.people == [person] && right.people.isEmpty && club.members.isEmpty)
    #expect(person.company === left && person.clubs.isEmpty)
    let before = try #require(context.persistentStoreCoordinator?.currentPersistentHistoryToken())
    try context.save()
    #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken() == before)
  }

  // CTX-40; findings: a fault that is fetched again keeps its old row
  @Test func `a fault that is fetched again shows the row of the second fetch`() throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let id: ManagedObjectID = try {
      let person = there.makePerson("Ada")
      try there.save()
      return person.objectID
    }()
    let found = try here.fetch(Person.self)
    let mine = try #require(there.object(with: id) as? Person)
    mine.name = "Bea"
    try there.save()
    let again = try here.fetch(Person.self, where: { $0.name == "Bea" })
    #expect(again == found)
    #expect(again.first?.name == "Bea")
  }

  // CTX-36; findings: unheld objects stay
  @Test func `an object that the program no longer references is read again`() throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let other = there.makePerson("Ada")
    try there.save()
    #expect(try here.fetch(Person.self).map(\.name) == ["Ada"])
    other.name = "Bea"
    try there.save()
    #expect(try here.fetch(Person.self).map(\.name) == ["Bea"])
    let held = try here.fetch(Person.self)
    #expect(held.first?.name == "Bea")
    other.name = "Cid"
    try there.save()
    #expect(try here.fetch(Person.self).map(\.name) == ["Bea"])
    #expect(held.first?.name == "Bea")
  }

  // PSC-04; findings: a context outlives its store
  @Test func `a context whose store is replaced by another forgets the objects of the former`() throws {
    let container = try makeContainer()
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let person = context.makePerson("Ada")
    try context.save()
    person.name = "Bea"
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    #expect(throws: HeartwoodError.self) { try context.save() }
    try coordinator.addPersistentStore(with: PersistentStoreDescription())
    let second = container.newBackgroundContext()
    _ = second.makePerson("Zoe")
    try second.save()
    #expect(try context.fetch(Person.self).map(\.name) == ["Zoe"])
    #expect(person.managedObjectContext == nil)
    try context.save()
    #expect(try container.newBackgroundContext().fetch(Person.self).map(\.name) == ["Zoe"])
  }

  // CTX-34, T26
  @Test func `a context may decide what becomes of an inaccessible fault`() throws {
    final class Strict: ManagedObjectContext, @unchecked Sendable {
      var asked: [ManagedObjectID] = []
      override func shouldHandleInaccessibleFault(
        _ fault: ManagedObject, for objectID: ManagedObjectID,
        triggeredByProperty property: PropertyDescription?
      ) -> Bool {
        asked.append(objectID)
        return false
      }
    }
    let container = try makeContainer()
    let other = container.newBackgroundContext()
    let person = other.makePerson("Ada")
    try other.save()
    let context = Strict(.privateQueue, coordinator: container.persistentStoreCoordinator)
    let fault = try #require(context.object(with: person.objectID) as? Person)
    other.delete(person)
    try other.save()
    #expect(fault.name == "")
    #expect(context.asked == [fault.objectID])
    #expect(heartwoodError { _ = try context.fetch(Person.self) }?.code == .managedObjectReferentialIntegrity)
    // T27
    context.reset()
    #expect(throws: HeartwoodError.self) { try context.existingObject(with: fault.objectID) }
    #expect(context.asked.count == 1)
  }
}
