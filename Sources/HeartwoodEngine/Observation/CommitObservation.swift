import Synchronization

/// An observation of a store's commits, which lasts until it is cancelled or released.
public final class CommitObservation: Sendable {
  private let observer: CommitObserver
  private let observers: CommitObservers

  init(_ observer: CommitObserver, _ observers: CommitObservers) {
    self.observer = observer
    self.observers = observers
  }

  deinit { cancel() }

  /// Ends the observation. Does not wait for a running call of the closure. A second call, or one after the
  /// store was closed, does nothing.
  public func cancel() { observers.remove(observer) }
}

/// An observer of commits.
final class CommitObserver: @unchecked Sendable {
  /// The closed flag of the engine that it observes with.
  let handle: HandleEnd
  private let body: @Sendable (Generation) -> Void
  private let ending: @Sendable () -> Void
  private let hasEnded = Atomic(false)
  /// The newest generation that it knows. Only the notifying thread uses it.
  private var known: UInt64

  /// - Parameters:
  ///   - known: Generations up to this one are not reported.
  ///   - ending: Called once, when the observation ends.
  init(
    _ handle: HandleEnd, known: UInt64, _ body: @escaping @Sendable (Generation) -> Void,
    ending: @escaping @Sendable () -> Void
  ) {
    self.handle = handle
    self.known = known
    self.body = body
    self.ending = ending
  }

  /// Reports a generation unless the observer knows it already.
  func notify(_ generation: UInt64) {
    guard generation > known, !hasEnded.load(ordering: .acquiring) else { return }
    known = generation
    body(Generation(rawValue: generation))
  }

  func end() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { ending() }
  }
}
