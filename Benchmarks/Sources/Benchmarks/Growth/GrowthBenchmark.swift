import BenchmarkHarness
import EngineBenchmarks
import Foundation

/// Chosen rows in stores of several sizes, so that one sees what grows with them. Each peer's turn is a process of its
/// own, so that its memory can be told from the others'.
struct GrowthBenchmark {
  let options: Options
  private static let usualCounts = [10_000, 100_000, 1_000_000]

  func run() throws -> ResultTable {
    let peers = EnginePeerKind.all.map(\.name).filter { options.includes(peer: $0) }
    let counts = options.recordCounts.isEmpty ? Self.usualCounts : options.recordCounts
    var all = Collected()
    for count in counts {
      for round in 0..<rounds {
        try run(count, round, peers, into: &all)
      }
    }
    return all.table(title: "Growth, median of \(rounds) " + (rounds == 1 ? "round" : "rounds"), peers)
  }

  private var rounds: Int { options.rounds ?? 3 }

  private func run(_ count: Int, _ round: Int, _ peers: [String], into all: inout Collected) throws {
    var agreements: [String: Agreement] = [:]
    for turn in peers.indices {
      let peer = (turn + round) % peers.count
      progress("\(count) records, round \(round + 1) of \(rounds): \(peers[peer])")
      for line in try lines(of: peers[peer], count, round) {
        try agreements[line.row, default: Agreement(on: line.row)].add(
          line.measurement.digest, of: peers[peer])
        guard options.includes(row: line.row) else { continue }
        all.add(line, count, peer)
      }
    }
  }

  /// Runs the turn of one peer.
  private func lines(of peer: String, _ count: Int, _ round: Int) throws -> [TurnLine] {
    let (process, output) = (Process(), Pipe())
    process.executableURL = Bundle.main.executableURL
    process.arguments = [
      "turn", "--peers", peer, "--records", "\(count)", "--turn", "\(round + 1)", "--keys",
      options.keys.rawValue, "--directory", options.directory, "--least", "\(options.least)",
    ]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkError("the turn of \(peer) failed") }
    return text.split(separator: "\n").compactMap(TurnLine.init)
  }
}

/// The lines of all turns, in the order of the rows and not of the sizes.
private struct Collected {
  private var rows: [String] = []
  private var lines: [(line: TurnLine, count: Int, peer: Int)] = []

  mutating func add(_ line: TurnLine, _ count: Int, _ peer: Int) {
    if !rows.contains(line.row) { rows.append(line.row) }
    lines.append((line, count, peer))
  }

  func table(title: String, _ peers: [String]) -> ResultTable {
    var table = ResultTable(title: title, peers: peers)
    for row in rows {
      for entry in lines where entry.line.row == row {
        table.add(
          entry.line.measurement.figure, row: "\(row), \(Self.short(entry.count))", unit: entry.line.unit,
          peer: entry.peer)
      }
    }
    return table
  }

  private static func short(_ count: Int) -> String {
    if count % 1_000_000 == 0 { return "\(count / 1_000_000) million" }
    return count % 1000 == 0 ? "\(count / 1000) thousand" : "\(count)"
  }
}
