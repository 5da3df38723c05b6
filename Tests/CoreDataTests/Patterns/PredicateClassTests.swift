import CoreData
import Testing

// As a module with a plugin has it.
private typealias NSCompoundPredicate = CoreData._NSCompoundPredicate

/// Predicates that know whose properties they are about, as applications declare them.
private protocol TypedPredicate: NSPredicate { associatedtype Root }
private final class TypedComparison<Root>: NSComparisonPredicate, TypedPredicate {
  convenience init<Value>(
    _ keyPath: KeyPath<Root, Value>, _ type: NSComparisonPredicate.Operator, _ value: Any?
  ) {
    self.init(
      leftExpression: NSExpression(forKeyPath: keyPath),
      rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: type)
  }
}
private final class TypedCompound<Root>: NSCompoundPredicate, TypedPredicate {}

@Suite struct `Classes of predicates` {
  private func key(_ name: String) -> NSExpression { NSExpression(forKeyPath: name) }
  private func constant(_ value: Any?) -> NSExpression { NSExpression(forConstantValue: value) }
  private func comparison(
    _ name: String, _ type: NSComparisonPredicate.Operator, _ value: Any?,
    _ options: NSComparisonPredicate.Options = [], _ modifier: NSComparisonPredicate.Modifier = .direct
  ) -> NSComparisonPredicate {
    NSComparisonPredicate(
      leftExpression: key(name), rightExpression: constant(value), modifier: modifier, type: type,
      options: options)
  }

