import CoreData
import Foundation
import Testing

/// Uses of stores, batches and history, as applications write them.
@Suite struct `Patterns over stores` {
  let folder: URL
  let url: URL
  let container: NSPersistentContainer

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "patterns-\(UUID().uuidString)")
    url = folder.appending(path: "Library.sqlite")
    container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  func remove() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `a store that is open is found, and not opened again, by each path that leads to it`() throws {
    defer { try? remove() }
    let link = folder.appending(path: "link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    let coordinator = container.persistentStoreCoordinator
    for path in ["Library.sqlite", "link/Library.sqlite", "none/../link/./Library.sqlite"] {
      let url = folder.appending(path: path)
      #expect(coordinator.persistentStore(for: url) === coordinator.persistentStores[0], "\(path)")
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
      container.loadPersistentStores { _, _ in Issue.record("\(path) is opened again") }
    }
  }

  @Test(arguments: 0..<3)
  func `a store that another coordinator has open is destroyed by force only`(number: Int) throws {
    let force: Any = [true, NSNumber(value: true), 1][number]
    defer { try? FileManager.default.removeItem(at: folder) }
    let other = NSPersistentStoreCoordinator(managedObjectModel: container.managedObjectModel)
    let timeout = [NSPersistentStoreTimeoutOption: NSNumber(value: 0)]
    #expect {
      try other.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: timeout)
    } throws: { ($0 as NSError).code == NSPersistentStoreTimeoutError }
    try other.destroyPersistentStore(
      at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: force])
    let store = try other.addPersistentStore(type: .sqlite, at: url)
    try other.remove(store)
    #expect(throws: (any Error).self) {
      try other.destroyPersistentStore(
        at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: "yes"])
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
  func `a store that is open read-only refuses each change with an error`(type: String) throws {
    defer { try? remove() }
    let place = folder.appending(path: "ReadOnly")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: container.managedObjectModel)
    let written = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      coordinator.setMetadata(["kept": "yes"], for: written)
      _ = Author(name: "A", context: context)
      try context.save()
      context.reset()
      try coordinator.remove(written)
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: place, options: [NSReadOnlyPersistentStoreOption: true])
      func refuses(_ change: () throws -> Void) {
        #expect(throws: (any Error).self) {
          try change()
          try context.save()
        }
        context.rollback()
        #expect(throws: Never.self) { try context.save() }
      }
      refuses { coordinator.setMetadata(["other": 1], for: store) }
      refuses { store.metadata = ["other": 1] }
      refuses { _ = Author(name: "B", context: context) }
      refuses { context.delete(try context.fetch(Author.fetchRequest())[0]) }
      refuses { context.assign(Author(name: "C", context: context), to: store) }
      refuses { try context.obtainPermanentIDs(for: [Author(name: "D", context: context)]) }
      let all = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
      refuses { try context.execute(NSBatchDeleteRequest(fetchRequest: all)) }
      refuses { try context.execute(NSBatchUpdateRequest(entityName: "Author")) }
      refuses { try context.execute(NSBatchInsertRequest(entityName: "Author", objects: [["name": "E"]])) }
      refuses { try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date())) }
      #expect(store.metadata["kept"] as? String == "yes" && store.metadata["other"] == nil)
      #expect(try context.count(for: Author.fetchRequest()) == 1)
    }
  }

  @Test func `metadata that cannot be set are refused by the next save`() throws {
    defer { try? remove() }
    let coordinator = container.persistentStoreCoordinator
    let store = coordinator.persistentStores[0]
    let context = container.newBackgroundContext()
    let other = NSPersistentStoreCoordinator(managedObjectModel: container.managedObjectModel)
    try context.performAndWait {
      coordinator.setMetadata(["kept": "yes"], for: store)
      coordinator.setMetadata(["other": NSObject()], for: store)
      #expect(throws: (any Error).self) { try context.save() }
      try context.save()
      #expect(store.metadata["kept"] as? String == "yes" && store.metadata["other"] == nil)
      other.setMetadata(["kept": "no"], for: store)
      try context.save()
      context.persistentStoreCoordinator = other
      #expect(throws: (any Error).self) { try context.save() }
    }
  }

  @Test(arguments: ["/dev/null", "/dev/null/Library.sqlite", "/dev/null/a/b"])
  func `a place at or below /dev/null is in memory, with a store for each opening`(path: String) throws {
    defer { try? remove() }
    for _ in 0..<2 {
      let memory = NSPersistentContainer(name: "Library", managedObjectModel: container.managedObjectModel)
      let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
      description.type = NSSQLiteStoreType
      memory.persistentStoreDescriptions = [description]
      memory.loadPersistentStores { _, error in #expect(error == nil) }
      let context = memory.newBackgroundContext()
      try context.performAndWait {
        #expect(try context.count(for: Author.fetchRequest()) == 0)
        _ = Author(name: "Ursula", context: context)
        try context.save()
        #expect(try context.count(for: Author.fetchRequest()) == 1)
      }
      try memory.persistentStoreCoordinator.destroyPersistentStore(
        at: URL(fileURLWithPath: path), type: .sqlite)
    }
  }

  @Test func `batches insert, update and delete without objects, and contexts merge them`() throws {
    defer { try? remove() }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      var titles = ["a", "b", "c"]
      let insert = NSBatchInsertRequest(entityName: "Book") { (row: NSMutableDictionary) -> Bool in
        guard let title = titles.popLast() else { return true }
        row["title"] = title
        row["pages"] = 100
        return false
      }
      insert.resultType = .objectIDs
      let inserted = try context.execute(insert) as? NSBatchInsertResult
      #expect((inserted?.result as? [NSManagedObjectID])?.count == 3)

      let update = NSBatchUpdateRequest(entityName: "Book")
      update.predicate = NSPredicate(format: "title < %@", "c")
      update.propertiesToUpdate = ["pages": NSExpression(format: "pages + 1"), "isRead": true]
      update.resultType = .updatedObjectsCountResultType
      #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let pages = try context.fetch(request).map(\.pages)
      #expect(pages == [101, 101, 100])

      let delete = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Book"))
      delete.resultType = .resultTypeObjectIDs
      let deleted = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: deleted ?? []], into: [context])
      let left = try context.count(for: request)
      #expect(left == 0)
    }
  }

  @Test func `history is fetched after a token, filtered, and deleted`() throws {
    defer { try? remove() }
    let context = container.newBackgroundContext()
    context.transactionAuthor = "app"
    try context.performAndWait {
      for name in ["a", "b"] {
        _ = Author(name: name, context: context)
        try context.save()
      }
      let all = try context.execute(
        NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
      let transactions =
        (all as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
      #expect(transactions.map(\.author) == ["app", "app"])
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: transactions[0].token)
      let fetch = NSPersistentHistoryTransaction.fetchRequest
      fetch?.predicate = NSPredicate(format: "author == %@", "app")
      request.fetchRequest = fetch
      let newer =
        (try context.execute(request) as? NSPersistentHistoryResult)?.result
        as? [NSPersistentHistoryTransaction]
      #expect(newer?.count == 1)
      let other = container.newBackgroundContext()
      for transaction in newer ?? [] {
        other.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions[1]))
      let rest =
        (try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        as? NSPersistentHistoryResult)?.result
      #expect((rest as? [NSPersistentHistoryTransaction])?.count == 1)
      #expect(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) != nil)
    }
  }

  @Test func `all data of an open store is deleted by destroying it, and adding it again`() throws {
    defer { try? remove() }
    let coordinator = container.persistentStoreCoordinator
    let context = container.viewContext
    Book(context: context).title = "a"
    try context.save()
    for store in coordinator.persistentStores {
      let (url, type, options) = (try #require(store.url), store.type, store.options)
      try coordinator.destroyPersistentStore(at: url, ofType: type, options: options)
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    }
    context.reset()
    #expect(coordinator.persistentStores.count == 1)
    #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
  }

  @Test func `a store is opened by a coordinator with options, has metadata, and is destroyed`() throws {
    defer { try? remove() }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStore(for: url))
    #expect(store.type == NSSQLiteStoreType)
    #expect(!store.isReadOnly)
    #expect(coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == store.identifier)
    try coordinator.remove(store)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    #expect(
      coordinator.managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true])
    #expect(coordinator.persistentStores.first?.isReadOnly == true)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      _ = Book(context: context)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .fileWriteNoPermission)
    }
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
    #expect(FileManager.default.fileExists(atPath: url.path))
    #expect(throws: (any Error).self) {
      _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    }
    do {
      try coordinator.addPersistentStore(
        ofType: "NoSuchType", configurationName: nil, at: url, options: nil)
      Issue.record("there is no such type of stores")
    } catch {
      #expect((error as NSError).code == NSPersistentStoreInvalidTypeError)
    }
  }

  @Test func `the difference of a list whose order changes has each move`() throws {
    final class Delegate: NSFetchedResultsControllerDelegate {
      var differences: [CollectionDifference<NSManagedObjectID>] = []
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
      ) { differences.append(diff) }
    }
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      let authors = (0..<40).map { Author(name: String(UnicodeScalar(UInt8(65 + $0))), context: context) }
      try context.save()
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Delegate()
      controller.delegate = delegate
      try controller.performFetch()
      let former = authors.map(\.objectID)
      for (index, author) in authors.enumerated() where index != 7 {
        author.name = String(UnicodeScalar(UInt8(65 + index * 17 % 40)))
      }
      context.delete(authors[7])
      context.processPendingChanges()
      let present = controller.fetchedObjects?.map(\.objectID)
      let difference = try #require(delegate.differences.last)
      #expect(delegate.differences.count == 1 && former.applying(difference) == present)
      #expect(difference.insertions.allSatisfy { if case .insert(_, _, nil) = $0 { false } else { true } })
      #expect(difference.removals.count == difference.insertions.count + 1)
    }
  }

  @Test func `a controller has sections, and tells its delegate`() throws {
    defer { try? remove() }
    final class Delegate: NSFetchedResultsControllerDelegate {
      var changes: [String] = []
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
      ) { changes.append("\(type) \((anObject as? Book)?.title ?? "")") }
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
      ) { changes.append("\(type) section of \(sectionInfo.numberOfObjects)") }
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        changes.append("\(controller.fetchedObjects?.count ?? 0) objects")
      }
    }
    let context = container.newBackgroundContext()
    let delegate = Delegate()
    try context.performAndWait {
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [
        NSSortDescriptor(key: "isRead", ascending: true), NSSortDescriptor(key: "title", ascending: true),
      ]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "isRead", cacheName: nil)
      controller.delegate = delegate
      try controller.performFetch()
      let book = Book(context: context)
      book.title = "A"
      try context.save()
      #expect(controller.sections?.map(\.numberOfObjects) == [1])
      #expect(controller.object(at: IndexPath(item: 0, section: 0)) === book)
      #expect(controller.indexPath(forObject: book) == IndexPath(item: 0, section: 0))
      book.isRead = true
      context.processPendingChanges()
      #expect(delegate.changes.contains("insert A") && delegate.changes.contains("1 objects"))
      #expect(delegate.changes.contains { $0.hasPrefix("move A") })
      #expect(delegate.changes.filter { $0.hasPrefix("delete section") } == ["delete section of 0"])
      #expect(delegate.changes.filter { $0.hasPrefix("insert section") }.allSatisfy { $0.hasSuffix(" 1") })
    }
  }
}
