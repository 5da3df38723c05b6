/// Several processes with several threads on one store of the real file system.
struct ProcessPart: Part {
  let name = "processes"
  let summary =
    "2 to 10 processes of 1 to 16 threads that write one store, stopped, killed, opening and closing"

  func goals(of size: Size) -> [Goal] { [Goal(figure: "scenarios", count: size == .short ? 12 : 200)] }

  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let scenario = Self.scenario(number, of: size, seed: seed)
    return Piece(name: "\(scenario)") { figures in
      figures["acknowledged commits"] += try StressRun(scenario: scenario).run()
      figures["scenarios"] += 1
      figures["kills"] += scenario.kills
      figures["stops"] += scenario.stops
    }
  }

  /// The first scenarios are those of fixed bugs: lost acknowledged commits, and damage reported to readers.
  private static func scenario(_ number: Int, of size: Size, seed: UInt64) -> StressScenario {
    let commits = [.short: 2000, .standard: 5000, .long: 20_000][size] ?? 2000
    var scenario = StressScenario(drawnBy: seed &* 1_000_003 &+ UInt64(number), commits: commits)
    switch number {
    case 0:
      scenario = StressScenario(seed: scenario.seed)
      (scenario.threads, scenario.checkpoint, scenario.segment, scenario.commits) = (8, 0, 0, 4 * commits)
    case 1:
      scenario = StressScenario(seed: scenario.seed)
      (scenario.processes, scenario.threads, scenario.commits) = (4, 1, 4 * commits)
    case 2:
      scenario = StressScenario(seed: scenario.seed)
      (scenario.processes, scenario.threads, scenario.openers) = (3, 12, 1)
      (scenario.kills, scenario.stops, scenario.commits) = (commits / 200, commits / 400, 8 * commits)
      (scenario.durability, scenario.tasks) = (.deferred, [.read])
    default: break
    }
    return scenario
  }
}
