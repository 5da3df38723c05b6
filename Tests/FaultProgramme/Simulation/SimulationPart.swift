import Foundation
import HeartwoodFaults

/// Random lives of stores on machines with random faults, all drawn from the seed.
///
/// A failure names its seed. The environment variable `HEARTWOOD_TRACE` prints the operations of the seed
/// with this number, or of all seeds if it is `all`.
struct SimulationPart: Part {
  let name = "simulation"
  let summary = "random operations, faults, crashes and clocks, the same for the same seed"

  private static let seedsInPiece = 10

  func goals(of size: Size) -> [Goal] {
    let seeds = size == .short ? 200 : 1000
    return [
      Goal(figure: "seeds", count: seeds),
      Goal(figure: "operations", count: seeds * Self.operations),
    ]
  }

  /// The number of operations of a seed; a graph has a fifth of them.
  static let operations = 2000

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let first = number * Self.seedsInPiece
    return Piece(name: "seeds \(first) to \(first + Self.seedsInPiece - 1)") { figures in
      for number in first..<first + Self.seedsInPiece {
        try Self.run(number, of: seed, operations: Self.operations, &figures)
      }
    }
  }

  /// Runs one of the lives of `seed`; some of them twice.
  static func run(_ number: Int, of seed: UInt64, operations: Int, _ figures: inout Figures) throws {
    let isTraced = [String(number), "all"].contains(ProcessInfo.processInfo.environment["HEARTWOOD_TRACE"])
    let trace = Trace(isPrinted: isTraced)
    do {
      let simulation = simulation(number, of: seed, trace)
      let count = simulation is GraphSimulation ? operations / 5 : operations
      let result = try simulation.run(count)
      figures += simulation.figures
      figures["seeds"] += 1
      guard number % 20 == 0 || number % 20 == 7 else { return }
      let repetition = try Self.simulation(number, of: seed, Trace()).run(count)
      try require(result == repetition, "run twice, the seed gave \(result), then \(repetition)")
      figures["seeds run twice"] += 1
    } catch {
      throw Finding("seed \(number), \(trace): \(error)\nHEARTWOOD_TRACE=\(number) prints all of it")
    }
  }

  /// One in four lives is that of a graph.
  private static func simulation(_ number: Int, of seed: UInt64, _ trace: Trace) -> any Simulation {
    let own = seed &* 0x1_0000_0001 &+ UInt64(number)
    return number % 4 == 3 ? GraphSimulation(seed: own, trace) : EngineSimulation(seed: own, trace)
  }
}

/// The figures that must be equal when a seed is run again.
struct SimulationResult: Equatable, CustomStringConvertible {
  let disk: UInt64
  let operations: UInt64

  var description: String {
    "disk \(String(disk, radix: 16)), operations \(String(operations, radix: 16))"
  }
}
