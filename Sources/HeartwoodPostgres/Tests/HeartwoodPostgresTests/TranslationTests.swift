import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Conditions and orders in SQL beside the evaluation of a store in memory.
@Suite struct `Conditions in SQL` {
  /// The same objects in PostgreSQL and in memory.
  private struct Both {
    let postgres: PostgresWorld
    let memory: PersistentContainer

    init() throws {
      postgres = try PostgresWorld()
      memory = PersistentContainer(
        name: "Test", managedObjectModel: postgres.container.persistentStoreCoordinator.managedObjectModel)
      try memory.persistentStoreCoordinator.addPersistentStore(
        type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
      for context in [postgres.context(), memory.newBackgroundContext()] { try Self.fill(context) }
    }

    private static func fill(_ context: ManagedObjectContext) throws {
      var random = SplitMix64(seed: 7)
      let companies = (0..<5).map { context.makeCompany("C\($0)") }
      for (number, company) in companies.enumerated() {
        company.size = number == 2 ? nil : Int64(number * 10)
        company.name = ["alpha", "Beta", "gamma%", "de_lta", ""][number]
      }
      companies[0].partners = [companies[1], companies[2]]
      let clubs = ["Chess", "chor", "Ruder"].map { title in
        let club = Club(context: context)
        club.title = title
        return club
      }
      var people: [Person] = []
      for number in 0..<40 {
        let person = context.makePerson(
          ["Ada", "ada", "Ádám", "Bob", "a*b", "x\\y", "100%", "Zoë"][number % 8], age: Int64(number % 11))
        person.nick = number % 3 == 0 ? nil : "n\(number % 7)"
        person.company = number % 4 == 0 ? nil : companies[Int.random(in: 0..<4, using: &random)]
        person.clubs = Set(clubs.filter { _ in Bool.random(using: &random) })
        if number > 0, number % 5 == 0 { person.idol = people[number - 1] }
        people.append(person)
      }
      companies[1].ranking = Array(people[3..<6])
      for number in 0..<12 {
        let thing = Thing(context: context)
        thing.number = number
        guard number % 4 != 3 else { continue }
        thing.small = Int16(number - 5)
        thing.double = Double(number) / 3
        thing.float = Float(number) / 10
        thing.decimal = Decimal(number) / 8
        thing.flag = number % 2 == 0
        thing.text = "t\(number)"
        thing.date = Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
        thing.uuid = UUID(uuidString: "00000000-0000-0000-0000-0000000000\(10 + number)")
        thing.url = URL(string: "https://a.b/\(number)")
        thing.data = Data([UInt8(number)])
      }
      try context.save()
    }

    /// The results of both, as texts.
    func find(
      _ entity: String, _ format: String, _ sorts: [any FetchSort], limit: Int = 0, offset: Int = 0
    ) throws -> (postgres: [String], memory: [String]) {
      func find(_ context: ManagedObjectContext) throws -> [String] {
        let request = FetchRequest<ManagedObject>(entityName: entity)
        request.predicate = try FormatPredicate(format)
        request.sortDescriptors = sorts
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        let found = try context.fetch(request).map(Self.text)
        #expect(try context.count(for: request) == found.count, "\(format)")
        return sorts.isEmpty ? found.sorted() : found
      }
      return (try find(postgres.context()), try find(memory.newBackgroundContext()))
    }

    private static func text(_ object: ManagedObject) -> String {
      object.entity.attributesByName.keys.sorted().map { "\($0)=\(object.value(forKey: $0) ?? "nil")" }
        .joined(separator: " ")
    }
  }

  private static let people = [
    "age > 5", "age == 3 AND name == 'Bob'", "age BETWEEN {2, 4}", "age IN {1, 2, 30}", "NOT age IN {1, 2}",
    "nick == nil",
    "nick != nil", "nick != 'n1'", "NOT nick == 'n1'", "nick > 'n3'", "NOT nick > 'n3'",
    "nick IN {'n1', 'n2'}",
    "name BEGINSWITH 'A'", "name BEGINSWITH[c] 'A'", "name ENDSWITH 'b'", "name CONTAINS '%'",
    "name CONTAINS '*'",
    "name LIKE 'a*'", "name LIKE[c] '?d?'", "name LIKE 'a\\\\*b'", "name ==[c] 'ADA'",
    "name IN[c] {'ADA', 'bob'}",
    "NOT name BEGINSWITH 'A'", "NOT nick BEGINSWITH 'n'", "company == nil", "company != nil",
    "company.name == 'alpha'",
    "company.size > 5", "NOT company.size > 5", "company.size == nil", "company.size != 10",
    "idol.company.name == 'Beta'",
    "idol.name == name", "idol.nick == nick", "idol != nil AND idol.age < age", "ANY clubs.title == 'Chess'",
    "ALL clubs.title CONTAINS 'h'", "NONE clubs.title BEGINSWITH 'C'", "clubs.@count > 1",
    "clubs.@count == 0",
    "SUBQUERY(clubs, $c, $c.title BEGINSWITH[c] 'ch').@count == 2", "company.people.@count > 5",
    "company.people.@sum.age > 50",
    "company.people.@max.age == 10 OR company.people.@min.age == 1", "company.people.@avg.age > 4.5",
    "ANY company.people.age > 9", "ANY company.partners.name == 'Beta'",
    "SUBQUERY(company.people, $p, $p.age > 8 AND $p.name != name).@count > 0",
    "age + 1 == 5", "age * 2 > 10", "age / 2 == 3", "age - 1 < 0", "lowercase(name) == 'ada'",
    "length(name) == 4",
    "abs(age - 5) < 2", "TRUEPREDICATE", "FALSEPREDICATE", "age > 3 OR nick == 'n1' AND NOT name == 'Bob'",
    "TERNARY(age > 5, 1, 2) == 1", "company.ranking.@count == 3", "ranked.code == 'C1'",
    "modulus:by:(age, 3) == 0", "'a' IN name", "age == 4.5", "age < 4.5",
  ]

