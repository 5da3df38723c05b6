/// A value that a lock guards.
@usableFromInline
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  // Guarded by `lock`, so the exclusivity check is redundant: a recursive access would deadlock first.
  @exclusivity(unchecked) @usableFromInline var value: Value

  /// A value with a lock of its own.
  @usableFromInline package init(_ value: Value) { self.value = value }

  /// Runs `body` with the value under the lock. Not recursive.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
