/// The running thread.
package enum CurrentThread {
  /// A number that no other living thread of the process has.
  package static var identifier: UInt { SystemCall.threadIdentifier }

  /// Pauses for 50 microseconds, so that other threads can run.
  package static func pause() { sleep(microseconds: 50) }

  /// Suspends the thread.
  package static func sleep(microseconds: UInt32) {
    if let scheduler = Scheduling.ofCaller { return scheduler.sleep(nanoseconds: Int(microseconds) * 1000) }
    SystemCall.sleep(microseconds: microseconds)
  }
}
