import CoreData
import Testing

// The operators are what the plugin makes of `as!`, `as?` and `is`.
@Suite struct `Casts of requests and controllers` {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init() throws {
    container = try Library.makeContainer()
    context = container.newBackgroundContext()
    try context.performAndWait { [context] in
      for name in ["A", "B", "C"] { _ = Author(name: name, context: context) }
      try context.save()
    }
  }

  @Test func `a request is one for any results, for objects, and for its class again`() throws {
    try context.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      let any = request ~~>! NSFetchRequest<any NSFetchRequestResult>.self
      let found = any ~~>? NSFetchRequest<NSManagedObject>.self
      let objects = try #require(found)
      let authors = objects ~~>! NSFetchRequest<Author>.self
      let again = request ~~>! NSFetchRequest<Author>.self
      #expect(again === request && any == request)
      let isOfBooks = any ~~>~ NSFetchRequest<Book>.self
      #expect(isOfBooks)
      objects.predicate = NSPredicate(format: "name > %@", "A")
      authors.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      #expect(try context.fetch(request).map(\.name) == ["C", "B"])
      #expect(try context.fetch(any).count == 2)
      #expect(try context.fetch(objects).map { $0.value(forKey: "name") as? String } == ["C", "B"])
      let copy = request.copy() as? NSFetchRequest<Author>
      copy?.predicate = nil
      #expect(request.predicate != nil && copy?.sortDescriptors?.count == 1)
    }
  }

  @Test func `what is no request is none after a cast either`() {
    let other: Any? = "text"
    let text = other ~~>? NSFetchRequest<Author>.self
    let isText = other ~~>~ NSFetchRequest<Author>.self
    #expect(text == nil && !isText)
    let none: NSFetchRequest<Author>? = nil
    let nothing = none ~~>? NSFetchRequest<NSManagedObject>.self
    let missing = none ~~>! NSFetchRequest<NSManagedObject>?.self
    #expect(nothing == nil && missing == nil)
  }

  @Test func `a request of the class method is one for the class`() throws {
    try context.performAndWait {
      let any: NSFetchRequest<any NSFetchRequestResult> = Author.fetchRequest()
      let authors = any ~~>! NSFetchRequest<Author>.self
      authors.fetchLimit = 2
      let found = try context.fetch(authors)
      #expect(found.count == 2 && any.fetchLimit == 2)
    }
  }

  @Test func `batch deletes and fetches in the background take such requests`() async throws {
    let request: NSFetchRequest<Author> = Author.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", "B")
    let asynchronous = NSAsynchronousFetchRequest(
      fetchRequest: request ~~>! NSFetchRequest<any NSFetchRequestResult>.self)
    let (sentRequest, context) = (UncheckedBox(asynchronous), context)
    let found: Int = await withCheckedContinuation { continuation in
      let given = NSAsynchronousFetchRequest(fetchRequest: sentRequest.value.fetchRequest) { result in
        continuation.resume(returning: result.finalResult?.count ?? -1)
      }
      let sent = UncheckedBox(given)
      context.perform { _ = try? context.execute(sent.value) }
    }
    #expect(found == 1)
    try context.performAndWait {
      let delete = NSBatchDeleteRequest(
        fetchRequest: request ~~>! NSFetchRequest<any NSFetchRequestResult>.self)
      delete.resultType = .resultTypeCount
      let result = try context.execute(delete) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 1)
      request.predicate = nil
      // Without a cast, too, where the type of results is known.
      let rest = NSBatchDeleteRequest(fetchRequest: request)
      rest.resultType = .resultTypeObjectIDs
      let deleted = (try context.execute(rest) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
      #expect(deleted?.count == 2)
    }
  }

  @Test func `a fetch in the background has a progress, and is cancelled`() async throws {
    let context = context
    let ended: (isCancelled: Bool, progress: Double?) = await withCheckedContinuation { continuation in
      context.perform {
        let request = NSAsynchronousFetchRequest(
          fetchRequest: Author.fetchRequest() as NSFetchRequest<Author>
        ) { result in
          let code = (result.operationError as? CocoaError)?.code
          continuation.resume(returning: (code == .userCancelled, result.progress?.fractionCompleted))
        }
        request.estimatedResultCount = 3
        let result = try? context.execute(request) as? NSAsynchronousFetchResult<Author>
        #expect(result?.progress?.totalUnitCount == 3)
        result?.cancel()
      }
    }
    #expect(ended.isCancelled && ended.progress == 1)
  }

  @Test func `a delegate's controller is the one of its class`() throws {
    final class Delegate: NSFetchedResultsControllerDelegate {
      var names: [String] = []
      weak var controller: NSFetchedResultsController<Author>?
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        #expect(controller === self.controller)
        let authors = controller ~~>! NSFetchedResultsController<Author>.self
        names = authors.fetchedObjects?.map(\.name) ?? []
        let objects = controller ~~>? NSFetchedResultsController<NSManagedObject>.self
        #expect(objects?.fetchedObjects?.count == names.count)
      }
    }
    try context.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      delegate.controller = controller
      controller.delegate = delegate
      try controller.performFetch()
      _ = Author(name: "D", context: context)
      context.processPendingChanges()
      #expect(delegate.names == ["A", "B", "C", "D"])
      // An empty list of descriptors is any order; none at all is an error.
      request.sortDescriptors = []
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 4)
      request.sortDescriptors = nil
      #expect(throws: (any Error).self) { try controller.performFetch() }
    }
  }
}

/// A value that crosses to another queue in a test.
struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
