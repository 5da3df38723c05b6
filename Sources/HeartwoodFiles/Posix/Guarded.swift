/// A value that one thread at a time may look at and change.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  @usableFromInline var value: Value

  /// A value with a lock of its own.
  package init(_ value: Value) { self.value = value }

  /// Runs `body` with the value while holding the lock. Not recursive.
  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
