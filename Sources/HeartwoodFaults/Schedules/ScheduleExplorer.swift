import HeartwoodFiles

/// Runs a program with several threads repeatedly, each time with another interleaving, to find one that
/// fails.
///
/// One thread runs at a time. At each synchronization point (locks and conditions of this package,
/// ``ScheduledLock`` and ``ScheduledCondition``, calls on a ``ScheduledFileSystem``, ``SchedulePoint``) the
/// explorer decides which thread continues. Time is virtual: a sleeping thread wakes when no other thread can
/// run, or when the explorer chooses it. Runs are therefore deterministic for a given schedule, and a line of
/// text reproduces a failure. Memory is sequentially consistent: reorderings that only weaker atomics allow
/// are not explored.
///
/// The program's closure prepares each run from scratch. Threads that can't continue after a failure keep
/// their stacks until the process ends.
public struct ScheduleExplorer: Sendable {
  /// The maximum number of points in one run. A run that exceeds it fails, because it probably contains an
  /// endless loop.
  public var longestRun: Int
  /// The maximum number of schedules to run.
  public var mostSchedules: Int

  /// Creates an explorer with these limits.
  public init(longestRun: Int = 50_000, mostSchedules: Int = .max) {
    self.longestRun = longestRun
    self.mostSchedules = mostSchedules
  }

  /// Runs the program under every schedule with at most this many preemptions. A preemption interrupts a
  /// thread that could have continued. Most bugs need one or two.
  ///
  /// - Parameters:
  ///   - preemptions: The maximum number of preemptions. Schedules with fewer run first.
  ///   - share: The index of this exploration, from 0, if several explorations divide the schedules among
  ///     them.
  ///   - shares: The number of these explorations.
  ///   - program: Prepares a run: opens resources, adds threads and final checks.
  /// - Throws: Errors of the preparation.
  public func explore(
    preemptions: Int, share: Int = 0, of shares: Int = 1, _ program: (ExploredThreads) throws -> Void
  ) throws -> ScheduleReport {
    try reporting { report in
      var search = SystematicSearch(preemptions: preemptions, share: share, of: shares)
      while let candidate = search.next() {
        guard report.schedules < mostSchedules else {
          report.isComplete = false
          return
        }
        let strategy = FollowedSchedule(candidate.schedule, notesBranches: true)
        let run = try ScheduleRun(strategy, limit: longestRun, program)
        guard try note(run, &report, program) else { return }
        search.add(strategy.branches, to: candidate)
      }
    }
  }

  /// Runs the program under random schedules.
  ///
  /// - Parameters:
  ///   - seed: The seed of the schedules.
  ///   - count: The number of schedules.
  ///   - program: Prepares a run.
  /// - Throws: Errors of the preparation.
  public func random(
    seed: UInt64, count: Int, _ program: (ExploredThreads) throws -> Void
  ) throws -> ScheduleReport {
    try reporting { report in
      var seeds = SplitMix64(seed: seed)
      for _ in 0..<min(count, mostSchedules) {
        let strategy = Self.strategy(SplitMix64(seed: seeds.next()), length: report.longest)
        let run = try ScheduleRun(strategy, limit: longestRun, program)
        guard try note(run, &report, program) else { return }
      }
    }
  }

  private static func strategy(_ random: SplitMix64, length: Int) -> any ScheduleStrategy {
    var random = random
    return switch random.below(4) {
    case 0: RandomSwitches(random, rarity: 2 << random.below(5))
    default: RandomPriorities(random, changes: random.below(4), length: length)
    }
  }

  /// Runs the program under the schedule of a failure, as printed in ``ScheduleFailure/schedule``.
  ///
  /// - Throws: ``ScheduleReplayError`` if the line is not valid; errors of the preparation.
  public func replay(_ line: String, _ program: (ExploredThreads) throws -> Void) throws -> ScheduleReport {
    guard let schedule = Schedule(line) else { throw ScheduleReplayError(line: line) }
    return try reporting { report in
      let run = try ScheduleRun(FollowedSchedule(schedule), limit: longestRun, tracesTurns: true, program)
      count(run, &report)
      report.failure = run.message.map { failure(run, $0, foundAfter: 1) }
    }
  }

  // MARK: Reporting

  private func reporting(_ body: (inout ScheduleReport) throws -> Void) rethrows -> ScheduleReport {
    var report = ScheduleReport()
    let start = ContinuousClock.now
    try body(&report)
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    return report
  }

  private func count(_ run: ScheduleRun, _ report: inout ScheduleReport) {
    report.schedules += 1
    report.points += run.points
    report.longest = max(report.longest, run.points)
  }

  /// - Returns: False if the run failed.
  private func note(
    _ run: ScheduleRun, _ report: inout ScheduleReport, _ program: (ExploredThreads) throws -> Void
  ) throws -> Bool {
    count(run, &report)
    guard let message = run.message else { return true }
    let smallest = try ScheduleShrinking(longestRun: longestRun).smallest(run, program)
    let again = try ScheduleRun(
      FollowedSchedule(smallest), limit: longestRun, tracesTurns: true, program)
    // A nondeterministic program can pass this time.
    report.failure = failure(again, again.message ?? message, foundAfter: report.schedules)
    return false
  }

  private func failure(_ run: ScheduleRun, _ message: String, foundAfter: Int) -> ScheduleFailure {
    ScheduleFailure(
      message: message, schedule: Schedule(run.switches), preemptions: run.preemptions,
      foundAfter: foundAfter,
      turns: run.turns)
  }
}

/// The error for a line that is not a schedule.
public struct ScheduleReplayError: Error, Sendable, CustomStringConvertible {
  /// The line.
  public let line: String

  /// A description of the error.
  public var description: String {
    "'\(line)' is no schedule; it begins with 'schedule', and switches such as 0.14>1 follow"
  }
}
