import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Fetched results controllers` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext

  init() throws {
    container = try makeContainer()
    context = container.newBackgroundContext()
    other = container.newBackgroundContext()
  }

  /// People by company and name, in sections by company.
  private func sectioned() -> FetchedResultsController<Person> {
    FetchedResultsController(
      fetchRequest: request([.ascending(\.company?.name), .ascending(\.name)]), managedObjectContext: context,
      sectionNameKeyPath: "company.name")
  }

  private func byAge(_ least: Int64 = 0, limit: Int = 0) -> FetchedResultsController<Person> {
    let request = FetchRequest<Person>(where: { $0.age >= least }, sort: [.ascending(\.age)])
    request.fetchLimit = limit
    return FetchedResultsController(fetchRequest: request, managedObjectContext: context)
  }

  private func request(_ sort: [Sort<Person>]) -> FetchRequest<Person> {
    let request = FetchRequest<Person>()
    request.sortDescriptors = sort
    return request
  }

  private func follow(_ controller: FetchedResultsController<Person>) throws -> ContentCopy<Person> {
    let copy = ContentCopy<Person>(\.name)
    controller.delegate = copy
    try controller.performFetch()
    copy.take(controller)
    return copy
  }

  private func people(_ ages: Int64...) throws -> [Person] {
    let people = ages.map { context.makePerson("\($0)", age: $0) }
    try context.save()
    return people
  }

  // FRC-01, FRC-02
  @Test func `a request without sort descriptors, or that scatters the objects of a section, is refused`()
    throws
  {
    let unsorted = FetchedResultsController(
      fetchRequest: FetchRequest<Person>(), managedObjectContext: context)
    let error = try #require(heartwoodError { try unsorted.performFetch() })
    #expect(error.code == .coreData && error.message.contains("sortDescriptors"))
    for (name, age) in [("A", 1), ("B", 2), ("A", 3)] as [(String, Int64)] {
      _ = context.makePerson(name, age: age)
    }
    let scattered = FetchedResultsController(
      fetchRequest: request([.ascending(\.age)]), managedObjectContext: context, sectionNameKeyPath: "name")
    let message = try #require(heartwoodError { try scattered.performFetch() }?.message)
    #expect(message.contains("the section \"A\" are not together"))
    #expect(scattered.fetchedObjects == nil)
    let unknown = FetchedResultsController(
      fetchRequest: request([.ascending(\.age)]), managedObjectContext: context, sectionNameKeyPath: "nothing"
    )
    #expect(
      heartwoodError { try unknown.performFetch() }?.message.contains("the path of the section names") == true
    )
  }

  // FRC-03
  @Test func `objects are found by their places, and places by their objects`() throws {
    let controller = sectioned()
    let bea = context.makePerson("Bea", in: context.makeCompany("B"))
    #expect(controller.fetchedObjects == nil && controller.sections == nil)
    #expect(controller.indexPath(forObject: bea) == nil)
    let (cid, ada) = (context.makePerson("Cid", in: bea.company), context.makePerson("Ada"))
    try controller.performFetch()
    #expect(controller.fetchedObjects == [ada, bea, cid])
    #expect(controller.object(at: IndexPath(item: 1, section: 1)) === cid)
    #expect(controller.indexPath(forObject: cid) == IndexPath(row: 1, section: 1))
    #expect(controller.indexPath(forObject: context.makePerson("Dan")) == nil)
  }

  // FRC-04
  @Test func `sections have names, numbers of objects and index titles`() throws {
    for name in ["ada", "Alf", "bea"] {
      let company = context.makeCompany(name)
      _ = (context.makePerson("1\(name)", in: company), context.makePerson("2\(name)", in: company))
    }
    _ = context.makePerson("0")
    let controller = sectioned()
    try controller.performFetch()
    let sections = try #require(controller.sections)
    #expect(sections.map(\.name) == ["", "Alf", "ada", "bea"])
    #expect(sections.map(\.numberOfObjects) == [1, 2, 2, 2])
    #expect(sections[3].objects.map(\.name) == ["1bea", "2bea"])
    #expect(sections.map(\.indexTitle) == [nil, "A", "A", "B"])
    #expect(controller.sectionIndexTitles == ["A", "B"])
    #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 3)
    #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 1)
    #expect(controller.section(forSectionIndexTitle: "b", at: 1) == 3)
  }

  // FRC-04
  @Test func `without a path of section names there is one section, also of nothing`() throws {
    let controller = byAge()
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == [""] && controller.sections?[0].numberOfObjects == 0)
    let empty = sectioned()
    try empty.performFetch()
    #expect(empty.sections?.isEmpty == true)
  }

  // FRC-06, FRC-12
  @Test func `a controller follows changes while it has a delegate, unsaved ones included`() throws {
    let controller = byAge()
    try controller.performFetch()
    let ada = context.makePerson("Ada", age: 1)
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [])
    let copy = ContentCopy<Person>(\.name)
    controller.delegate = copy
    copy.take(controller)
    let bea = context.makePerson("Bea", age: 2)
    context.processPendingChanges()
    #expect(controller.fetchedObjects == [ada, bea])
    #expect(copy.takeCalls() == ["will", "insert Ada - 0.0", "insert Bea - 0.1", "did"])
    context.rollback()
    #expect(copy.takeCalls() == ["will", "delete Ada 0.0 -", "delete Bea 0.1 -", "did"])
  }

  // FRC-07, FRC-11
  @Test func `only changed objects are reported, and a moved one is not also updated`() throws {
    let all = try people(1, 2, 3, 4)
    let controller = byAge()
    let copy = try follow(controller)
    all[0].age = 9
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "move 1 0.0 0.3", "did"])
    all[1].nick = "x"
    context.delete(all[2])
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "delete 3 0.1 -", "update 2 0.0 0.0", "did"])
    try context.save()
    #expect(copy.takeCalls() == [])
    #expect(
      FetchedResultsChangeType.allCases.map(\.rawValue) == [1, 2, 3, 4]
        && [.insert, .delete, .move, .update] == FetchedResultsChangeType.allCases)
  }

  // FRC-08
  @Test func `sections are reported before objects`() throws {
    let ada = context.makePerson("Ada", in: context.makeCompany("A"))
    let bea = context.makePerson("Bea", in: context.makeCompany("B"))
    try context.save()
    let followed = try follow(sectioned())
    #expect(followed.sections.map(\.name) == ["A", "B"])
    ada.company = bea.company
    context.processPendingChanges()
    #expect(followed.takeCalls() == ["will", "delete section 0 A", "move Ada 0.0 0.0", "did"])
    _ = context.makePerson("Cid", in: context.makeCompany("C"))
    context.processPendingChanges()
    #expect(followed.takeCalls() == ["will", "insert section 1 C", "insert Cid - 1.0", "did"])
  }

  // FRC-13, T58
  @Test func `a change of a related object that the order reads is reported for its owners`() throws {
    let (a, b) = (context.makeCompany("A"), context.makeCompany("B"))
    _ = (context.makePerson("Ada", in: a), context.makePerson("Bea", in: b))
    try context.save()
    let controller = sectioned()
    let copy = try follow(controller)
    a.name = "Z"
    context.processPendingChanges()
    #expect(
      copy.takeCalls() == ["will", "delete section 0 A", "insert section 1 Z", "move Ada 0.0 1.0", "did"])
    b.size = 3
    context.processPendingChanges()
    #expect(copy.takeCalls() == [])
  }

  // FRC-12, FRC-14, T56
  @Test func `what others save shows when it is merged, also of objects that are not registered`() throws {
    _ = try people(1, 20)
    context.reset()
    let controller = byAge(10)
    let copy = try follow(controller)
    let saves = Heard(other, .managedObjectContextDidSave)
    let there = try other.fetch(Person.self, sort: [.ascending(\.age)])
    there[0].age = 30
    try other.save()
    #expect(copy.takeCalls() == [])
    context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
    #expect(copy.takeCalls() == ["will", "insert 1 - 0.1", "did"])
    other.delete(there[1])
    try other.save()
    context.mergeChanges(fromContextDidSave: try #require(saves.notifications.last))
    #expect(copy.takeCalls() == ["will", "delete 20 0.0 -", "did"])
  }

  // FRC-16
  @Test func `identifiers that are merged by hand are evaluated`() throws {
    let all = try people(1, 2)
    let identifiers = all.map(\.objectID)
    context.reset()
    let copy = try follow(byAge())
    try other.fetch(Person.self).forEach { $0.age += 10 }
    other.delete(try #require(try other.fetch(Person.self, where: { $0.age == 12 }).first))
    try other.save()
    let keys = ManagedObjectContext.NotificationKey.self
    ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        keys.updatedObjectIDs.rawValue: [identifiers[0]], keys.deletedObjectIDs.rawValue: [identifiers[1]],
      ], into: [context])
    #expect(copy.takeCalls() == ["will", "delete 2 0.1 -", "update 1 0.0 0.0", "did"])
  }

  // FRC-02, FRC-15, T59
  @Test func `after a reset nothing is reported until the controller fetches again`() throws {
    _ = try people(1, 2)
    let controller = byAge()
    let copy = try follow(controller)
    context.reset()
    _ = context.makePerson("3", age: 3)
    context.processPendingChanges()
    #expect(copy.takeCalls() == [])
    try controller.performFetch()
    copy.take(controller)
    #expect(controller.fetchedObjects?.map(\.name) == ["1", "2", "3"])
    controller.fetchedObjects?[0].age = 4
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "move 1 0.0 0.2", "did"])
  }

  // FRC-17
  @Test func `a limit and an offset stay in force`() throws {
    let all = try people(1, 2, 3, 4)
    let controller = byAge(limit: 2)
    let copy = try follow(controller)
    all[0].age = 9
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "delete 1 0.0 -", "insert 3 - 0.1", "did"])
    _ = context.makePerson("0", age: 0)
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "delete 3 0.1 -", "insert 0 - 0.0", "did"])
    controller.fetchRequest.fetchOffset = 1
    try controller.performFetch()
    copy.take(controller)
    #expect(controller.fetchedObjects?.map(\.name) == ["2", "3"])
    context.delete(all[1])
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "delete 2 0.0 -", "insert 4 - 0.1", "did"])
  }

  @Test func `a delegate may edit and fetch while it is told`() throws {
    let all = try people(1, 2, 3)
    let controller = byAge(2)
    let copy = try follow(controller)
    let editor = Editor { [context] in
      guard all[0].age == 5 else { return }
      all[0].age = 1
      #expect(try! context.fetch(Person.self, where: { $0.age >= 2 }).count == 2)
    }
    let second = byAge()
    second.delegate = editor
    try second.performFetch()
    all[0].age = 5
    context.processPendingChanges()
    #expect(copy.sections[0].objects == [all[1], all[2]])
    #expect(second.fetchedObjects == all)
  }

  @Test func `a property that the program computes names sections`() throws {
    let all = try people(11, 12, 21)
    let controller = FetchedResultsController(
      fetchRequest: request([.ascending(\.age)]), managedObjectContext: context, sectionName: \.decade)
    let copy = try follow(controller)
    #expect(copy.sections.map(\.name) == ["1", "2"])
    all[2].age = 10
    context.processPendingChanges()
    #expect(copy.takeCalls() == ["will", "delete section 1 2", "move 21 1.0 0.0", "did"])
  }

  @Test func `a change that scatters a section is an error, and the content stays until it is fixed`() throws
  {
    let all = try people(11, 12, 21)
    let controller = FetchedResultsController(
      fetchRequest: request([.ascending(\.age)]), managedObjectContext: context, sectionNameKeyPath: "nick")
    let copy = try follow(controller)
    all[1].nick = "x"
    context.processPendingChanges()
    #expect(copy.errors.count == 1 && copy.takeCalls() == [])
    #expect(controller.fetchedObjects == all)
    all[2].nick = "x"
    context.processPendingChanges()
    #expect(copy.errors.count == 1 && copy.sections.map(\.name) == ["", "x"])
  }
}

extension Person {
  var decade: Int64 { age / 10 }
}

/// A delegate that does something with each change.
private final class Editor: FetchedResultsControllerDelegate {
  typealias Object = Person
  private let edit: () -> Void

  init(_ edit: @escaping () -> Void) { self.edit = edit }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { edit() }
}
