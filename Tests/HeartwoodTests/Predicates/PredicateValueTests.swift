import Foundation
import GraphTestSupport
import Heartwood
import Testing

/// A line of an order, with numbers of every type.
final class OrderLine: ManagedObject {
  @Attribute var quantity = 0
  @Attribute var unitPrice: Decimal = 0
  @Attribute var weight = 0.0
  @Attribute var small: Int16 = 0
  @Attribute var big: Int64 = 0
  @Attribute var isGift = false
  @Attribute var discount: Decimal?
}

@Suite struct `Predicates as values` {
  private func makePeople() throws -> ManagedObjectContext {
    let context = try makeContainer().newBackgroundContext()
    for age in 0..<20 { _ = context.makePerson("P\(age)", age: Int64(age)) }
    try context.save()
    return context
  }

  @Test func `predicates combine like conditions`() throws {
    let context = try makePeople()
    let young = Where<Person> { $0.age < 5 }
    let even = Where<Person> { [0, 2, 4, 6, 8].contains($0.age) }
    func ages(_ predicate: Where<Person>) throws -> [Int64] {
      try context.fetch(predicate, sort: [.ascending(\.age)]).map(\.age)
    }
    #expect(try ages(young && even) == [0, 2, 4])
    #expect(try ages(young || even) == [0, 1, 2, 3, 4, 6, 8])
    #expect(try ages(even && !young) == [6, 8])
    #expect(try ages(.all([young, even, .true])) == [0, 2, 4])
    #expect(try ages(.any([young && even, .false])) == [0, 2, 4])
    #expect(try ages(.any([])) == [] && context.count(Where<Person>.all([])) == 20)
    #expect(try context.count(Person.self, where: { _ in .true }) == 20)
    #expect(try context.count(Person.self, where: { $0.age < 5 || .false }) == 5)
    #expect("\(young && !even)" == "age < 5 AND NOT (age IN {0, 2, 4, 6, 8})")
  }

  @MainActor private static func searchScreen() -> (Where<Person>, [Sort<Person>], FormatPredicate?) {
    let text = "1"
    return (
      Where { $0.name.contains(text) }, [.descending(\.age)],
      try? FormatPredicate("age < %@ AND name CONTAINS '1'", 12)
    )
  }

  // CNC-07
  @Test func `what the main actor builds is used in a background context`() async throws {
    let context = try makePeople()
    let (predicate, sort, format) = await Self.searchScreen()
    let ages = try await context.perform { try context.fetch(predicate, sort: sort, limit: 3).map(\.age) }
    #expect(ages == [19, 18, 17])
    let count = try await context.perform {
      let request = FetchRequest<Person>(predicate, sort: sort)
      request.predicate = format
      return try context.count(for: request)
    }
    #expect(count == 3)
  }

  @Test func `a condition with an unsaved object finds it after its save, in another context too`() throws {
    let container = try makeContainer()
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let company = context.makeCompany("A")
    let ada = context.makePerson("Ada", in: company)
    let inCompany = Where<Person> { $0.company == company }
    let isAda = Where<Person> { $0.isIn([ada]) }
    let format = try FormatPredicate("company == %@", company)
    #expect(try context.fetch(inCompany) == [ada])
    try context.save()
    #expect(try context.fetch(inCompany) == [ada] && context.fetch(isAda) == [ada])
    #expect(try other.count(inCompany) == 1 && other.count(isAda) == 1)
    let request = FetchRequest<Person>()
    request.predicate = format
    #expect(try other.count(for: request) == 1)
  }

  @Test func `a copy of a request is independent`() throws {
    let context = try makePeople()
    let request = Person.fetchRequest()
    request.predicate = Where<Person> { $0.age < 5 }
    request.sortDescriptors = [Sort<Person>.descending(\.age)]
    request.fetchLimit = 2
    let copy = request.copy()
    copy.fetchLimit = 0
    #expect(try context.fetch(request).map(\.age) == [4, 3] && context.fetch(copy).count == 5)
  }

