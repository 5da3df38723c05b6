import CLibrary
import HeartwoodBytes

/// Mutual exclusion between threads; not recursive.
///
/// Wraps the system's mutex instead of `Synchronization.Mutex`, for which the thread sanitizer reports false
/// positives when it blocks. It is stored in the object that it guards, so that acquiring it counts no
/// reference.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
  let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// A lock that is not held.
  @usableFromInline package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let result = pthread_mutex_init(mutex, nil)
    require(result == 0, "The system refused a mutex.")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Runs `body` while holding the lock.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Acquires the lock, waiting if necessary. The same thread must release it.
  @usableFromInline package func lock() {
    if Scheduling.isOn { return lockScheduled() }
    pthread_mutex_lock(mutex)
  }

  /// Acquires the lock if it is not held; returns whether it did.
  package func tryLock() -> Bool {
    if let scheduler = Scheduling.ofCaller, !scheduler.tryAcquire(mutex) { return false }
    return pthread_mutex_trylock(mutex) == 0
  }

  /// Releases the lock.
  @usableFromInline package func unlock() {
    if Scheduling.isOn { return unlockScheduled() }
    pthread_mutex_unlock(mutex)
  }

  // Separate functions, so that the ordinary ones save no registers.

  @inline(never) private func lockScheduled() {
    Scheduling.ofCaller?.acquire(mutex)
    pthread_mutex_lock(mutex)
  }

  @inline(never) private func unlockScheduled() {
    pthread_mutex_unlock(mutex)
    Scheduling.ofCaller?.release(mutex)
  }
}
