/// How long something takes, by the clock that never goes back.
package struct Stopwatch: Sendable {
  private let start = MonotonicTime.nanoseconds

  /// Starts.
  package init() {}

  /// The time since the start.
  package var elapsed: Duration { .nanoseconds(MonotonicTime.nanoseconds - start) }
}
