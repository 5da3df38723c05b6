import HeartwoodFiles
import Synchronization

/// Shows that the calling thread holds the writer lock: a part of the state that `WriterLock` guards, and found nowhere else.
struct WriterHeld {
  fileprivate init() {}
}

@available(*, unavailable)
extension WriterHeld: Sendable {}

/// The lock of the thread that changes the store, and the only way to the state that it guards. A thread that acquires it
/// again gets an error instead of a deadlock. Stored inline in `OpenStore`, so that acquiring it retains no object.
struct WriterLock<State: AnyObject>: ~Copyable, @unchecked Sendable {
  private let state: State
  private let lock = Lock()
  /// Identifier of the thread that holds the lock; 0 if it is free.
  private let holder = Atomic<UInt>(0)

  /// - Parameter state: Makes the state, which keeps the value that shows that the lock is held. Referenced by no other
  ///   object, except by transactions while they run.
  init(_ state: (WriterHeld) -> State) { self.state = state(WriterHeld()) }

  /// Whether the calling thread holds the lock.
  var isHeldHere: Bool { holder.load(ordering: .relaxed) == CurrentThread.identifier }

  /// Runs `body` with the lock held.
  ///
  /// - Parameter nested: Converts the `.nestedWrite` error, which is thrown if the thread already holds the lock.
  func withLock<Result, Failure: Error>(
    orThrow nested: (EngineError) -> Failure, _ body: (State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Relaxed: only this very thread can have stored its own identifier.
    guard !isHeldHere else { throw nested(.nestedWrite) }
    take()
    holder.store(CurrentThread.identifier, ordering: .relaxed)
    defer {
      holder.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return try body(state)
  }

  /// Spins for some microseconds before it blocks: most transactions end sooner than a blocked thread wakes.
  private func take() {
    // Under a test scheduler one thread runs at a time, so spinning would change nothing.
    for _ in 0..<(Scheduling.isOn ? 1 : 8) {
      if lock.tryLock() { return }
      var looks = 0
      while looks < 1000, holder.load(ordering: .relaxed) != 0 { looks += 1 }
    }
    lock.lock()
  }

  /// Runs `body`, which throws the engine's errors, with the lock held.
  func withLock<Result>(
    _ body: (State) throws(EngineError) -> Result
  ) throws(EngineError) -> Result {
    try withLock(orThrow: { $0 }, body)
  }

  /// Runs `body` with the lock held. Does not check for nesting and throws nothing.
  ///
  /// - Precondition: The calling thread does not hold the lock.
  func withLockInBackground<Result>(_ body: (State) -> Result) -> Result {
    lock.lock()
    holder.store(CurrentThread.identifier, ordering: .relaxed)
    defer {
      holder.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return body(state)
  }

  /// Throws `.nestedWrite` if the thread is inside a write, where waiting for the lock would deadlock.
  func checkNotNested() throws(EngineError) { try withLock { _ in } }
}

extension EngineError {
  fileprivate static var nestedWrite: EngineError {
    EngineError(
      .nestedWrite,
      "a write, checkpoint or close was begun inside a write; end that one first, or use its transaction")
  }
}
