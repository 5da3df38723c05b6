import Foundation
import Heartwood
import HeartwoodAppleStores
import HeartwoodSQLite

// A store of Core Data beside SQLite: a scan of all cells of its largest table with the reader of HeartwoodSQLite and with SQLite itself, and its import
// beside a batch insert of the same objects. Seconds, the median of the rounds; the ratio is the first to the second. Both sides of
// a row have the same sums.

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 600_000
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3
let folder = FileManager.default.temporaryDirectory.appending(path: "apple-costs-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appending(path: "Persons.sqlite")
let people = Persons(count: count)
try people.writeStore(to: file)
AppleSQLiteStore.register()

func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// The most memory that the process has had so far, in bytes: without mapped files where the system says it.
func mostMemory() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? ""
  return (Int(line.filter(\.isNumber)) ?? 0) * 1024
}

var (scans, imports) = ([(Double, Double)](), [(Double, Double)]())
var importMemory = 0
for round in 0..<rounds {
  var sums = (0, 0)
  let ours = try seconds { sums.0 = try scan(file) }
  let theirs = try seconds { sums.1 = try people.scanWithSQLite(file) }
  precondition(sums.0 == sums.1, "the scans differ")
  scans.append((ours, theirs))

  // The import first: its memory is not that of the objects of the batch.
  let place = folder.appending(path: "import\(round)")
  let imported = try seconds { try importStore(file, to: place) }
  if round == 0 { importMemory = mostMemory() }
  let other = folder.appending(path: "batch\(round)")
  let inserted = try seconds { try people.batchInsert(at: other) }
  let (one, two) = (try Persons.sum(at: place), try Persons.sum(at: other))
  precondition(one == two, "the stores differ")
  imports.append((imported, inserted))
  try FileManager.default.removeItem(at: place)
  try FileManager.default.removeItem(at: other)
}

func report(_ name: String, _ pairs: [(Double, Double)]) {
  func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
  let (one, other) = (median(pairs.map(\.0)), median(pairs.map(\.1)))
  print("\(name): \(String(format: "%.2f s, %.2f s, ratio %.2f", one, other, one / other))")
}

let size = (try file.resourceValues(forKeys: [.fileSizeKey])).fileSize ?? 0
print("\(count) persons in \(size / 1_000_000) MB, \(rounds) rounds")
report("scan of all cells, to SQLite", scans)
report("import, to a batch insert", imports)
print("memory of the first import at most: \(importMemory / 1_000_000) MB")

/// Reads every cell.
func scan(_ file: URL) throws -> Int {
  let database = try SQLiteDatabase(contentsOf: file)
  guard let table = database.table(named: "ZPERSON") else { return 0 }
  var sum = 0
  try database.forEachRow(of: table) { row in
    for column in 0..<row.count {
      switch row[column] {
      case .integer(let number): sum &+= Int(number)
      case .real(let number): sum &+= Int(number)
      case .text(let text): sum &+= text.utf8.count
      case .blob(let bytes): sum &+= bytes.count
      case .null: sum &+= 1
      }
    }
  }
  return sum
}

/// Imports a store as `heartwood import` does.
func importStore(_ file: URL, to place: URL) throws {
  let coordinator = try PersistentStoreCoordinator(checking: Persons.model())
  let store = try coordinator.addPersistentStore(type: .appleSQLite, at: file)
  try coordinator.migratePersistentStore(store, to: place)
  try coordinator.close()
}
