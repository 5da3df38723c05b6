import CoreData
import Foundation
import Testing

/// A subclass with an override, as applications write it.
final class CountingContext: NSManagedObjectContext, @unchecked Sendable {
  private(set) var saveCalls = 0

  override func save() throws {
    saveCalls += 1
    try super.save()
  }
}

final class GardenContainer: NSPersistentContainer, @unchecked Sendable {
  override class func defaultDirectoryURL() -> URL {
    super.defaultDirectoryURL().appending(path: "Garden")
  }
}

@Suite struct `What applications write with classes of Core Data` {
  /// A model in code, with a fetched property and an index in the form of older systems.
  static func model() -> NSManagedObjectModel {
    let task = NSEntityDescription()
    task.name = "Task"
    let title = Library.attribute("title", .stringAttributeType)
    title.isIndexed = true
    title.setValidationPredicates([NSPredicate(format: "length > 0")], withValidationWarnings: ["empty"])
    let rank = Library.attribute("rank", .integer64AttributeType)
    let lower = NSFetchedPropertyDescription()
    lower.name = "lower"
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Task")
    request.predicate = NSPredicate(format: "rank < $FETCH_SOURCE.rank")
    lower.fetchRequest = request
    task.properties = [title, rank, lower]
    task.compoundIndexes = [["title", "rank"]]
    let model = NSManagedObjectModel()
    model.entities = [task]
    return model
  }

