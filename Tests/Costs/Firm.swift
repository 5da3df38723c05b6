import Foundation
import Heartwood

final class Company: ManagedObject {
  @Attribute(.unique) var code = ""
  @Relationship(inverse: { $0.company }, deleteRule: .cascade) var people: Set<Person>
}

final class Person: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute(.indexed) var name = ""
  @Attribute var age: Int64 = 0
  @Attribute var score = 0.0
  @Relationship(inverse: { $0.people }) var company: Company?
}

final class Article: ManagedObject {
  @Attribute(.fullText) var title = ""
}

/// The rows, each with the work that is counted.
enum Row: String, CaseIterable {
  case insert, fetch, stream, lookUp, lookUpUnique, load, condition, page, walk, update, group, cascade
  /// The same rows as those of `insert`, by a batch request whose closure fills dictionaries.
  case batchInsert
  /// The largest number so far is looked for before each new object; nothing is saved.
  case next
  /// The ten most relevant texts for a word that a quarter of them has.
  case relevant
  /// Each of many children of the context saves one new object of a company, which the context does not save.
  case children
  /// All people of one company are read after each new one, which nothing saves.
  case reread
  /// Each new person of one company gets its identifier at once.
  case identify
}

/// Persons of companies of a hundred each, in memory.
struct Firm {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let count: Int

  init(_ count: Int) throws {
    self.count = count
    container = try PersistentContainer(
      name: "Firm", types: [Company.self, Person.self, Article.self], at: URL(fileURLWithPath: "/dev/null"))
    context = container.viewContext
  }

  /// The work of a row. Its first execution, with few objects, has happened, so that what a process does once does not count.
  func work(_ row: Row) throws -> Work {
    switch row {
    case .insert, .batchInsert, .next, .children, .reread, .identify:
      try insert(0..<100)
      if row == .batchInsert { try insertBatch(100..<200) }
      return Work { try execute(row, []) }
    case .relevant:
      try insertArticles()
      try execute(row, [])
      context.reset()
      return Work { try execute(row, []) }
    default: break
    }
    try insert(0..<count)
    context.reset()
    let identifiers = try context.fetchIdentifiers(FetchRequest<Person>())
    context.reset()
    let all: () throws -> Void = { try execute(row, identifiers) }
    if row != .cascade {
      try execute(row, Array(identifiers.prefix(10)))
      context.reset()
    }
    return Work(all)
  }

  private func insert(_ numbers: Range<Int>) throws {
    var company: Company?
    for number in numbers {
      if number % 100 == 0 {
        company = Company(context: context)
        company?.code = "C\(number)"
      }
      let person = Person(context: context)
      person.number = Int64(number)
      person.name = "Person \(number / 4)"
      person.age = Int64(number % 90)
      person.score = Double(number % 1_000) / 7
      person.company = company
    }
    try context.save()
  }

  private func insertBatch(_ numbers: Range<Int>) throws {
    let companies = stride(from: numbers.lowerBound, to: numbers.upperBound, by: 100).map {
      ["code": "C\($0)"]
    }
    try context.execute(BatchInsertRequest(Company.self, objects: companies))
    var rest = numbers
    try context.execute(
      BatchInsertRequest(
        entityName: "Person",
        dictionaryHandler: { row in
          guard let number = rest.popFirst() else { return true }
          row["number"] = Int64(number)
          row["name"] = "Person \(number / 4)"
          row["age"] = Int64(number % 90)
          row["score"] = Double(number % 1_000) / 7
          row["company"] = "C\(number / 100 * 100)"
          return false
        }))
  }

  private func insertArticles() throws {
    let words = [
      "river", "Stone", "walks", "under", "seven", "bridges", "and", "sees", "another", "quiet", "old",
      "mill",
    ]
    for number in 0..<count {
      let title = words.indices.map {
        $0 == 0 && number % 4 > 0 ? "field" : "\(words[$0])\(number * $0 % 5 == 0 ? "" : "s")"
      }
      Article(context: context).title = title.joined(separator: " ")
    }
    try context.save()
  }

  private func execute(_ row: Row, _ identifiers: [ManagedObjectID]) throws {
    switch row {
    case .insert: try insert(100..<100 + count)
    case .batchInsert: try insertBatch(200..<200 + count)
    case .next:
      for _ in 0..<count {
        let last = try context.fetch(Person.self, sort: [.descending(\.number)], limit: 1).first
        Person(context: context).number = (last?.number ?? 0) + 1
      }
    case .children:
      guard let company = try context.fetch(Company.self, limit: 1).first else { return }
      for number in 0..<count {
        let child = ManagedObjectContext(.mainQueue, parent: context)
        let person = Person(context: child)
        person.number = Int64(100 + number)
        person.company = child.object(with: company.objectID) as? Company
        try child.save()
      }
    case .reread, .identify:
      guard let company = try context.fetch(Company.self, limit: 1).first else { return }
      for number in 0..<count {
        let person = Person(context: context)
        person.number = Int64(100 + number)
        person.company = company
        if row == .identify { try context.obtainPermanentIDs(for: [person]) }
        if row == .reread { use(Int64(company.people.count)) }
      }
    case .relevant:
      let found = try context.fetch(
        Article.self, where: { $0.title.matchesWords("river") },
        sort: [.descending { $0.title.relevance(of: "river") }], limit: 10)
      use(Int64(found.count))
    case .fetch:
      for person in try context.fetch(Person.self) { use(person.age &+ Int64(person.name.utf8.count)) }
    case .stream:
      try context.enumerateRows(Person.self, columns: { ($0.age, $0.score) }) { age, score in
        use(age ?? 0)
        use(Int64(score ?? 0))
        return true
      }
    case .lookUp:
      for number in identifiers.indices {
        let name = "Person \(number / 4)"
        use(Int64(try context.fetch(Person.self, where: { $0.name == name }).count))
      }
    case .lookUpUnique:
      for number in identifiers.indices {
        use(Int64(try context.fetch(Person.self, where: { $0.number == Int64(number) }).count))
      }
    case .load:
      for identifier in identifiers {
        use((try context.existingObject(with: identifier) as? Person)?.age ?? 0)
      }
    case .condition: use(Int64(try context.fetch(Person.self, where: { $0.score > 70 && $0.age < 80 }).count))
    case .page:
      for page in 0..<identifiers.count / 10 {
        let found = try context.fetch(Person.self, sort: [.ascending(\.name)], limit: 10, offset: page * 10)
        use(Int64(found.count))
      }
    case .walk:
      for company in try context.fetch(Company.self) {
        for person in company.people { use(person.age) }
      }
    case .update:
      for person in try context.fetch(Person.self) { person.age &+= 1 }
      try context.save()
    case .group:
      let rows = try context.fetchRows(
        Person.self, columns: { ($0.age, RowFunction.count(), $0.score.sum()) }, groupedBy: { [$0.age] })
      use(Int64(rows.count))
    case .cascade:
      for company in try context.fetch(Company.self) { context.delete(company) }
      try context.save()
    }
  }
}

/// Keeps the optimizer from leaving work out.
@inline(never) func use(_ value: Int64) { used &+= value }

nonisolated(unsafe) var used: Int64 = 0
