/// Polling with pauses that double up to a limit, until a deadline.
package struct Backoff {
  /// The deadline, in nanoseconds of `MonotonicTime`.
  private let end: Int
  private var pause: UInt32 = Self.shortestPause
  /// Pauses that remain even if the deadline has passed.
  private var guaranteedPauses: Int

  /// In microseconds, like `longestPause`.
  private static let shortestPause: UInt32 = 20
  private static let longestPause: UInt32 = 2000

  /// - Parameters:
  ///   - seconds: The total time to wait; 0 for none.
  ///   - guaranteedPauses: Pauses that are allowed whatever the time, because the process may have been suspended for longer
  ///     than `seconds` between two of them.
  package init(seconds: Double, guaranteedPauses: Int = 0) {
    self.guaranteedPauses = guaranteedPauses
    end = MonotonicTime.nanoseconds + Int(max(0, min(seconds, 1e9)) * 1e9)
  }

  /// Pauses once.
  ///
  /// - Returns: false, without a pause, if the deadline has passed.
  package mutating func wait() -> Bool {
    guard guaranteedPauses > 0 || MonotonicTime.nanoseconds < end else { return false }
    if guaranteedPauses > 0 { guaranteedPauses -= 1 }
    CurrentThread.sleep(microseconds: pause)
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
