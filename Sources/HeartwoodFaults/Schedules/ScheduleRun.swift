/// One run of a program under one strategy.
struct ScheduleRun {
  /// The description of the failure; nil if the run passed.
  private(set) var message: String?
  let points: Int
  let switches: [Schedule.Switch]
  let preemptions: Int
  let turns: [String]

  /// Prepares the program, runs its threads and performs the final checks.
  ///
  /// - Throws: Errors of the preparation.
  init(
    _ strategy: any ScheduleStrategy, limit: Int, tracesTurns: Bool = false,
    _ program: (ExploredThreads) throws -> Void
  ) throws {
    let scheduler = Scheduler(strategy, limit: limit, tracesTurns: tracesTurns)
    let threads = ExploredThreads(scheduler)
    try program(threads)
    scheduler.run()
    points = scheduler.points
    switches = scheduler.switches
    preemptions = scheduler.cost
    turns = scheduler.turns.map(\.description)
    let checks = threads.takeChecks()
    message = Self.failure(of: scheduler) ?? Self.failure(of: checks)
  }

  private static func failure(of scheduler: Scheduler) -> String? {
    if !scheduler.errors.isEmpty { return scheduler.errors.joined(separator: "; ") }
    switch scheduler.ending {
    case .finished: return nil
    case .deadlock: return "deadlock: no thread can go on\n" + whereabouts(scheduler)
    case .tooLong: return "no end after \(scheduler.points) points\n" + whereabouts(scheduler)
    }
  }

  private static func whereabouts(_ scheduler: Scheduler) -> String {
    scheduler.threads.filter { !$0.isFinished }.map { "  \($0.whereabouts)" }.joined(separator: "\n")
  }

  private static func failure(of checks: [() throws -> Void]) -> String? {
    for check in checks {
      do { try check() } catch { return "afterwards: \(error)" }
    }
    return nil
  }
}
