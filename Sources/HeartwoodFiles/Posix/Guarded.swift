/// A value that one thread at a time may look at and change.
@usableFromInline
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  // The lock lets one thread look at a time, and who has it already would wait for itself.
  @exclusivity(unchecked) @usableFromInline var value: Value

  /// A value with a lock of its own.
  @usableFromInline package init(_ value: Value) { self.value = value }

  /// Runs `body` with the value while holding the lock. Not recursive.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
