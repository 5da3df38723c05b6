import CoreData
import Testing

@Suite struct `Fetches as Core Data answers them` {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init() throws {
    container = try Library.makeContainer()
    context = container.newBackgroundContext()
    try context.performAndWait { [context] in
      for (name, pages) in [("A", 1), ("B", 2), ("C", 3)] {
        let (author, book) = (Author(name: name, context: context), Book(context: context))
        book.title = name
        book.pages = Int32(pages)
        book.author = author
      }
      try context.save()
    }
  }

  private func sum(_ name: String, _ function: String) -> NSExpressionDescription {
    let column = NSExpressionDescription()
    column.name = name
    column.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: "pages")])
    column.expressionResultType = .integer64AttributeType
    return column
  }

  @Test func `aggregates over all rows are one row, whatever the order`() throws {
    try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [sum("total", "sum:"), sum("most", "max:")]
      request.sortDescriptors = [
        NSSortDescriptor(key: "title", ascending: true),
        NSSortDescriptor(key: "author.name", ascending: false),
      ]
      let rows = try context.fetch(request)
      #expect(rows.count == 1 && rows.first?["total"] as? Int == 6 && rows.first?["most"] as? Int == 3)
    }
  }

  @Test(arguments: [false, true])
  func `key paths of operators are aggregates over the rows of a dictionary`(isGrouped: Bool) throws {
    try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Book")
      request.resultType = .dictionaryResultType
      let columns = ["@sum.pages", "pages.@max", "title.@count"].map { path in
        let column = sum(path, "sum:")
        column.expression =
          path == "title.@count" ? NSExpression(format: path) : NSExpression(forKeyPath: path)
        return column
      }
      request.propertiesToFetch = columns + (isGrouped ? ["title"] : [])
      request.propertiesToGroupBy = isGrouped ? ["title"] : nil
      let rows = try context.fetch(request)
      let totals = rows.compactMap { $0["@sum.pages"] as? Int }
      #expect(totals.reduce(0, +) == 6 && rows.compactMap { $0["pages.@max"] as? Int }.max() == 3)
      #expect(rows.compactMap { $0["title.@count"] as? Int }.reduce(0, +) == 3)
      #expect(rows.count == (isGrouped ? 3 : 1))
    }
  }

  @Test func `a subquery is built of an expression, a name and a predicate, and counted behind its text`()
    throws
  {
    try context.performAndWait {
      let long = NSComparisonPredicate(
        leftExpression: NSExpression(format: "$b.pages"), rightExpression: NSExpression(forConstantValue: 2),
        modifier: .direct, type: .greaterThanOrEqualTo)
      let books = NSExpression(
        forSubquery: NSExpression(forKeyPath: "books"), usingIteratorVariable: "b", predicate: long)
      #expect(books.expressionType == .subquery && "\(books.predicate)".contains("pages >= 2"))
      let count = NSExpression(format: "@count")
      #expect("\(count)" == "@count" && count.expressionType == .keyPath)
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.predicate = NSComparisonPredicate(
        leftExpression: NSExpression(format: "\(books).\(count)"),
        rightExpression: NSExpression(forConstantValue: 0), modifier: .direct, type: .greaterThan)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let found = try context.fetch(request)
      #expect(found.map(\.name) == ["B", "C"])
      #expect(found.allSatisfy { request.predicate?.evaluate(with: $0) == true })
    }
  }

  @Test func `a list may have objects of several entities, and ANY may be over a to-one relationship`() throws
  {
    try context.performAndWait {
      let authors = try context.fetch(Author.fetchRequest() as NSFetchRequest<Author>)
      let books = try context.fetch(Book.fetchRequest() as NSFetchRequest<Book>)
      let request: NSFetchRequest<Book> = Book.fetchRequest()
      let mixed: [NSManagedObject] = authors as [NSManagedObject] + Array(books.prefix(2))
      request.predicate = NSPredicate(format: "self IN %@", mixed)
      let found = try context.count(for: request)
      #expect(found == 2)
      request.predicate = NSPredicate(format: "self IN %@", authors.map(\.objectID))
      let none = try context.count(for: request)
      #expect(none == 0)
      for (format, count) in [
        ("ANY author.name == 'B'", 1), ("ANY author == nil", 0), ("NONE author.name == 'B'", 2),
        ("SOME author.name IN {'A', 'C'}", 2), ("ALL author.name > 'A'", 2),
      ] {
        request.predicate = NSPredicate(format: format)
        let fetched = try context.count(for: request)
        let inMemory = books.filter { request.predicate?.evaluate(with: $0) == true }.count
        #expect(fetched == count && inMemory == count, "\(format)")
      }
    }
  }

  @Test func `IN takes the values of a dictionary, and finds a text in another`() throws {
    try context.performAndWait {
      func titles(_ format: String, _ arguments: Any...) throws -> [String?] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try context.fetch(request)
        request.predicate = nil
        let books = try context.fetch(request)
        let memory = books.filter { NSPredicate(format: format, argumentArray: arguments).evaluate(with: $0) }
        let rows = books.map { ["title": $0.title ?? "", "pages": Int($0.pages)] as [String: Any] }
        let plain = (rows as NSArray).filtered(using: NSPredicate(format: format, argumentArray: arguments))
        #expect(memory == found && plain.count == found.count, "\(format)")
        return found.map(\.title)
      }
      #expect(try titles("pages IN %@", ["a": 1, "b": 3]) == ["A", "C"])
      #expect(try titles("pages IN %@", ["a": 2] as NSDictionary) == ["B"])
      #expect(try titles("NOT title IN %@", [1: "A", 2: "x"]) == ["B", "C"])
      #expect(try titles("title IN %@", [String: String]()) == [])
      #expect(try titles("title IN 'CAB'") == ["A", "B", "C"])
      #expect(try titles("title IN %@", "xBx") == ["B"])
      #expect(try titles("title IN[c] 'a, b'") == ["A", "B"])
      let request = NSFetchRequest<Author>(entityName: "Author")
      request.predicate = NSPredicate(
        format: "ANY books IN %@", ["x": try context.fetch(Book.fetchRequest())[0]])
      #expect(try context.fetch(request).count == 1)
    }
  }

  @Test func `a key path of a computed property names no property`() throws {
    for path: AnyKeyPath in [
      \Book.half, \Book.negative, \Book.loud, \Book.authorName, \Book.author?.loudName,
    ] {
      #expect(path._kvcKeyPathString == nil, "\(path)")
    }
    let paths: [(AnyKeyPath, String)] = [
      (\Book.pages, "pages"), (\Book.title, "title"), (\Book.author?.name, "author.name"),
      (\Book.author, "author"),
      (\Book.isRead, "isRead"), (\Book.price, "price"), (\Book.readers, "readers"), (\Author.books, "books"),
      (\Author.born, "born"), (\Book.author!.born, "author.born"),
    ]
    for (path, name) in paths { #expect(path._kvcKeyPathString == name) }
    context.performAndWait {
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.half, ascending: true)]
      #expect(throws: (any Error).self) { try context.fetch(request) }
    }
  }

  @Test func `a batch of a child is written with the author of the root`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "authors-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let root = container.newBackgroundContext()
    (root.name, root.transactionAuthor) = ("root", "root author")
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = root
    child.transactionAuthor = "child author"
    try child.performAndWait {
      let insert = NSBatchInsertRequest(entityName: "Author", objects: [["name": "A"], ["name": "B"]])
      _ = try child.execute(insert)
      let update = NSBatchUpdateRequest(entityName: "Author")
      update.propertiesToUpdate = ["name": "C"]
      _ = try child.execute(update)
    }
    try root.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let result = try root.execute(request) as? NSPersistentHistoryResult
      let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
      #expect(transactions.map(\.author) == ["root author", "root author"])
      #expect(transactions.map(\.contextName) == ["root", "root"])
      // The entity of transactions has a token, by which they are found.
      #expect(NSPersistentHistoryTransaction.entityDescription?.attributesByName["token"] != nil)
      for (format, count) in [
        ("token > %@", 1), ("token >= %@", 2), ("token == %@", 1), ("NOT token > %@", 1), ("token < %@", 0),
      ] {
        let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
        fetch.predicate = NSPredicate(format: format, argumentArray: [transactions[0].token])
        let found =
          try root.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch))
          as? NSPersistentHistoryResult
        #expect((found?.result as? [NSPersistentHistoryTransaction])?.count == count, "\(format)")
      }
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  @Test func `an index may be over another instance of the attribute`() throws {
    let entity = NSEntityDescription()
    entity.name = "Page"
    entity.properties = [Library.attribute("title", .stringAttributeType)]
    let other = Library.attribute("title", .stringAttributeType)
    entity.indexes = [
      NSFetchIndexDescription(
        name: "byTitle", elements: [NSFetchIndexElementDescription(property: other, collationType: .binary)])
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(entity.indexes[0].elements[0].property === entity.propertiesByName["title"])
    #expect(entity.indexes[0].elements[0].indexDescription === entity.indexes[0])
  }

  @Test func `an index may be made first, and get its name and elements later`() throws {
    let entity = NSEntityDescription()
    entity.name = "Page"
    entity.properties = [Library.attribute("title", .stringAttributeType)]
    let index = NSFetchIndexDescription()
    index.name = "byTitle"
    index.elements = [NSFetchIndexElementDescription(property: entity.properties[0], collationType: .binary)]
    entity.indexes = [index]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(index.entity === entity && index.elements[0].property?.name == "title")
  }

  @Test func `a class of results controllers may join others, and have no request of its own`() throws {
    final class Joined: NSFetchedResultsController<any NSFetchRequestResult>,
      NSFetchedResultsControllerDelegate
    {
      let parts: [NSFetchedResultsController<Author>]
      var changes = 0

      init(_ parts: [NSFetchedResultsController<Author>]) {
        self.parts = parts
        super.init()
        for part in parts { part.delegate = self }
      }

      override var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest(entityName: "Author")
      }
      override var managedObjectContext: NSManagedObjectContext { parts[0].managedObjectContext }
      override var sectionNameKeyPath: String? { "name" }
      override var cacheName: String? { nil }
      override var fetchedObjects: [any NSFetchRequestResult]? { parts.flatMap { $0.fetchedObjects ?? [] } }
      override func performFetch() throws { for part in parts { try part.performFetch() } }
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        changes += controller.sectionNameKeyPath == nil ? 1 : 100
      }
    }
    let context = try Library.makeContainer().viewContext
    for name in ["A", "B", "C"] { _ = Author(name: name, context: context) }
    let parts = ["A", "C"].map { name in
      let request = Author.fetchRequest() as NSFetchRequest<Author>
      request.predicate = NSPredicate(format: "name == %@", name)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    }
    let joined = Joined(parts)
    try joined.performFetch()
    #expect(joined.fetchedObjects?.compactMap { ($0 as? Author)?.name } == ["A", "C"])
    #expect(joined.managedObjectContext === context && joined.fetchRequest.entityName == "Author")
    _ = Author(name: "C", context: context)
    context.processPendingChanges()
    #expect(joined.changes == 1 && joined.fetchedObjects?.count == 3)
    let plain = NSFetchedResultsController<Author>()
    #expect(plain.fetchedObjects == nil && plain.fetchRequest.entityName == nil)
    #expect(throws: (any Error).self) { try plain.performFetch() }
  }
}

extension Book {
  fileprivate var half: Int32 { pages / 2 }
  fileprivate var negative: Int32 { -pages }
  fileprivate var loud: String? { title?.uppercased() }
  fileprivate var authorName: String? { author?.name }
}

extension Author {
  fileprivate var loudName: String { name.uppercased() }
}
