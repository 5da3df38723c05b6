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