  static func context<Context: NSManagedObjectContext>(
    _ model: NSManagedObjectModel,
    _ context: Context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  ) throws -> Context {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
      options: [NSPersistentHistoryTrackingKey: true])
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `a fetched property whose predicate cannot be used is an error when it is used, not before`()
    throws
  {
    let model = Self.model()
    let task = try #require(model.entitiesByName["Task"])
    let lower = try #require(task.propertiesByName["lower"] as? NSFetchedPropertyDescription)
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Task")
    request.predicate = NSPredicate(format: "priority < $FETCH_SOURCE.rank")
    lower.fetchRequest = request
    let context = try Self.context(model)
    try context.performAndWait {
      let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      task.setValue("Water", forKey: "title")
      try context.save()
      #expect((task.value(forKey: "lower") as? [Any])?.isEmpty == true)
      #expect(throws: (any Error).self) {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Task"))
      }
      context.refreshAllObjects()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Task")) == 1)
    }
  }

  @Test func `a subclass of the context may override save, whose errors are those of Core Data`() throws {
    let context = try Self.context(
      Self.model(), CountingContext(concurrencyType: .privateQueueConcurrencyType))
    try context.performAndWait {
      let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      task.setValue("Water", forKey: "title")
      try context.save()
      let plain: NSManagedObjectContext = context
      try plain.save()
      #expect(context.saveCalls == 2)
      task.setValue("", forKey: "title")
      do {
        try plain.save()
        Issue.record("the save has not failed")
      } catch let error as NSError {
        #expect(error.domain == NSCocoaErrorDomain && error.code != 0)
        #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject == task)
      }
    }
  }

  @Test func `a subclass of the container has the initialiser with a name`() {
    let container = GardenContainer(name: "Garden")
    #expect(container.name == "Garden" && container.managedObjectModel.entitiesByName["Plant"] != nil)
    #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    #expect(
      container.persistentStoreDescriptions.first?.url?.deletingLastPathComponent().lastPathComponent
        == "Garden")
  }

  @Test func `indexes in the form of older systems are indexes, and properties have hashes`() throws {
    let model = Self.model()
    let task = try #require(model.entitiesByName["Task"])
    let title = try #require(task.attributesByName["title"])
    #expect(title.isIndexed && task.attributesByName["rank"]?.isIndexed == false)
    #expect((task.compoundIndexes as? [[String]]) == [["title", "rank"]])
    #expect(task.indexes.first?.entity === task)
    #expect(title.versionHash == Self.model().entitiesByName["Task"]?.attributesByName["title"]?.versionHash)
    #expect(title.versionHash != task.attributesByName["rank"]?.versionHash)
    let property: NSPropertyDescription = title
    #expect(property.validationPredicates.count == 1)
    #expect(property.validationWarnings as? [String] == ["empty"])
    _ = try Self.context(model)
    #expect(task.indexes.map { $0.elements.map(\.propertyName) } == [["title", "rank"], ["title"]])
  }

  @Test func `an object with a fetched property is read by its names`() throws {
    let context = try Self.context(Self.model())
    try context.performAndWait {
      for rank in 1...3 {
        let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
        task.setValue(rank, forKey: "rank")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Task")
      request.predicate = NSPredicate(format: "rank == 3")
      let last = try #require(context.fetch(request).first)
      #expect(last.value(forKey: "rank") as? Int == 3)
      let lower = try #require(last.value(forKey: "lower") as? [NSManagedObject])
      #expect(Set(lower.map { $0.value(forKey: "rank") as? Int }) == [1, 2])
    }
  }

  @Test func `models are copied and merged without an error that must be caught`() throws {
    let model = Self.model()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy !== model && copy.entities.map(\.name) == ["Task"])
    copy.entitiesByName["Task"]?.properties.append(Library.attribute("note", .stringAttributeType))
    #expect(copy.entityVersionHashesByName != model.entityVersionHashesByName)
    let other = NSManagedObjectModel()
    let place = NSEntityDescription()
    place.name = "Place"
    other.entities = [place]
    let merged: NSManagedObjectModel? = NSManagedObjectModel(byMerging: [model, other])
    #expect(merged?.entities.count == 2)
    let metadata: [String: Any] = [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
    let found = NSManagedObjectModel(byMerging: [model, other], forStoreMetadata: metadata)
    #expect(found?.entities.map(\.name) == ["Task"])
    #expect(NSManagedObjectModel(byMerging: [other], forStoreMetadata: metadata) == nil)
  }

  @Test func `history is fetched by a request with a condition`() throws {
    let context = try Self.context(Self.model())
    try context.performAndWait {
      for author in ["one", "two"] {
        context.transactionAuthor = author
        _ = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
        try context.save()
      }
      let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
      fetch.predicate = NSPredicate(format: "author == %@", "two")
      let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction]
      #expect(transactions?.map(\.author) == ["two"])
    }
  }

  @Test func `collections of Foundation have key-value coding`() throws {
    let rows = [["name": "a", "rank": 1], ["name": "b", "rank": 4]] as [[String: Any]]
    let array = NSArray(array: rows)
    #expect(array.value(forKey: "name") as? [String] == ["a", "b"])
    #expect(array.value(forKeyPath: "@sum.rank") as? Double == 5)
    #expect(array.value(forKeyPath: "@max.rank") as? Int == 4)
    #expect(NSOrderedSet(array: [1, 2]).value(forKeyPath: "@avg.self") as? Double == 1.5)
    let pays: [[String: Any]] = [["pay": 10], ["pay": 20], [:]]
    #expect(NSArray(array: pays).value(forKeyPath: "@avg.pay") as? Double == 10, "nil counts as 0")
    #expect(NSSet(array: ["x"]).value(forKeyPath: "length") as? NSSet == NSSet(array: [1]))
    let lengths = NSOrderedSet(array: ["x", "yy", "z"]).value(forKeyPath: "length")
    #expect(lengths as? NSOrderedSet == NSOrderedSet(array: [1, 2]))
    #expect(NSDictionary(dictionary: ["a": ["b": 3]]).value(forKeyPath: "a.b") as? Int == 3)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
  }

  @Test func `a validation that is called throws an error of Core Data's, as a save does`() throws {
    let model = Self.model()
    model.entitiesByName["Task"]?.attributesByName["title"]?.isOptional = false
    model.entitiesByName["Task"]?.attributesByName["rank"]?.isOptional = false
    let context = try Self.context(model)
    context.performAndWait {
      let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      for validate in [task.validateForInsert, task.validateForUpdate, context.save] {
        do {
          try validate()
          Issue.record("the validation has not failed")
        } catch let error as NSError {
          #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMultipleErrorsError)
          let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
          #expect(
            details.map(\.code) == Array(repeating: NSValidationMissingMandatoryPropertyError, count: 2))
          #expect(details.allSatisfy { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject == task })
        } catch { Issue.record("\(error) is no NSError") }
      }
    }
  }

  @Test func `groups are chosen by a variable with the name of a column`() throws {
    let context = try Self.context(Self.model())
    try context.performAndWait {
      for (title, rank) in [("a", 1), ("a", 5), ("b", 2)] {
        let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
        task.setValuesForKeys(["title": title, "rank": rank])
      }
      try context.save()
      let total = NSExpressionDescription()
      total.name = "total"
      total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "rank")])
      total.expressionResultType = .integer64AttributeType
      let request = NSFetchRequest<NSDictionary>(entityName: "Task")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title", total]
      request.propertiesToGroupBy = ["title"]
      request.havingPredicate = NSPredicate(format: "%@ > 3", NSExpression(forVariable: "total"))
      #expect(try context.fetch(request).map { $0["title"] as? String } == ["a"])
    }
  }

  @Test func `changes of the history are found by their object and entity`() throws {
    let context = try Self.context(Self.model())
    try context.performAndWait {
      let first = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      _ = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      try context.save()
      func count(_ predicate: NSPredicate) throws -> Int? {
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        fetch.predicate = predicate
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = .changesOnly
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return (result?.result as? [NSPersistentHistoryChange])?.count
      }
      #expect(try count(NSPredicate(format: "%K == %@", "changedEntity", first.entity)) == 2)
      #expect(try count(NSPredicate(format: "changedObjectID == %@", first.objectID)) == 1)
      #expect(
        try count(NSPredicate(format: "changedObjectID IN %@ AND changeType == 0", [first.objectID])) == 1)
      #expect(try count(NSPredicate(format: "NOT changedObjectID == %@", first.objectID)) == 1)
    }
  }

  @Test func `a store's metadata and an attribute's class have Core Data's names`() throws {
    let context = try Self.context(Self.model())
    let coordinator = try #require(context.persistentStoreCoordinator)
    let metadata = coordinator.metadata(for: coordinator.persistentStores[0])
    #expect(metadata[NSStoreTypeKey] as? String == NSInMemoryStoreType)
    #expect(Library.attribute("a", .dateAttributeType).attributeValueClassName == "NSDate")
    #expect(Library.attribute("a", .integer32AttributeType).attributeValueClassName == "NSNumber")
  }

  @Test func `a batch insert with objects leaves out what is not stored`() throws {
    let model = Self.model()
    let note = Library.attribute("note", .stringAttributeType)
    note.isTransient = true
    model.entitiesByName["Task"]?.properties.append(note)
    let context = try Self.context(model)
    let result = try context.performAndWait {
      var count = 0
      let request = NSBatchInsertRequest(
        entityName: "Task",
        managedObjectHandler: { object in
          object.setValue(count, forKey: "rank")
          object.setValue("n", forKey: "note")
          count += 1
          return count > 3
        })
      request.resultType = .count
      return try context.execute(request) as? NSBatchInsertResult
    }
    #expect(result?.result as? Int == 3)
  }

  @Test func `an object of a batch insert changes what its handler has set`() throws {
    let story = NSEntityDescription()
    story.name = "Story"
    let flag = Library.attribute("isRead", .booleanAttributeType)
    flag.defaultValue = false
    story.properties = [
      Library.attribute("url", .stringAttributeType), Library.attribute("title", .stringAttributeType),
      Library.attribute("note", .stringAttributeType), flag,
    ]
    story.uniquenessConstraints = [["url"]]
    let model = NSManagedObjectModel()
    model.entities = [story]
    let context = try Self.context(model)
    try context.performAndWait {
      let stored = NSEntityDescription.insertNewObject(forEntityName: "Story", into: context)
      for (key, value) in ["url": "u", "title": "old", "note": "n"] { stored.setValue(value, forKey: key) }
      stored.setValue(true, forKey: "isRead")
      try context.save()
      context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      var isAtEnd = false
      let request = NSBatchInsertRequest(
        entityName: "Story",
        managedObjectHandler: { object in
          defer { isAtEnd = true }
          object.setValue("u", forKey: "url")
          object.setValue("new", forKey: "title")
          object.setValue(nil, forKey: "note")
          return isAtEnd
        })
      _ = try context.execute(request)
      context.refreshAllObjects()
      #expect(stored.value(forKey: "title") as? String == "new" && stored.value(forKey: "note") == nil)
      #expect(stored.value(forKey: "isRead") as? Bool == true)
    }
  }

  @Test func `an undo manager without actions has no name of one`() {
    let manager = UndoManager()
    manager.registerUndo(withTarget: manager) { _ in }
    manager.setActionName("Add")
    manager.removeAllActions()
    #expect(manager.undoActionName.isEmpty && !manager.canUndo)
  }

  @Test func `each group of an undo manager has its name, before and after it is undone`() throws {
    let context = try Self.context(Self.model())
    context.performAndWait {
      let manager = UndoManager()
      context.undoManager = manager
      let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
      context.processPendingChanges()
      manager.setActionName("Add")
      task.setValue(1, forKey: "rank")
      manager.setActionName("Rank")
      context.processPendingChanges()
      manager.beginUndoGrouping()
      task.setValue(2, forKey: "rank")
      context.processPendingChanges()
      manager.setActionName("Rank again")
      manager.endUndoGrouping()
      task.setValue(3, forKey: "rank")
      context.processPendingChanges()
      var names: [String] = []
      while manager.canUndo {
        names.append(manager.undoActionName)
        manager.undo()
      }
      #expect(names == ["", "Rank again", "Rank", "Add"] && manager.undoActionName.isEmpty)
      names = []
      while manager.canRedo {
        names.append(manager.redoActionName)
        manager.redo()
      }
      #expect(names == ["Add", "Rank", "Rank again", ""] && manager.redoActionName.isEmpty)
    }
  }
}
