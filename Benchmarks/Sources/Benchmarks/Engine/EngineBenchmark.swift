/// Runs the engine's rows: in each round every row on every peer in turn, so that a slow minute of the machine
/// is everybody's.
struct EngineBenchmark {
  let options: Options

  func run() throws -> ResultTable {
    let peers = EnginePeerKind.all.filter { options.includes(peer: $0.name) }
    let records = Records(count: options.records, shape: options.keys)
    var table = ResultTable(title: title, peers: peers.map(\.name))
    for round in 0..<options.rounds {
      try run(round: round, peers, records, into: &table)
    }
    return table
  }

  private var title: String {
    "Engine: \(options.records) records of \(Records.keyBytes)-byte keys (\(options.keys.rawValue)) and "
      + "\(Records.valueBytes)-byte values, median of \(options.rounds) "
      + (options.rounds == 1 ? "round" : "rounds")
  }

  private func run(
    round: Int, _ peers: [EnginePeerKind], _ records: Records, into table: inout ResultTable
  ) throws {
    let work = EngineWork(records, round: round, least: options.least)
    let sessions = try peers.map {
      try EngineSession($0, records: records.count, directory: options.directory)
    }
    for row in EngineRow.all where row.isNeeded || options.includes(row: row.name) {
      progress("round \(round + 1) of \(options.rounds): \(row.name)")
      var agreement = Agreement(on: row.name)
      for turn in sessions.indices {
        // Another one begins in each round.
        let peer = (turn + round) % sessions.count
        let measurement = try row.measure(sessions[peer], work)
        try agreement.add(measurement.digest, of: sessions[peer].peer.name)
        guard options.includes(row: row.name) else { continue }
        table.add(measurement.figure, row: row.name, unit: row.unit, peer: peer)
      }
    }
    for session in sessions { try session.closeAll() }
  }
}
