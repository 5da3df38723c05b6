/// The running process.
package enum CurrentProcess {
  /// The system's number for it; the child of a fork sees another one.
  package static var identifier: Int32 { SystemCall.processIdentifier }
}

/// The running thread.
package enum CurrentThread {
  /// A number that no other living thread of the process has.
  package static var identifier: UInt { SystemCall.threadIdentifier }

  /// Lets others run for a moment.
  package static func pause() { sleep(microseconds: 50) }

  /// Does nothing for a while.
  package static func sleep(microseconds: UInt32) {
    if let scheduler = Scheduling.ofCaller { return scheduler.sleep(nanoseconds: Int(microseconds) * 1000) }
    SystemCall.sleep(microseconds: microseconds)
  }
}
