/// What an exploration of schedules did and found.
public struct ScheduleReport: Sendable, CustomStringConvertible {
  /// How many times the program was run, each time under another schedule; those that made a failure smaller not counted.
  public internal(set) var schedules = 0
  /// How many points all of them together passed.
  public internal(set) var points = 0
  /// How many points the longest of them passed.
  public internal(set) var longest = 0
  /// Whether there was time for every schedule that was asked for.
  public internal(set) var isComplete = true
  /// How long it took, in seconds.
  public internal(set) var seconds = 0.0
  /// The failure, made as small as it could be; nil where no schedule failed.
  public internal(set) var failure: ScheduleFailure?

  /// Makes sure that no schedule failed.
  ///
  /// - Throws: the failure.
  public func check() throws(ScheduleFailure) {
    if let failure { throw failure }
  }

  /// The figures in one line, and the failure.
  public var description: String {
    let tenths = (seconds * 10).rounded() / 10
    let all = isComplete ? "" : ", not all"
    let figures = "\(schedules) schedules\(all), up to \(longest) points each, \(tenths) s"
    return figures + (failure.map { "\n\($0)" } ?? "")
  }
}

/// A schedule under which a program failed.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible {
  /// What was thrown, or what each thread waits for in a deadlock.
  public let message: String
  /// The line that makes `ScheduleExplorer.replay` do this again.
  public let schedule: Schedule
  /// How often a thread was interrupted that could have gone on.
  public let preemptions: Int
  /// How many schedules had been run when it was found.
  public let foundAfter: Int
  /// Which thread ran, from which point to which, one line for each turn.
  public let turns: [String]

  /// What failed, the turns, and the line that reproduces it.
  public var description: String {
    """
    \(message)
    \(turns.map { "  \($0)" }.joined(separator: "\n"))
    after \(foundAfter) schedules, with \(preemptions) preemptions; reproduce with: \(schedule)
    """
  }
}
