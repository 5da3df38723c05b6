/// Decides which of several threads runs, at each point where they synchronize. Tests install one to explore
/// interleavings; production code has none.
///
/// Every call is made by a thread that the scheduler runs, and returns when the scheduler lets that thread go on.
/// Locks and conditions are known by their addresses.
package protocol ThreadScheduler: AnyObject, Sendable {
  /// The thread is about to acquire a lock. Returns when no scheduled thread holds it.
  func acquire(_ lock: UnsafeRawPointer)

  /// Acquires the lock if no scheduled thread holds it; returns whether it did.
  func tryAcquire(_ lock: UnsafeRawPointer) -> Bool

  /// The thread has released the lock.
  func release(_ lock: UnsafeRawPointer)

  /// Releases the lock, waits for `broadcast` or until so many nanoseconds are over, and acquires the lock again.
  func wait(_ condition: UnsafeRawPointer, _ lock: UnsafeRawPointer, nanoseconds: Int?)

  /// Wakes all threads that wait for the condition.
  func broadcast(_ condition: UnsafeRawPointer)

  /// The thread is about to do something that other threads can see.
  ///
  /// - Parameters:
  ///   - operation: What it does, in a word.
  ///   - object: What it does that to; may be empty.
  func reach(_ operation: String, _ object: String)

  /// Pauses the thread, so that others can run.
  func sleep(nanoseconds: Int)

  /// From here on to the matching `endUninterrupted`, no other thread runs unless this one has to wait for it.
  func beginUninterrupted()

  /// Ends what `beginUninterrupted` began.
  func endUninterrupted()

  /// The time as scheduled threads see it; it passes when threads sleep.
  var nanoseconds: Int { get }
}
