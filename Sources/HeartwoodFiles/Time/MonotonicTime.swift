import Dispatch

/// A clock that never goes back, for durations and deadlines.
package enum MonotonicTime {
  /// Nanoseconds since an arbitrary start; virtual time on a scheduled thread.
  package static var nanoseconds: Int {
    if let scheduler = Scheduling.ofCaller { return scheduler.nanoseconds }
    return Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
  }
}
