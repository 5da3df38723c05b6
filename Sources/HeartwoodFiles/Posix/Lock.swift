import HeartwoodBytes

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Mutual exclusion between threads; not recursive.
///
/// The system's own mutex and not `Synchronization.Mutex`, about which the thread sanitizer raises false
/// alarms whenever it blocks. Part of what it guards, and not an object: taking it counts no reference.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {
  let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// A lock that nobody holds.
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

  /// Waits for the lock and takes it. The same thread must let go of it.
  @usableFromInline package func lock() {
    if Scheduling.isOn { return lockScheduled() }
    pthread_mutex_lock(mutex)
  }

  /// Takes the lock where nobody holds it; returns whether it did.
  package func tryLock() -> Bool {
    if let scheduler = Scheduling.ofCaller, !scheduler.tryAcquire(mutex) { return false }
    return pthread_mutex_trylock(mutex) == 0
  }

  /// Lets go of the lock.
  @usableFromInline package func unlock() {
    if Scheduling.isOn { return unlockScheduled() }
    pthread_mutex_unlock(mutex)
  }

  // Functions of their own, so that the ordinary ones save no registers.

  @inline(never) private func lockScheduled() {
    Scheduling.ofCaller?.acquire(mutex)
    pthread_mutex_lock(mutex)
  }

  @inline(never) private func unlockScheduled() {
    pthread_mutex_unlock(mutex)
    Scheduling.ofCaller?.release(mutex)
  }
}
