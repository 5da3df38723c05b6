import CoreData
import Foundation
import Testing

@Suite struct `Predicates in memory` {
  /// Conditions on a person with children, and whether Ada, who is 30 and has children of 5 and 3 years, satisfies them.
  private static let conditions: [(format: String, isMet: Bool)] = [
    ("kids.@max.age == 5", true), ("kids.@max.age == 4", false), ("kids.@min.age == 3", true),
    ("kids.@sum.age == 8", true), ("kids.@avg.age == 4", true), ("kids.@count == 2", true),
    ("kids.@max.age + kids.@min.age == 8", true), ("kids.@max.age > age", false), ("ANY kids.age < 4", true),
    ("ALL kids.age < 4", false), ("NONE kids.age > 5", true), ("kids.@max.name == 'Cy'", true),
    ("SUBQUERY(kids, $k, $k.age > 4).@count == 1", true), ("max:(kids.age) == 5", true),
    ("kids.@unionOfObjects.age CONTAINS 3", true), ("kids.@distinctUnionOfObjects.age.@count == 2", true),
    ("nothing.@max.age == NIL", true), ("nothing.@sum.age == 0", true), ("kids.age CONTAINS 5", true),
    ("name IN kids.name", false), ("kids.name CONTAINS 'Bo'", true),
    ("name CONTAINS ''", false), ("name BEGINSWITH[c] ''", false), ("NOT (name ENDSWITH[cd] '')", true),
    ("name LIKE ''", false), ("'' CONTAINS ''", false), ("'' == ''", true),
  ]

  @Test(arguments: 0..<conditions.count) func `operators over dictionaries have the values of their key`(
    place: Int
  ) {
    let (format, isMet) = Self.conditions[place]
    let kids: [NSDictionary] = [["name": "Bo", "age": 5], ["name": "Cy", "age": 3]]
    let ada: NSDictionary = ["name": "Ada", "age": 30, "kids": kids, "nothing": [NSDictionary]()]
    #expect(NSPredicate(format: format).evaluate(with: ada) == isMet, "\(format)")
    let plain: [String: Any] = ["name": "Ada", "age": 30, "kids": kids, "nothing": [Any]()]
    #expect(NSPredicate(format: format).evaluate(with: plain) == isMet, "\(format)")
  }

  @Test func `a list has the values that equal one of its members, at each look`() {
    let values: [Any] = [
      0, 1, 2, -7, 1.0, 1.5, Decimal(2), true, "1", "a", "A", "é", "e\u{301}", "",
      Date(timeIntervalSince1970: 5),
      UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), Data([1, 2]), NSNull(),
      [1, 2] as NSArray,
      UInt64.max, Int64.max, Float(0.5),
    ]
    let listed = values.enumerated().filter { !$0.offset.isMultiple(of: 3) }.map(\.element) + Array(100..<120)
    for options in ["", "[c]"] {
      let isListed = NSPredicate(format: "value IN\(options) %@", listed as NSArray)
      let isNot = NSPredicate(format: "NOT (value IN\(options) %@)", listed as NSArray)
      for round in 0..<3 {
        for value in values {
          let object = ["value": value] as NSDictionary
          let wanted = listed.contains {
            NSPredicate(format: "value ==\(options) %@", argumentArray: [$0]).evaluate(with: object)
          }
          #expect(isListed.evaluate(with: object) == wanted, "\(value) in round \(round)")
          #expect(isNot.evaluate(with: object) == !wanted, "\(value) in round \(round)")
        }
      }
    }
  }

  @Test func `a predicate about an unsaved object holds after its save, too`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    try context.performAndWait {
      let author = Author(name: "Ada", context: context)
      let book = Book(context: context)
      (book.title, book.author) = ("A", author)
      let predicates = [
        NSPredicate(format: "author == %@", author), NSPredicate(format: "author IN %@", [author] as NSArray),
        NSPredicate(format: "SELF == %@", book), NSPredicate(format: "author.name == 'Ada'"),
      ]
      for _ in 0..<3 {
        for predicate in predicates { #expect(predicate.evaluate(with: book), "\(predicate)") }
        try context.save()
      }
      author.name = "Eve"
      #expect(!predicates[3].evaluate(with: book) && predicates[0].evaluate(with: book))
    }
  }

  @Test func `a predicate is evaluated by several threads, and within itself`() async throws {
    let predicate = NSPredicate(format: "value IN %@ AND value > 10", Array(0..<100) as NSArray)
    let counts = await withTaskGroup(of: Int.self) { group in
      nonisolated(unsafe) let predicate = predicate
      for _ in 0..<4 {
        group.addTask { (0..<2_000).count { predicate.evaluate(with: ["value": $0] as NSDictionary) } }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == [89, 89, 89, 89])
    let nested = ["value": 50, "others": [["value": 11], ["value": 5]]] as NSDictionary
    #expect(
      NSPredicate(
        format: "SUBQUERY(others, $o, $o.value IN {11, 12, 13, 14, 15, 16, 17, 18, 19, 20}).@count == 1"
      ).evaluate(with: nested))
  }

  @Test func `objects, saved or not, and dictionaries of their values have one answer with a fetch`() throws {
    let container = try Library.makeContainer()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for (index, name) in ["Zoë", "anna", "Bob"].enumerated() {
        let author = Author(name: name, context: context)
        for number in 0..<index {
          let book = Book(context: context)
          (book.title, book.pages, book.author) = ("\(name) \(number)", Int32(100 * index + number), author)
        }
      }
      let formats = [
        "books.@max.pages == 201", "books.@min.pages == 100", "books.@sum.pages > 300",
        "books.@avg.pages == 200.5",
        "books.@count == 0", "ANY books.pages == 200", "SUBQUERY(books, $b, $b.pages > 150).@count > 0",
        "books.@max.pages > 100 AND name BEGINSWITH[c] 'b'",
        "name CONTAINS[cd] ''", "NOT (name BEGINSWITH '')", "ANY books.title ENDSWITH ''",
      ]
      func answers(_ objects: [Any]) -> [[Bool]] {
        formats.map { format in objects.map { NSPredicate(format: format).evaluate(with: $0) } }
      }
      func authors() throws -> [Author] {
        try context.fetch(Author.fetchRequest()).sorted { $0.name < $1.name }
      }
      let unsaved = answers(try authors())
      let rows = try authors().map { author -> NSDictionary in
        let books = author.books.map { ["pages": $0.pages] as NSDictionary }
        return ["name": author.name, "books": books]
      }
      #expect(answers(rows) == unsaved)
      try context.save()
      #expect(answers(try authors()) == unsaved)
      let found = try formats.map { format in
        let request = Author.fetchRequest()
        request.predicate = NSPredicate(format: format)
        let matches = try context.fetch(request).map(\.name)
        return try authors().map { matches.contains($0.name) }
      }
      #expect(found == unsaved && unsaved.joined().contains(true))
    }
  }
}
