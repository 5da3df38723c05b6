import BenchmarkHarness
import Foundation

/// A million rows and a changed model: what it takes beside SQLite, beside a copy of the store's bytes, and in memory. Each
/// migration is a process of its own, on a copy of the same store.
struct MigrationBenchmark {
  static let peers: [(name: String, type: any MigrationPeer.Type)] = [
    ("Heartwood", HeartwoodMigrationPeer.self), ("SQLite", SQLiteMigrationPeer.self),
  ]
  /// How many times the time of copying its bytes a migration may take that writes all rows.
  private static let mostCopies = 3.0
  private static let mostMemory = 100e6
  private static let mostMilliseconds = 100.0

  let options: Options

  private var objects: Int { options.objects ?? 1_000_000 }
  private var rounds: Int { options.rounds ?? 3 }

  func run() throws -> ResultTable {
    let kinds = Self.peers.filter { options.includes(peer: $0.name) }
    var table = ResultTable(
      title: "Migration of \(objects) persons, median of \(rounds) " + (rounds == 1 ? "round" : "rounds"),
      peers: kinds.map(\.name))
    let people = People(objects: objects)
    let scratches = try kinds.map { try Scratch(in: options.directory, named: $0.name) }
    for (kind, scratch) in zip(kinds, scratches) {
      progress("\(kind.name): makes the store")
      try kind.type.init(directory: scratch.path).make(people)
    }
    var copies: [[Double]] = Array(repeating: [], count: kinds.count)
    for round in 0..<rounds {
      for row in MigrationRow.allCases.reversed() where options.includes(row: row.rawValue) {
        var agreement = Agreement(on: row.rawValue)
        for turn in kinds.indices {
          let peer = (turn + round) % kinds.count
          progress("round \(round + 1) of \(rounds), \(row.rawValue): \(kinds[peer].name)")
          for line in try lines(of: kinds[peer].name, row, scratches[peer]) {
            try agreement.add(line.measurement.digest, of: kinds[peer].name)
            add(line, row, peer, &copies, to: &table)
          }
        }
      }
    }
    return table
  }

  private func add(
    _ line: TurnLine, _ row: MigrationRow, _ peer: Int, _ copies: inout [[Double]],
    to table: inout ResultTable
  ) {
    let figure = line.measurement.figure
    let isTime = line.unit == .milliseconds
    let goal =
      row == .bytes
      ? nil : isTime ? row == .optional ? Goal.atMost(Self.mostMilliseconds) : nil : .atMost(Self.mostMemory)
    table.add(figure, row: line.row, unit: line.unit, peer: peer, goal: goal)
    guard isTime else { return }
    if row == .bytes { copies[peer].append(figure) }
    guard row != .bytes, row != .optional, let copy = copies[peer].last else { return }
    table.add(
      figure / copy, row: line.row + ", copies", unit: .times, peer: peer, goal: .atMost(Self.mostCopies))
  }

  /// Runs a row in a process of its own, on a copy of a peer's store.
  private func lines(of peer: String, _ row: MigrationRow, _ scratch: Scratch) throws -> [TurnLine] {
    let copy = scratch.path + "-copy"
    try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    sync()
    let (process, output) = (Process(), Pipe())
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["migrationTurn", "--peers", peer, "--rows", row.rawValue, "--directory", copy]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkError("\(peer) failed in \(row.rawValue)") }
    return text.split(separator: "\n").compactMap(TurnLine.init)
  }
}

/// One row of one peer in a process of its own: its time and the most memory of its own go to standard output.
struct MigrationTurn {
  let options: Options

  func run() throws {
    guard let kind = MigrationBenchmark.peers.first(where: { options.includes(peer: $0.name) }),
      let row = MigrationRow.allCases.first(where: { $0.rawValue == options.rows })
    else { throw BenchmarkError("a migration's turn needs a peer and a row") }
    let peer = kind.type.init(directory: options.directory)
    let memory = AnonymousMemoryPeak()
    let (seconds, _) = try timed { try row.run(peer) }
    let peak = memory.stop()
    let time = PeerMeasurement(figure: seconds * 1000, digest: try peer.digest(row))
    print(TurnLine(row: row.rawValue, unit: .milliseconds, measurement: time).text)
    let bytes = PeerMeasurement(figure: Double(peak), digest: nil)
    print(TurnLine(row: row.rawValue + ", memory", unit: .bytes, measurement: bytes).text)
  }
}
