import CoreData
import Foundation
import Testing

@Suite struct `Fetching by Core Data's names` {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init() throws {
    container = try Library.makeContainer()
    context = container.newBackgroundContext()
    try context.performAndWait { [context] in
      for (index, name) in ["Zoë", "anna", "Bob"].enumerated() {
        let author = Author(name: name, context: context)
        for number in 0...index {
          let book = Book(context: context)
          book.title = "\(name) \(number)"
          book.pages = Int32(100 * (index + 1) + number)
          book.isRead = number == 0
          book.author = author
        }
      }
      try context.save()
    }
  }

  @Test func `predicates of formats take arguments of any type`() throws {
    try context.performAndWait {
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      request.predicate = NSPredicate(format: "pages > %d AND author.name == %@", 200, "Bob")
      #expect(try context.fetch(request).map(\.title) == ["Bob 0", "Bob 1", "Bob 2"])
      request.predicate = NSPredicate(format: "%K == %@", "isRead", NSNumber(value: true))
      #expect(try context.count(for: request) == 3)
      request.predicate = NSPredicate(format: "pages IN %@", [100, 201] as [Int])
      #expect(try context.fetch(request).map(\.pages) == [100, 201])
      let author = try #require(try context.fetch(Author.fetchRequest()).first { $0.name == "anna" })
      request.predicate = NSPredicate(format: "author = %@", author)
      #expect(try context.count(for: request) == 2)
      request.predicate = NSPredicate(format: "author == %@", author.objectID)
      #expect(try context.count(for: request) == 2)
      request.predicate = NSPredicate(format: "title CONTAINS[cd] %@ AND pages BETWEEN %@", "ZOE", [1, 1000])
      #expect(try context.count(for: request) == 1)
      request.predicate = NSPredicate(
        format: "author.born == nil && author.name BEGINSWITH %@", argumentArray: ["B"])
      #expect(try context.count(for: request) == 3)
    }
  }

