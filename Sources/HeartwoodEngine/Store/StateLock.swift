import HeartwoodFiles

/// A lock, and the only way to the state that it guards. `State` is not `Sendable`, so the compiler refuses to hand it to
/// another thread.
struct StateLock<State: AnyObject>: ~Copyable, @unchecked Sendable {
  private let state: State
  private let lock = Lock()

  /// - Parameter state: Referenced by no other object.
  init(_ state: State) { self.state = state }

  /// Runs `body` with the lock held. Not recursive.
  func withLock<Result, Failure: Error>(
    _ body: (State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(state)
  }

  /// Runs `body` with the lock held; returns nil at once if another thread holds it.
  func withLockIfFree<Result, Failure: Error>(
    _ body: (State) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard lock.tryLock() else { return nil }
    defer { lock.unlock() }
    return try body(state)
  }
}
