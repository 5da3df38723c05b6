import Foundation
import Heartwood
import HeartwoodFiles
import Observation
import Testing

final class Record: ManagedObject {
  @Attribute var title = ""
  @Relationship(inverse: { $0.record }) var tunes: Set<Tune>
}

final class Tune: ManagedObject {
  @Attribute var title = ""
  @Attribute var rating = 0
  @Relationship(inverse: { $0.tunes }) var record: Record?
}

final class TuneList: FetchedResultsControllerDelegate {
  var lines: [String] = []

  func controller(
    _ controller: FetchedResultsController<Tune>, didChange object: Tune, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    lines.append("\(type) \(object.title)")
  }
}

/// `ExampleTests` checks that each line of the articles' examples occurs in this folder.
@Suite struct `Examples of the article on live results` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(
      name: "Tunes", types: [Record.self, Tune.self], at: URL(fileURLWithPath: "/dev/null"))
    context = container.newBackgroundContext()
  }

  private func makeTune(_ title: String, rating: Int, in record: Record?) -> Tune {
    let tune = Tune(context: context)
    (tune.title, tune.rating, tune.record) = (title, rating, record)
    return tune
  }

  @Test func `a delegate is told of a tune that moves to another section`() throws {
    let (first, second) = (Record(context: context), Record(context: context))
    (first.title, second.title) = ("A", "B")
    let tune = makeTune("Yesterday", rating: 5, in: first)
    _ = makeTune("Help", rating: 4, in: second)
    let list = TuneList()
    let request = FetchRequest<Tune>(
      where: { $0.rating > 2 }, sort: [.ascending(\.record?.title), .ascending(\.title)])
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "record.title")
    controller.delegate = list
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["A", "B"])
    tune.record = second
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["B"] && list.lines == ["move Yesterday"])
  }

  @Test func `the Observation framework observes the best tunes`() throws {
    let calls = Guarded<[String]>([])
    let print: @Sendable (Any) -> Void = { text in
      let line = "\(text)"
      calls.withLock { $0.append(line) }
    }
    let best = try LiveObjects(FetchRequest<Tune>(where: { $0.rating == 5 }), in: context)
    withObservationTracking {
      print(best.objects.count)
    } onChange: {
      print("the best tunes have changed")
    }
    _ = makeTune("Help", rating: 5, in: nil)
    context.processPendingChanges()
    #expect(calls.withLock { $0 } == ["0", "the best tunes have changed"] && best.objects.count == 1)
  }

  @Test func `a sequence of rows counts groups`() async throws {
    let counts = RowFetch(
      Tune.self, columns: { ($0.record.title, RowFunction.count()) }, sort: { [.ascending($0.record.title)] })
    try await context.perform {
      _ = makeTune("Help", rating: 4, in: nil)
      try context.save()
    }
    for try await rows in container.liveRows(counts) {
      for (record, count) in rows { print(record ?? "", count ?? 0) }
      #expect(rows.first?.0 == nil && rows.first?.1 == 1)
      break
    }
  }

  @Test func `a sequence gives what is saved`() async throws {
    let request = FetchRequest<Tune>(where: { $0.rating > 2 })
    try await context.perform {
      _ = makeTune("Help", rating: 4, in: nil)
      try context.save()
    }
    for try await result in container.liveQuery(request) {
      print(result.objectIDs.count, result.difference.insertions.count)
      #expect(result.objectIDs.count == 1 && result.difference.insertions.count == 1)
      break
    }
  }
}
