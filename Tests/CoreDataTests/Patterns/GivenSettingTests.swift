import CoreData
import Foundation
import Testing

/// A setting that is given and would have no effect, or another one than its name says, is refused.
@Suite struct `Given settings` {
  let url = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")

  private func open(
    _ options: [AnyHashable: Any]?, _ type: String = NSSQLiteStoreType, at place: URL? = nil
  ) throws -> NSPersistentStore {
    try NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel()).addPersistentStore(
      ofType: type, configurationName: nil, at: place ?? url, options: options)
  }

  private func message(_ options: [AnyHashable: Any]) -> String {
    do {
      _ = try open(options)
      return "opened"
    } catch {
      #expect((error as NSError).domain == NSCocoaErrorDomain)
      return error.localizedDescription
    }
  }

  @Test(arguments: ["NSReadOnlyPersistentStore", "HeartwoodOption", "NSPersistentHistoryTracking"])
  func `an option with an unknown name is refused`(name: String) {
    #expect(message([name: true]).contains("no option is called \(name)"))
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `an option with a value of a wrong type is refused`() {
    for name in [
      NSReadOnlyPersistentStoreOption, NSMigratePersistentStoresAutomaticallyOption,
      NSInferMappingModelAutomaticallyOption, NSPersistentHistoryTrackingKey,
      NSPersistentStoreRemoteChangeNotificationPostOptionKey,
      NSPersistentStoreDeferredLightweightMigrationOptionKey, HeartwoodCopiesAppleStoreOption,
    ] {
      for value in ["NO", NSNull(), NSArray()] as [Any] {
        #expect(message([name: value]).contains("the option \(name) takes a Boolean"))
      }
    }
    for value in ["abc", -1, Double.nan] as [Any] {
      #expect(message([NSPersistentStoreTimeoutOption: value]).contains("takes a number of seconds"))
    }
    #expect(
      message([NSPersistentStoreStagedMigrationManagerOptionKey: "staged"]).contains(
        "takes an NSStagedMigrationManager"))
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `methods that open no store refuse options as well`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let options = ["NSReadOnlyPersistentStore": true]
    let other = url.appendingPathExtension("other")
    for body in [
      {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
          ofType: NSSQLiteStoreType, at: url, options: options)
      },
      {
        try NSPersistentStoreCoordinator.setMetadata(
          nil, forPersistentStoreOfType: NSSQLiteStoreType, at: url, options: options)
      },
      { try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: options) },
      {
        try coordinator.replacePersistentStore(
          at: url, withPersistentStoreFrom: other, sourceOptions: options, ofType: NSSQLiteStoreType)
      },
    ] as [() throws -> Void] {
      let error = #expect(throws: (any Error).self) { try body() }
      #expect(error?.localizedDescription.contains("no option is called NSReadOnlyPersistentStore") == true)
    }
  }

  @Test func `options of SQLite and of other systems are taken, and so is a dictionary of CloudKit's`() throws
  {
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try open([
      NSSQLitePragmasOption: ["journal_mode": "WAL"], NSSQLiteAnalyzeOption: true,
      NSSQLiteManualVacuumOption: true, NSPersistentStoreFileProtectionKey: "NSFileProtectionComplete",
      NSIgnorePersistentStoreVersioningOption: true, NSPersistentStoreConnectionPoolMaxSizeKey: 2,
      NSPersistentStoreTimeoutOption: 3, NSPersistentHistoryTrackingKey: ["a": "b"] as NSDictionary,
      NSMigratePersistentStoresAutomaticallyOption: 1 as NSNumber,
      // Of documents in iCloud, by their names, as the constants are deprecated.
      "NSPersistentStoreUbiquitousContentNameKey": "Notes", "NSPersistentStoreUbiquitousContentURLKey": "a/b",
      "NSPersistentStoreRebuildFromUbiquitousContentOption": true,
      // A library's own.
      "com.example.cache": 3,
    ])
    #expect(!store.isReadOnly)
  }

  @Test func `a place that is none of files is refused, with and without a type of one file`() throws {
    let remote = try #require(URL(string: "http://example.com\(url.path)"))
    for type in [NSSQLiteStoreType, NSBinaryStoreType] {
      #expect { try open(nil, type, at: remote) } throws: { error in
        error.localizedDescription.contains("http://example.com")
          && error.localizedDescription.contains("pass a file URL")
      }
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    #expect(throws: (any Error).self) {
      try coordinator.replacePersistentStore(
        at: remote, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
    }
    #expect(!FileManager.default.fileExists(atPath: url.path))
    let store = try open(nil, NSInMemoryStoreType, at: remote)
    #expect(store.type == NSInMemoryStoreType)
  }

  @Test func `objects are not grouped, and are fetched with properties that they have`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      for title in ["a", "a", "b"] { Book(context: context).title = title }
      try context.save()
      func message(_ edit: (NSFetchRequest<Book>) -> Void) -> String {
        let request = Book.fetchRequest()
        edit(request)
        do {
          return "\(try context.fetch(request).count)"
        } catch {
          return error.localizedDescription
        }
      }
      #expect(message { $0.propertiesToGroupBy = ["title"] }.contains("dictionaryResultType"))
      #expect(
        message { $0.havingPredicate = NSPredicate(format: "title == 'a'") }.contains("dictionaryResultType"))
      #expect(message { $0.propertiesToFetch = ["title", "zz"] }.contains("zz in propertiesToFetch"))
      #expect(message { $0.propertiesToFetch = ["title", "author"] } == "3")
      let grouped = NSFetchRequest<NSDictionary>(entityName: "Book")
      grouped.resultType = .dictionaryResultType
      grouped.propertiesToFetch = ["title"]
      grouped.propertiesToGroupBy = ["title"]
      #expect(try context.count(for: grouped) == 2 && context.fetch(grouped).count == 2)
      grouped.propertiesToGroupBy = nil
      #expect(try context.count(for: grouped) == 3)
      grouped.returnsDistinctResults = true
      #expect(try context.count(for: grouped) == 2)
    }
  }

  @Test func `a computed column has the type that it is given`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      Book(context: context).pages = 3
      try context.save()
      let column = NSExpressionDescription()
      column.name = "twice"
      column.expression = NSExpression(format: "pages * 2")
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [column]
      for type in [NSAttributeType.integer64AttributeType, .doubleAttributeType, .undefinedAttributeType] {
        column.expressionResultType = type
        #expect((try context.fetch(request).first?["twice"] as? NSNumber)?.intValue == 6)
      }
      for type in [NSAttributeType.stringAttributeType, .dateAttributeType] {
        column.expressionResultType = type
        #expect { try context.fetch(request) } throws: {
          $0.localizedDescription.contains("the column \"twice\" has the expressionResultType")
        }
      }
    }
  }

  @Test func `a section may be named by a property of the class, and by none that is not there`() throws {
    let model = Library.makeModel()
    model.entitiesByName["Note"]?.managedObjectClassName = NSStringFromClass(LoudNote.self)
    let context = try Library.makeContext(model)
    try context.performAndWait {
      for text in ["a", "a", "b"] {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
          text, forKey: "text")
      }
      try context.save()
      func sections(_ path: String) throws -> [String]? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path, cacheName: nil)
        try controller.performFetch()
        return controller.sections?.map { "\($0.name) \($0.numberOfObjects)" }
      }
      #expect(try sections("shout") == ["A 2", "B 1"] && sections("text") == ["a 2", "b 1"])
      #expect { try sections("whisper") } throws: {
        $0.localizedDescription.contains("whisper")
      }
      #expect(LoudNote.keyPathsForValuesAffectingValue(forKey: "shout") == ["text"])
      #expect(LoudNote.keyPathsForValuesAffectingValue(forKey: "text").isEmpty)
    }
  }

  @Test func `a batch insert takes no value of a derived attribute`() throws {
    let model = Library.makeModel()
    let derived = NSDerivedAttributeDescription()
    derived.name = "bookCount"
    derived.attributeType = .integer64AttributeType
    derived.isOptional = true
    derived.derivationExpression = NSExpression(format: "books.@count")
    model.entitiesByName["Author"]?.properties.append(derived)
    let context = try Library.makeContext(model)
    try context.performAndWait {
      let insert = NSBatchInsertRequest(entityName: "Author", objects: [["name": "A", "bookCount": 7]])
      #expect { try context.execute(insert) } throws: {
        $0.localizedDescription.contains("bookCount") && $0.localizedDescription.contains("derived")
      }
      let count = try context.count(for: Author.fetchRequest())
      #expect(count == 0)
      _ = try context.execute(NSBatchInsertRequest(entityName: "Author", objects: [["name": "A"]]))
      let inserted = try context.count(for: Author.fetchRequest())
      #expect(inserted == 1)
    }
  }
}

