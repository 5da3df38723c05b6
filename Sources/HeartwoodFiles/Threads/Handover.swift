/// Awaits the result of a block that another thread runs.
///
/// The block is released, with all that it has captured, before the result is there: the queue that runs it may keep what was scheduled for
/// a moment longer.
///
/// The result goes through a lock. The continuation orders the threads, too, but the thread sanitizer does not see that order where a
/// continuation is resumed before its task waits, and reports races in the value's contents.
///
/// - Parameter schedule: Must see to it that its argument is called once, on any thread.
package nonisolated(nonsending) func handedOver<Value: Sendable>(
  _ block: @escaping @Sendable () -> Value, through schedule: (@escaping @Sendable () -> Void) -> Void
) async -> Value {
  let work = Guarded<(@Sendable () -> Value)?>(block)
  let handover = Guarded<Value?>(nil)
  @Sendable func run() -> Value? {
    let block = work.withLock { work in
      defer { work = nil }
      return work
    }
    return block?()
  }
  let resumed = await withCheckedContinuation { continuation in
    schedule {
      guard let value = run() else { return }
      handover.withLock { $0 = value }
      continuation.resume(returning: value)
    }
  }
  return handover.withLock { $0 } ?? resumed
}
