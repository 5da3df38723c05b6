/// Awaits a value that another thread makes.
///
/// The value goes through a lock. The continuation orders the threads, too, but the thread sanitizer does not see that order where a
/// continuation is resumed before its task waits, and reports races in the value's contents.
///
/// - Parameter start: Begins the work, and must see to it that its argument is called once, on any thread.
package nonisolated(nonsending) func handedOver<Value: Sendable>(
  _ start: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
  let handover = Guarded<Value?>(nil)
  let resumed = await withCheckedContinuation { continuation in
    start { value in
      handover.withLock { $0 = value }
      continuation.resume(returning: value)
    }
  }
  return handover.withLock { $0 } ?? resumed
}
