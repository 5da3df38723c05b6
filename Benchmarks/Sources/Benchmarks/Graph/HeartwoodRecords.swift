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
