import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Conditions on words, which have the same result with a full-text index and without.
@Suite struct `Full text` {
  private static let kinds = [true, false]

  @Test(arguments: kinds)
  func `words are found with and without an index, whatever changes, in batches, after reopening`(
    isOnDisk: Bool
  )
    throws
  {
    var stores = try NoteStores(seed: 7, isOnDisk: isOnDisk)
    for round in 1...30 {
      for _ in 0..<6 { try stores.change() }
      if round % 4 == 0 { try stores.changeBatch() }
      // In other rounds the changes are not saved yet.
      if round % 2 == 0 { try stores.save() }
      if round % 10 == 0 { try stores.reopen() }
      for _ in 0..<8 {
        let query = stores.query()
        let expected = stores.expected(query)
        for context in stores.contexts {
          #expect(try stores.found(query, context) == expected, "\(query.text)")
          #expect(
            try stores.found(query, context, also: "kind == 2") == expected.filter { $0 % 5 == 2 },
            "\(query.text)")
        }
      }
    }
    #expect(try stores.verify() == [])
  }

  @Test func `a child context finds words in its own changes and in its parent's`() throws {
    var stores = try NoteStores(seed: 11, isOnDisk: false)
    for _ in 0..<40 { try stores.change() }
    try stores.save()
    for _ in 0..<10 { try stores.change() }
    let parent = stores.contexts[0]
    let child = ManagedObjectContext(.privateQueue, parent: parent)
    for _ in 0..<20 {
      let query = stores.query()
      #expect(
        try child.performAndWait { try stores.found(query, child) } == stores.expected(query), "\(query.text)"
      )
    }
    try child.performAndWait {
      let note = try ManagedObject(entity: parent.entity("Note"), insertInto: child)
      note.setValue("a unicorn", forKey: "body")
      note.setValue(1000, forKey: "number")
      #expect(try stores.found(.word("unicorn"), child) == [1000])
      #expect(try stores.found(.word("unicorn"), parent) == [])
    }
  }

  @Test(arguments: [true, false])
  func `an index that a model adds is built when the store is opened, and dropped without it`(hasIndex: Bool)
    throws
  {
    var stores = try NoteStores(seed: 13, isOnDisk: true)
    try stores.reopen(hasIndex: hasIndex)
    for _ in 0..<60 { try stores.change() }
    try stores.save()
    try stores.reopen(hasIndex: !hasIndex)
    #expect(try stores.verify() == [])
    let plan = try stores.contexts[0].plan(for: request("oak"))
    #expect(plan.steps.first?.hasPrefix("words: ") == !hasIndex)
    for _ in 0..<20 {
      let query = stores.query()
      #expect(try stores.found(query, stores.contexts[0]) == stores.expected(query), "\(query.text)")
    }
  }

  private func request(_ words: String, _ condition: String? = nil) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    let rest = condition.map { " AND \($0)" } ?? ""
    request.predicate = try FormatPredicate("body MATCHESWORDS %@" + rest, words)
    return request
  }

  /// A thousand notes: each has a word of its own, one of ten, one of a hundred, and one that all have.
  private func context(hasIndex: Bool) throws -> ManagedObjectContext {
    let container = try NoteStores.container(URL(fileURLWithPath: "/dev/null"), hasIndex: hasIndex)
    let context = container.newBackgroundContext()
    for number in 0..<1000 {
      let note = try ManagedObject(entity: context.entity("Note"), insertInto: context)
      note.setValue("All own\(number) ten\(number % 10) hundred\(number % 100)", forKey: "body")
      note.setValue(number, forKey: "number")
      note.setValue(number % 7, forKey: "kind")
    }
    try context.save()
    return context
  }

  @Test func `plans show the words that an index finds, and how they are combined`() throws {
    let context = try context(hasIndex: true)
    func steps(_ words: String, _ condition: String? = nil) throws -> [String] {
      try context.plan(for: request(words, condition)).steps
    }
    #expect(try steps("own7") == ["words: Note.body MATCHESWORDS \"own7\""])
    #expect(
      try steps("ten3 hundred13") == [
        "intersection: (words: Note.body MATCHESWORDS \"hundred13\") AND (words: Note.body MATCHESWORDS \"ten3\")"
      ] || steps("ten3 hundred13").first == "words: Note.body MATCHESWORDS \"hundred13\"")
    #expect(try steps("own99*").first == "words: Note.body MATCHESWORDS \"own99*\"")
    #expect(
      try steps("own1 OR own2") == [
        "union: (words: Note.body MATCHESWORDS \"own1\") OR (words: Note.body MATCHESWORDS \"own2\")"
      ])
    // Splitting every text would cost more than reading the entries of two frequent words.
    for number in 0..<1000 where number % 4 > 0 {
      let note = try ManagedObject(entity: context.entity("Note"), insertInto: context)
      note.setValue("All \(number % 4 == 1 ? "" : "left ")\(number % 4 == 3 ? "" : "right ")", forKey: "body")
    }
    try context.save()
    #expect(
      try steps("left right") == [
        "intersection: (words: Note.body MATCHESWORDS \"left\") AND (words: Note.body MATCHESWORDS \"right\")"
      ])
    #expect(try context.count(for: request("left right")) == 250)
    let phrase = try steps("\"own7 ten7\"")
    #expect(phrase.first == "words: Note.body MATCHESWORDS \"own7\"" && phrase.count == 2)
    #expect(try steps("-own7").first == "scan: Note")
    #expect(try steps("all", "kind == 3").first?.hasPrefix("index: Note.kind == 3") == true)
    #expect(try context.count(for: request("ten3")) == 100)
    #expect(try context.plan(forCounting: request("ten3")).steps.last?.hasPrefix("count: ") == true)
    #expect(try context.count(for: request("own99*")) == 11)
    #expect(try context.count(for: request("ten3 hundred13")) == 10)
  }

  @Test func `without an index every text is read, and the plan advises one`() throws {
    let context = try context(hasIndex: false)
    let plan = try context.plan(for: request("own7"))
    #expect(plan.steps.first == "scan: Note")
    #expect("\(plan)".contains("an index on the words of Note.body would spare reading most of the rows"))
    #expect(try context.count(for: request("own7")) == 1)
  }

  @Test func `a condition on words is written as it is read`() throws {
    let context = try context(hasIndex: true)
    let entity = try context.entity("Note")
    for text in ["body MATCHESWORDS \"heart wood*\"", "NOT body MATCHESWORDS \"\\\"of oak\\\" -elm\""] {
      let condition = try FormatPredicate(text).conditionTree(for: entity)
      #expect(try FormatPredicate("\(condition)").conditionTree(for: entity).description == "\(condition)")
    }
    let built = ComparisonPredicate(
      leftExpression: ConditionExpression(forKeyPath: "body"),
      rightExpression: ConditionExpression(forConstantValue: "own7"), type: .matchesWords)
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = built
    #expect(try context.count(for: request) == 1)
    #expect("\(built)" == "body MATCHESWORDS \"own7\"")
  }

  @Test func `words of computed texts and over relationships are found without an index`() throws {
    let context = try context(hasIndex: true)
    let request = FetchRequest<ManagedObject>(entityName: "Note")
    request.predicate = try FormatPredicate("uppercase:(body) MATCHESWORDS 'own7'")
    #expect(try context.count(for: request) == 1)
    request.predicate = try FormatPredicate("kind MATCHESWORDS 'own7'")
    #expect(throws: HeartwoodError.self) { try context.count(for: request) }
  }

  @Test func `an attribute declares its index by an option`() throws {
    let container = try PersistentContainer(
      name: "Poems", types: [Poem.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    for text in ["Heart of oak are our ships", "The heartwood of an oak", "Elm and ash"] {
      Poem(context: context).text = text
    }
    try context.save()
    #expect(try context.count(Poem.self, where: { $0.text.matchesWords("hea* oak") }) == 2)
    #expect(try context.count(Poem.self, where: { $0.text.matchesWords("\"heart of oak\"") }) == 1)
    #expect(
      try context.plan(for: Poem.self, where: { $0.text.matchesWords("elm") }).steps
        == ["words: Poem.text MATCHESWORDS \"elm\""])
  }

  @Test func `an index of words is of one attribute of strings`() throws {
    for edit: (EntityDescription) -> Void in [
      { $0.indexes = [NoteStores.words(of: $0.propertiesByName["kind"]!)] },
      { entity in
        entity.indexes[1].elements += [
          FetchIndexElementDescription(property: entity.propertiesByName["kind"]!)
        ]
      },
      { entity in entity.indexes[1].elements += entity.indexes[1].elements },
    ] {
      let model = NoteStores.model(hasIndex: true)
      edit(try #require(model.entitiesByName["Note"]))
      #expect(throws: HeartwoodError.self) { try PersistentStoreCoordinator(checking: model) }
    }
  }
}

private final class Poem: ManagedObject {
  @Attribute(.fullText) var text = ""
}
