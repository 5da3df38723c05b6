import Foundation
import Heartwood

/// A small company: every kind of relationship and every delete rule that the tests need.
final class Company: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute var name = ""
  @Attribute(.indexed) var size: Int64?
  @Relationship(inverse: { $0.company }, deleteRule: .cascade) var people: Set<Person>
  @Relationship(inverse: { $0.owner }, deleteRule: .deny) var houses: Set<House>
  @Relationship(inverse: { $0.partners }) var partners: Set<Company>
  @Relationship(inverse: { $0.ranked }) var ranking: [Person]
}

final class Person: ManagedObject {
  @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) var name = ""
  @Attribute var age: Int64 = 0
  @Attribute var nick: String?
  @Relationship(inverse: { $0.people }) var company: Company?
  @Relationship(inverse: { $0.ranking }) var ranked: Company?
  @Relationship(inverse: { $0.members }) var clubs: Set<Club>
  @Relationship(deleteRule: .noAction) var idol: Person?
}

final class House: ManagedObject {
  @Attribute var street = ""
  @Relationship(inverse: { $0.houses }) var owner: Company?
}

final class Club: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.clubs }) var members: Set<Person>
}

let companyTypes: [ManagedObject.Type] = [Company.self, Person.self, House.self, Club.self]

/// A container of companies in memory, which shares no data with other containers.
func makeContainer() throws -> PersistentContainer {
  try PersistentContainer(name: "Companies", types: companyTypes, at: URL(fileURLWithPath: "/dev/null"))
}

extension ManagedObjectContext {
  func makePerson(_ name: String, age: Int64 = 0, in company: Company? = nil) -> Person {
    let person = Person(context: self)
    person.name = name
    person.age = age
    person.company = company
    return person
  }

  func makeCompany(_ code: String) -> Company {
    let company = Company(context: self)
    company.code = code
    company.name = code
    return company
  }
}

/// The `HeartwoodError` that `body` throws, if any.
func heartwoodError(_ body: () throws -> Void) -> HeartwoodError? {
  do {
    try body()
    return nil
  } catch {
    return error as? HeartwoodError
  }
}
