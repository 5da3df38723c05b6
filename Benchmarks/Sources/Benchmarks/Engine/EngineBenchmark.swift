/// Runs the engine's rows: in each round every row on every peer in turn, so that a slow minute of the machine
/// is everybody's.
struct EngineBenchmark {
  let options: Options
  let count: Int

  /// From here on, a row that takes a peer too long is left out.
  private static let enoughRounds = 3
  private static let tooLong = 10.0

  func run() throws -> ResultTable {
    let peers = EnginePeerKind.all.filter { options.includes(peer: $0.name) }
    let records = Records(count: count, shape: options.keys)
    let rounds = options.rounds ?? 5
    var table = ResultTable(title: title(rounds), peers: peers.map(\.name))
    var slow: Set<String> = []
    for round in 0..<rounds {
      progress("round \(round + 1) of \(rounds)")
      let rows = neededRows(slow: round < Self.enoughRounds ? [] : slow)
      try run(rows, round, peers, records, into: &table, &slow)
    }
    return table
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
    _ rows: [EngineRow], _ round: Int, _ peers: [EnginePeerKind], _ records: Records,
    into table: inout ResultTable, _ slow: inout Set<String>
  ) throws {
    let work = EngineWork(records, round: round, least: options.least)
    let sessions = peers.map { EngineSession($0, records: count, directory: options.directory) }
    for row in rows {
      progress("  " + row.name)
      var agreement = Agreement(on: row.name)
      for turn in sessions.indices {
        // Another one begins in each round.
        let peer = (turn + round) % sessions.count
        guard row.concerns(sessions[peer].kind) else { continue }
        waitForRest()
        let (seconds, measurement) = try timed { try row.measure(sessions[peer], work) }
        try agreement.add(measurement.digest, of: sessions[peer].kind.name)
        if seconds > Self.tooLong { slow.insert(row.name) }
        guard options.includes(row: row.name) else { continue }
        table.add(
          measurement.figure, row: row.name, unit: row.unit, peer: peer, goal: EngineRow.goals[row.name])
      }
    }
    for session in sessions { try session.closeAll() }
  }
}
