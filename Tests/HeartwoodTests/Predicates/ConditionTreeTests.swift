import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Trees of conditions` {
  let world: PredicateWorld

  init() throws { world = try .sample() }

  // FET-24.
  @Test func `variables have values before a predicate is used, and are refused without`() throws {
    let predicate = try FormatPredicate("population > $LEAST AND name IN $NAMES OR country.code == $CODE")
    #expect(predicate.description == "population > $LEAST AND name IN $NAMES OR country.code == $CODE")
    expectRefusal("column 14: $LEAST has no value") { try world.keys(world.city, predicate) }
    let some = predicate.withSubstitutionVariables(["LEAST": 1_000_000, "NAMES": ["Paris", "Rome"]])
    expectRefusal("$CODE has no value") { try world.keys(world.city, some) }
    let whole = some.withSubstitutionVariables(["CODE": nil, "OTHER": 5])
    #expect(try world.keys(world.city, whole) == [1, 4])
    let nested = try FormatPredicate("SUBQUERY(cities, $c, $c.population > $LEAST).@count == 1")
    #expect(try world.keys(world.country, nested.withSubstitutionVariables(["LEAST": 1_000_000])) == [1, 2])
    let length = try FormatPredicate("length(name) == $X + 1").withSubstitutionVariables(["X": 4])
    #expect(try world.keys(world.city, length) == [1])
  }

  // FET-24.
  @Test func `destinations are printed under names that no variable has`() throws {
    let format = "SUBQUERY(cities, $c, $c.population > $x AND $c.name == $x2.name).@count == 1"
    let predicate = try FormatPredicate(format)
    #expect(
      predicate.description
        == "SUBQUERY(cities, $x3, $x3.population > $x AND $x3.name == $x2.name).@count == 1")
    let again = try FormatPredicate(predicate.description)
    #expect(again.description == predicate.description)
    #expect(try Set(again.conditionTree(for: world.country).variablePaths) == [["x"], ["x2", "name"]])
  }

  // FET-25.
  @Test(arguments: [
    ("name ==[n] 'Orl\u{E9}ans'", [2]), ("name ==[n] 'Orle\u{301}ans'", []), ("name ==[cn] 'PARIS'", []),
    ("name BEGINSWITH[n] 'Orl\u{E9}'", [2]), ("name CONTAINS[n] 'e\u{301}'", []),
    ("name IN[n] {'Orle\u{301}ans', 'Paris'}", [1]),
    ("name ==[l] 'Orle\u{301}ans'", [2]), ("name ==[cdl] 'ORLEANS'", [2]), ("name <[l] 'paris'", [2, 3]),
    ("name >[l] 'paris'", [1]), ("name >[cl] 'paris'", []), ("name <=[l] 'Kom'", [3]),
    ("name >[l] 'kolm'", [1, 2, 3]),
    ("name BETWEEN[cdl] {'KOLN', 'orleans'}", [2, 3]), ("lowercase(name) <[l] 'Orleans'", [3]),
    ("name LIKE[cdn] 'P*'", [1]),
  ])
  func `options n and l compare bytes and order as a dictionary`(_ format: String, _ keys: [UInt64]) throws {
    let predicate = try FormatPredicate(format)
    #expect(try world.keys(world.city, predicate) == keys)
    #expect(try FormatPredicate(predicate.description).description == predicate.description)
  }

  // FET-36.
  @Test func `ANYKEY is true if any attribute is`() throws {
    #expect(try world.keys(world.city, FormatPredicate("ANYKEY == 75")) == [1])
    #expect(try world.keys(world.city, FormatPredicate("ANYKEY CONTAINS 'ns'")) == [2])
    #expect(try world.keys(world.city, FormatPredicate("ANYKEY == 116269 OR ANYKEY == 'Paris'")) == [1, 2])
  }

  // FET-35.
  @Test func `an entity is an argument`() throws {
    #expect(try world.keys(world.city, FormatPredicate("entity == %@", world.capital)) == [1])
    #expect(try world.keys(world.city, FormatPredicate("entity != %@", world.capital)) == [2, 3, 4])
  }

  // FET-38.
  @Test func `a tree is built of comparisons and compounds`() throws {
    let large = ComparisonPredicate(
      leftExpression: ConditionExpression(forKeyPath: "population"),
      rightExpression: ConditionExpression(forConstantValue: 1_000_000), type: .greaterThan)
    let upper = ComparisonPredicate(
      leftExpression: try ConditionExpression(
        forFunction: "uppercase:", arguments: [ConditionExpression(forKeyPath: "name")]),
      rightExpression: ConditionExpression(forConstantValue: "par"), type: .beginsWith,
      options: .caseInsensitive)
    let both = CompoundPredicate(andPredicateWithSubpredicates: [large.condition, upper.condition])
    #expect(both.description == "population > 1000000 AND uppercase:(name) BEGINSWITH[c] \"par\"")
    #expect(try world.keys(world.city, both) == [1])
    let neither = CompoundPredicate(notPredicateWithSubpredicate: both.condition)
    #expect(try world.keys(world.city, neither) == [2, 3, 4])
    let any = ComparisonPredicate(
      leftExpression: ConditionExpression(forKeyPath: "cities.name"),
      rightExpression: ConditionExpression(forConstantValue: "Paris"), modifier: .any, type: .equalTo)
    #expect(try world.keys(world.country, any) == [1])
    #expect(throws: HeartwoodError.self) {
      try ConditionExpression(forFunction: "frobnicate:", arguments: [])
    }
  }

  // FET-38.
  @Test func `a subquery of parts is that of a text, also in another one`() throws {
    let large = try FormatPredicate("$c.population > 1000000").condition
    let cities = try ConditionExpression(
      forSubquery: ConditionExpression(forKeyPath: "cities"), usingIteratorVariable: "c", predicate: large)
    #expect(cities.expressionType == .subquery)
    #expect(cities.description == "SUBQUERY(cities, $x, $x.population > 1000000)")
    let counted = try FormatPredicate("\(cities).@count == 1")
    #expect(try world.keys(world.country, counted) == [1, 2])
    let inner = try ConditionExpression(
      forSubquery: ConditionExpression(forVariable: "k.country.cities"), usingIteratorVariable: "c",
      predicate: large)
    let condition = try FormatPredicate("\(inner).@count == 1 AND $k.country.cities.@count > 0").condition
    #expect(Set(condition.variablePaths) == [["k", "country", "cities"]])
    expectRefusal("$k has no value") { try world.keys(world.city, FormatPredicate(condition)) }
    let outer = try ConditionExpression(
      forSubquery: ConditionExpression(forKeyPath: "country.cities"), usingIteratorVariable: "k",
      predicate: condition)
    let text = try FormatPredicate(
      "SUBQUERY(country.cities, $k, SUBQUERY($k.country.cities, $c, $c.population > 1000000).@count == 1 "
        + "AND $k.country.cities.@count > 0).@count > 0")
    let built = try FormatPredicate("\(outer).@count > 0")
    #expect(built.description == text.description)
    #expect(try world.keys(world.city, built) == world.keys(world.city, text))
    #expect(try !world.keys(world.city, built).isEmpty)
    #expect(throws: HeartwoodError.self) {
      try ConditionExpression(
        forSubquery: ConditionExpression(forConstantValue: 1), usingIteratorVariable: "c", predicate: large)
    }
  }

  // FET-36, FET-38.
  @Test func `a parsed tree is walked and rewritten`() throws {
    let condition = try FormatPredicate("population + 1 > 5 AND NOT name ==[cd] $X").condition
    guard case .compound(let whole) = condition.form,
      case .comparison(let first) = whole.subpredicates[0].form,
      case .compound(let not) = whole.subpredicates[1].form,
      case .comparison(let second) = not.subpredicates[0].form
    else {
      Issue.record("\(condition) has another form")
      return
    }
    #expect(whole.compoundPredicateType == .and && not.compoundPredicateType == .not)
    #expect(first.leftExpression.function == "add:to:" && first.leftExpression.expressionType == .function)
    #expect(first.leftExpression.arguments?.first?.keyPath == "population")
    #expect(first.leftExpression.arguments?.last?.constantValue as? Int64 == 1)
    #expect(
      second.rightExpression.variable == "X" && second.options == [.caseInsensitive, .diacriticInsensitive])
    let rewritten = condition.rewritingComparisons { comparison in
      var comparison = comparison
      comparison.options = []
      return comparison.condition
    }
    #expect(rewritten.description == "population + 1 > 5 AND NOT (name == $X)")
    let ternary = try ConditionExpression(
      format: "TERNARY(isOld, {1, population}, SUBQUERY(cities, $c, $c.any == 1))")
    #expect(ternary.expressionType == .conditional && ternary.predicate?.description == "isOld")
    #expect(ternary.true?.expressionType == .aggregate && ternary.true?.collection?.count == 2)
    #expect(ternary.false?.expressionType == .subquery && ternary.false?.predicate != nil)
    #expect(try ConditionExpression(format: "SELF").expressionType == .evaluatedObject)
    #expect(try ConditionExpression(format: "a UNION b").expressionType == .unionSet)
  }

  // FET-32.
  @Test func `a predicate is evaluated with an object and its unsaved changes`() throws {
    let context = try makeLibrary().newBackgroundContext()
    let author = Author(context: context)
    author.name = "Ada"
    let (oaks, elms) = (
      context.makeBook("1", "Oaks", pages: 90, by: author), context.makeBook("2", "Elms", by: author)
    )
    try context.save()
    oaks.title = "Beeches"
    let firs = context.makeBook("3", "Firs")
    let predicate = try FormatPredicate("title CONTAINS 'e' AND author.books.@count == 2 OR isbn == '3'")
    #expect(try [oaks, elms, firs].filtered(using: predicate) == [oaks, firs])
    #expect(try Where<Book> { $0.pages.isIn([90]) }.evaluate(with: oaks))
    let request = FetchRequest<Book>()
    request.predicate = predicate
    #expect(try Set([oaks, elms, firs].filtered(using: predicate)) == Set(try context.fetch(request)))
    expectRefusal("has no property 'x'") { try FormatPredicate("x == 1").evaluate(with: oaks) }
  }

  // FET-24.
  @Test func `a model has fetch requests by name, which are stored with it`() throws {
    let template = FetchRequest<Book>()
    template.predicate = try FormatPredicate("pages >= $LEAST AND title BEGINSWITH[c] $START")
    template.sortDescriptors = [NamedSort("title", ascending: false)]
    template.fetchLimit = 2
    let model = try ManagedObjectModel(types: libraryTypes) { (model) throws(HeartwoodError) in
      try model.setFetchRequestTemplate(template, forName: "long")
    }
    expectRefusal("no entity of the model") {
      try ManagedObjectModel(types: libraryTypes) { (model) throws(HeartwoodError) in
        try model.setFetchRequestTemplate(FetchRequest<Book>(entityName: "Nothing"), forName: "x")
      }
    }
    let bytes = try model.encoded()
    let again = try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    let stored = try #require(again.fetchRequestTemplate(forName: "long"))
    #expect(stored.entityName == "Book" && stored.fetchLimit == 2 && stored.sortDescriptors?.count == 1)
    #expect(again.fetchRequestTemplatesByName.keys.sorted() == ["long"])
    #expect(again.fetchRequestTemplate(forName: "short") == nil)
    let merged = try ManagedObjectModel(byMerging: [again])
    #expect(merged.fetchRequestTemplate(forName: "long")?.predicate != nil)
    let container = PersistentContainer(name: "Templates", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    for (isbn, title) in [("1", "Oaks"), ("2", "oak trees"), ("3", "Elms"), ("4", "Oak")] {
      context.makeBook(isbn, title, pages: isbn == "4" ? 5 : 50)
    }
    let request = try #require(
      model.fetchRequestFromTemplate(
        withName: "long", substitutionVariables: ["LEAST": 10, "START": "OAK"], resultType: Book.self))
    #expect(try context.fetch(request).map(\.title) == ["oak trees", "Oaks"])
    let unbound = try #require(model.fetchRequestTemplate(forName: "long"))
    expectRefusal("$LEAST has no value") { try context.fetch(unbound) }
  }
}
