import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Relationships` {
  @Test func `setting one side sets the other at once`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    let ada = context.makePerson("Ada")
    ada.company = company
    #expect(company.people == [ada])
    let eve = context.makePerson("Eve")
    company.people.insert(eve)
    #expect(eve.company === company)
    company.people.remove(ada)
    #expect(ada.company == nil)
  }

  @Test func `a child that moves leaves its former parent, and all three count as updated`() throws {
    let context = try makeContainer().newBackgroundContext()
    let first = context.makeCompany("A")
    let second = context.makeCompany("B")
    let ada = context.makePerson("Ada", in: first)
    try context.save()
    ada.company = second
    #expect(first.people.isEmpty)
    #expect(second.people == [ada])
    #expect(context.updatedObjects == [first, second, ada])
    try context.save()
    context.reset()
    let companies = try context.fetch(Company.self, sort: [.ascending(\.code)])
    #expect(companies.map { $0.people.count } == [0, 1])
  }

  @Test func `a many-to-many relationship to itself holds on both sides and after reading again`() throws {
    let context = try makeContainer().newBackgroundContext()
    let companies = ["A", "B", "C"].map(context.makeCompany)
    companies[0].partners = [companies[1], companies[2]]
    companies[0].partners.insert(companies[0])
    #expect(companies[1].partners == [companies[0]])
    try context.save()
    context.reset()
    let again = try context.fetch(Company.self, sort: [.ascending(\.code)])
    #expect(again[0].partners == Set(again))
    #expect(again[2].partners == [again[0]])
    again[2].partners = []
    try context.save()
    context.refreshAllObjects()
    #expect(again[0].partners == [again[0], again[1]])
  }

  // T23
  @Test func `an ordered relationship keeps its order over insertion in the middle, save and refetch`() throws
  {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    var people = (0..<6).map { context.makePerson("P\($0)") }
    company.ranking = Array(people[0..<5])
    try context.save()
    company.ranking.insert(people[5], at: 2)
    people.insert(people.removeLast(), at: 2)
    #expect(company.ranking == people)
    try context.save()
    context.refreshAllObjects()
    #expect(company.ranking == people)
    company.$ranking.insert(people[5], at: 0)
    people.insert(people.removeLast(), at: 0)
    try context.save()
    let names = people.map(\.name)
    context.reset()
    let again = try #require(try context.fetch(Company.self).first)
    #expect(again.ranking.map(\.name) == names)
  }

  @Test func `links made from both contexts meet without a conflict`() throws {
    let container = try makeContainer()
    let first = container.newBackgroundContext()
    let club = Club(context: first)
    let ada = first.makePerson("Ada")
    let eve = first.makePerson("Eve")
    try first.save()
    let second = container.newBackgroundContext()
    let clubThere = try #require(try second.existingObject(with: club.objectID) as? Club)
    let eveThere = try #require(try second.existingObject(with: eve.objectID) as? Person)
    club.members.insert(ada)
    clubThere.members.insert(eveThere)
    try first.save()
    try second.save()
    first.refreshAllObjects()
    #expect(club.members == [ada, eve])
    #expect(eve.clubs == [club])
  }

  @Test func `a to-many relationship is counted and searched without creating its objects`() throws {
    let context = try makeContainer().newBackgroundContext()
    let company = context.makeCompany("A")
    for index in 0..<50 { _ = context.makePerson("P\(index)", in: company) }
    try context.save()
    context.reset()
    let again = try #require(try context.fetch(Company.self).first)
    #expect(again.$people.count == 50)
    #expect(context.registeredObjects.count == 1)
    #expect(again.$people.reduce(0) { sum, person in sum + person.name.utf8.count } == 140)
  }

  @Test func `an ordered relationship follows any mixture of inserts, removals and moves`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("A")
    let people = (0..<40).map { context.makePerson("P\($0)") }
    try context.save()
    var random = Randomness(seed: 0x5eed_0041)
    var expected: [Person] = []
    for step in 0..<2000 {
      let person = people[random.below(people.count)]
      let place = expected.firstIndex(of: person)
      switch random.below(6) {
      case 0, 1:
        company.$ranking.insert(person)
        if place == nil { expected.append(person) }
      case 2:
        let index = random.below(expected.count + (place == nil ? 1 : 0))
        company.$ranking.insert(person, at: index)
        place.map { _ = expected.remove(at: $0) }
        expected.insert(person, at: index)
      case 3, 4:
        company.$ranking.remove(person)
        place.map { _ = expected.remove(at: $0) }
      default:
        expected = Array(Set(people).sorted { $0.name < $1.name }.prefix(random.below(10)))
        company.ranking = expected
      }
      #expect(company.ranking == expected, "step \(step)")
      if random.below(20) == 0 { try context.save() }
      if random.below(50) == 0 {
        try context.save()
        context.refreshAllObjects()
        #expect(company.ranking == expected, "step \(step), refreshed")
      }
    }
  }
}
