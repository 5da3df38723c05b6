import BenchmarkHarness
import Foundation
import Heartwood

/// The time of one access to a property: typed and by name, on realised objects and on faults.
struct AccessBenchmark {
  let options: Options

  private var objects: Int { options.objects ?? 10_000 }
  private var rounds: Int { options.rounds ?? 5 }

  /// One line for each row: the least of all rounds, which other work on the machine disturbs least.
  func run() throws -> [String] {
    try options.withPeople(objects, named: "access") { container in
      try rows.filter { options.includes(row: $0.name) }.map { row in
        progress(row.name)
        let seconds = try (0..<rounds).map { _ in try measure(row, in: container) }
        let least = (seconds.min() ?? .nan) / Double(objects) / Double(row.isOnFault ? 1 : Self.passes)
        return "\(row.name): \(decimal(least * 1e9, places: 1)) ns"
      }
    }
  }

  private static let passes = 100

  private func measure(_ row: Row, in container: PersistentContainer) throws -> Double {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let persons = try context.fetch(Person.self)
      let identifiers = persons.map(\.objectID)
      var sum: Int64 = 0
      defer { require(sum != .min) }
      if row.isOnFault {
        context.reset()
        let faults = identifiers.compactMap { context.object(with: $0) as? Person }
        return timed { sum = row.run(faults) }.seconds
      }
      sum = row.run(persons)
      return timed { for _ in 0..<Self.passes { sum &+= row.run(persons) } }.seconds
    }
  }

  private func require(_ condition: Bool) { if !condition { progress("the sum is improbable") } }

  private struct Row {
    let name: String
    var isOnFault = false
    let run: ([Person]) -> Int64
  }

  private var rows: [Row] { reads + writes }

  private var reads: [Row] {
    [
      Row(name: "read an integer of a realised object") { $0.reduce(0) { $0 &+ $1.age } },
      Row(name: "read an integer by name") {
        $0.reduce(0) { $0 &+ ($1.value(forKey: "age") as? Int64 ?? 0) }
      },
      Row(name: "read a text of a realised object") { $0.reduce(0) { $0 &+ Int64($1.name.utf8.count) } },
      Row(name: "read a text by name") {
        $0.reduce(0) { $0 &+ Int64(($1.value(forKey: "name") as? String ?? "").utf8.count) }
      },
      Row(name: "read an integer of a fault", isOnFault: true) { $0.reduce(0) { $0 &+ $1.age } },
    ]
  }

  private var writes: [Row] {
    [
      Row(name: "set an integer") { persons in
        for person in persons { person.age = 30 }
        return 0
      },
      Row(name: "set an integer by name") { persons in
        for person in persons { person.setValue(30 as Int64, forKey: "age") }
        return 0
      },
      Row(name: "set a text") { persons in
        for person in persons { person.name = "Ada Lovelace, countess" }
        return 0
      },
      Row(name: "set a text by name") { persons in
        for person in persons { person.setValue("Ada Lovelace, countess", forKey: "name") }
        return 0
      },
    ]
  }
}
