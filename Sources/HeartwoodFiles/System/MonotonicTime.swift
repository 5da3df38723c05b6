import Dispatch

/// Time that only passes, for durations and deadlines.
package enum MonotonicTime {
  /// Nanoseconds since some moment; virtual time on a scheduled thread.
  package static var nanoseconds: Int {
    if let scheduler = Scheduling.ofCaller { return scheduler.nanoseconds }
    return Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
  }
}
