import HeartwoodFaults

/// Explores the interleavings of threads and processes on one store on a simulated disk.
struct SchedulePart: Part {
  let name = "schedules"
  let summary = "every order of what threads and processes do, with few preemptions, and random ones"

  private static let scenarios = ScheduleScenario.allCases

  func goals(of size: Size) -> [Goal] {
    [Goal(figure: "schedules", count: size == .short ? 5000 : 200_000)]
  }

  /// Each scenario, systematically and at random.
  func leastPieces(of size: Size) -> Int { Self.scenarios.count * 2 }

  /// Rounds of all scenarios: first at most one preemption, then random schedules, then, if time allows, two
  /// preemptions.
  func piece(_ number: Int, of size: Size, seed: UInt64) -> Piece? {
    let scenario = Self.scenarios[number % Self.scenarios.count]
    let round = number / Self.scenarios.count
    let isShort = size == .short
    switch round {
    case 0: return systematic(scenario, preemptions: 1, most: isShort ? 500 : 5000)
    case 2 where !isShort: return systematic(scenario, preemptions: 2, most: 10_000)
    default:
      let seed = seed &* 1_000_003 &+ UInt64(number)
      return random(scenario, seed: seed, count: isShort ? 150 : 2000)
    }
  }

  private func systematic(_ scenario: ScheduleScenario, preemptions: Int, most: Int) -> Piece {
    Piece(name: "\(scenario), at most \(preemptions) preemptions") { figures in
      let report = try ScheduleExplorer(mostSchedules: most).explore(
        preemptions: preemptions, scenario.prepare)
      if report.isComplete {
        figures["scenarios with every order of at most \(preemptions) preemptions"] += 1
      }
      try note(report, scenario, &figures)
    }
  }

  private func random(_ scenario: ScheduleScenario, seed: UInt64, count: Int) -> Piece {
    Piece(name: "\(scenario) at random, seed \(seed)") { figures in
      try note(ScheduleExplorer().random(seed: seed, count: count, scenario.prepare), scenario, &figures)
    }
  }

  /// The maximum length of a finding. The trace of an endless run can be longer; then the piece is to be
  /// repeated.
  private static let longestFinding = 10_000

  private func note(_ report: ScheduleReport, _ scenario: ScheduleScenario, _ figures: inout Figures) throws {
    figures["schedules"] += report.schedules
    figures["points"] += report.points
    guard let failure = report.failure else { return }
    throw Finding("\(scenario): \(String("\(failure)".prefix(Self.longestFinding)))")
  }

  /// Runs one scenario under one schedule, as printed in a finding.
  static func replay(_ words: [String]) throws -> ScheduleReport {
    guard words.count == 2, let scenario = ScheduleScenario(rawValue: words[0]) else {
      let names = ScheduleScenario.allCases.map(\.rawValue).joined(separator: ", ")
      throw Finding("schedule needs a scenario (\(names)) and a line such as \"schedule 0.14>1\"")
    }
    return try ScheduleExplorer().replay(words[1], scenario.prepare)
  }
}
