import HeartwoodFiles

/// Gets what contexts and their store do: for logs, counters and spans.
///
/// ```swift
/// description.observer = StoreObserver(slowFetches: .milliseconds(50)) { event in
///   if case .fetched(let fetch) = event, fetch.isSlow { print(fetch) }
/// }
/// ```
///
/// The closure is called after the operation, on the thread that has done it: that of the context's queue, or one of the store's for
/// checkpoints and compactions. No lock of the store is held, so it may use the store with a context of its own, which is told too. It should
/// be short, must not use the context whose operation it is notified of, and must not close the store.
public struct StoreObserver: Sendable {
  /// A fetch that takes at least this long is told with its plan.
  public let slowFetches: Duration
  private let hear: @Sendable (StoreEvent) -> Void

  /// - Parameters:
  ///   - slowFetches: A fetch that takes at least this long is told with its plan, and with the index that would help. Making the plan takes
  ///     tens of microseconds.
  ///   - hear: Gets each event.
  public init(
    slowFetches: Duration = .milliseconds(100), _ hear: @escaping @Sendable (StoreEvent) -> Void
  ) {
    self.slowFetches = slowFetches
    self.hear = hear
  }

  /// Tells an event, once the thread holds no lock.
  func tell(_ event: StoreEvent) { LateCalls.leave { hear(event) } }
}
