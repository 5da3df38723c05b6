import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The common part of the simulations of an engine and of a graph.
protocol Simulation: AnyObject {
  var random: SplitMix64 { get set }
  var machine: Machine { get }
  var trace: Trace { get }
  var figures: Figures { get set }

  /// Performs one operation.
  func step() throws
  /// Performs the final checks: everything is readable, and nothing is left over.
  func end() throws
}

extension Simulation {
  /// Performs this many operations.
  func run(_ operations: Int) throws -> SimulationResult {
    for _ in 0..<operations {
      trace.begin()
      try step()
    }
    try end()
    figures["operations"] += operations
    return SimulationResult(disk: machine.disk.digest, operations: trace.digest)
  }

  // MARK: The machine

  func setClock() {
    let moments: [Int64] = [
      1_700_000_000_000_000_000, -86_400_000_000_000, 4_300_000_000_000_000_000, 0, .min, .max,
    ]
    if random.below(2) == 0 {
      machine.clock.set(nanosecondsSince1970: random.pick(moments))
    } else {
      machine.clock.jump(by: random.pick([-1, 1]) * Int64(random.below(1 << 50)))
    }
    trace.note("clock")
  }

  func turnOfFaults() throws {
    guard !machine.isFailing else {
      if random.below(2) == 0 {
        machine.heal()
        trace.note("healed")
      }
      return
    }
    guard random.below(3) == 0 else { return }
    if random.below(8) == 0 {
      machine.use(FaultPlan(), roomOnDisk: Int64(random.below(80_000)))
      trace.note("little room")
    } else {
      machine.use(random.below(20) == 0 ? random.drawLies() : random.drawFaults())
      trace.note("faults: \(machine.files.plan)")
    }
    figures["fault plans"] += 1
  }
}

extension EngineError {
  /// Whether the underlying cause is an injected fault.
  var isInjected: Bool {
    switch underlying {
    case let error as EngineError: error.isInjected
    case let error as FileSystemError: error.isInjected
    default: false
    }
  }
}
