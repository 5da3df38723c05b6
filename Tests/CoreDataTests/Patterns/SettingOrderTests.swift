import CoreData
import Testing

// Pairs of settings whose order could matter, each set in both orders: what follows is the same.
@Suite struct `The order of settings` {
  /// Runs two steps in both orders, and gives what each order leads to.
  private func both<Result>(
    _ first: (inout Result) throws -> Void, _ second: (inout Result) throws -> Void,
    _ start: () throws -> Result
  ) rethrows -> [Result] {
    var (forward, backward) = (try start(), try start())
    try first(&forward)
    try second(&forward)
    try second(&backward)
    try first(&backward)
    return [forward, backward]
  }

  // MARK: Contexts

  private final class Pair {
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext
    init(_ container: NSPersistentContainer) {
      parent = container.newBackgroundContext()
      child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    }
  }

  /// Waits for what the queue of a context has to do.
  private func drain(_ context: NSManagedObjectContext) { context.performAndWait {} }

  @Test func `context: parent and automaticallyMergesChangesFromParent`() throws {
    let container = try Library.makeContainer()
    let pairs = both(
      { $0.child.automaticallyMergesChangesFromParent = true }, { $0.child.parent = $0.parent }
    ) {
      Pair(container)
    }
    for pair in pairs {
      #expect(pair.child.automaticallyMergesChangesFromParent)
      let (parent, child) = (pair.parent, pair.child)
      let author = try parent.performAndWait {
        let author = Author(name: "A", context: parent)
        try parent.save()
        return author
      }
      let id = author.objectID
      let copy = try child.performAndWait { try #require(try child.existingObject(with: id) as? Author) }
      try parent.performAndWait {
        author.name = "B"
        try parent.save()
      }
      drain(child)
      #expect(child.performAndWait { copy.name } == "B")
    }
  }

  @Test func `context: persistentStoreCoordinator and automaticallyMergesChangesFromParent`() throws {
    let container = try Library.makeContainer()
    let contexts = both(
      { $0.automaticallyMergesChangesFromParent = true },
      { $0.persistentStoreCoordinator = container.persistentStoreCoordinator }
    ) { NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
    let writer = container.newBackgroundContext()
    let author = try writer.performAndWait {
      let author = Author(name: "A", context: writer)
      try writer.save()
      return author
    }
    let id = author.objectID
    for (number, context) in contexts.enumerated() {
      let copy = try context.performAndWait { try #require(try context.existingObject(with: id) as? Author) }
      try writer.performAndWait {
        author.name = "B\(number)"
        try writer.save()
      }
      drain(context)
      #expect(context.performAndWait { copy.name } == "B\(number)")
    }
    // Another coordinator ends it for the former one.
    let other = try Library.makeContainer()
    let moved = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    moved.automaticallyMergesChangesFromParent = true
    moved.persistentStoreCoordinator = container.persistentStoreCoordinator
    moved.persistentStoreCoordinator = other.persistentStoreCoordinator
    try writer.performAndWait {
      author.name = "C"
      try writer.save()
    }
    drain(moved)
    #expect(moved.performAndWait { moved.registeredObjects.isEmpty })
  }

  @Test func `context: coordinator or parent, and everything that is only kept`() throws {
    let container = try Library.makeContainer()
    let contexts = both(
      { context in
        context.mergePolicy = NSOverwriteMergePolicy
        context.undoManager = UndoManager()
        context.name = "name"
        context.transactionAuthor = "author"
        context.stalenessInterval = 3
        context.retainsRegisteredObjects = true
        context.shouldDeleteInaccessibleFaults = false
        context.propagatesDeletesAtEndOfEvent = false
        context.userInfo["a"] = 1
      }, { $0.persistentStoreCoordinator = container.persistentStoreCoordinator }
    ) { NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
    for context in contexts {
      #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .overwriteMergePolicyType)
      #expect(context.undoManager != nil && context.name == "name" && context.transactionAuthor == "author")
      #expect(context.stalenessInterval == 3 && context.retainsRegisteredObjects)
      #expect(!context.shouldDeleteInaccessibleFaults && !context.propagatesDeletesAtEndOfEvent)
      #expect(context.userInfo["a"] as? Int == 1)
      context.performAndWait {
        let author = Author(name: "A", context: context)
        context.processPendingChanges()
        author.name = "B"
        context.processPendingChanges()
        context.undo()
        #expect(author.name == "A")
      }
    }
  }

  // MARK: Containers and descriptions

  @Test func `container: settings of viewContext and loadPersistentStores`() throws {
    let containers = both(
      { $0.viewContext.automaticallyMergesChangesFromParent = true },
      { container in container.loadPersistentStores { _, error in #expect(error == nil) } }
    ) {
      let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
      container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
      return container
    }
    for container in containers {
      #expect(container.viewContext.automaticallyMergesChangesFromParent)
      let (view, writer) = (container.viewContext, container.newBackgroundContext())
      let id = try writer.performAndWait {
        let author = Author(name: "A", context: writer)
        try writer.save()
        return author.objectID
      }
      let copy = try view.performAndWait { try #require(try view.existingObject(with: id) as? Author) }
      try writer.performAndWait {
        (try writer.existingObject(with: id) as? Author)?.name = "B"
        try writer.save()
      }
      // The merge is scheduled before this block.
      #expect(
        view.performAndWait { () -> String in
          view.refresh(copy, mergeChanges: true)
          return copy.name
        } == "B")
    }
  }

  @Test func `description: properties and setOption, type and url`() {
    let key = NSReadOnlyPersistentStoreOption
    let options = both(
      { (description: inout NSPersistentStoreDescription) in description.isReadOnly = true },
      { description in description.setOption(1.5 as NSNumber, forKey: NSPersistentStoreTimeoutOption) }
    ) { NSPersistentStoreDescription(url: URL(fileURLWithPath: "/a")) }
    for description in options {
      #expect(
        description.options[key] == true as NSNumber && description.timeout == 1.5 && description.isReadOnly)
    }
    let places = both(
      { (description: inout NSPersistentStoreDescription) in description.type = NSInMemoryStoreType },
      {
        $0.url = URL(fileURLWithPath: "/b")
        $0.configuration = "C"
      }
    ) { NSPersistentStoreDescription() }
    for description in places {
      #expect(
        description.type == NSInMemoryStoreType && description.url?.path == "/b"
          && description.configuration == "C")
    }
    let last = NSPersistentStoreDescription()
    last.setOption(true as NSNumber, forKey: key)
    last.isReadOnly = false
    #expect(!last.isReadOnly)
    last.setOption(true as NSNumber, forKey: key)
    #expect(last.isReadOnly)
  }

  // MARK: Requests and controllers

  @Test func `request: entity, predicate, order, result type and columns`() throws {
    let container = try Library.makeContainer()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for name in ["A", "B", "C"] { _ = Author(name: name, context: context) }
      try context.save()
      let entity = try #require(container.managedObjectModel.entitiesByName["Author"])
      let requests = both(
        { (request: inout NSFetchRequest<NSDictionary>) in request.entity = entity },
        { request in
          request.predicate = NSPredicate(format: "name > 'A'")
          request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
          request.propertiesToFetch = ["name"]
          request.fetchLimit = 1
          request.resultType = .dictionaryResultType
        }
      ) { NSFetchRequest<NSDictionary>() }
      for request in requests {
        #expect(try context.fetch(request).map { $0["name"] as? String } == ["C"])
      }
      let columns = both(
        { (request: inout NSFetchRequest<NSDictionary>) in request.resultType = .dictionaryResultType },
        { request in
          request.propertiesToGroupBy = ["name"]
          request.propertiesToFetch = ["name"]
          request.havingPredicate = NSPredicate(format: "name != 'B'")
        }
      ) { NSFetchRequest<NSDictionary>(entityName: "Author") }
      for request in columns { #expect(try context.fetch(request).count == 2) }
    }
  }

  @Test func `controller: delegate and performFetch, request and performFetch`() throws {
    final class Delegate: NSFetchedResultsControllerDelegate {
      var count = 0
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        count += 1
      }
    }
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      let delegates = [Delegate(), Delegate()]
      var next = 0
      let controllers = try both(
        { (controller: inout NSFetchedResultsController<Author>) in
          controller.delegate = delegates[next]
          next += 1
        }, { try $0.performFetch() }
      ) {
        let request: NSFetchRequest<Author> = Author.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      }
      _ = Author(name: "A", context: context)
      context.processPendingChanges()
      #expect(delegates.map(\.count) == [1, 1])
      for controller in controllers {
        #expect(controller.fetchedObjects?.count == 1)
        controller.fetchRequest.predicate = NSPredicate(value: false)
        #expect(controller.fetchedObjects?.count == 1)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.isEmpty == true)
      }
    }
  }

  // MARK: Models

  @Test func `attribute: type, default, optionality and rules`() throws {
    let attributes = both(
      { (attribute: inout NSAttributeDescription) in attribute.attributeType = .integer16AttributeType },
      {
        $0.defaultValue = 3
        $0.isOptional = false
        $0.setValidationPredicates([NSPredicate(format: "SELF > 2")], withValidationWarnings: nil)
      }
    ) { NSAttributeDescription() }
    for attribute in attributes {
      #expect(
        attribute.defaultValue as? Int == 3 && attribute.validationPredicates.count == 1
          && !attribute.isOptional)
    }
  }

  @Test func `entity: names, properties, constraints, indexes and subentities`() throws {
    for namesLast in [false, true] {
      let (parent, child) = (NSEntityDescription(), NSEntityDescription())
      let (code, extra) = (NSAttributeDescription(), NSAttributeDescription())
      func name() {
        parent.name = "Parent"
        child.name = "Child"
        code.name = "code"
        extra.name = "extra"
        code.attributeType = .stringAttributeType
        extra.attributeType = .stringAttributeType
      }
      if !namesLast { name() }
      let model = NSManagedObjectModel()
      model.setEntities([], forConfigurationName: "Empty")
      parent.uniquenessConstraints = [[code]]
      parent.indexes = [
        NSFetchIndexDescription(
          name: "byCode", elements: [NSFetchIndexElementDescription(property: code, collationType: .binary)])
      ]
      parent.subentities = [child]
      child.properties = [extra]
      model.entities = [parent, child]
      parent.properties = [code]
      if namesLast { name() }
      let context = try Library.makeContext(model)
      #expect(child.superentity === parent && child.propertiesByName.keys.sorted() == ["code", "extra"])
      #expect((parent.uniquenessConstraints.first?.first as? NSPropertyDescription) === code)
      context.performAndWait {
        for _ in 0..<2 {
          NSEntityDescription.insertNewObject(forEntityName: "Child", into: context).setValue(
            "x", forKey: "code")
        }
        #expect(throws: (any Error).self) { try context.save() }
      }
    }
  }

  @Test func `relationship: destination, inverse, counts and order`() throws {
    for reversed in [false, true] {
      let (one, many) = (NSEntityDescription(), NSEntityDescription())
      (one.name, many.name) = ("One", "Many")
      let (items, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
      (items.name, owner.name) = ("items", "owner")
      var steps: [() -> Void] = [
        { items.maxCount = 0 }, { items.isOrdered = true }, { items.inverseRelationship = owner },
        { items.destinationEntity = many }, { owner.inverseRelationship = items },
        { owner.destinationEntity = one },
        { owner.maxCount = 1 }, { one.properties = [items] }, { many.properties = [owner] },
      ]
      if reversed { steps.reverse() }
      for step in steps { step() }
      let model = NSManagedObjectModel()
      model.entities = [one, many]
      let context = try Library.makeContext(model)
      try context.performAndWait {
        let object = NSEntityDescription.insertNewObject(forEntityName: "One", into: context)
        let item = NSEntityDescription.insertNewObject(forEntityName: "Many", into: context)
        item.setValue(object, forKey: "owner")
        #expect((object.value(forKey: "items") as? NSOrderedSet)?.count == 1)
        try context.save()
      }
    }
  }
}
