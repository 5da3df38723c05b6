import CoreData
import Foundation
import Testing

/// Uses of contexts, as applications write them.
@Suite struct `Patterns over contexts` {
  let container: NSPersistentContainer
  init() throws { container = try Library.makeContainer() }

  @Test func `a child context edits, and its parent takes the changes at its save`() throws {
    let parent = container.newBackgroundContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: child) as! Author
      author.name = "Child"
      try child.obtainPermanentIDs(for: [author])
      try child.save()
    }
    try parent.performAndWait {
      let names = try parent.fetch(Author.fetchRequest()).map(\.name)
      #expect(names == ["Child"])
      #expect(parent.hasChanges)
      try parent.save()
    }
  }

  @Test func `saves are merged from notifications, and by their identifiers`() throws {
    let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
    let id = try first.performAndWait { () -> NSManagedObjectID in
      let author = Author(name: "Old", context: first)
      try first.save()
      return author.objectID
    }
    let known = second.performAndWait { second.object(with: id) as? Author }
    second.performAndWait { #expect(known?.name == "Old") }
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: first, queue: nil
    ) { notification in
      second.performAndWait { second.mergeChanges(fromContextDidSave: notification) }
      #expect((notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try first.performAndWait {
      (try first.existingObject(with: id) as? Author)?.name = "New"
      try first.save()
    }
    second.performAndWait { #expect(known?.name == "New") }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [second])
    let uri = id.uriRepresentation()
    #expect(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) == id)
  }

  @Test func `a conflict is an error by default, and is resolved by a policy`() throws {
    let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
    let id = try first.performAndWait { () -> NSManagedObjectID in
      let author = Author(name: "Base", context: first)
      try first.save()
      return author.objectID
    }
    second.performAndWait {
      (second.object(with: id) as? Author)?.name = "Second"
    }
    try first.performAndWait {
      (try first.existingObject(with: id) as? Author)?.name = "First"
      try first.save()
    }
    try second.performAndWait {
      do {
        try second.save()
        Issue.record("the save should meet the conflict")
      } catch let error as CocoaError {
        #expect(error.code == .managedObjectMerge)
        #expect((error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.count == 1)
      }
      second.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      try second.save()
      #expect((second.object(with: id) as? Author)?.name == "Second")
    }
  }

  @Test func `a unique value is updated in place of an insert`() throws {
    let context = container.newBackgroundContext()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      for _ in 0..<2 {
        let reader = Reader(context: context)
        reader.email = "a@example.org"
        try context.save()
      }
      let count = try context.count(for: NSFetchRequest<Reader>(entityName: "Reader"))
      #expect(count == 1)
    }
  }

  @Test func `async functions of contexts give their results and errors`() async throws {
    struct Refused: Error {}
    let context = container.newBackgroundContext()
    let name = try await context.perform { () throws -> String in
      let author = Author(name: "Async", context: context)
      try context.save()
      return author.name
    }
    #expect(name == "Async")
    let count = await context.perform { context.registeredObjects.count }
    #expect(count >= 0)
    await #expect(throws: Refused.self) { try await context.perform { throw Refused() } }
    let names = try await container.performBackgroundTask { context in
      try context.fetch(NSFetchRequest<Author>(entityName: "Author")).map(\.name)
    }
    #expect(names == ["Async"])
  }

  @Test func `rollback and reset drop what was not saved`() throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let author = Author(name: "Saved", context: context)
      try context.save()
      author.name = "Unsaved"
      #expect(author.changedValues()["name"] as? String == "Unsaved")
      #expect(author.committedValues(forKeys: ["name"])["name"] as? String == "Saved")
      context.rollback()
      #expect(author.name == "Saved")
      context.delete(author)
      #expect(context.deletedObjects == [author])
      context.reset()
      let count = try context.count(for: Author.fetchRequest())
      #expect(count == 1)
      context.userInfo["key"] = 1
      #expect(context.userInfo["key"] as? Int == 1)
    }
  }

  @Test func `a double of a context sees the calls that a program makes through its base class`() throws {
    let double = ContextDouble(concurrencyType: .privateQueueConcurrencyType)
    double.persistentStoreCoordinator = container.persistentStoreCoordinator
    let context: NSManagedObjectContext = double
    let author = context.performAndWait { Author(name: "One", context: context) }
    context.performAndWait { author.name = "Two" }
    #expect(context.hasChanges)
    let done = DispatchSemaphore(value: 0)
    context.perform { done.signal() }
    done.wait()
    context.performAndWait { context.rollback() }
    #expect(!context.hasChanges)
    context.performAndWait { context.reset() }
    #expect(
      double.calls == ["performAndWait", "perform", "performAndWait", "rollback", "performAndWait", "reset"])
  }
}

private final class ContextDouble: NSManagedObjectContext, @unchecked Sendable {
  var calls: [String] = []
  override func perform(_ block: @escaping () -> Void) {
    calls.append("perform")
    super.perform(block)
  }
  override func performAndWait(_ block: () -> Void) {
    calls.append("performAndWait")
    super.performAndWait(block)
  }
  override func rollback() {
    calls.append("rollback")
    super.rollback()
  }
  override func reset() {
    calls.append("reset")
    super.reset()
  }
}
