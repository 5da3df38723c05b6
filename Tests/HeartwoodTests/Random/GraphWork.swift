import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// Applies random steps to the graph and to the plain model.
struct GraphWork {
  let seed: UInt64
  var random: SplitMix64
  var container: PersistentContainer
  var context: ManagedObjectContext
  let reopen: (() throws -> PersistentContainer)?
  var model = PlainCompanies()
  var saved = PlainCompanies()
  var nextNumber = 0

  init(seed: UInt64, container: PersistentContainer, reopen: (() throws -> PersistentContainer)? = nil) {
    self.seed = seed
    self.random = SplitMix64(seed: seed)
    self.container = container
    self.context = container.newBackgroundContext()
    self.reopen = reopen
  }

  mutating func run(steps: Int) throws {
    for step in 0..<steps {
      try self.step()
      if step % 20 == 19 { try compare("step \(step)") }
    }
    try save("the end")
  }

  private mutating func step() throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: insertCompany()
    case 2...5: insertPerson()
    case 6: insertClub()
    case 7, 8: try move()
    case 9: try changeValues()
    case 10: try changePartners()
    case 11, 12: try changeMembers()
    case 13: try rank()
    case 14: try deleteSomething()
    case 15: rollback()
    case 16: try startAnew()
    default: try save("a save")
    }
  }

  // MARK: Steps

  private mutating func insertCompany() {
    let number = newNumber()
    let company = Company(context: context)
    company.code = "C\(number)"
    company.name = "C\(number)"
    model.companies[number] = .init()
  }

  private mutating func insertPerson() {
    let number = newNumber()
    let person = Person(context: context)
    person.name = "P\(number)"
    model.people[number] = .init()
  }

  private mutating func insertClub() {
    let number = newNumber()
    Club(context: context).title = "K\(number)"
    model.clubs.insert(number)
  }

  private mutating func move() throws {
    guard let person = pick(model.people.keys) else { return }
    let company = Bool.random(using: &random) ? pick(model.companies.keys) : nil
    let object = try self.person(person)
    if let company, Bool.random(using: &random) {
      try self.company(company).people.insert(object)
    } else {
      object.company = try company.map(self.company)
    }
    model.setCompany(company, of: person)
  }

  private mutating func changeValues() throws {
    if let person = pick(model.people.keys) {
      let object = try self.person(person)
      let age = Int64.random(in: 0..<100, using: &random)
      object.age = age
      object.nick = age % 3 == 0 ? nil : "nick \(age)"
      model.people[person]?.age = age
      model.people[person]?.nick = object.nick
    }
    if let company = pick(model.companies.keys) {
      let size = Bool.random(using: &random) ? Int64.random(in: 0..<1000, using: &random) : nil
      try self.company(company).size = size
      model.companies[company]?.size = size
    }
  }

  private mutating func changePartners() throws {
    guard let a = pick(model.companies.keys), let b = pick(model.companies.keys) else { return }
    let related = Bool.random(using: &random)
    if related {
      try company(a).partners.insert(company(b))
    } else {
      try company(a).partners.remove(company(b))
    }
    model.setPartner(a, b, related)
  }

  private mutating func changeMembers() throws {
    guard let person = pick(model.people.keys), let club = pick(model.clubs) else { return }
    let isMember = Int.random(in: 0..<3, using: &random) > 0
    let clubObject = try self.club(club)
    if Bool.random(using: &random) {
      if isMember {
        try self.person(person).$clubs.insert(clubObject)
      } else {
        try self.person(person).$clubs.remove(clubObject)
      }
    } else {
      if isMember {
        clubObject.members.insert(try self.person(person))
      } else {
        clubObject.members.remove(try self.person(person))
      }
    }
    model.setMember(person, of: club, isMember)
  }

  private mutating func rank() throws {
    guard let person = pick(model.people.keys), let company = pick(model.companies.keys) else { return }
    let object = try self.company(company)
    let others = model.companies[company]?.ranking.filter { $0 != person }.count ?? 0
    let index = Int.random(in: 0...others, using: &random)
    object.$ranking.insert(try self.person(person), at: index)
    model.rank(person, in: company, at: index)
  }

  private mutating func deleteSomething() throws {
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      guard let number = pick(model.companies.keys) else { return }
      context.delete(try company(number))
      model.deleteCompany(number)
    case 1:
      guard let number = pick(model.people.keys) else { return }
      context.delete(try person(number))
      model.deletePerson(number)
    default:
      guard let number = pick(model.clubs) else { return }
      context.delete(try club(number))
      model.deleteClub(number)
    }
    context.processPendingChanges()
  }

  private mutating func rollback() {
    context.rollback()
    model = saved
  }

  private mutating func save(_ what: String) throws {
    try context.save()
    saved = model
    let other = container.newBackgroundContext()
    let read = try PlainCompanies(readingFrom: other)
    #expect(read == model, "seed \(seed), \(what), read by another context")
  }

  private mutating func startAnew() throws {
    try save("before starting again")
    if let reopen {
      try container.close()
      container = try reopen()
    }
    context = container.newBackgroundContext()
  }

  // MARK: Finding

  private func compare(_ what: String) throws {
    #expect(try PlainCompanies(readingFrom: context) == model, "seed \(seed), \(what)")
  }

  private mutating func newNumber() -> Int {
    nextNumber += 1
    return nextNumber
  }

  private mutating func pick(_ numbers: some Collection<Int>) -> Int? {
    numbers.sorted().randomElement(using: &random)
  }

  private func company(_ number: Int) throws -> Company {
    try only(context.fetch(Company.self, where: { $0.code == "C\(number)" }))
  }

  private func person(_ number: Int) throws -> Person {
    try only(context.fetch(Person.self, where: { $0.name == "P\(number)" }))
  }

  private func club(_ number: Int) throws -> Club {
    try only(context.fetch(Club.self, where: { $0.title == "K\(number)" }))
  }

  private func only<Object>(_ objects: [Object]) throws -> Object {
    guard objects.count == 1 else { throw Disagreement(what: "\(objects.count) objects for one name") }
    return objects[0]
  }
}
