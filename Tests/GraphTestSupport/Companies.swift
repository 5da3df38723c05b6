import Foundation
import Heartwood

/// A small company: every kind of relationship and every delete rule that the tests need.
package final class Company: ManagedObject {
  @Attribute(.unique) package var code = ""
  @Attribute package var name = ""
  @Attribute(.indexed) package var size: Int64?
  @Relationship(inverse: { $0.company }, deleteRule: .cascade) package var people: Set<Person>
  @Relationship(inverse: { $0.owner }, deleteRule: .deny) package var houses: Set<House>
  @Relationship(inverse: { $0.partners }) package var partners: Set<Company>
  @Relationship(inverse: { $0.ranked }) package var ranking: [Person]
}

package final class Person: ManagedObject {
  @Attribute([.indexed, .preservesValueInHistoryOnDeletion]) package var name = ""
  @Attribute package var age: Int64 = 0
  @Attribute package var nick: String?
  @Relationship(inverse: { $0.people }) package var company: Company?
  @Relationship(inverse: { $0.ranking }) package var ranked: Company?
  @Relationship(inverse: { $0.members }) package var clubs: Set<Club>
  @Relationship(deleteRule: .noAction) package var idol: Person?
}

package final class House: ManagedObject {
  @Attribute package var street = ""
  @Relationship(inverse: { $0.houses }) package var owner: Company?
}

package final class Club: ManagedObject {
  @Attribute package var title = ""
  @Relationship(inverse: { $0.clubs }) package var members: Set<Person>
}

package let companyTypes: [ManagedObject.Type] = [Company.self, Person.self, House.self, Club.self]

/// A container of companies in memory, which shares no data with other containers.
package func makeContainer() throws -> PersistentContainer {
  try PersistentContainer(name: "Companies", types: companyTypes, at: URL(fileURLWithPath: "/dev/null"))
}

extension ManagedObjectContext {
  package func makePerson(_ name: String, age: Int64 = 0, in company: Company? = nil) -> Person {
    let person = Person(context: self)
    person.name = name
    person.age = age
    person.company = company
    return person
  }

  package func makeCompany(_ code: String) -> Company {
    let company = Company(context: self)
    company.code = code
    company.name = code
    return company
  }
}
