import Foundation
import Heartwood

/// The model of the random tests: plain dictionaries that follow the rules of the graph.
///
/// The test assigns each object a number, which is part of its name.
struct PlainCompanies: Equatable {
  struct Company: Equatable {
    var size: Int64?
    var partners: Set<Int> = []
    var ranking: [Int] = []
  }
  struct Person: Equatable {
    var age: Int64 = 0
    var nick: String?
    var company: Int?
    var clubs: Set<Int> = []
  }

  var companies: [Int: Company] = [:]
  var people: [Int: Person] = [:]
  var clubs: Set<Int> = []

  mutating func setCompany(_ company: Int?, of person: Int) { people[person]?.company = company }

  mutating func setPartner(_ a: Int, _ b: Int, _ related: Bool) {
    if related {
      companies[a]?.partners.insert(b)
      companies[b]?.partners.insert(a)
    } else {
      companies[a]?.partners.remove(b)
      companies[b]?.partners.remove(a)
    }
  }

  /// A person is ranked by one company only.
  mutating func rank(_ person: Int, in company: Int, at index: Int) {
    for key in companies.keys { companies[key]?.ranking.removeAll { $0 == person } }
    let end = companies[company]?.ranking.count ?? 0
    companies[company]?.ranking.insert(person, at: min(index, end))
  }

  mutating func setMember(_ person: Int, of club: Int, _ isMember: Bool) {
    if isMember { people[person]?.clubs.insert(club) } else { people[person]?.clubs.remove(club) }
  }

  /// Cascades to the people, and removes the company from its partners.
  mutating func deleteCompany(_ company: Int) {
    for person in people.filter({ $0.value.company == company }).keys { deletePerson(person) }
    companies[company] = nil
    for key in companies.keys { companies[key]?.partners.remove(company) }
  }

  mutating func deletePerson(_ person: Int) {
    people[person] = nil
    for key in companies.keys { companies[key]?.ranking.removeAll { $0 == person } }
  }

  mutating func deleteClub(_ club: Int) {
    clubs.remove(club)
    for key in people.keys { people[key]?.clubs.remove(club) }
  }
}

extension PlainCompanies {
  /// The contents of a context in the same form, every relationship read from both sides.
  ///
  /// - Throws: `Disagreement` when the two sides of a relationship do not agree.
  init(readingFrom context: ManagedObjectContext) throws {
    for company in try context.fetch(StoredCompany.self) {
      let number = try company.name.number
      companies[number] = Company(
        size: company.size, partners: Set(try company.partners.map { try $0.name.number }),
        ranking: try company.ranking.map { try $0.name.number })
      try check(company.people.allSatisfy { $0.company === company }, "people of \(company.name)")
      try check(company.partners.allSatisfy { $0.partners.contains(company) }, "partners of \(company.name)")
      try check(company.ranking.allSatisfy { $0.ranked === company }, "ranking of \(company.name)")
    }
    for person in try context.fetch(StoredPerson.self) {
      let number = try person.name.number
      people[number] = Person(
        age: person.age, nick: person.nick, company: try person.company?.name.number,
        clubs: Set(try person.clubs.map { try $0.title.number }))
      try check(person.company?.people.contains(person) ?? true, "company of \(person.name)")
      try check(person.ranked?.ranking.contains(person) ?? true, "ranked of \(person.name)")
      try check(person.clubs.allSatisfy { $0.members.contains(person) }, "clubs of \(person.name)")
    }
    for club in try context.fetch(Club.self) {
      clubs.insert(try club.title.number)
      try check(club.members.allSatisfy { $0.clubs.contains(club) }, "members of \(club.title)")
    }
  }

  private func check(_ agrees: Bool, _ what: String) throws {
    if !agrees { throw Disagreement(what: what) }
  }
}

/// The classes, whose names those of the model here hide.
private typealias StoredCompany = Company
private typealias StoredPerson = Person