  @Test func `numbers of different types mix in closures`() throws {
    let container = try PersistentContainer(
      name: "Lines", types: [OrderLine.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    for number in 1...4 {
      let line = OrderLine(context: context)
      line.quantity = number
      line.unitPrice = Decimal(string: "2.5") ?? 0
      line.weight = Double(number) / 2
      line.small = Int16(number)
      line.big = Int64(number) * 10
    }
    try context.save()
    func quantities(_ condition: @escaping (ObjectQuery<OrderLine>) -> Condition) throws -> [Int] {
      try context.fetch(OrderLine.self, where: condition, sort: [.ascending(\.quantity)]).map(\.quantity)
    }
    #expect(try quantities { $0.quantity * $0.unitPrice > 6 } == [3, 4])
    #expect(try quantities { $0.unitPrice * $0.quantity == 5 } == [2])
    #expect(try quantities { $0.quantity * $0.weight >= 4.5 } == [3, 4])
    #expect(try quantities { $0.weight + $0.unitPrice < 3.6 } == [1, 2])
    #expect(try quantities { $0.quantity > $0.unitPrice } == [3, 4])
    #expect(try quantities { $0.weight < $0.unitPrice && $0.small > 2.5 } == [3, 4])
    #expect(try quantities { $0.quantity == $0.small && $0.big > $0.small } == [1, 2, 3, 4])
    let (limit, price) = (2, Decimal(string: "2.5") ?? 0)
    #expect(try quantities { $0.small <= limit && $0.unitPrice == price } == [1, 2])
    #expect(try quantities { $0.weight > limit || $0.big == 10 } == [1])
    #expect(try quantities { $0.quantity * 1.5 > 4 && $0.quantity * 2 < 8 } == [3])
    #expect(try quantities { !$0.isGift && $0.discount == nil && $0.quantity - 1 > 1 } == [3, 4])
  }

  // CTX-12, CTX-13
  @Test func `an object by identifier has its class, and another class is an error`() throws {
    let context = try makePeople()
    let id = try #require(try context.fetch(Person.self).first).objectID
    let person: Person = try context.existingObject(with: id)
    #expect(context.object(with: id, as: Person.self) === person)
    let error = try #require(heartwoodError { _ = try context.existingObject(with: id, as: Company.self) })
    #expect(error.code == .managedObjectReferentialIntegrity && error.objectIDs == [id])
    #expect(error.message.contains("is an object of Person"))
  }

  // FET-37
  @Test func `functions are properties and methods in the typed form`() throws {
    let context = try makeLibrary().newBackgroundContext()
    let author = Author(context: context)
    author.name = "Ada"
    context.makeBook("1", "Oaks", year: 1971, pages: 100, price: 9.6, by: author)
    context.makeBook("22", "Elms", pages: 301, price: 20, by: author)
    context.makeBook("333", "Firs", year: 1988, pages: 50, price: 30)
    func isbns(_ condition: (ObjectQuery<Book>) -> Condition) throws -> [String] {
      let predicate = Where(condition)
      let typed = try context.fetch(predicate).map(\.isbn).sorted()
      let request = FetchRequest<Book>()
      request.predicate = try FormatPredicate(predicate.description)
      #expect(try context.fetch(request).map(\.isbn).sorted() == typed, "\(predicate)")
      return typed
    }
    #expect(try isbns { $0.title.uppercased() == "OAKS" || $0.title.lowercased() == "firs" } == ["1", "333"])
    #expect(try isbns { $0.isbn.count >= 2 && ($0.title + "!").hasSuffix("s!") } == ["22", "333"])
    #expect(try isbns { $0.title.canonical.contains("oa") } == ["1"])
    #expect(try isbns { $0.price.rounded() == 10 && $0.price.floor == 9 && $0.price.ceiling == 10 } == ["1"])
    #expect(try isbns { $0.pages % 2 == 0 && $0.pages.raised(to: 2) >= 2500 } == ["1", "333"])
    #expect(try isbns { ($0.pages - 200).magnitude == 100 && $0.price.rounded(toDigits: 1) == 9.6 } == ["1"])
    #expect(try isbns { $0.pages.squareRoot() == 10 && $0.pages.logarithm == 2 } == ["1"])
    #expect(try isbns { ($0.year ?? 2000) >= 1988 } == ["22", "333"])
    #expect(try isbns { ($0.price > 15).then($0.pages, else: 0) > 100 } == ["22"])
    #expect(
      try isbns { $0.author.books.median { $0.price } == 14.8 && $0.author.books.mode { $0.pages } == 100 }
        == ["1", "22"])
    #expect(try isbns { $0.author.books.standardDeviation { $0.pages } == 100.5 } == ["1", "22"])
    #expect(try isbns { $0.author.books.sum({ $0.pages }, where: { $0.price > 15 }) == 301 } == ["1", "22"])
    #expect(try isbns { $0.author.books.sum { $0.pages * 2 } == 802 } == ["1", "22"])
    #expect(try isbns { $0.author.books.map { $0.title }.contains("Elms") } == ["1", "22"])
    #expect(try isbns { $0.author.books.map { $0.year }.distinct.count == 1 } == ["1", "22"])
  }

  // FET-28
  @Test func `ANY over two to-many relationships is about any of any`() throws {
    let context = try makeLibrary().newBackgroundContext()
    let subject = Subject(context: context)
    subject.label = "Trees"
    context.makeBook("1", "Oaks", by: Author(context: context)).subjects = [subject]
    let request = FetchRequest<Author>()
    request.predicate = try FormatPredicate("ANY books.subjects.label != 'x'")
    let found = try context.fetch(request)
    request.predicate = try FormatPredicate("SUBQUERY(books, $x, ANY $x.subjects.label != 'x').@count > 0")
    #expect(try Set(context.fetch(request)) == Set(found))
    #expect(!found.isEmpty)
    request.predicate = try FormatPredicate("ANY books.subjects.label == 'x'")
    #expect(try context.fetch(request).isEmpty)
  }
}

/// Decimals and single-precision numbers, which few fractions are exact in.
@Suite struct `Fractions in conditions` {
  private final class Measure: ManagedObject {
    @Attribute var price: Decimal = 0
    @Attribute(.indexed, validated: .number(atLeast: Decimal(string: "-4.9"), atMost: Decimal(string: "4.9")))
    var level: Float = 0
    @Attribute(.indexed, validated: .number(atMost: Decimal(string: "0.3"))) var share = 0.0
    override class var compoundIndexes: [[String]] { [["price + 0.1"], ["price * 1.1"]] }
  }

