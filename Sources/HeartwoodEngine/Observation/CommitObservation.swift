import Synchronization

/// Somebody is told of a store's commits, until the object is released.
public final class CommitObservation: Sendable {
  private let observer: CommitObserver
  private let observers: CommitObservers

  init(_ observer: CommitObserver, _ observers: CommitObservers) {
    self.observer = observer
    self.observers = observers
  }

  deinit { cancel() }

  /// Ends it: nothing is told from now on. A call that is under way goes on, and is not waited for. A second call, or one
  /// after the store was closed, does nothing.
  public func cancel() { observers.remove(observer) }
}

/// One who is told of commits.
final class CommitObserver: @unchecked Sendable {
  /// The end of what it observes by.
  let handle: StoreHandle.End
  private let body: @Sendable (Generation) -> Void
  private let ending: @Sendable () -> Void
  private let hasEnded = Atomic(false)
  /// What it knows of; of the thread that tells.
  private var known: UInt64

  /// - Parameters:
  ///   - known: The generation that it does not have to be told of.
  ///   - ending: Called once, when it is told no more.
  init(
    _ handle: StoreHandle.End, known: UInt64, _ body: @escaping @Sendable (Generation) -> Void,
    ending: @escaping @Sendable () -> Void
  ) {
    self.handle = handle
    self.known = known
    self.body = body
    self.ending = ending
  }

  /// Tells it of a generation that is news to it.
  func tell(_ generation: UInt64) {
    guard generation > known, !hasEnded.load(ordering: .acquiring) else { return }
    known = generation
    body(Generation(rawValue: generation))
  }

  func end() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { ending() }
  }
}

extension StoreHandle {
  func observeCommits(
    _ body: @escaping @Sendable (Generation) -> Void, ending: @escaping @Sendable () -> Void = {}
  ) -> CommitObservation {
    try? open().refreshIfStale()
    let observer = CommitObserver(end, known: store.generations.newest, body, ending: ending)
    store.observers.add(observer, store)
    return CommitObservation(observer, store.observers)
  }

  func commitStream() -> AsyncStream<Generation> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let observation = observeCommits({ continuation.yield($0) }, ending: { continuation.finish() })
      continuation.onTermination = { _ in observation.cancel() }
    }
  }
}
