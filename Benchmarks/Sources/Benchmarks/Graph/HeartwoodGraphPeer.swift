import BenchmarkHarness
import Foundation
import Heartwood

/// Heartwood's graph as a program uses it: declared classes, a context of its own for each row.
final class HeartwoodGraphPeer: GraphPeer {
  private let container: PersistentContainer
  /// By the person's place in `People.persons`.
  private var identifiers: [ManagedObjectID] = []

  init(directory: String) throws {
    container = try PersistentContainer.people(in: directory)
  }

  func insert(_ people: People) throws {
    try inContext { try people.save(in: $0) }
  }

  func noteIdentifiers() throws {
    identifiers = try inContext { try $0.fetch(Person.self, sort: [.ascending(\.number)]).map(\.objectID) }
  }

  func touchAll() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      for person in try context.fetch(Person.self) { digest.add(person.name, person.age) }
      return digest.value
    }
  }

  func lookUp(_ emails: [String]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for email in emails {
        let person = try context.fetch(Person.self, where: { $0.email == email }, limit: 1).first
        digest.add(try found(person).name)
      }
      return digest.value
    }
  }

  func agedByName(_ ages: [Range<Int64>]) throws -> UInt64 {
    try aged(ages, sort: [.ascending(\.name), .ascending(\.number)])
  }

  func agedByScore(_ ages: [Range<Int64>]) throws -> UInt64 {
    try aged(ages, sort: [.ascending(\.score), .ascending(\.number)])
  }

  private func aged(_ ages: [Range<Int64>], sort: [Sort<Person>]) throws -> UInt64 {
    try inContext { context in
      var persons: [Person] = []
      for range in ages {
        let (youngest, oldest) = (range.lowerBound, range.upperBound)
        persons += try context.fetch(
          Person.self, where: { $0.age >= youngest && $0.age < oldest }, sort: sort, limit: 100)
      }
      return Self.digest(persons)
    }
  }

  func joinedSince(_ days: [Int64]) throws -> UInt64 {
    try inContext { context in
      var persons: [Person] = []
      for day in days {
        persons += try context.fetch(
          Person.self, where: { $0.joined >= day && $0.score > 50 }, sort: [.ascending(\.joined)], limit: 20)
      }
      return Self.digest(persons)
    }
  }

  private static func digest(_ persons: [Person]) -> UInt64 {
    var digest = ReadDigest()
    for person in persons {
      digest.add(person.name)
      digest.add(UInt64(bitPattern: person.number))
    }
    return digest.value
  }

  func walkCompanies() throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for company in try context.fetch(Company.self, sort: [.ascending(\.number)]) {
        digest.add(company.name)
        digest.add(UInt64(bitPattern: company.$persons.reduce(0) { $0 + $1.age }))
      }
      return digest.value
    }
  }

  func load(_ persons: [Int]) throws -> UInt64 {
    try inContext { context in
      var digest = ReadDigest()
      for person in persons {
        digest.add(try found(context.existingObject(with: identifiers[person]) as? Person).name)
      }
      return digest.value
    }
  }

  func raiseScores(team: Int64) throws {
    try inContext { context in
      for person in try context.fetch(Person.self, where: { $0.team == team }) { person.score += 1 }
      try context.save()
    }
  }

  func insertLate(_ people: People) throws {
    try inContext { context in
      let companies = try context.fetch(Company.self, sort: [.ascending(\.number)])
      for part in people.lateParts {
        for person in part { _ = Person(person, of: companies[person.company], context: context) }
        try context.save()
      }
    }
  }

  func deleteCompanies(_ numbers: [Int64]) throws {
    try inContext { context in
      for company in try context.fetch(Company.self, where: { numbers.contains($0.number) }) {
        context.delete(company)
      }
      try context.save()
    }
  }

  func digestOfAll() throws -> UInt64 {
    try inContext { context in
      var digest = UnorderedDigest()
      for company in try context.fetch(Company.self) { digest.add(company.name, company.number) }
      for person in try context.fetch(Person.self) {
        digest.add(person.email + person.name, person.number)
        digest.add("\(person.score)", person.company?.number ?? -1)
      }
      return digest.value
    }
  }

  func close() throws { try container.close() }

  func inContext<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  private func found(_ person: Person?) throws -> Person {
    guard let person else { throw missingKey("Heartwood") }
    return person
  }
}
