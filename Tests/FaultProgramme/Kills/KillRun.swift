import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A store on the real file system whose writers are killed one after the other.
struct KillRun {
  let kind: VictimKind
  let seed: UInt64
  let program: URL

  init(_ kind: VictimKind, seed: UInt64, program: URL = URL(fileURLWithPath: CommandLine.arguments[0])) {
    self.kind = kind
    self.seed = seed
    self.program = program
  }

  /// Kills this many writers and checks all of the store after each.
  ///
  /// - Returns: The final number of transactions.
  @discardableResult
  func run(kills: Int) throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kills-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "store").path
    let checker: any KilledStoreChecker = kind == .graph ? try GraphShadow(seed) : RowsShadow(kind, seed)
    var random = SplitMix64(seed: seed)
    var committed = 0
    for round in 1...kills {
      // Occasionally the writer is killed while it opens and recovers the store.
      let wanted = random.below(5) == 0 ? 0 : committed + 1 + random.below(40)
      let words = try KilledProcess(program: program).run(
        [path, "\(seed)", kind.rawValue], from: committed, until: wanted,
        microseconds: random.below(wanted == 0 ? 30_000 : 1_500))
      committed = try look(at: path, round, words, checker)
    }
    return committed
  }

  private func look(
    at path: String, _ round: Int, _ words: KilledProcess.Words, _ checker: any KilledStoreChecker
  ) throws -> Int {
    let found = try KilledProcess.inheritance.withLock { try checker.check(path) }
    let death = "after death \(round) transactions up to \(found) are found"
    try require(found >= words.acknowledged, "\(death), \(words.acknowledged) were acknowledged")
    try require(found >= words.returned, "\(death), commits up to \(words.returned) had returned")
    for name in try PosixFileSystem().openDirectory(path).entries() {
      try require(StoreChecker.isExpected(name), "there is a file left over, \(name)")
    }
    return found
  }
}

/// Opens the store of a killed writer and compares its contents with the number of transactions in it.
private protocol KilledStoreChecker: AnyObject {
  /// Returns the number of transactions.
  func check(_ path: String) throws -> Int
}

private final class RowsShadow: KilledStoreChecker {
  private let kind: VictimKind
  private let workload: VictimRows

  init(_ kind: VictimKind, _ seed: UInt64) {
    self.kind = kind
    workload = kind.rows(seed: seed)
  }

  func check(_ path: String) throws -> Int {
    let shown = try lookWithoutWriting(path)
    let engine = try Engine(at: path, options: kind.options)
    let rows = try Session.rows(of: engine)
    let count = VictimRows.count(in: rows)
    try require(rows == workload.state(after: count), "transaction \(count) shows \(rows.summary)")
    try require(
      engine.newestGeneration.rawValue == UInt64(count), "transaction \(count) is \(engine.newestGeneration)")
    try require(shown ?? 0 <= count, "read only the store showed transaction \(shown ?? 0) of \(count)")
    let report = try engine.verify()
    try require(report.isSound, "transaction \(count): \(report.findings)")
    try engine.close()
    return count
  }

  /// Returns nil if the victim was killed before it had created a store.
  private func lookWithoutWriting(_ path: String) throws -> Int? {
    var options = kind.options
    options.access = .readOnly
    do {
      let engine = try Engine(at: path, options: options)
      let rows = try Session.rows(of: engine)
      let count = VictimRows.count(in: rows)
      try require(rows == workload.state(after: count), "read only, \(count) shows \(rows.summary)")
      try engine.close()
      return count
    } catch let error as EngineError {
      guard error.code == .notFound || error.code == .notAStore else { throw error }
      return nil
    }
  }
}

/// A store with the same saves by a process that is not killed.
private final class GraphShadow: KilledStoreChecker {
  private let workload: VictimGraph
  private let shadow: PersistentContainer
  private var count = 0

  init(_ seed: UInt64) throws {
    workload = VictimGraph(seed: seed)
    shadow = try GraphSession.open(MemoryFileSystem())
  }

  func check(_ path: String) throws -> Int {
    let container = try VictimGraph.open(path)
    let found = try workload.count(in: container)
    while count < found {
      count += 1
      try GraphSession.run(workload.step(count), on: shadow)
    }
    let (facts, expected) = (try objects(container), try objects(shadow))
    try require(facts == expected, "after save \(found) there are\n\(facts)\nand not\n\(expected)")
    let numbers = try container.history().map { Int($0.transactionNumber) }
    // Transaction 1 wrote the metadata of the store.
    try require(numbers == (0..<found).map { $0 + 2 }, "\(found) saves, and a history of \(numbers)")
    let report = try container.persistentStoreCoordinator.verify()
    try require(report.isSound, "save \(found): \(report.findings)")
    try container.close()
    return found
  }

  private func objects(_ container: PersistentContainer) throws -> GraphFacts {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try GraphFacts(of: context) }
  }
}
