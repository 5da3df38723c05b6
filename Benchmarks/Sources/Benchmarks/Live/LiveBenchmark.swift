import BenchmarkHarness
import Foundation
import Heartwood

/// The time to notify a live result of many objects of one change: an event that changes one object, with a live
/// result and without.
struct LiveBenchmark {
  let options: Options

  /// One line for each row.
  func run() throws -> [String] {
    try options.withPeople(options.objects ?? 10_000, named: "live") { container in
      try options.leastTimes { try measure($0, in: container.newBackgroundContext()) }
    }
  }

  private enum Row: String, CaseIterable {
    case without = "a change of one object without a live result"
    case update = "a change that moves nothing"
    case move = "a change that moves an object"
    case section = "a change that moves an object to another section"
    case difference = "a change that moves an object, as a difference"
    case related = "a change of one object where the order reads related ones"
    case owner = "a change of an object that the order reads for others"
  }

  private func measure(_ row: Row, in context: ManagedObjectContext) throws -> Double {
    try context.performAndWait {
      defer { context.rollback() }
      let persons = try context.fetch(Person.self)
      for person in persons { _ = person.age }
      let companies = try context.fetch(Company.self)
      let counter = Counter()
      let lister = Lister()
      let controller = controller(row, context)
      controller?.delegate = row == .difference ? lister : counter
      try controller?.performFetch()
      var random = SplitMix64(seed: 7)
      let changes = 1000
      let seconds = timed {
        for number in 0..<changes {
          let person = persons[random.next(below: persons.count)]
          switch row {
          case .update: person.number = Int64(number)
          case .owner: companies[random.next(below: companies.count)].name = "\(number)"
          default: person.age = Int64(random.next(below: 50)) + 18
          }
          context.processPendingChanges()
        }
      }.seconds
      if controller != nil, counter.count + lister.count < changes * 9 / 10 {
        progress("changes were not told")
      }
      return seconds / Double(changes)
    }
  }

  private func controller(_ row: Row, _ context: ManagedObjectContext) -> FetchedResultsController<Person>? {
    let request = FetchRequest<Person>()
    switch row {
    case .without: return nil
    case .related, .owner:
      request.sortDescriptors = [.ascending(\.company?.name), .ascending(\.age)] as [Sort<Person>]
    default: request.sortDescriptors = [.ascending(\.age), .ascending(\.name)] as [Sort<Person>]
    }
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: context,
      sectionNameKeyPath: row == .section ? "age" : nil)
  }
}

private final class Counter: FetchedResultsControllerDelegate {
  typealias Object = Person
  private(set) var count = 0

  func controller(
    _ controller: FetchedResultsController<Person>, didChange object: Person, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) { count += 1 }
}

private final class Lister: FetchedResultsDifferenceDelegate {
  typealias Object = Person
  private(set) var count = 0

  func controller(
    _ controller: FetchedResultsController<Person>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) { count += difference.isEmpty ? 0 : 1 }
}
