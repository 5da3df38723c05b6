import BenchmarkHarness
import Foundation

/// Runs the engine's rows: in each round every row on every peer in turn, so that a slow minute of the machine
/// is everybody's.
public struct EngineBenchmark {
  private let peers: [EnginePeerKind]
  private let count: Int
  private let options: BenchmarkOptions
  private let goals: [String: Goal]

  /// From here on, a row that takes a peer too long is left out.
  private static let enoughRounds = 3
  private static let tooLong = 10.0

  /// A benchmark that has not begun.
  /// - Parameters:
  ///   - peers: The engines, of which the first is compared with the others. Those are left out that `options` does not name.
  ///   - count: How many records a store has.
  ///   - options: The rows, rounds, keys and the folder; its numbers of records are not looked at.
  ///   - goals: The goals of rows, by their names.
  public init(
    peers: [EnginePeerKind], records count: Int, options: BenchmarkOptions, goals: [String: Goal] = [:]
  ) {
    self.peers = peers.filter { options.includes(peer: $0.name) }
    self.count = count
    self.options = options
    self.goals = goals
  }

  /// Prints a table for each number of records that `options` names, a million where it names none, and writes the chart
  /// where it names a file.
  /// - Parameters:
  ///   - peers: The engines, of which the first is compared with the others.
  ///   - options: The rows, rounds, numbers of records, keys, the folder and the form of the tables.
  ///   - goals: The goals of rows, by their names.
  ///   - machine: A line below the chart's heading.
  /// - Throws: As `run`, and the error of the system where the chart's file cannot be written.
  public static func printTables(
    of peers: [EnginePeerKind], _ options: BenchmarkOptions, goals: [String: Goal] = [:], machine: String
  ) throws {
    for count in options.recordCounts.isEmpty ? [1_000_000] : options.recordCounts {
      let table = try EngineBenchmark(peers: peers, records: count, options: options, goals: goals).run()
      print(options.text(of: table))
      guard let file = options.svg else { continue }
      try Chart(table: table, subtitle: machine).svg().write(toFile: file, atomically: true, encoding: .utf8)
    }
  }

  /// Runs all rounds. Says on standard error what is being measured, unless the options do not want it.
  /// - Throws: `BenchmarkError` where peers disagree about what they read or hold, with their names and the row's; the errors
  ///   of the peers; the error of the system where no store can be made in the folder.
  public func run() throws -> ResultTable {
    let records = Records(count: count, shape: options.keys)
    let rounds = options.rounds ?? 5
    var table = ResultTable(title: title(rounds), peers: peers.map(\.name))
    var slow: Set<String> = []
    for round in 0..<rounds {
      say("round \(round + 1) of \(rounds)")
      let rows = neededRows(slow: round < Self.enoughRounds ? [] : slow)
      try run(rows, round, records, into: &table, &slow)
    }
    return table
  }

  private func say(_ text: String) {
    if options.saysProgress { progress(text) }
  }

  private func title(_ rounds: Int) -> String {
    "Engine: \(count) records of \(Records.keyBytes)-byte keys (\(options.keys.rawValue)) and "
      + "\(Records.valueBytes)-byte values, median of \(rounds) " + (rounds == 1 ? "round" : "rounds")
      + (rounds > Self.enoughRounds ? " (of \(Self.enoughRounds) for rows over \(Int(Self.tooLong)) s)" : "")
  }

  /// The rows asked for, and those that must have run before them.
  private func neededRows(slow: Set<String>) -> [EngineRow] {
    let all = EngineRow.all
    func isWanted(_ row: EngineRow) -> Bool { options.includes(row: row.name) && !slow.contains(row.name) }
    return all.indices.filter { index in
      isWanted(all[index])
        || all[index].isNeeded && all[index...].contains { isWanted($0) && $0.load == all[index].load }
    }.map { all[$0] }
  }

  private func run(
    _ rows: [EngineRow], _ round: Int, _ records: Records, into table: inout ResultTable,
    _ slow: inout Set<String>
  ) throws {
    let work = EngineWork(records, round: round, least: options.least)
    let sessions = peers.map { EngineSession($0, records: count, directory: options.directory) }
    for row in rows {
      say("  " + row.name)
      var agreement = Agreement(on: row.name)
      for turn in sessions.indices {
        // Another one begins in each round.
        let peer = (turn + round) % sessions.count
        guard row.concerns(sessions[peer].kind) else { continue }
        if options.rest > 0 { waitForRest(limit: options.rest) }
        let (seconds, measurement) = try timed { try row.measure(sessions[peer], work) }
        try agreement.add(measurement.digest, of: sessions[peer].kind.name)
        if seconds > Self.tooLong { slow.insert(row.name) }
        guard options.includes(row: row.name) else { continue }
        table.add(
          measurement.figure, row: row.name, unit: row.unit, peer: peer, goal: goals[row.name])
      }
    }
    for session in sessions { try session.closeAll() }
  }
}