  private static let things = [
    "small < 0", "double > 1.0", "float == 0.1", "float IN {0.1, 0.2, 0.5}", "decimal == 0.125",
    "decimal > 0.5", "decimal IN {0.25, 0.5}",
    "flag == TRUE", "flag == FALSE", "flag != TRUE", "date > '2001-01-03'", "date == '2001-01-02'",
    "uuid == '00000000-0000-0000-0000-000000000012'", "url == 'https://a.b/4'", "data == nil",
    "double == nil",
    "small == 1.0", "small > 0.5", "double >= number", "date BETWEEN {'2001-01-02', '2001-01-04'}",
    "url BEGINSWITH 'https'",
  ]

  @Test func `conditions and counts select in SQL what they select in memory`() throws {
    let both = try Both()
    for (entity, formats) in [("Person", Self.people), ("Thing", Self.things)] {
      for format in formats {
        let (postgres, memory) = try both.find(entity, format, [])
        #expect(postgres == memory, "\(format)")
      }
    }
  }

  @Test func `orders, limits and offsets are those of a store in memory`() throws {
    let both = try Both()
    let orders: [[any FetchSort]] = [
      [NamedSort("name")], [NamedSort("name", ascending: false)],
      [NamedSort("nick"), NamedSort("age", ascending: false)],
      [NamedSort("nick", ascending: false)], [NamedSort("company.name"), NamedSort("age")],
      [NamedSort("company.size", ascending: false), NamedSort("name")],
      [NamedSort("name", options: .caseInsensitive)],
      [try ComputedSort("clubs.@count", ascending: false)],
    ]
    for (place, order) in orders.enumerated() {
      for (limit, offset) in [(0, 0), (7, 0), (7, 5), (0, 30), (100, 39), (5, 100)] {
        let (postgres, memory) = try both.find("Person", "age >= 0", order, limit: limit, offset: offset)
        #expect(postgres == memory, "order \(place), limit \(limit), offset \(offset)")
      }
    }
  }

  @Test func `random compound conditions select in SQL what they select in memory`() throws {
    let both = try Both()
    var random = SplitMix64(seed: 99)
    func condition(_ depth: Int) -> String {
      switch depth == 0 ? 3 : Int.random(in: 0..<5, using: &random) {
      case 0: "(\(condition(depth - 1))) AND (\(condition(depth - 1)))"
      case 1: "(\(condition(depth - 1))) OR (\(condition(depth - 1)))"
      case 2: "NOT (\(condition(depth - 1)))"
      default: Self.people.randomElement(using: &random) ?? "TRUEPREDICATE"
      }
    }
    for _ in 0..<150 {
      let format = condition(3)
      let (postgres, memory) = try both.find("Person", format, [])
      #expect(postgres == memory, "\(format)")
    }
  }

  @Test func `typed conditions, objects and identifiers are translated`() throws {
    let both = try Both()
    let context = both.postgres.context()
    let company = try #require(context.fetch(Company.self, where: { $0.code == "C1" }).first)
    #expect(try context.fetch(Person.self, where: { $0.company == company }).count == company.people.count)
    let person = try #require(company.people.first)
    #expect(try context.fetch(Company.self, where: { $0.people.contains(person) }) == [company])
    let request = FetchRequest<Person>()
    request.predicate = try FormatPredicate("SELF IN %@", [person.objectID])
    #expect(try context.fetch(request) == [person])
    #expect(try context.count(Person.self, where: { $0.company.partners.count > 0 && $0.age > 2 }) > 0)
  }

  @Test func `what SQL cannot say is refused with the part that it cannot`() throws {
    let context = try PostgresWorld().context()
    for (format, part) in [
      ("name MATCHES 'a.*'", "MATCHES"), ("name ==[d] 'a'", "[d]"),
      ("company.people.@median.age > 1", "median"),
      ("year(date) == 2001", "year"), ("ANYKEY == 'a'", "ANYKEY"),
    ] {
      let request = FetchRequest<ManagedObject>(entityName: format.contains("date") ? "Thing" : "Person")
      request.predicate = try FormatPredicate(format)
      let error = heartwoodError { _ = try context.fetch(request) }
      #expect(
        [.persistentStoreUnsupportedRequestType, .coreData].contains(error?.code)
          && error?.message.contains(part) == true,
        "\(format): \(String(describing: error))")
    }
  }
}
