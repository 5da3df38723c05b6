import CoreData
import Testing

@Suite struct `Results controllers of objects and dictionaries` {
  let context: NSManagedObjectContext

  init() throws {
    context = try Library.makeContainer().viewContext
    for (title, pages) in [("A", 1), ("A", 2), ("B", 3)] {
      let book = Book(context: context)
      book.title = title
      book.pages = Int32(pages)
    }
    try context.save()
    context.reset()
  }

  private func request<Result>(_ type: Result.Type, _ kind: NSFetchRequestResultType) -> NSFetchRequest<
    Result
  > {
    let request = NSFetchRequest<Result>(entityName: "Book")
    request.resultType = kind
    request.sortDescriptors = ["title", "pages"].map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }

  private func controller<Result: NSFetchRequestResult>(
    _ request: NSFetchRequest<Result>, _ section: String? = nil
  ) -> NSFetchedResultsController<Result> {
    NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section, cacheName: nil)
  }

  @Test func `a controller of dictionaries has them in sections, until it fetches again`() throws {
    let request = request(NSDictionary.self, .dictionaryResultType)
    request.propertiesToFetch = ["title", "pages"]
    let controller = controller(request, "title")
    #expect(controller.fetchedObjects == nil && controller.sections == nil)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.compactMap { $0["pages"] as? Int } == [1, 2, 3])
    #expect(
      controller.sections?.map { "\($0.name) \($0.numberOfObjects) \($0.indexTitle ?? "")" } == [
        "A 2 A", "B 1 B",
      ])
    #expect((controller.sections?[1].objects?.first as? NSDictionary)?["pages"] as? Int == 3)
    let place = IndexPath(indexes: [1, 0])
    let row = controller.object(at: place)
    #expect(row["title"] as? String == "B" && controller.indexPath(forObject: row) == place)
    #expect(controller.indexPath(forObject: NSDictionary()) == nil)
    #expect(controller.sectionIndexTitles == ["A", "B"])
    #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 1)
    let book = Book(context: context)
    book.title = "C"
    try context.save()
    #expect(controller.fetchedObjects?.count == 3)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.count == 4 && controller.sections?.count == 3)
  }

  @Test func `a controller refuses what it cannot give as its results`() throws {
    func refusal<Result: NSFetchRequestResult>(_ controller: NSFetchedResultsController<Result>) -> String? {
      do {
        try controller.performFetch()
        return nil
      } catch {
        return (error as NSError).localizedDescription
      }
    }
    let objects = controller(request(NSDictionary.self, .managedObjectResultType))
    #expect(refusal(objects)?.contains("is one of NSDictionary, and a result is Book") == true)
    #expect(objects.fetchedObjects == nil)
    #expect(
      refusal(controller(request(Author.self, .managedObjectResultType)))?.contains("is one of Author")
        == true)
    #expect(
      refusal(controller(request(Book.self, .dictionaryResultType)))?.contains("is one of Book") == true)
    #expect(
      refusal(controller(request(Book.self, .managedObjectIDResultType)))?.contains("ObjectIDResultType")
        == true)
    #expect(
      refusal(controller(request(NSNumber.self, .countResultType)))?.contains("NSCountResultType") == true)
    let scattered = request(NSDictionary.self, .dictionaryResultType)
    scattered.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
    scattered.propertiesToFetch = ["isRead", "title"]
    let book = Book(context: context)
    (book.title, book.pages) = ("A", 9)
    #expect(refusal(controller(scattered, "title"))?.contains("\"A\" are not together") == true)
    #expect(refusal(controller(scattered, "pages"))?.contains("propertiesToFetch: isRead, title") == true)
    scattered.sortDescriptors = nil
    #expect(refusal(controller(scattered))?.contains("needs a sort descriptor") == true)
    #expect(refusal(controller(request((any NSFetchRequestResult).self, .managedObjectResultType))) == nil)
  }

  @Test(arguments: [0, 2])
  func `objects are no faults where the request says so, also those that enter later`(
    batchSize: Int
  ) throws {
    let request = request(Book.self, .managedObjectResultType)
    (request.returnsObjectsAsFaults, request.fetchBatchSize) = (false, batchSize)
    let controller = controller(request)
    final class Follower: NSFetchedResultsControllerDelegate {}
    let follower = Follower()
    controller.delegate = follower
    try controller.performFetch()
    // Those of a batch are realised with their batch.
    if batchSize > 0 { for book in controller.fetchedObjects ?? [] { #expect(book.title != nil) } }
    #expect(controller.fetchedObjects?.map(\.isFault) == [false, false, false])
    let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    writer.persistentStoreCoordinator = context.persistentStoreCoordinator
    let added = try writer.performAndWait {
      let book = Book(context: writer)
      book.title = "Z"
      try writer.save()
      return book.objectID
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSInsertedObjectsKey: [added]], into: [context])
    #expect(controller.fetchedObjects?.map(\.isFault) == [false, false, false, false])
  }
}
