import Foundation
import Heartwood

/// A company as a user of Heartwood declares it.
final class Company: ManagedObject {
  @Attribute(.unique) var number: Int64
  @Attribute var name = ""
  @Attribute var city = ""
  @Relationship(inverse: { $0.company }, deleteRule: .cascade) var persons: Set<Person>
}

final class Person: ManagedObject {
  @Attribute var number: Int64
  @Attribute(.unique) var email = ""
  @Attribute(.indexed) var name = ""
  @Attribute var age: Int64
  @Attribute var score: Double
  @Attribute(.indexed) var joined: Int64
  @Attribute var team: Int64
  @Relationship(inverse: { $0.persons }) var company: Company?
}

extension Company {
  convenience init(_ data: People.CompanyData, context: ManagedObjectContext) {
    self.init(context: context)
    number = data.number
    name = data.name
    city = data.city
  }
}

extension Person {
  convenience init(_ data: People.PersonData, of company: Company?, context: ManagedObjectContext) {
    self.init(context: context)
    number = data.number
    email = data.email
    name = data.name
    age = data.age
    score = data.score
    joined = data.joined
    team = data.team
    self.company = company
  }
}

extension PersistentContainer {
  /// A store of companies and persons in a directory.
  static func people(in directory: String) throws -> PersistentContainer {
    try PersistentContainer(
      name: "People", types: [Company.self, Person.self],
      at: URL(fileURLWithPath: directory).appending(path: "people.heartwood"))
  }
}

extension People {
  /// Saves all of them at once.
  func save(in context: ManagedObjectContext) throws {
    let companies = companies.map { Company($0, context: context) }
    for person in persons { _ = Person(person, of: companies[person.company], context: context) }
    try context.save()
  }
}
