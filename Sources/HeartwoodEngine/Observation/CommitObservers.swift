import HeartwoodFiles
import Synchronization

/// The observers of a store's commits. While there are any, a `CommitWatch` notifies them.
final class CommitObservers: Sendable {
  private struct State {
    var all: [CommitObserver] = []
    /// Exists while there are observers.
    var watch: CommitWatch?
    var hasEnded = false
  }

  private let state = Guarded(State())
  /// Whether there are observers: the only field that commits read if there are none.
  private let areThere = Atomic(false)

  /// Adds an observer of later commits; ends it at once if its engine or the store is closed.
  func add(_ observer: CommitObserver, _ store: OpenStore) {
    let (hasEnded, begun) = state.withLock { state -> (Bool, CommitWatch?) in
      guard !state.hasEnded, !observer.handle.hasCome else { return (true, nil) }
      state.all.append(observer)
      guard state.watch == nil else { return (false, nil) }
      state.watch = CommitWatch(store, self)
      areThere.store(true, ordering: .sequentiallyConsistent)
      return (false, state.watch)
    }
    begun?.begin()
    if hasEnded { observer.end() }
  }

  /// Removes an observer. Any thread, also during a notification or a write. A second call does nothing.
  func remove(_ observer: CommitObserver) { remove(where: { $0 === observer }) }

  /// Ends the observers of a closed engine whose store stays open.
  func end(of handle: HandleEnd) { remove(where: { $0.handle === handle }) }

  private func remove(where isRemoved: (CommitObserver) -> Bool) {
    let (ended, removed) = state.withLock { state -> (CommitWatch?, [CommitObserver]) in
      let removed = state.all.filter(isRemoved)
      state.all.removeAll(where: isRemoved)
      guard state.all.isEmpty else { return (nil, removed) }
      areThere.store(false, ordering: .relaxed)
      defer { state.watch = nil }
      return (state.watch, removed)
    }
    ended?.end()
    for observer in removed { observer.end() }
  }

  /// Wakes the watch after a transaction of this engine is published. One atomic load if there are no
  /// observers.
  ///
  /// - Precondition: The caller holds no locks.
  @inline(__always)
  func noteCommit() {
    if areThere.load(ordering: .sequentiallyConsistent) { wake() }
  }

  @inline(never)
  private func wake() { state.withLock { $0.watch }?.wake() }

  /// The observers that a watch notifies. Returns a copy, because sanitizers do not see when the watch
  /// releases a shared array.
  func told(by watch: CommitWatch) -> [CommitObserver] {
    state.withLock { $0.watch === watch ? $0.all.map(\.self) : [] }
  }

  /// Ends all observers before the store is closed: the watch does not use the store after this returns. Does
  /// not wait for running notifications, since the observer's closure may be the caller.
  ///
  /// - Precondition: This thread is not inside a write.
  func end() {
    let (ended, all) = state.withLock { state -> (CommitWatch?, [CommitObserver]) in
      defer { (state.watch, state.all, state.hasEnded) = (nil, [], true) }
      areThere.store(false, ordering: .relaxed)
      return (state.watch, state.all)
    }
    ended?.end()
    ended?.waitUntilUnused()
    for observer in all { observer.end() }
  }
}
