/// Decides which of several threads runs at each point where they synchronize. Tests install one to explore
/// interleavings; production code has none.
///
/// A thread that the scheduler runs makes each call, which returns when the scheduler resumes that thread.
/// Locks and conditions are identified by their addresses.
package protocol ThreadScheduler: AnyObject, Sendable {
  /// The thread is about to acquire a lock. Returns when no scheduled thread holds it.
  func acquire(_ lock: UnsafeRawPointer)

  /// Acquires the lock if no scheduled thread holds it; returns whether it did.
  func tryAcquire(_ lock: UnsafeRawPointer) -> Bool

  /// The thread has released the lock.
  func release(_ lock: UnsafeRawPointer)

  /// Releases the lock, waits for `broadcast` or for `nanoseconds`, and acquires the lock again. Nil is no
  /// limit.
  func wait(_ condition: UnsafeRawPointer, _ lock: UnsafeRawPointer, nanoseconds: Int?)

  /// Wakes all threads that wait for the condition.
  func broadcast(_ condition: UnsafeRawPointer)

  /// The thread is about to do something that other threads can observe.
  ///
  /// - Parameters:
  ///   - operation: The operation, in a word.
  ///   - object: The object of the operation; may be empty.
  func reach(_ operation: String, _ object: String)

  /// Suspends the thread, so that others can run.
  func sleep(nanoseconds: Int)

  /// Until the matching `endUninterrupted`, no other thread runs unless this one has to wait for it.
  func beginUninterrupted()

  /// Ends what `beginUninterrupted` began.
  func endUninterrupted()

  /// The time as scheduled threads see it; it advances when threads sleep.
  var nanoseconds: Int { get }
}
