#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Lets threads wait, with a lock, until others have changed what the lock guards.
package final class Condition: @unchecked Sendable {
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  /// A condition that nobody waits for.
  package init() {
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    let result = pthread_cond_init(condition, nil)
    precondition(result == 0, "The system refused a condition.")
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deinitialize(count: 1)
    condition.deallocate()
  }

  /// Lets go of `lock`, which the thread holds, until `broadcast`; may return without. To be asked in a loop.
  package func wait(_ lock: Lock) { pthread_cond_wait(condition, lock.mutex) }

  /// Wakes all who wait.
  package func broadcast() { pthread_cond_broadcast(condition) }
}
