import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct `Merging` {
  /// Two contexts with the same person, and what the second one's saves post.
  private struct Pair {
    let here: ManagedObjectContext
    let there: ManagedObjectContext
    let mine: Person
    let theirs: Person
    let posted: Heard

    init() throws {
      let container = try makeContainer()
      (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
      theirs = there.makePerson("Ada", age: 1, in: there.makeCompany("A"))
      try there.save()
      mine = try #require(here.object(with: theirs.objectID) as? Person)
      #expect(mine.age == 1)
      posted = Heard(there, .managedObjectContextDidSave)
    }

    func saveThereAndMerge() throws {
      try there.save()
      here.mergeChanges(fromContextDidSave: try #require(posted.notifications.last))
    }
  }

  /// The child's merge is behind the gate, which opens while the main thread does not return to its queue: it must not wait for it.
  @MainActor @Test func `the main thread can wait for a child that merges a save of its parent by itself`()
    async throws
  {
    let parent = try makeContainer().viewContext
    #expect(parent.concurrencyType == .mainQueue)
    // The main queue runs from now on.
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    let person = parent.makePerson("Ada", age: 1, in: parent.makeCompany("A"))
    try parent.save()
    try merge(person, into: ManagedObjectContext(.privateQueue, parent: parent))
  }

  private func merge(_ person: Person, into child: ManagedObjectContext) throws {
    child.automaticallyMergesChangesFromParent = true
    let copy = child.performAndWait { child.object(with: person.objectID) as? Person }
    #expect(child.performAndWait { copy?.age } == 1)
    let gate = DispatchSemaphore(value: 0)
    child.perform { gate.wait() }
    person.age = 2
    try person.managedObjectContext?.save()
    gate.signal()
    #expect(child.performAndWait { copy?.age } == 2)
  }

  // CTX-24, CTX-27
  @Test func `unsaved edits survive, and only properties that were not edited take new values`() throws {
    let pair = try Pair()
    pair.mine.nick = "mine"
    pair.theirs.age = 2
    try pair.saveThereAndMerge()
    #expect(pair.mine.age == 2 && pair.mine.nick == "mine" && pair.mine.isUpdated)
    try pair.here.save()
    pair.there.refresh(pair.theirs, mergeChanges: false)
    #expect(pair.theirs.age == 2 && pair.theirs.nick == "mine")
  }

  // CTX-27, T50
  @Test func `a property that both have changed keeps the unsaved value, and the save meets the conflict`()
    throws
  {
    let pair = try Pair()
    pair.mine.age = 10
    pair.theirs.age = 2
    pair.theirs.nick = "theirs"
    try pair.saveThereAndMerge()
    #expect(pair.mine.age == 10 && pair.mine.nick == "theirs")
    let conflict = try #require(heartwoodError { try pair.here.save() }?.mergeConflicts.first)
    #expect(conflict.sourceObject === pair.mine)
    #expect(conflict.objectSnapshot?["age"] as? Int64 == 1)
    #expect(conflict.persistedSnapshot?["age"] as? Int64 == 2)
    // T34: what is refreshed on purpose is no conflict any more.
    pair.here.refresh(pair.mine, mergeChanges: true)
    try pair.here.save()
    pair.there.refresh(pair.theirs, mergeChanges: false)
    #expect(pair.theirs.age == 10)
  }

  // MRG-10
  @Test func `equal edits on both sides are no conflict`() throws {
    let pair = try Pair()
    pair.mine.age = 2
    pair.theirs.age = 2
    try pair.saveThereAndMerge()
    try pair.here.save()
    #expect(pair.mine.age == 2)
  }

  // CTX-28, T57
  @Test func `an object that was deleted elsewhere becomes a deleted one that can be read`() throws {
    let pair = try Pair()
    pair.mine.nick = "mine"
    let changed = Heard(pair.here, .managedObjectContextObjectsDidChange)
    pair.here.processPendingChanges()
    pair.there.delete(pair.theirs)
    try pair.saveThereAndMerge()
    #expect(pair.mine.isDeleted && pair.mine.age == 1 && pair.mine.nick == "mine")
    #expect(changed.all.last?.deletedObjects == [pair.mine])
    #expect(try pair.here.fetch(Person.self).isEmpty)
    #expect(!pair.here.hasChanges && pair.here.deletedObjects.isEmpty)
    try pair.here.save()
    #expect(pair.mine.managedObjectContext == nil)
  }

  @Test func `a context that merges deletes of others releases the objects that nothing else references`()
    throws
  {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let posted = Heard(there, .managedObjectContextDidSave)
    weak var last: Person?
    var held: Person?
    for round in 0..<20 {
      let people = (0..<200).map { there.makePerson("\(round) \($0)") }
      try there.save()
      here.mergeChanges(fromContextDidSave: try #require(posted.notifications.last))
      last = here.object(with: people[0].objectID) as? Person
      if held == nil { held = last }
      people.forEach(there.delete)
      try there.save()
      here.mergeChanges(fromContextDidSave: try #require(posted.notifications.last))
      #expect(last?.isDeleted == true && !here.hasChanges)
    }
    #expect(here.registeredObjects.count < 2000)
    #expect(held?.isDeleted == true && held?.managedObjectContext === here)
    here.rollback()
  }

  @Test func `an undo of a delete that others have saved, too, inserts the object again`() throws {
    let pair = try Pair()
    pair.here.undoManager = UndoStack()
    pair.here.delete(pair.mine)
    pair.here.processPendingChanges()
    pair.there.delete(pair.theirs)
    try pair.saveThereAndMerge()
    pair.here.undo()
    #expect(!pair.mine.isDeleted && pair.mine.name == "Ada" && pair.mine.age == 1)
    try pair.here.save()
    #expect(try pair.there.fetch(Person.self).map { $0.company?.code } == ["A"])
    #expect(try pair.there.fetch(Person.self).map(\.objectID) == [pair.mine.objectID])
  }

  // CTX-24, T56
  @Test func `inserted objects come as faults, and objects that are not registered are passed over`() throws {
    let pair = try Pair()
    let changed = Heard(pair.here, .managedObjectContextObjectsDidChange)
    let merged = Heard(pair.here, .managedObjectContextDidMergeChangesObjectIDs)
    let new = pair.there.makePerson("Bea", in: pair.theirs.company)
    pair.theirs.company?.name = "B"
    try pair.saveThereAndMerge()
    let inserted = try #require(changed.all.last?.insertedObjects.first)
    #expect(inserted.objectID == new.objectID && inserted.isFault)
    let company = try #require(pair.theirs.company)
    #expect(pair.here.registeredObject(for: company.objectID) == nil)
    let identifiers = try #require(merged.notifications.first?.userInfo.map { ObjectIDChanges(userInfo: $0) })
    #expect(identifiers.updatedObjectIDs.contains(company.objectID))
    #expect(identifiers.insertedObjectIDs == [new.objectID])
  }

  // CTX-24, REL-05
  @Test
  func `a to-many that was loaded shows what others have added and removed, and keeps unsaved differences`()
    throws
  {
    let pair = try Pair()
    let company = try #require(pair.mine.company)
    #expect(company.people == [pair.mine])
    let unsaved = pair.here.makePerson("Cid", in: company)
    let new = pair.there.makePerson("Bea", in: pair.theirs.company)
    try pair.saveThereAndMerge()
    #expect(Set(company.people.map(\.objectID)) == [pair.mine.objectID, unsaved.objectID, new.objectID])
    try pair.here.save()
    #expect(try pair.here.count(Person.self, where: { $0.company.code == "A" }) == 3)
  }

  // CTX-25
  @Test func `changes by identifiers or URIs are merged into several contexts, children included`() throws {
    let pair = try Pair()
    let child = ManagedObjectContext(.privateQueue, parent: pair.here)
    let ours = try #require(child.object(with: pair.mine.objectID) as? Person)
    #expect(ours.age == 1)
    pair.theirs.age = 5
    try pair.there.save()
    let key = ManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [key: [pair.theirs.objectID.uriRepresentation()]], into: [child, pair.here])
    #expect(pair.mine.age == 5 && ours.age == 5)
  }

  // CTX-26
  @Test func `a context merges what others save by itself`() async throws {
    let container = try makeContainer()
    let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
    let id = try await there.perform {
      let person = there.makePerson("Ada", age: 1)
      try there.save()
      return person.objectID
    }
    here.automaticallyMergesChangesFromParent = true
    let mine = Held(
      try await here.perform { try Held(#require(here.existingObject(with: id) as? Person)) }.object)
    try await there.perform {
      (there.object(with: id) as? Person)?.age = 2
      try there.save()
    }
    #expect(await here.perform { mine.object.age } == 2)
    here.automaticallyMergesChangesFromParent = false
    try await there.perform {
      (there.object(with: id) as? Person)?.age = 3
      try there.save()
    }
    #expect(await here.perform { mine.object.age } == 2)
  }

  // CTX-26, CTX-44
  @Test func `a child merges what its parent and its siblings save by itself`() async throws {
    let root = try makeContainer().newBackgroundContext()
    let id = try await root.perform {
      let person = root.makePerson("Ada", age: 1)
      try root.save()
      return person.objectID
    }
    let (child, sibling) = (
      ManagedObjectContext(.privateQueue, parent: root), ManagedObjectContext(.privateQueue, parent: root)
    )
    child.automaticallyMergesChangesFromParent = true
    let mine = try await child.perform { try Held(#require(child.existingObject(with: id) as? Person)) }
    try await sibling.perform {
      (sibling.object(with: id) as? Person)?.age = 2
      try sibling.save()
    }
    #expect(await child.perform { mine.object.age } == 2)
    try await root.perform {
      (root.object(with: id) as? Person)?.age = 3
      try root.save()
    }
    #expect(await child.perform { mine.object.age } == 3)
  }

  // CTX-26, HIS-19
  @Test func `a context follows other coordinators of its store by one property`() async throws {
    let folder = try TemporaryFolder()
    let model = try ManagedObjectModel(types: companyTypes)
    func open(isApart: Bool) throws -> PersistentStoreCoordinator {
      let description = PersistentStoreDescription(url: folder.store)
      // An engine of its own, as another process has.
      if isApart { description.fileSystem = FaultInjectingFileSystem(base: PosixFileSystem()) }
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(with: description)
      return coordinator
    }
    let (reading, writing) = (try open(isApart: false), try open(isApart: true))
    let here = ManagedObjectContext(.privateQueue, coordinator: reading)
    let there = ManagedObjectContext(.privateQueue, coordinator: writing)
    let uri = try await there.perform {
      let person = there.makePerson("Ada", age: 1)
      try there.save()
      return person.objectID.uriRepresentation()
    }
    let id = try #require(reading.managedObjectID(forURIRepresentation: uri))
    let mine = try await here.perform { try Held(#require(here.existingObject(with: id) as? Person)) }
    here.automaticallyMergesRemoteChanges = true
    let merges = AsyncStream<Void>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: .managedObjectContextDidMergeChangesObjectIDs, object: here, queue: nil
    ) { _ in merges.continuation.yield() }
    defer { NotificationCenter.default.removeObserver(token) }
    try await there.perform {
      try there.fetch(Person.self).first?.age = 2
      try there.save()
    }
    var iterator = merges.stream.makeAsyncIterator()
    while await here.perform({ mine.object.age }) != 2 { await iterator.next() }
    #expect(await here.perform { mine.object.age } == 2)
    try reading.close()
    try writing.close()
  }

  @Test func `a row that others delete and insert again is shown again`() throws {
    let container = try makeContainer()
    let contexts = (0..<3).map { _ in container.newBackgroundContext() }
    let (context, deleting, editing) = (contexts[0], contexts[1], contexts[2])
    editing.mergePolicy = .mergeByPropertyObjectTrump
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    let edited = try #require(try editing.existingObject(with: person.objectID) as? Person)
    edited.age = 2
    let deletes = Heard(deleting, .managedObjectContextDidSave)
    deleting.delete(try deleting.existingObject(with: person.objectID))
    try deleting.save()
    context.mergeChanges(fromContextDidSave: try #require(deletes.notifications.last))
    #expect(person.isDeleted)
    let saves = Heard(editing, .managedObjectContextDidSave)
    try editing.save()
    context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
    #expect(!person.isDeleted && !context.hasChanges)
    #expect(try context.fetch(Person.self) == [person] && person.age == 2)
  }

  @Test(arguments: [false, true])
  func `what referred to an object that a batch has deleted refers to nothing after the merge`(isEdited: Bool)
    throws
  {
    let container = try makeContainer()
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (first, second) = (context.makeCompany("A"), context.makeCompany("B"))
    let (ada, bea) = (context.makePerson("Ada"), context.makePerson("Bea"))
    (ada.ranked, bea.ranked) = (first, second)
    try context.save()
    #expect(ada.ranked === first && bea.ranked === second)
    if isEdited { ada.age = 9 }
    let request = BatchDeleteRequest(fetchRequest: FetchRequest<Company>(where: { $0.name == "A" }))
    try other.execute(request, mergingInto: [context])
    #expect(first.isDeleted && ada.ranked == nil && bea.ranked === second)
    #expect(context.hasChanges == isEdited && (ada.age == 9) == isEdited)
    try context.save()
    #expect(ada.ranked == nil && first.managedObjectContext == nil)
    ada.name = "Eve"
    try context.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.count(Person.self, where: { $0.name == "Eve" && $0.ranked == nil }) == 1)
  }

  @Test(arguments: [false, true], ["rollback", "undo", "insert"])
  func `an object whose delete is taken back shows what others saved meanwhile`(isBatch: Bool, way: String)
    throws
  {
    let container = try makeContainer()
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let person = context.makePerson("Ada", age: 1)
    try context.save()
    if way == "undo" { context.undoManager = UndoStack() }
    context.delete(person)
    context.processPendingChanges()
    if isBatch {
      let request = BatchUpdateRequest(Person.self)
      request.set(\Person.age, to: 2)
      try other.execute(request, mergingInto: [context])
    } else {
      let saves = Heard(other, .managedObjectContextDidSave)
      try other.fetch(Person.self).first?.age = 2
      try other.save()
      context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
    }
    #expect(person.isDeleted)
    switch way {
    case "rollback": context.rollback()
    case "undo": context.undo()
    default: context.insert(person)
    }
    #expect(!person.isDeleted && person.age == 2 && person.changedValues().isEmpty)
    person.name = "Bea"
    try context.save()
    #expect(try other.fetch(Person.self, where: { $0.name == "Bea" && $0.age == 2 }).count == 1)
  }
}

/// An object for use on its context's queue only.
struct Held<Object: ManagedObject>: @unchecked Sendable {
  let object: Object
  init(_ object: Object) { self.object = object }
}
