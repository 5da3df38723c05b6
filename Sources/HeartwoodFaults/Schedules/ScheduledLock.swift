import HeartwoodFiles

/// A non-recursive lock that a ``ScheduleExplorer`` schedules; an ordinary lock outside of explorations.
///
/// A program under test uses it through a protocol of its own, with another lock in production.
public final class ScheduledLock: Sendable {
  fileprivate let lock = Lock()

  /// Creates an unlocked lock.
  public init() {}

  /// Runs `body` while holding the lock.
  public func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock(body)
  }
}

/// A condition variable for a ``ScheduledLock``.
public final class ScheduledCondition: Sendable {
  private let condition = ConditionVariable()

  /// Creates a condition without waiters.
  public init() {}

  /// Releases `lock`, waits for `broadcast`, and acquires the lock again. Wakeups can be spurious: wait in a
  /// loop.
  ///
  /// - Precondition: The caller holds `lock`.
  public func wait(_ lock: ScheduledLock) { condition.wait(lock.lock) }

  /// Wakes all waiting threads.
  public func broadcast() { condition.broadcast() }
}

/// A point at which a ``ScheduleExplorer`` can run another thread, for example just before an access to
/// memory that threads share without a lock.
public enum SchedulePoint {
  /// Marks a point. Does nothing outside of explorations.
  ///
  /// - Parameter name: The next action of the thread, for the turns of a failure.
  public static func reach(_ name: String) { Scheduling.ofCaller?.reach(name, "") }

  /// Pauses the thread in a loop that waits for another thread. Outside of explorations it sleeps briefly.
  public static func pause() { CurrentThread.pause() }
}
