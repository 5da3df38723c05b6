import HeartwoodFiles

/// A lock whose use a ``ScheduleExplorer`` schedules; outside of explorations an ordinary lock. Not recursive.
///
/// A program that is to be explored uses it by way of a protocol of its own, with another lock in production.
public final class ScheduledLock: Sendable {
  fileprivate let lock = Lock()

  /// A lock that no thread holds.
  public init() {}

  /// Runs `body` while holding the lock.
  public func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock(body)
  }
}

/// Lets threads wait, with a ``ScheduledLock``, until others have changed what the lock guards.
public final class ScheduledCondition: Sendable {
  private let condition = ConditionVariable()

  /// A condition that no thread waits for.
  public init() {}

  /// Releases `lock`, which the thread holds, until `broadcast`, and acquires it again. May return without: ask in a loop.
  public func wait(_ lock: ScheduledLock) { condition.wait(lock.lock) }

  /// Wakes all threads that wait.
  public func broadcast() { condition.broadcast() }
}

/// A place in a program at which a ``ScheduleExplorer`` may run another thread: just before an access to what threads share
/// without a lock.
public enum SchedulePoint {
  /// Reaches the place; nothing outside of explorations.
  ///
  /// - Parameter name: What the thread is about to do, for the turns of a failure.
  public static func reach(_ name: String) { Scheduling.ofCaller?.reach(name, "") }

  /// Pauses the thread in a loop that waits for another thread; a short sleep outside of explorations.
  public static func pause() { CurrentThread.pause() }
}
