import CLibrary
import Dispatch
import Synchronization

/// A value of each thread, which a call sets for its duration. Unlike a task-local value, a task that the call begins does
/// not inherit it.
package final class ThreadValue<Value>: @unchecked Sendable {
  private let key: pthread_key_t

  /// - Precondition: The process has a free key; a value is made once, and never freed.
  package init() {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, nil)
    precondition(result == 0, "The process has no more keys for values of threads.")
    self.key = key
  }

  /// The thread's value; nil outside of `with`.
  package var current: Value? {
    guard let entry = pthread_getspecific(key) else { return nil }
    return Unmanaged<Box>.fromOpaque(entry).takeUnretainedValue().value
  }

  /// Runs `body` while the thread has the value.
  package func with<Result, Failure: Error>(
    _ value: Value, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let span = begin(value)
    defer { end(span) }
    return try body()
  }

  /// The time in which a thread has a value.
  package struct Span {
    fileprivate let box: Box
    fileprivate let former: UnsafeMutableRawPointer?
  }

  /// Gives the thread a value until `end(_:)`, which follows on the same thread, after that of each span that begins meanwhile.
  package func begin(_ value: Value) -> Span {
    let span = Span(box: Box(value), former: pthread_getspecific(key))
    pthread_setspecific(key, Unmanaged.passUnretained(span.box).toOpaque())
    return span
  }

  package func end(_ span: Span) {
    withExtendedLifetime(span) { _ = pthread_setspecific(key, span.former) }
  }

  /// Runs a block on a queue while its thread has a value. What only the block keeps is released before the value ends, so that a `deinit` may rely
  /// on it.
  package func run(_ block: @escaping @Sendable () -> Void, on queue: DispatchQueue, with value: Value)
  where Value: Sendable {
    let handed = Mutex<(@Sendable () -> Void)?>(block)
    queue.async { self.with(value) { handed.withLock { $0.take() }?() } }
  }

  fileprivate final class Box {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
}
