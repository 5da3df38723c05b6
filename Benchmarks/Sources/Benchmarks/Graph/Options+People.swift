import BenchmarkHarness
import Heartwood

/// Measuring one store of companies and persons.
extension Options {
  /// Calls `body` with a store of so many persons, in a folder of its own.
  func withPeople<Result>(
    _ objects: Int, named name: String, _ body: (PersistentContainer) throws -> Result
  ) throws -> Result {
    let scratch = try Scratch(in: common.directory, named: name)
    let container = try PersistentContainer.people(in: scratch.path)
    defer { try? container.close() }
    let context = container.newBackgroundContext()
    try context.performAndWait { try People(objects: objects).save(in: context) }
    return try body(container)
  }

  /// One line in microseconds for each row: the least of all rounds, which other work on the machine disturbs least.
  ///
  /// - Parameter measure: Measures a row once, in seconds.
  func leastTimes<Row: CaseIterable & RawRepresentable<String>>(
    _ measure: (Row) throws -> Double
  ) rethrows -> [String] {
    try Row.allCases.filter { includes(row: $0.rawValue) }.map { row in
      progress(row.rawValue)
      let seconds = try (0..<(common.rounds ?? 5)).map { _ in try measure(row) }
      return "\(row.rawValue): \(decimal((seconds.min() ?? .nan) * 1e6, places: 1)) µs"
    }
  }
}
