import CLibrary
import HeartwoodBytes

/// A condition variable: threads wait until another thread changes the state that a lock guards.
package final class ConditionVariable: @unchecked Sendable {
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// A condition variable without waiters.
  package init() {
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    require(Self.make(condition) == 0, "The system refused a condition variable.")
  }

  private static func make(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 {
    #if canImport(Darwin)
      return pthread_cond_init(condition, nil)
    #else
      // The default clock is the wall clock, which may jump.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      defer { pthread_condattr_destroy(&attributes) }
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      return pthread_cond_init(condition, &attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deinitialize(count: 1)
    condition.deallocate()
  }

  /// Releases `lock`, waits for `broadcast` and acquires `lock` again. May return spuriously, so call it in a
  /// loop.
  ///
  /// - Precondition: The caller holds `lock`.
  package func wait(_ lock: borrowing Lock) {
    if let scheduler = Scheduling.ofCaller { return wait(lock, scheduler, nanoseconds: nil) }
    pthread_cond_wait(condition, lock.mutex)
  }

  /// Like `wait(_:)`, for at most `nanoseconds`.
  package func wait(_ lock: borrowing Lock, nanoseconds: Int) {
    if let scheduler = Scheduling.ofCaller { return wait(lock, scheduler, nanoseconds: nanoseconds) }
    #if canImport(Darwin)
      var time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
      pthread_cond_timedwait_relative_np(condition, lock.mutex, &time)
    #else
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      let sum = Int(end.tv_nsec) + nanoseconds
      (end.tv_sec, end.tv_nsec) = (end.tv_sec + sum / 1_000_000_000, sum % 1_000_000_000)
      pthread_cond_timedwait(condition, lock.mutex, &end)
    #endif
  }

  private func wait(_ lock: borrowing Lock, _ scheduler: any ThreadScheduler, nanoseconds: Int?) {
    pthread_mutex_unlock(lock.mutex)
    scheduler.wait(condition, lock.mutex, nanoseconds: nanoseconds)
    pthread_mutex_lock(lock.mutex)
  }

  /// Wakes all waiting threads.
  package func broadcast() {
    if let scheduler = Scheduling.ofCaller { scheduler.broadcast(condition) }
    pthread_cond_broadcast(condition)
  }
}
