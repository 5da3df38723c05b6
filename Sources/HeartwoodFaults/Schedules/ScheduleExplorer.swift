import HeartwoodFiles

/// Runs a program with several threads again and again, each time with another order of what its threads do, and finds the
/// order in which it fails.
///
/// One thread runs at a time. At each point where threads synchronize (locks and conditions of this package,
/// ``ScheduledLock`` and ``ScheduledCondition``, calls on a ``ScheduledFileSystem``, ``SchedulePoint``) the explorer decides
/// which goes on. Time is virtual: a thread that sleeps goes on when no other can, or when the explorer wants it to. So every
/// run is the same under the same schedule, and a failure is repeated by a line of text. Memory is sequentially consistent
/// here: what only weaker orders of atomics can do is not seen.
///
/// The program's closure prepares everything anew for each run. Threads that can't go on at a failure stay on their stacks
/// until the process ends.
public struct ScheduleExplorer: Sendable {
  /// The most points that one run may pass; more is a failure, as a loop that does not end would be.
  public var longestRun: Int
  /// The most schedules that are run.
  public var mostSchedules: Int

  /// An explorer with these limits.
  public init(longestRun: Int = 50_000, mostSchedules: Int = .max) {
    self.longestRun = longestRun
    self.mostSchedules = mostSchedules
  }

  /// Runs the program under every schedule with at most so many preemptions: places at which a thread is interrupted that
  /// could have gone on. Most bugs need one or two.
  ///
  /// - Parameters:
  ///   - preemptions: How many; those with few come first.
  ///   - share: Which part of the schedules, from 0 on, where several explorations share them.
  ///   - shares: How many parts there are.
  ///   - program: Prepares a run: opens what is used, adds threads and what has to hold afterwards.
  /// - Throws: what the preparation throws.
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
  ///   - seed: Decides which.
  ///   - count: How many.
  ///   - program: Prepares a run.
  /// - Throws: what the preparation throws.
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

  /// Runs the program under one schedule, as a failure's ``ScheduleFailure/schedule`` names it.
  ///
  /// - Throws: ``ScheduleReplayError`` where the line is none; what the preparation throws.
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

  /// - Returns: false where the run has failed.
  private func note(
    _ run: ScheduleRun, _ report: inout ScheduleReport, _ program: (ExploredThreads) throws -> Void
  ) throws -> Bool {
    count(run, &report)
    guard let message = run.message else { return true }
    let smallest = try ScheduleShrinking(longestRun: longestRun).smallest(run, program)
    let again = try ScheduleRun(
      FollowedSchedule(smallest), limit: longestRun, tracesTurns: true, program)
    // A program that is not the same at every run may pass now.
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

/// A line that is no schedule.
public struct ScheduleReplayError: Error, Sendable, CustomStringConvertible {
  /// The line.
  public let line: String

  /// What is wrong.
  public var description: String {
    "'\(line)' is no schedule; it begins with 'schedule', and switches such as 0.14>1 follow"
  }
}
