import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Options of fetches` {
  // FET-03
  @Test func `a request executes itself in the context whose block runs`() async throws {
    let container = try makeLibrary()
    let (outer, inner) = (container.newBackgroundContext(), container.newBackgroundContext())
    let isbns = try await outer.perform {
      outer.makeBook("outer", "t")
      let first = try FetchRequest<Book>().execute().map(\.isbn)
      let second = try inner.performAndWait {
        inner.makeBook("inner", "t")
        return try FetchRequest<Book>().execute().map(\.isbn)
      }
      return first + second + (try FetchRequest<Book>().execute().map(\.isbn))
    }
    #expect(isbns == ["outer", "inner", "outer"])
    let error = heartwoodError { _ = try FetchRequest<Book>().execute() }
    #expect(error?.message.contains("perform") == true)
  }

  // FET-07, BAT-01
  @Test func `a fetch reads the stores that it names, and refuses others`() throws {
    let container = try makeLibrary()
    let context = container.newBackgroundContext()
    context.makeBook("1", "t")
    let request = FetchRequest<Book>(where: { $0.isbn == "1" })
    #expect(request.requestType == .fetchRequestType)
    request.affectedStores = container.persistentStoreCoordinator.persistentStores
    #expect(try context.fetch(request).count == 1)
    #expect(try context.fetch(request.copy()).count == 1)
    let other = try makeLibrary()
    request.affectedStores = other.persistentStoreCoordinator.persistentStores
    for use in [
      { _ = try context.fetch(request) }, { _ = try context.count(for: request) },
      { _ = try context.fetchIdentifiers(request) },
    ] { #expect(heartwoodError(use)?.code == .persistentStoreUnsupportedRequestType) }
    try context.save()
    #expect(heartwoodError { _ = try context.fetch(request) }?.code == .persistentStoreUnsupportedRequestType)
  }

  // FET-23
  @Test func `what another request finds is a part of conditions and columns`() throws {
    let context = try makeLibrary().newBackgroundContext()
    let (ada, bo) = (context.makeAuthor("Ada", "CH"), context.makeAuthor("Bo", "SE"))
    for (number, author) in [ada, bo, ada].enumerated() {
      context.makeBook("\(number)", "t", pages: Int64(number), by: author)
    }
    let swiss = FetchRequest<Author>(where: { $0.country == "CH" })
    let request = FetchRequest<Book>()
    let (left, right) = (
      ConditionExpression(forKeyPath: "author"), try ConditionExpression(forFetch: swiss, context: context)
    )
    request.predicate = ComparisonPredicate(leftExpression: left, rightExpression: right, type: .in).condition
    #expect(Set(try context.fetch(request).map(\.isbn)) == ["0", "2"])
    let number = try ConditionExpression(
      forFetch: FetchRequest<Author>(), context: context, countOnly: true)
    request.propertiesToFetch = ["isbn", ExpressionDescription(name: "authors", expression: number)]
    #expect(try context.fetchDictionaries(request).map { $0["authors"] as? Int64 } == [2, 2])
  }

  // FET-41
  @Test(arguments: [true, false])
  func `a fetch applies the delete rules of pending deletes first`(includesPendingChanges: Bool) throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let person = context.makePerson("Ida", in: company)
    try context.save()
    context.delete(company)
    #expect(!person.isDeleted)
    let request = FetchRequest<Person>()
    request.includesPendingChanges = includesPendingChanges
    #expect(try context.fetch(request).count == (includesPendingChanges ? 0 : 1))
    #expect(person.isDeleted)
  }

  // FET-15
  @Test func `a fetch of objects takes names of attributes and to-one relationships, and no expressions`()
    throws
  {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "t", by: context.makeAuthor("Ada"))
    let request = FetchRequest<Book>()
    request.propertiesToFetch = ["title", "author"]
    #expect(try context.fetch(request).map(\.pages) == [100])
    let sum = try ExpressionDescription(name: "total", format: "@sum.pages")
    for wrong: any FetchableProperty in ["subjects", "author.name", "titel", sum] {
      request.propertiesToFetch = ["title", wrong]
      request.sortDescriptors = [NamedSort("isbn")]
      for use: () throws -> Void in [
        { _ = try context.fetch(request) }, { _ = try context.fetchInBatches(request) },
        { try context.enumerate(request) { _ in } },
        { _ = try context.execute(AsynchronousFetchRequest(fetchRequest: request)) },
        {
          try FetchedResultsController(fetchRequest: request, managedObjectContext: context).performFetch()
        },
      ] { #expect(heartwoodError(use)?.message.contains("to-one relationship") == true) }
      // A request that needs no properties does not read their names.
      #expect(try context.count(for: request) == 1 && context.fetchIdentifiers(request).count == 1)
    }
  }

  /// A class that no other test puts into a model.
  private final class Unused: ManagedObject {
    @Attribute var size: Int64 = 0
    @Relationship var other: Unused?
  }

  @Test func `key paths are written by their names before a model with the class is in use`() throws {
    let condition = try Where<Unused> { $0.other.size > 5 }.conditionTree(
      for: EntityDescription(name: "Unused"))
    #expect("\(condition)" == "other.size > 5")
    #expect(RelationshipPath(\Unused.other).prefetchedSteps.count == 1)
  }

  @Test func `a key path in a condition is the same object each time`() {
    func path() -> AnyKeyPath { \Book.title }
    #expect(path() === path())
  }

  @Test func `key paths that are made each time read their properties`() throws {
    let context = try makeLibrary().newBackgroundContext()
    context.makeBook("1", "t", by: context.makeAuthor("Ada"))
    var kept: [AnyKeyPath] = []
    for _ in 0..<300 {
      let author: KeyPath<Book, Author?> = \.author
      let path: KeyPath<Book, String?> = author.appending(path: \.?.name)
      kept.append(path)
      #expect(try context.fetch(Book.self, where: { $0[dynamicMember: path] == "Ada" }).count == 1)
    }
    #expect(Set(kept.map(ObjectIdentifier.init)).count == 300)
  }

  @Test func `a template keeps every option, with variables in columns, groups and HAVING`() throws {
    let template = FetchRequest<Book>()
    template.predicate = try FormatPredicate("pages > $LEAST")
    template.propertiesToFetch = [
      "author.name", try ExpressionDescription(name: "total", format: "@sum.(pages * $FACTOR)"),
      try ExpressionDescription(name: "books", format: "@count", resultType: .integer32),
    ]
    template.propertiesToGroupBy = ["author.name"]
    template.havingPredicate = try FormatPredicate("@count >= $COUNT")
    template.sortDescriptors = [NamedSort("total", ascending: false)]
    template.returnsDistinctResults = true
    template.includesPropertyValues = false
    template.relationshipKeyPathsForPrefetching = [
      "author.books", RelationshipPath(\Book.subjects), "author",
    ]
    template.fetchBatchSize = 7
    let model = try ManagedObjectModel(types: libraryTypes) { (model) throws(HeartwoodError) in
      try model.setFetchRequestTemplate(template, forName: "totals")
    }
    let bytes = try model.encoded()
    let again = try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let context = try makeLibrary().newBackgroundContext()
    for (number, name) in ["Ada", "Bo", "Ada", "Cy", "Bo", "Ada"].enumerated() {
      let author =
        try context.fetch(Author.self, where: { $0.name == name }).first ?? context.makeAuthor(name)
      context.makeBook("\(number)", "t", pages: Int64(number * 10), by: author)
    }
    for model in [model, again] {
      let request = try #require(
        model.fetchRequestFromTemplate(
          withName: "totals", substitutionVariables: ["LEAST": 5, "FACTOR": 2, "COUNT": 2],
          resultType: Book.self))
      #expect(
        request.returnsDistinctResults && !request.includesPropertyValues && request.fetchBatchSize == 7)
      #expect(
        request.relationshipKeyPathsForPrefetching as? [String] == ["author.books", "subjects", "author"])
      let rows = try context.fetchDictionaries(request)
      #expect(rows.map { $0["author.name"] as? String } == ["Ada", "Bo"])
      #expect(rows.map { $0["total"] as? Int64 } == [140, 100])
      #expect(rows.map { $0["books"] as? Int32 } == [2, 2])
    }
    let unbound = try #require(model.fetchRequestTemplate(forName: "totals"))
    #expect(
      heartwoodError { _ = try context.fetchDictionaries(unbound) }?.message.contains("has no value") == true)
  }

  @Test func `a template of a former version has the defaults of later options`() throws {
    let text = """
      {"entityName":"Book","sort":[],"limit":3,"offset":0,"batchSize":0,"includesSubentities":true,
      "includesPendingChanges":true,"returnsObjectsAsFaults":true,"refreshesRefetchedObjects":false}
      """
    let template = try JSONDecoder().decode(FetchRequestTemplate.self, from: Data(text.utf8))
    #expect(template.limit == 3 && template.columns == nil && template.includesPropertyValues == nil)
  }

  @Test func `variables get values inside of aggregates of groups and of windows`() throws {
    let variable = try FormatParser.expression("pages * $X", [])
    let filter = try FormatPredicate("pages < $X").condition
    let group = ConditionExpression(.group(GroupAggregate(function: .sum, element: variable, filter: filter)))
    let window = ConditionExpression(
      .window(
        WindowValue(
          function: .first, element: variable, partition: [variable],
          order: [RowSortKey(expression: variable, isAscending: true)])))
    for expression in [group, window] {
      #expect(expression.description.contains("$X"))
      let text = expression.withSubstitutionVariables(["X": 7]).description
      #expect(!text.contains("$X") && text.contains("pages * 7"))
    }
  }
}