  @Test func `text makes no predicate of a class of the program, which is said`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OwnPredicate(format: "name = 'A'")
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("use NSPredicate(format:)"), "\(message)")
  }

  @Test func `a parsed predicate is walked as one that was built`() throws {
    let parsed = NSPredicate(
      format: "name BEGINSWITH[cd] %@ AND (age > %d OR NOT isRead == YES) AND ANY tags.name == 'x'", "A", 3)
    let whole = try #require(parsed as? NSCompoundPredicate)
    #expect(whole.compoundPredicateType == .and && whole.subpredicates.count == 3)
    let first = try #require(whole.subpredicates[0] as? NSComparisonPredicate)
    #expect(first.leftExpression.keyPath == "name" && first.rightExpression.constantValue as? String == "A")
    #expect(
      first.predicateOperatorType == .beginsWith
        && first.options == [.caseInsensitive, .diacriticInsensitive])
    let either = try #require(whole.subpredicates[1] as? NSCompoundPredicate)
    #expect(either.compoundPredicateType == .or)
    let age = try #require(either.subpredicates[0] as? NSComparisonPredicate)
    #expect(age.predicateOperatorType == .greaterThan && age.rightExpression.constantValue as? Int == 3)
    let negation = try #require(either.subpredicates[1] as? NSCompoundPredicate)
    #expect(negation.compoundPredicateType == .not && negation.subpredicates[0] is NSComparisonPredicate)
    let any = try #require(whole.subpredicates[2] as? NSComparisonPredicate)
    #expect(any.comparisonPredicateModifier == .any && any.leftExpression.keyPath == "tags.name")
    #expect(!(NSPredicate(format: "a == 1") is Foundation.NSCompoundPredicate))
    #expect(NSPredicate(format: "a == 1 AND b == 2") is Foundation.NSCompoundPredicate)
  }

  @Test func `parsed and built predicates are equal, and others are not`() {
    let built = NSCompoundPredicate(andPredicateWithSubpredicates: [
      comparison("a", .equalTo, 1),
      NSCompoundPredicate(notPredicateWithSubpredicate: comparison("b", .like, "x*", .caseInsensitive)),
    ])
    let parsed = NSPredicate(format: "a == 1 AND NOT b LIKE[c] 'x*'")
    #expect(built == parsed && parsed == built && built.hash == parsed.hash)
    #expect(comparison("a", .in, [1, 2]) == NSPredicate(format: "a IN {1, 2}"))
    #expect(comparison("a", .in, [1, 2]) == NSPredicate(format: "a IN %@", [1, 2]))
    #expect(comparison("a", .equalTo, nil) == NSPredicate(format: "a == nil"))
    #expect(comparison("a.b", .equalTo, "x", [], .any) == NSPredicate(format: "ANY a.b == 'x'"))
    #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
    #expect(parsed != NSCompoundPredicate(orPredicateWithSubpredicates: built.subpredicates))
    #expect(
      NSCompoundPredicate(orPredicateWithSubpredicates: [parsed])
        != NSCompoundPredicate(andPredicateWithSubpredicates: [parsed]))
    #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
    #expect(NSPredicate(format: "FALSEPREDICATE") != NSPredicate(value: true))
    #expect(NSPredicate(value: true) != parsed && NSPredicate(value: true) != NSPredicate(format: "a == 1"))
    #expect(Set([built, parsed, NSPredicate(format: "c == 1")] as [NSPredicate]).count == 2)
  }

  @available(*, deprecated)
  @Test(arguments: [
    ("a == 1", "a == 1"), ("a = 'x' && b <> 2", "a == \"x\" AND b != 2"), ("isRead == YES", "isRead == 1"),
    ("a == NULL", "a == nil"), ("a IN {1, 2}", "a IN {1, 2}"), ("a BETWEEN {1, 2.5}", "a BETWEEN {1, 2.5}"),
    ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
    ("(a == 1 OR b == 2) AND NOT c CONTAINS[cd] 'x'", "(a == 1 OR b == 2) AND NOT c CONTAINS[cd] \"x\""),
    ("NOT (a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"), ("ANY a.b > 1", "ANY a.b > 1"),
    ("TRUEPREDICATE", "TRUEPREDICATE"), ("a == $X", "a == $X"), ("SELF == 'x'", "SELF == \"x\""),
    ("a.@count > 2.0", "a.@count > 2"),
    ("a == 328C9C2D-0B1E-4D71-8F6A-1E2D3C4B5A69", "a == 328C9C2D-0B1E-4D71-8F6A-1E2D3C4B5A69"),
    (
      "a IN {CAST('D28C9C2D-0B1E-4D71-8F6A-1E2D3C4B5A69', 'NSUUID'), nil}",
      "a IN {D28C9C2D-0B1E-4D71-8F6A-1E2D3C4B5A69, nil}"
    ),
    ("12345678 - 1234 > a", "12345678 - 1234 > a"),
  ])
  func `predicates have the text of Apple's systems, which is read again`(format: String, text: String) {
    let parsed = NSPredicate(format: format)
    #expect(parsed.predicateFormat == text)
    #expect(NSPredicate(format: text) == parsed)
  }

  @available(*, deprecated)
  @Test func `constants have their texts`() {
    #expect(NSPredicate(value: true).predicateFormat == "TRUEPREDICATE")
    #expect(
      NSPredicate(format: "a > %@", Date(timeIntervalSinceReferenceDate: 1.5) as NSDate).predicateFormat
        == "a > CAST(1.500000, \"NSDate\")")
    #expect(NSPredicate(format: "a == %@", NSDecimalNumber(string: "12.50")).predicateFormat == "a == 12.5")
    let ids = [UUID(), UUID()]
    #expect(NSPredicate(format: "a == %@", ids[0] as CVarArg).predicateFormat == "a == \(ids[0])")
    let several = NSPredicate(format: "a IN %@", ids)
    #expect(several.predicateFormat == "a IN {\(ids[0]), \(ids[1])}")
    #expect(NSPredicate(format: several.predicateFormat) == several)
    #expect(
      "\(NSCompoundPredicate(andPredicateWithSubpredicates: [comparison("a", .equalTo, "b")]))"
        == "a == \"b\"")
    #expect(key("a.b").description == "a.b" && constant("x").description == "\"x\"")
  }

  @Test func `an object that was given is the constant of its comparison`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      let predicate = try #require(NSPredicate(format: "author == %@", author) as? NSComparisonPredicate)
      #expect(predicate.rightExpression.constantValue as? Author === author)
    }
  }

  @Test func `a class of comparisons or of joined predicates can have a subclass`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait { () throws in
      for name in ["A", "B", "C"] { _ = Author(name: name, context: context) }
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let isB = TypedComparison<Author>(\.name, .equalTo, "B")
      request.predicate = isB
      let found = try context.fetch(request)
      #expect(found.map(\.name) == ["B"])
      #expect(isB == comparison("name", .equalTo, "B") && isB.predicateFormat == "name == \"B\"")
      request.predicate = TypedCompound<Author>(
        type: .or, subpredicates: [isB, TypedComparison<Author>(\.name, .greaterThan, "B")])
      #expect(try context.fetch(request).map(\.name) == ["B", "C"])
      #expect(context.registeredObjects.filter { request.predicate?.evaluate(with: $0) == true }.count == 2)
    }
  }

  @Test func `joined predicates are used in fetches, in memory, and with blocks and variables`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      for (name, born) in [("A", 1.0), ("B", 2)] {
        let author = Author(name: name, context: context)
        author.born = Date(timeIntervalSinceReferenceDate: born)
      }
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      let joined = NSCompoundPredicate(orPredicateWithSubpredicates: [
        NSPredicate(format: "name == $NAME"), NSPredicate(value: false),
      ])
      request.predicate = joined.withSubstitutionVariables(["NAME": "B"])
      #expect(request.predicate is NSCompoundPredicate)
      let found = try context.fetch(request)
      #expect(found.map(\.name) == ["B"])
      let block = NSPredicate { object, _ in (object as? Author)?.name == "A" }
      let mixed = NSCompoundPredicate(andPredicateWithSubpredicates: [
        block, NSPredicate(format: "born < %@", Date()),
      ])
      #expect(context.registeredObjects.filter { mixed.evaluate(with: $0) }.count == 1)
      #expect(joined.evaluate(with: ["name": "A"], substitutionVariables: ["NAME": "A"]))
      request.predicate = mixed
      #expect(throws: (any Error).self) { try context.fetch(request) }
      // Foundation's own class, of a module without a plugin, is taken as well.
      request.predicate = Foundation.NSCompoundPredicate(
        notPredicateWithSubpredicate: NSPredicate(format: "name == 'A'"))
      #expect(try context.fetch(request).map(\.name) == ["B"])
    }
  }

  @Test func `a predicate is made of one of Swift's, if that is about properties of the model`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      for (name, pages) in [("A", 1), ("B", 3)] {
        let book = Book(context: context)
        (book.title, book.pages) = (name, Int32(pages))
        book.author = Author(name: name, context: context)
      }
      let titles = ["B", "C"]
      let least: Int32 = 2
      let predicates: [(NSPredicate?, [String])] = [
        (NSPredicate(#Predicate<Book> { $0.pages > least }), ["B"]),
        (NSPredicate(#Predicate<Book> { $0.title == "A" || !($0.pages < 3) }), ["A", "B"]),
        (NSPredicate(#Predicate<Book> { $0.author?.name == "A" }), ["A"]),
        (NSPredicate(#Predicate<Book> { titles.contains($0.title ?? "") }), ["B"]),
        (NSPredicate(#Predicate<Book> { $0.title == nil }), []),
      ]
      for (predicate, expected) in predicates {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try context.fetch(request).map(\.title)
        #expect(found == expected, "\(request)")
      }
      let authors: NSFetchRequest<Author> = Author.fetchRequest()
      authors.predicate = NSPredicate(#Predicate<Author> { $0.books.contains { $0.pages > 2 } })
      #expect(try context.fetch(authors).map(\.name) == ["B"])
      #expect(NSPredicate(#Predicate<Book> { $0.cover == "blue" }) == nil)
      let comparison = NSPredicate(#Predicate<Book> { $0.pages > least }) as? NSComparisonPredicate
      #expect(comparison?.leftExpression.keyPath == "pages" && comparison?.predicateFormat == "pages > 2")
    }
  }
}

private final class OwnPredicate: NSPredicate {}