/// A class with a property that its model does not have, as the plugin translates it.
final class LoudNote: NSManagedObject {
  var shout: String { (value(forKey: "text") as? String ?? "").uppercased() }
  override func _ownValue(forKey key: String) -> Any?? {
    key == "shout" ? .some(shout) : super._ownValue(forKey: key)
  }
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
    key == "shout" ? ["text"] : super.keyPathsForValuesAffectingValue(forKey: key)
  }
}

/// The order and the bounds of requests for history.
@Suite struct `Ordered histories` {
  @Test func `the order, the limit and the offset of a history's fetch request count`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.makeModel())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSPersistentHistoryTrackingKey: true])
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for name in ["c", "a", "b", "a"] {
        context.transactionAuthor = name
        Author(context: context).name = name
        _ = Book(context: context)
        try context.save()
      }
      func result(
        _ type: NSPersistentHistoryResultType, ofChanges: Bool = false,
        _ edit: (NSFetchRequest<any NSFetchRequestResult>) -> Void
      ) throws -> Any? {
        let fetch = try #require(
          ofChanges ? NSPersistentHistoryChange.fetchRequest : NSPersistentHistoryTransaction.fetchRequest)
        edit(fetch)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = type
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
      }
      func authors(_ edit: (NSFetchRequest<any NSFetchRequestResult>) -> Void) throws -> [String?]? {
        (try result(.transactionsAndChanges, edit) as? [NSPersistentHistoryTransaction])?.map(\.author)
      }
      #expect(try authors { $0.fetchLimit = 2 } == ["c", "a"])
      #expect(try authors { $0.fetchOffset = 3 } == ["a"])
      #expect(
        try authors { $0.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)] }
          == ["a", "b", "a", "c"])
      #expect(
        try authors {
          $0.sortDescriptors = [
            NSSortDescriptor(key: "author", ascending: true),
            NSSortDescriptor(key: "token", ascending: false),
          ]
          $0.fetchOffset = 1
          $0.fetchLimit = 2
        } == ["a", "b"])
      #expect(
        try authors {
          $0.predicate = NSPredicate(format: "author == %@", "a")
          $0.fetchLimit = 1
        } == ["a"])
      #expect(try result(.count) { $0.fetchLimit = 3 } as? Int == 3)
      #expect((try result(.objectIDs) { $0.fetchLimit = 1 } as? [NSManagedObjectID])?.count == 2)
      let bare = try result(.transactionsOnly) { $0.fetchLimit = 1 } as? [NSPersistentHistoryTransaction]
      #expect(bare?.count == 1 && bare?.first?.changes == nil)
      let changes =
        try result(.changesOnly, ofChanges: true) {
          $0.sortDescriptors = [NSSortDescriptor(key: "changedEntity", ascending: false)]
          $0.fetchLimit = 5
        } as? [NSPersistentHistoryChange]
      #expect(
        changes?.map(\.changedObjectID.entity.name) == ["Book", "Book", "Book", "Book", "Author"])
      #expect(throws: (any Error).self) { try authors { $0.fetchLimit = -1 } }
      #expect(throws: (any Error).self) {
        try authors { $0.sortDescriptors = [NSSortDescriptor(key: "nope", ascending: true)] }
      }
      #expect(throws: (any Error).self) {
        try result(.transactionsAndChanges, ofChanges: true) { $0.fetchLimit = 1 }
      }
    }
  }
}
