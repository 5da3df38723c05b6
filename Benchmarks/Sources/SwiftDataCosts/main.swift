import Foundation

// The costs of models of the module SwiftData beside the same classes of Heartwood, in contexts that observers do not see and in those that
// they do, in nanoseconds of processor time for each of 100,000 persons: the least of several rounds, and the ratio. Both read and write
// the same values with the same durability, and their sums are compared.

/// Persons of companies in a store.
protocol PersonStore: AnyObject {
  /// Saves new persons, a hundred to a company, at once.
  func insert(_ count: Int) throws
  /// Fetches all with a new context, and reads two properties of each.
  func fetchAndRead() throws -> Int
  func readIntegers() -> Int
  func readTruths() -> Int
  func readTexts() -> Int
  func readDates() -> Int
  /// Reads a property of the related company.
  func readRelated() -> Int
  /// Sets one property of each and saves.
  func setIntegers() throws -> Int
}

/// The processor time of the process, in nanoseconds.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 5
let folder = FileManager.default.temporaryDirectory.appending(path: "swiftdata-costs-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

typealias Row = (name: String, passes: Int, body: (any PersonStore) throws -> Int)
let rows: [Row] = [
  (
    "insert in one save", 1,
    {
      try $0.insert(count); return 0
    }
  ),
  ("fetch all, read two properties", 1, { try $0.fetchAndRead() }),
  ("read an integer", 20, { $0.readIntegers() }),
  ("read a Bool", 20, { $0.readTruths() }),
  ("read a text", 20, { $0.readTexts() }),
  ("read a date", 20, { $0.readDates() }),
  ("read a text of a related one", 5, { $0.readRelated() }),
  ("set an integer of all, save", 1, { try $0.setIntegers() }),
]
var least: [[Double]] = rows.map { _ in [.infinity, .infinity, .infinity] }

for round in 0..<rounds {
  let stores: [any PersonStore] = [
    try ObjectPersons(at: folder.appending(path: "objects\(round)"), isObservable: false),
    try ObjectPersons(at: folder.appending(path: "observed\(round)"), isObservable: true),
    try ModelPersons(at: folder.appending(path: "models\(round)")),
  ]
  for (place, row) in rows.enumerated() {
    var sums = [0, 0, 0]
    // Another one is first in each round.
    for turn in 0..<3 {
      let peer = (turn + round) % 3
      // The first pass of a row that reads fills what is filled once.
      if row.passes > 1 { sums[peer] = try row.body(stores[peer]) }
      let start = processorTime()
      for _ in 0..<row.passes { sums[peer] = try row.body(stores[peer]) }
      least[place][peer] = min(
        least[place][peer], (processorTime() - start) / Double(row.passes * count))
    }
    precondition(Set(sums).count == 1, "\(row.name): the stores differ")
  }
}

print("nanoseconds: classes, classes that are observable, models; ratios of the models to both")
for (row, figures) in zip(rows, least) {
  let texts = figures.map { String(format: "%8.1f", $0) }.joined(separator: "  ")
  let ratios = figures.prefix(2).map { String(format: "%.2f", figures[2] / $0) }.joined(separator: "  ")
  print("\(row.name): \(texts); \(ratios)")
}
