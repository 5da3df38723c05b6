import BenchmarkHarness
import Foundation
import Heartwood

/// Microseconds of fetches that an index serves, of 100,000 objects: first pages of orders, combined indexes, ends and runs, and what
/// choosing a plan takes of it.
struct PlanBenchmark {
  let options: Options

  /// One line for each row.
  func run() throws -> [String] {
    try options.withPeople(options.objects ?? 100_000, named: "plans") { container in
      try options.leastTimes { try measure($0, in: container) }
    }
  }

  fileprivate enum Row: String, CaseIterable {
    case first = "first page of 50 by an index, ascending, in a new context"
    case last = "first page of 50 by an index, descending, in a new context"
    case names = "first page of 50 by an index of texts, in a new context"
    case ties = "first page of 50 whose first key an index has, in a new context"
    case again = "first page of 50 by an index, objects there already"
    case identifiers = "identifiers of a first page of 50 by an index"
    case rows = "first page of 50 as rows of an indexed property"
    case plan = "plan of a first page by an index"
    case condition = "plan of two conditions that indexes serve, and an order"
    case both = "count of an intersection of two indexes"
    case either = "count of a union of two indexes"
    case ends = "least and greatest value of an indexed property"
    case range = "count of a range of an index"
    case related = "all persons' names of companies, by a hash table"
  }

  private func measure(_ row: Row, in container: PersistentContainer) throws -> Double {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let run = try work(row, context)
      _ = try run()
      var (total, runs) = (0.0, 0)
      repeat {
        if row.isOfNewContext { context.reset() }
        total += try timed(run).seconds
        runs += 1
      } while total < options.least
      return total / Double(runs)
    }
  }

  private func work(_ row: Row, _ context: ManagedObjectContext) throws -> () throws -> Int {
    func page(_ sort: [Sort<Person>]) -> () throws -> Int {
      let request = FetchRequest<Person>()
      request.sortDescriptors = sort
      request.fetchLimit = 50
      return { try context.fetch(request).count }
    }
    let day: Int64 = 86_400
    switch row {
    case .first, .again: return page([.ascending(\.joined)])
    case .last: return page([.descending(\.joined)])
    case .names: return page([.ascending(\.name)])
    case .ties: return page([.ascending(\.name), .descending(\.age)])
    case .identifiers:
      return { try context.fetchIdentifiers(Person.self, sort: [.ascending(\.joined)], limit: 50).count }
    case .rows:
      return {
        try context.fetchRows(
          Person.self, columns: { $0.joined }, sort: { [.ascending($0.joined)] }, limit: 50
        ).count
      }
    case .plan:
      return { try context.plan(for: Person.self, sort: [.ascending(\.joined)], limit: 50).steps.count }
    case .condition:
      return {
        try context.plan(
          for: Person.self, where: { $0.name > "M" && $0.joined < 1000 * day }, sort: [.ascending(\.joined)],
          limit: 50
        ).steps.count
      }
    case .both:
      return { try context.count(Person.self) { $0.name.hasPrefix("B") && $0.joined < 5000 * day } }
    case .either:
      return { try context.count(Person.self) { $0.name.hasPrefix("Ba") || $0.joined < 500 * day } }
    case .ends:
      return { try context.fetchRows(Person.self, columns: { ($0.joined.min(), $0.joined.max()) }).count }
    case .range: return { try context.count(Person.self) { $0.joined < 5000 * day } }
    case .related:
      return { try context.fetchRows(Person.self, columns: { ($0.number, $0.company.name) }).count }
    }
  }
}

extension PlanBenchmark.Row {
  /// Whether objects are made anew each time.
  fileprivate var isOfNewContext: Bool {
    switch self {
    case .first, .last, .names, .ties: true
    default: false
    }
  }
}
