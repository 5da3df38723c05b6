/// The result of an exploration of schedules.
public struct ScheduleReport: Sendable, CustomStringConvertible {
  /// The number of runs, each under another schedule. Runs for the reduction of a failure are not counted.
  public internal(set) var schedules = 0
  /// The total number of points of all runs.
  public internal(set) var points = 0
  /// The number of points of the longest run.
  public internal(set) var longest = 0
  /// Whether every requested schedule was run.
  public internal(set) var isComplete = true
  /// The duration in seconds.
  public internal(set) var seconds = 0.0
  /// The failure, reduced as far as possible; nil if no schedule failed.
  public internal(set) var failure: ScheduleFailure?

  /// Checks that no schedule failed.
  ///
  /// - Throws: The failure.
  public func check() throws(ScheduleFailure) {
    if let failure { throw failure }
  }

  /// The figures on one line, and the failure.
  public var description: String {
    let tenths = (seconds * 10).rounded() / 10
    let all = isComplete ? "" : ", not all"
    let figures = "\(schedules) schedules\(all), up to \(longest) points each, \(tenths) s"
    return figures + (failure.map { "\n\($0)" } ?? "")
  }
}

/// A schedule under which a program failed.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible {
  /// The error that was thrown, or the state of each thread in a deadlock.
  public let message: String
  /// The line that reproduces the failure with `ScheduleExplorer.replay`.
  public let schedule: Schedule
  /// The number of preemptions: interruptions of a thread that could have continued.
  public let preemptions: Int
  /// The number of schedules that had been run when the failure was found.
  public let foundAfter: Int
  /// One line for each turn: the thread that ran, its first point and its last.
  public let turns: [String]

  /// The failure, the turns, and the line that reproduces it.
  public var description: String {
    """
    \(message)
    \(turns.map { "  \($0)" }.joined(separator: "\n"))
    after \(foundAfter) schedules, with \(preemptions) preemptions; reproduce with: \(schedule)
    """
  }
}
