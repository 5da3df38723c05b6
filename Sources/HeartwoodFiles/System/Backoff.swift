/// Waiting for what nobody tells: in short pauses that become longer, up to a limit.
package struct Backoff {
  /// Of `MonotonicTime`, in nanoseconds.
  private let end: Int
  private var pause: UInt32 = Self.shortestPause

  /// Microseconds.
  private static let shortestPause: UInt32 = 20
  private static let longestPause: UInt32 = 2000

  /// - Parameter seconds: How long to wait in all; 0 for not at all.
  package init(seconds: Double) {
    end = MonotonicTime.nanoseconds + Int(max(0, min(seconds, 1e9)) * 1e9)
  }

  /// Pauses.
  ///
  /// - Returns: false, at once, where the time is over.
  package mutating func wait() -> Bool {
    guard MonotonicTime.nanoseconds < end else { return false }
    CurrentThread.sleep(microseconds: pause)
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
