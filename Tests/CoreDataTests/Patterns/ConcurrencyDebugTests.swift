import CoreData
import Testing

@Suite struct `Use of contexts outside of their queues` {
  /// A context whose queue has been used, and an object of it.
  private static func idle() throws -> (context: NSManagedObjectContext, object: Author) {
    let context = try Library.makeContainer().newBackgroundContext()
    let author = try context.performAndWait {
      let author = Author(name: "A", context: context)
      try context.save()
      return author
    }
    return (context, author)
  }

  @Test func `an object of an idle context is read and set outside of perform`() throws {
    for make in [
      { NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) },
      { NSManagedObjectContext(.privateQueue) },
    ] as [() -> NSManagedObjectContext] {
      let context = make()
      context.persistentStoreCoordinator = try Library.makeContainer().persistentStoreCoordinator
      let author = context.performAndWait { Author(name: "A", context: context) }
      #expect(author.name == "A" && author.value(forKey: "name") as? String == "A")
      author.name = "B"
      try context.save()
      #expect(try context.count(for: NSFetchRequest<Author>(entityName: "Author")) == 1)
    }
  }

  @Test func `the user default of Apple's argument makes it an error`() async {
    await #expect(processExitsWith: .failure) {
      UserDefaults.standard.set(true, forKey: "com.apple.CoreData.ConcurrencyDebug")
      let (context, author) = try Self.idle()
      context.performAndWait { precondition(author.name == "A") }
      _ = author.name
    }
    await #expect(processExitsWith: .success) {
      UserDefaults.standard.set(false, forKey: "com.apple.CoreData.ConcurrencyDebug")
      let (_, author) = try Self.idle()
      _ = author.name
    }
  }

  @Test func `children of a context of the main queue merge while the main thread saves it`() async throws {
    // No run loop takes the blocks of the main queue in this process: another thread runs them.
    await #expect(processExitsWith: .success) { @MainActor in
      let container = try Library.makeContainer()
      let view = container.viewContext
      let children = (0..<3).map { _ in
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = view
        child.automaticallyMergesChangesFromParent = true
        return child
      }
      let author = Author(name: "0", context: view)
      try view.save()
      let id = author.objectID
      let copies = try children.map { child in
        try child.performAndWait { try child.existingObject(with: id) as? Author }
      }
      for number in 1...200 {
        author.name = "\(number)"
        try view.save()
      }
      for (child, copy) in zip(children, copies) {
        child.performAndWait { precondition(copy?.name == "200") }
      }
    }
  }
}