  @Test func `an index may be of an expression description`() throws {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = true
    let lower = NSExpressionDescription()
    lower.name = "lower"
    lower.expression = NSExpression(format: "lowercase:(title)")
    lower.expressionResultType = .stringAttributeType
    let page = NSEntityDescription()
    page.name = "Page"
    page.properties = [title]
    let element = NSFetchIndexElementDescription(property: lower, collationType: .binary)
    #expect(element.expression == "lowercase:(title)" && element.propertyName == "lower")
    page.indexes = [NSFetchIndexDescription(name: "lower", elements: [element])]
    let model = NSManagedObjectModel()
    model.entities = [page]
    let container = NSPersistentContainer(name: "Pages", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for text in ["Abc", "ABC", "b"] {
        NSEntityDescription.insertNewObject(forEntityName: "Page", into: context).setValue(
          text, forKey: "title")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Page")
      request.predicate = NSPredicate(format: "lowercase:(title) == %@", "abc")
      #expect(try context.count(for: request) == 2)
    }
  }

  @Test func `predicates are joined, built of expressions, and replaced variables`() throws {
    try context.performAndWait {
      let request = Book.fetchRequest()
      let read = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: "isRead"),
        rightExpression: NSExpression(forConstantValue: true),
        modifier: .direct, type: .equalTo)
      let long = NSPredicate(format: "pages >= $LEAST")
      request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        read, long.withSubstitutionVariables(["LEAST": 200]),
      ])
      let both = try context.count(for: request)
      #expect(both == 2)
      request.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: read)
      let unread = try context.count(for: request)
      #expect(unread == 3)
      request.predicate = NSPredicate(value: false)
      let none = try context.count(for: request)
      #expect(none == 0)
      #expect(read.leftExpression.keyPath == "isRead")
      #expect(throws: (any Error).self) {
        request.predicate = NSPredicate { _, _ in true }
        _ = try context.fetch(request)
      }
    }
  }

  @Test func `sort descriptors order by keys, key paths and selectors`() throws {
    try context.performAndWait {
      let request = Author.fetchRequest()
      request.sortDescriptors = [
        NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedCaseInsensitiveCompare:"))
      ]
      #expect(try context.fetch(request).map(\.name) == ["anna", "Bob", "Zoë"])
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Author.name, ascending: false)]
      #expect(try context.fetch(request).map(\.name) == ["anna", "Zoë", "Bob"])
      let objects = try context.fetch(Author.fetchRequest()) as NSArray
      let sorted = objects.sortedArray(using: [NSSortDescriptor(key: "name", ascending: true)])
      #expect((sorted as? [Author])?.map(\.name) == ["Bob", "Zoë", "anna"])
    }
  }

  @Test func `results are identifiers, dictionaries and numbers as well`() throws {
    try context.performAndWait {
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      ids.resultType = .managedObjectIDResultType
      #expect(try context.fetch(ids).count == 3)

      let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
      rows.resultType = .dictionaryResultType
      let sum = NSExpressionDescription()
      sum.name = "total"
      sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
      sum.expressionResultType = .integer64AttributeType
      rows.propertiesToFetch = ["author.name", sum]
      rows.propertiesToGroupBy = ["author.name"]
      rows.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
      let found = try context.fetch(rows)
      #expect(found.map { $0["total"] as? Int } == [903, 100, 401])

      let number = NSFetchRequest<NSNumber>(entityName: "Book")
      number.resultType = .countResultType
      #expect(try context.fetch(number).first?.intValue == 6)

      let any: NSFetchRequest<NSFetchRequestResult> = Author.fetchRequest()
      #expect(try context.fetch(any).compactMap { $0 as? Author }.count == 3)
    }
  }

  @Test func `predicates filter in memory, by key-value coding`() throws {
    try context.performAndWait {
      let books = try context.fetch(Book.fetchRequest()) as NSArray
      #expect(books.filtered(using: NSPredicate(format: "pages > 200 AND author.name == 'Bob'")).count == 3)
      let rows: [NSDictionary] = [["a": 1, "b": "x"], ["a": 5, "b": "Y"]]
      let wanted = NSPredicate(format: "a > 2 AND b LIKE[c] 'y'")
      #expect(rows.filter { wanted.evaluate(with: $0) }.count == 1)
      #expect(NSPredicate(format: "SELF MATCHES %@", "[a-z]+").evaluate(with: "abc"))
      #expect(!NSPredicate(format: "SELF MATCHES %@", "[a-z]+").evaluate(with: "abc1"))
      #expect(NSPredicate(format: "SELF IN %@", ["a", "b"]).evaluate(with: "a"))
      #expect(NSPredicate(format: "a == $X").evaluate(with: rows[0], substitutionVariables: ["X": 1]))
      #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a == 1"))
    }
  }

  @Test func `arguments without a placeholder are left out`() {
    #expect(NSPredicate(format: "SELF == %@", argumentArray: ["a", "b"]).evaluate(with: "a"))
    #expect(NSPredicate(format: "1 == 1", "extra").evaluate(with: nil))
    #expect(NSExpression(format: "@sum.id", argumentArray: [1]).keyPath == "@sum.id")
    #expect(
      NSExpression(format: "1 + %@", argumentArray: [2, 3]).expressionValue(with: nil, context: nil) as? Int
        == 3)
  }

  @Test func `objects of any class are compared by equality in memory`() throws {
    final class Plain: NSObject {}
    final class Numbered: NSObject {
      let number: Int
      init(_ number: Int) { self.number = number }
      override func isEqual(_ object: Any?) -> Bool { (object as? Numbered)?.number == number }
      override var hash: Int { number }
    }
    for (one, same, other) in [
      (Plain(), nil, Plain()), (Numbered(1), Numbered(1), Numbered(2)),
    ] as [(NSObject, NSObject?, NSObject)] {
      for object in [one, same ?? one] {
        #expect(NSPredicate(format: "SELF == %@", argumentArray: [one]).evaluate(with: object))
        #expect(!NSPredicate(format: "SELF != %@", argumentArray: [one]).evaluate(with: object))
        #expect(NSPredicate(format: "SELF IN %@", argumentArray: [[one]]).evaluate(with: object))
        #expect(
          NSPredicate(format: "SELF CONTAINS %@", argumentArray: [object]).evaluate(with: [one, other]))
      }
      #expect(!NSPredicate(format: "SELF == %@", argumentArray: [one]).evaluate(with: other))
      #expect(NSPredicate(format: "SELF != %@", argumentArray: [one]).evaluate(with: other))
      #expect(!NSPredicate(format: "SELF IN %@", argumentArray: [[one]]).evaluate(with: other))
    }
    let request: NSFetchRequest<Book> = Book.fetchRequest()
    request.predicate = NSPredicate(format: "title == %@", argumentArray: [Plain()])
    #expect(throws: (any Error).self) { try context.performAndWait { try context.fetch(request) } }
  }

  @Test(arguments: [
    "SELF.@count == 2", "@count == 2", "SELF.@sum.n == 3", "@max.n == 2", "SELF[SIZE] == 2",
    "SUBQUERY(SELF, $c, $c.n > 1).@count == 1",
  ])
  func `operators of collections are about the collection itself in memory`(_ format: String) {
    let list = [["n": 1], ["n": 2]]
    #expect(NSPredicate(format: format).evaluate(with: list))
    #expect(!NSPredicate(format: format).evaluate(with: list + [["n": 5]]))
    let ofValues = NSPredicate(format: format.replacing(".n", with: ".SELF").replacing("$c.SELF", with: "$c"))
    #expect(ofValues.evaluate(with: [1, 2]))
    #expect(!ofValues.evaluate(with: [1, 2, 5]))
  }

  @Test(arguments: ["SELF.@count == 2", "@max.pages > 2", "SUBQUERY(SELF, $c, $c.pages > 1).@count == 1"])
  func `operators without a relationship are errors of a fetch`(_ format: String) {
    let request: NSFetchRequest<Book> = Book.fetchRequest()
    request.predicate = NSPredicate(format: format)
    #expect(throws: (any Error).self) { try context.performAndWait { try context.fetch(request) } }
  }
}
