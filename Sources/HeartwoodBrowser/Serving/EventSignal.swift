import HeartwoodFiles

/// Tells threads that something has happened since they looked.
package final class EventSignal: @unchecked Sendable {
  // Guards the members below it.
  private let lock = Lock()
  private let changed = ConditionVariable()
  private var events = 0
  private var isEnded = false

  package init() {}

  /// Notes an event, and wakes the threads that wait for one.
  package func raise() {
    lock.withLock { events += 1 }
    changed.broadcast()
  }

  /// Wakes all threads; no thread waits from then on.
  package func end() {
    lock.withLock { isEnded = true }
    changed.broadcast()
  }

  /// The number of events until now.
  package var count: Int { lock.withLock { events } }

  /// Waits for an event after the first `known` ones.
  ///
  /// - Parameter nanoseconds: The longest wait.
  /// - Returns: The number of events, which is `known` if none happened in time; nil after `end`.
  package func wait(after known: Int, nanoseconds: Int) -> Int? {
    let deadline = MonotonicTime.nanoseconds + nanoseconds
    lock.lock()
    defer { lock.unlock() }
    while !isEnded, events == known {
      let left = deadline - MonotonicTime.nanoseconds
      guard left > 0 else { break }
      changed.wait(lock, nanoseconds: left)
    }
    return isEnded ? nil : events
  }
}
