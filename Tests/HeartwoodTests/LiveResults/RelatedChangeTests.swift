import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Live results and related objects` {
  private let context: ManagedObjectContext
  private let companies: [Company]

  /// 40 companies of 10 persons each.
  init() throws {
    let context = try makeContainer().newBackgroundContext()
    companies = (0..<40).map { number in
      let company = context.makeCompany(String(format: "C%02d", number))
      for person in 0..<10 { _ = context.makePerson("\(number)-\(person)", age: Int64(person), in: company) }
      return company
    }
    try context.save()
    self.context = context
  }

  private func follow(
    _ request: FetchRequest<Person>, sections: String? = nil
  ) throws -> (FetchedResultsController<Person>, ContentCopy<Person>) {
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections)
    let copy = ContentCopy<Person>(\.name)
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    return (controller, copy)
  }

  // FRC-13
  @Test func `a change of a related object costs its owners, not the result`() throws {
    let request = FetchRequest<Person>(
      where: { $0.company.size == nil || $0.company.size < 50 },
      sort: [.ascending(\.company?.name), .ascending(\.name)])
    let (controller, copy) = try follow(request, sections: "company.name")
    companies[7].name = "Z"
    let view = try CountingView.pin(context)
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.suffix(10).allSatisfy { $0.company === companies[7] } == true)
    companies[8].size = 60
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 390)
    #expect(copy.sections == controller.sections.map(ContentCopy.sections))
    #expect(view.all <= 100 && view.scans == 0, "\(view.all) reads, \(view.scans) scans")
  }

  @Test func `a change outside of the window of a limited result, or within it, needs no fetch`() throws {
    let request = FetchRequest<Person>(where: { $0.age >= 0 }, sort: [.ascending(\.age), .ascending(\.name)])
    request.fetchLimit = 20
    let (controller, copy) = try follow(request)
    let people = try #require(controller.fetchedObjects)
    let later = try context.fetch(Person.self, where: { $0.age == 9 }, limit: 3)
    let view = try CountingView.pin(context)
    // It stays outside.
    later[0].name = "x"
    context.processPendingChanges()
    #expect(controller.fetchedObjects == people)
    // It moves within.
    people[3].name = "!"
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.first === people[3] && controller.fetchedObjects?.count == 20)
    // It enters, and the last one leaves.
    later[1].age = -1 + 1
    later[1].name = "0-000"
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.contains(later[1]) == true)
    #expect(controller.fetchedObjects?.contains(people[19]) == false)
    #expect(view.scans == 0, "\(view.scans) scans")
    // It leaves: only the store knows what comes behind.
    context.delete(people[5])
    context.processPendingChanges()
    #expect(view.scans > 0 || view.rows > 0)
    #expect(controller.fetchedObjects == (try context.fetch(request)))
    #expect(copy.sections == controller.sections.map(ContentCopy.sections))
    #expect(copy.errors.isEmpty)
  }

  @Test
  func `a result whose condition reads a to-many relationship is not fetched when other entities change`()
    throws
  {
    let request = FetchRequest<Company>(where: { $0.people.count > 5 }, sort: [.ascending(\.code)])
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil)
    let copy = ContentCopy<Company>(\.code)
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    let clubs = (0..<3).map { _ in Club(context: context) }
    context.processPendingChanges()
    let view = try CountingView.pin(context)
    clubs[0].title = "Chess"
    companies[3].name = "Third"
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 40)
    #expect(view.scans == 0 && view.rows <= 4, "\(view.scans) scans, \(view.rows) rows")
    for person in companies[3].people.sorted(by: { $0.name < $1.name }).prefix(5) { context.delete(person) }
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 39)
  }

  @Test func `a change that concerns most of a result is found by a fetch, and reported`() throws {
    let (controller, copy) = try follow(
      FetchRequest<Person>(where: { _ in .true }, sort: [.ascending(\.company?.name), .ascending(\.name)]),
      sections: "company.name")
    for company in companies.prefix(30) { company.name += "z" }
    context.processPendingChanges()
    #expect(controller.fetchedObjects == (try context.fetch(controller.fetchRequest)))
    #expect(copy.sections == controller.sections.map(ContentCopy.sections))
    #expect(copy.errors.isEmpty)
  }

  @Test func `a change behind a relationship without an inverse is found`() throws {
    let persons = try context.fetch(Person.self, sort: [.ascending(\.name)])
    for person in persons.suffix(5) { person.idol = persons[0] }
    let (controller, copy) = try follow(
      FetchRequest<Person>(where: { $0.idol.age > 90 }, sort: [.ascending(\.idol?.name), .ascending(\.name)]))
    #expect(controller.fetchedObjects?.isEmpty == true)
    persons[0].age = 91
    context.processPendingChanges()
    #expect(controller.fetchedObjects == persons.suffix(5))
    #expect(copy.sections.flatMap(\.objects) == persons.suffix(5))
  }

  @Test func `an object that leaves its related object for another is found by either`() throws {
    let (controller, copy) = try follow(
      FetchRequest<Person>(where: { $0.company.name == "C03" }, sort: [.ascending(\.company?.code)]))
    let person = try #require(controller.fetchedObjects?.first)
    person.company = companies[4]
    companies[4].name = "C03"
    companies[3].name = "C04"
    context.processPendingChanges()
    #expect(Set(controller.fetchedObjects ?? []) == companies[4].people)
    context.delete(companies[4])
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.isEmpty == true && copy.sections.flatMap(\.objects).isEmpty)
  }
}
