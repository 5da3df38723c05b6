/// Polling with pauses that double up to a limit, until a deadline.
package struct Backoff {
  /// The deadline, in nanoseconds of `MonotonicTime`.
  private let end: Int
  private var pause: UInt32 = Self.shortestPause

  /// In microseconds, like `longestPause`.
  private static let shortestPause: UInt32 = 20
  private static let longestPause: UInt32 = 2000

  /// - Parameter seconds: The total time to wait; 0 for none.
  package init(seconds: Double) {
    end = MonotonicTime.nanoseconds + Int(max(0, min(seconds, 1e9)) * 1e9)
  }

  /// Pauses once.
  ///
  /// - Returns: false, without a pause, if the deadline has passed.
  package mutating func wait() -> Bool {
    guard MonotonicTime.nanoseconds < end else { return false }
    CurrentThread.sleep(microseconds: pause)
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