  private func context() throws -> ManagedObjectContext {
    let container = try PersistentContainer(
      name: "Measures", types: [Measure.self], at: URL(filePath: "/dev/null"))
    let context = container.newBackgroundContext()
    for (price, level) in [("0.2", 4.9), ("0.3", -4.9), ("12345678901234567890.123456789", 0.1)]
      as [(String, Float)]
    {
      let measure = Measure(context: context)
      (measure.price, measure.level) = (try #require(Decimal(string: price)), level)
    }
    try context.save()
    return context
  }

  private func prices(_ format: String, _ arguments: Any?..., in context: ManagedObjectContext) throws
    -> [String]
  {
    let request = FetchRequest<Measure>(entityName: "Measure")
    request.predicate = try FormatPredicate(
      format, argumentArray: arguments.map { $0 as? any PredicateArgument })
    return try context.fetch(request).map { "\($0.price)" }.sorted()
  }

  // VAL-07
  @Test func `a bound of a floating-point number is the nearest one that the attribute can have`() throws {
    let context = try context()
    let measure = try #require(context.fetch(Measure.self, where: { $0.level == 4.9 }).first)
    measure.level = Float(4.9).nextUp
    #expect(heartwoodError { try context.save() }?.code == .validationNumberTooLarge)
    measure.level = Float(-4.9).nextDown
    #expect(heartwoodError { try context.save() }?.code == .validationNumberTooSmall)
    (measure.level, measure.share) = (4.9, 0.1 + 0.2)
    #expect(heartwoodError { try context.save() }?.code == .validationNumberTooLarge)
    measure.share = .infinity
    #expect(heartwoodError { try context.save() }?.code == .validationNumberTooLarge)
    measure.share = 0.3
    try context.save()
  }

  @Test func `a decimal argument finds the floating-point number of its digits`() throws {
    let context = try context()
    let argument = try #require(Decimal(string: "4.9"))
    #expect(try prices("level == %@", argument, in: context) == ["0.2"])
    #expect(try prices("level IN %@", [argument, -argument], in: context) == ["0.2", "0.3"])
    #expect(try prices("level BETWEEN %@", [argument, argument], in: context) == ["0.2"])
    #expect(try prices("level > %@", argument, in: context) == [])
    for measure in try context.fetch(Measure.self) where measure.price == Decimal(string: "0.2") {
      measure.share = 0.3
    }
    try context.save()
    #expect(try prices("share IN %@", [try #require(Decimal(string: "0.3"))], in: context) == ["0.2"])
  }

  @Test func `a fraction that is computed with beside decimals is a decimal`() throws {
    let context = try context()
    for (format, found) in [
      ("price + 0.1 == 0.3", ["0.2"]), ("0.3 == 0.1 + price", ["0.2"]), ("price == 0.1 + 0.2", ["0.3"]),
      ("price == 0.1 + 0.1", ["0.2"]), ("price - 0.3 == 0", ["0.3"]), ("price * 1.1 == 0.22", ["0.2"]),
      ("price IN {0.1 + 0.1, 0.1 + 0.2}", ["0.2", "0.3"]), ("modulus:by:(price, 0.1) == 0", ["0.2", "0.3"]),
      ("price + 0.1 BETWEEN {0.3, 0.3}", ["0.2"]),
      ("price == 12345678901234567890.123456789", ["12345678901234567890.123456789"]),
      ("(price + 0.1) * 10.0 == 3", ["0.2"]), ("sum:({price, 0.1}) == 0.3", ["0.2"]),
      ("share + 0.1 == 0.1", ["0.2", "0.3", "12345678901234567890.123456789"]),
    ] {
      #expect(try prices(format, in: context) == found, "\(format)")
    }
  }
}
