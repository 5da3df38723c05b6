import HeartwoodFiles
import Synchronization

/// Held by the one who changes the store. A thread that holds it and asks again gets an error instead of
/// waiting for itself. Part of the store, so that taking it counts no reference.
struct WriterLock: ~Copyable, Sendable {
  private let lock = Lock()
  /// The thread that holds it; 0 where nobody does.
  private let holder = Atomic<UInt>(0)

  /// Whether the thread that asks holds it.
  var isHeldHere: Bool { holder.load(ordering: .relaxed) == CurrentThread.identifier }

  /// Runs `body` while holding the lock.
  func withLock<Result, Failure: Error>(
    orThrow nested: (EngineError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Relaxed: only this very thread can have stored its own identifier.
    guard !isHeldHere else { throw nested(Self.nestedWrite) }
    take()
    holder.store(CurrentThread.identifier, ordering: .relaxed)
    defer {
      holder.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return try body()
  }

  /// Looks for some microseconds whether the lock is free, before the thread sleeps: most transactions are over
  /// sooner than a thread is woken.
  private func take() {
    // Scheduled threads run one at a time: looking would change nothing.
    for _ in 0..<(Scheduling.isOn ? 1 : 8) {
      if lock.tryLock() { return }
      var looks = 0
      while looks < 1000, holder.load(ordering: .relaxed) != 0 { looks += 1 }
    }
    lock.lock()
  }

  /// Runs `body`, which throws the engine's errors, while holding the lock.
  func withLock<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    try withLock(orThrow: { $0 }, body)
  }

  /// Waits for whoever holds the lock. Work in the background, which never holds it already.
  func withLockInBackground<Result>(_ body: () -> Result) -> Result {
    lock.lock()
    holder.store(CurrentThread.identifier, ordering: .relaxed)
    defer {
      holder.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return body()
  }

  private static var nestedWrite: EngineError {
    EngineError(
      .nestedWrite,
      "a write, checkpoint or close was begun inside a write; end that one first, or use its transaction")
  }
}
