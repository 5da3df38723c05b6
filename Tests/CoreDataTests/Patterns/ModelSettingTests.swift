import CoreData
import Testing

/// Copies of a model, and models that were merged of it, have its settings.
@Suite struct `Settings of models` {
  private func everywhere(
    _ model: NSManagedObjectModel
  ) throws -> [(String, NSManagedObjectModel)] {
    [
      ("model", model), ("copy", try #require(model.copy() as? NSManagedObjectModel)),
      ("merged", try #require(NSManagedObjectModel(byMerging: [model]))),
    ]
  }

  @Test func `a fetch request by name keeps every setting`() throws {
    let model = Library.makeModel()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
    sum.expressionResultType = .integer64AttributeType
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title", "author.name", sum]
    request.propertiesToGroupBy = ["title", "author.name"]
    request.havingPredicate = NSPredicate(format: "sum:(pages) > $LEAST")
    request.predicate = NSPredicate(format: "pages < $MOST")
    request.sortDescriptors = [
      NSSortDescriptor(key: "title", ascending: false, selector: Selector("localizedStandardCompare:"))
    ]
    (request.fetchOffset, request.fetchLimit, request.fetchBatchSize) = (1, 5, 7)
    (request.returnsDistinctResults, request.shouldRefreshRefetchedObjects) = (true, true)
    (request.includesPropertyValues, request.includesPendingChanges) = (false, false)
    request.relationshipKeyPathsForPrefetching = ["author"]
    model.setFetchRequestTemplate(request, forName: "Sums")
    for (place, model) in try everywhere(model) {
      let found = try #require(model.fetchRequestTemplate(forName: "Sums"), "\(place)")
      #expect(found.resultType == .dictionaryResultType && found.returnsDistinctResults, "\(place)")
      #expect(
        found.propertiesToFetch?.prefix(2).map { $0 as? String } == ["title", "author.name"], "\(place)")
      let column = try #require(found.propertiesToFetch?.last as? NSExpressionDescription, "\(place)")
      #expect(column.name == "sum" && column.expressionResultType == .integer64AttributeType, "\(place)")
      #expect(column.expression == sum.expression, "\(place)")
      #expect(found.propertiesToGroupBy as? [String] == ["title", "author.name"], "\(place)")
      #expect(found.havingPredicate == request.havingPredicate, "\(place)")
      #expect(found.sortDescriptors == request.sortDescriptors, "\(place)")
      #expect(found.fetchOffset == 1 && found.fetchLimit == 5 && found.fetchBatchSize == 7, "\(place)")
      #expect(found.shouldRefreshRefetchedObjects && !found.includesPropertyValues, "\(place)")
      #expect(!found.includesPendingChanges, "\(place)")
      #expect(found.relationshipKeyPathsForPrefetching == ["author"], "\(place)")
      #expect(model.fetchRequestTemplatesByName["Sums"] == found, "\(place)")
    }
  }

  @Test func `a fetch request by name gives dictionaries with values for its variables`() throws {
    let model = Library.makeModel()
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(forKeyPath: "@sum.pages")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title", sum]
    request.propertiesToGroupBy = ["title"]
    // Computed columns are named as variables, too.
    request.havingPredicate = NSPredicate(format: "$sum >= $LEAST")
    model.setFetchRequestTemplate(request, forName: "Sums")
    let context = try Library.makeContext(model)
    try context.performAndWait {
      for (title, pages) in [("A", 1), ("A", 2), ("B", 2)] {
        let book = Book(context: context)
        (book.title, book.pages) = (title, Int32(pages))
      }
      try context.save()
      let made = try #require(
        model.fetchRequestFromTemplate(withName: "Sums", substitutionVariables: ["LEAST": 3]))
      let rows: [Any] = try context.fetch(made)
      #expect(rows as? [NSDictionary] == [["title": "A", "sum": 3]])
    }
  }

  @Test func `the request of a fetched property keeps its order and its other settings`() throws {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
    (request.fetchLimit, request.fetchOffset, request.returnsObjectsAsFaults) = (3, 1, false)
    request.predicate = NSPredicate(format: "pages > 1")
    let property = NSFetchedPropertyDescription()
    property.fetchRequest = request
    let found = try #require(property.fetchRequest)
    #expect(found.sortDescriptors == request.sortDescriptors && found.predicate == request.predicate)
    #expect(found.fetchLimit == 3 && found.fetchOffset == 1 && !found.returnsObjectsAsFaults)
  }

  @Test func `annotations and translations may be of any type, and are copied with the model`() throws {
    let model = Library.makeModel()
    let book = try #require(model.entitiesByName["Book"])
    let date = Date(timeIntervalSinceReferenceDate: 1)
    book.userInfo = ["text": "a", "number": 1, 7: ["list"]]
    book.attributesByName["title"]?.userInfo = ["date": date, "text": "b"]
    model.localizationDictionary = ["Entity/Book": "Buch"]
    for (place, model) in try everywhere(model) {
      let info = try #require(model.entitiesByName["Book"]?.userInfo, "\(place)")
      #expect(info["text"] as? String == "a" && info["number"] as? Int == 1, "\(place)")
      #expect(info[7] as? [String] == ["list"] && info.count == 3, "\(place)")
      let title = try #require(model.entitiesByName["Book"]?.attributesByName["title"]?.userInfo, "\(place)")
      #expect(title["date"] as? Date == date && title["text"] as? String == "b", "\(place)")
      #expect(model.localizationDictionary == ["Entity/Book": "Buch"], "\(place)")
    }
    let copy = try #require(book.copy() as? NSEntityDescription)
    #expect(copy.userInfo?["number"] as? Int == 1)
    copy.userInfo = nil
    #expect(copy.userInfo?.isEmpty == true && book.userInfo?.count == 3)
    let mapping = NSEntityMapping()
    mapping.userInfo = ["number": 1]
    #expect(mapping.userInfo?["number"] as? Int == 1)
  }

  @Test func `an entity that is in no model has a hash, which is that in a model`() throws {
    let (entity, parent) = (NSEntityDescription(), NSEntityDescription())
    (entity.name, parent.name) = ("Thing", "Whole")
    entity.properties = [Library.attribute("x", .stringAttributeType)]
    parent.subentities = [entity]
    let alone = entity.versionHash
    #expect(alone != NSEntityDescription().versionHash)
    let model = NSManagedObjectModel()
    model.entities = [parent, entity]
    #expect(entity.versionHash == alone)
  }
}
