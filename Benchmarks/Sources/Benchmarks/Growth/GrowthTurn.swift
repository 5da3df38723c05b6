import BenchmarkHarness
import EngineBenchmarks

/// One peer's turn in a process of its own: what it measures goes to standard output, a line each.
struct GrowthTurn {
  let options: Options

  func run() throws {
    guard let kind = EnginePeerKind.all.first(where: { options.includes(peer: $0.name) }),
      let count = options.recordCounts.first
    else { throw BenchmarkError("a turn needs a peer and a number of records") }
    let records = Records(count: count, shape: options.keys)
    let work = EngineWork(records, round: options.turn, least: options.least)
    let session = EngineSession(kind, records: count, directory: options.directory)
    ProcessMemory.forgetPeak()
    let baseline = ProcessMemory.ownBytes()
    for row in EngineRow.growth({ baseline }) where row.concerns(kind) {
      let measurement = try row.measure(session, work)
      guard !row.name.isEmpty else { continue }
      print(TurnLine(row: row.name, unit: row.unit, measurement: measurement).text)
    }
    try session.closeAll()
  }
}
