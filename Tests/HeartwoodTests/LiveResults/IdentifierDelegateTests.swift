import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Snapshots and differences of controllers` {
  private let context: ManagedObjectContext

  init() throws { context = try makeContainer().newBackgroundContext() }

  private func byAge(sections: String? = nil) -> FetchedResultsController<Person> {
    let request = FetchRequest<Person>()
    request.sortDescriptors = [.ascending(\.nick), .ascending(\.age)] as [Sort<Person>]
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections)
  }

  // FRC-09
  @Test func `a delegate of snapshots gets the content after each fetch and change, and no other call`()
    throws
  {
    let people = [3, 1, 2].map { context.makePerson("\($0)", age: $0) }
    let controller = byAge(sections: "nick")
    let delegate = SnapshotKeeper()
    controller.delegate = delegate
    try controller.performFetch()
    #expect(delegate.snapshots.count == 1 && delegate.otherCalls == 0)
    let first = try #require(delegate.snapshots.last)
    #expect(first.sectionIdentifiers == [""] && first.numberOfSections == 1)
    #expect(first.itemIdentifiers == [people[1], people[2], people[0]].map(\.objectID))
    people[0].nick = "x"
    people[1].age = 0
    context.processPendingChanges()
    let second = try #require(delegate.snapshots.last)
    #expect(second.sectionIdentifiers == ["", "x"] && second.numberOfItems == 3)
    #expect(second.itemIdentifiers(inSection: "x") == [people[0].objectID])
    #expect(second.itemIdentifiers(inSection: "y").isEmpty && second.numberOfItems(inSection: "") == 2)
    #expect(second.sectionIdentifier(containingItem: people[0].objectID) == "x")
    #expect(Set(second.reloadedItemIdentifiers) == [people[0].objectID, people[1].objectID])
    try context.save()
    #expect(delegate.snapshots.last?.itemIdentifiers == [people[1], people[2], people[0]].map(\.objectID))
    #expect(delegate.snapshots.count == 3 && delegate.otherCalls == 0)
  }

  @Test func `identifiers that a save of the parent makes permanent are told to a child's controller`() throws
  {
    let child = ManagedObjectContext(.privateQueue, parent: context)
    let request = FetchRequest<Person>()
    request.sortDescriptors = [.ascending(\.name)] as [Sort<Person>]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: child)
    let delegate = DifferenceKeeper()
    controller.delegate = delegate
    try controller.performFetch()
    var list: [ManagedObjectID] = []
    var taken = 0
    func follow() {
      for difference in delegate.differences.dropFirst(taken) { list = list.applying(difference) ?? [] }
      taken = delegate.differences.count
      #expect(list == controller.fetchedObjects?.map(\.objectID))
    }
    _ = (child.makePerson("A"), child.makePerson("B"))
    child.processPendingChanges()
    follow()
    try child.save()
    try context.save()
    child.processPendingChanges()
    follow()
    #expect(list.count == 2 && list.allSatisfy { !$0.isTemporaryID })
  }

  // FRC-10
  @Test func `a delegate of differences gets them, unless there are sections`() throws {
    let people = (1...4).map { context.makePerson("\($0)", age: $0) }
    try context.save()
    let controller = byAge()
    let delegate = DifferenceKeeper()
    controller.delegate = delegate
    try controller.performFetch()
    people[0].age = 9
    people[1].name = "two"
    context.delete(people[2])
    context.processPendingChanges()
    let difference = try #require(delegate.differences.last)
    let ids = people.map(\.objectID)
    #expect(
      Array(difference) == [
        .remove(offset: 2, element: ids[2], associatedWith: nil),
        .remove(offset: 1, element: ids[1], associatedWith: 0),
        .remove(offset: 0, element: ids[0], associatedWith: 2),
        .insert(offset: 0, element: ids[1], associatedWith: 1),
        .insert(offset: 2, element: ids[0], associatedWith: 0),
      ])
    #expect(ids.applying(difference) == [ids[1], ids[3], ids[0]] && delegate.otherCalls == 0)
    let new = context.makePerson("new", age: 5)
    context.processPendingChanges()
    let temporary = new.objectID
    try context.save()
    let renaming = try #require(delegate.differences.last)
    #expect(
      [ids[1], ids[3], temporary, ids[0]].applying(renaming) == [ids[1], ids[3], new.objectID, ids[0]])
    let sectioned = byAge(sections: "nick")
    sectioned.delegate = delegate
    try sectioned.performFetch()
    controller.delegate = nil
    let before = delegate.differences.count
    people[1].age = 0
    context.processPendingChanges()
    #expect(delegate.differences.count == before && delegate.otherCalls > 0)
  }
}

private final class SnapshotKeeper: FetchedResultsSnapshotDelegate {
  typealias Object = Person
  private(set) var snapshots: [FetchedResultsSnapshot] = []
  private(set) var otherCalls = 0

  func controller(
    _ controller: FetchedResultsController<Person>, didChangeContentWith snapshot: FetchedResultsSnapshot
  ) { snapshots.append(snapshot) }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Person>) { otherCalls += 1 }
  func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { otherCalls += 1 }
}

private final class DifferenceKeeper: FetchedResultsDifferenceDelegate {
  typealias Object = Person
  private(set) var differences: [CollectionDifference<ManagedObjectID>] = []
  private(set) var otherCalls = 0

  func controller(
    _ controller: FetchedResultsController<Person>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) { differences.append(difference) }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Person>) { otherCalls += 1 }
  func controllerDidChangeContent(_ controller: FetchedResultsController<Person>) { otherCalls += 1 }
}
