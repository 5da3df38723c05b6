import HeartwoodFiles
import Synchronization

/// Those who are told of a store's commits. While there are any, a `CommitWatch` tells them.
final class CommitObservers: Sendable {
  private struct State {
    var all: [CommitObserver] = []
    /// There as long as somebody is to be told.
    var watch: CommitWatch?
    var hasEnded = false
  }

  private let state = Guarded(State())
  /// All that a commit looks at where nobody is to be told.
  private let areThere = Atomic(false)

  /// Tells it of what is published from now on; where its engine is closed, that it has ended.
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

  /// Any thread, also one that is being told, or writes. A second call does nothing.
  func remove(_ observer: CommitObserver) { remove(where: { $0 === observer }) }

  /// An engine is closed, and the store stays open: those who observe by it are told no more.
  func end(of handle: StoreHandle.End) { remove(where: { $0.handle === handle }) }

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

  /// A transaction of this engine is published. With no locks. An atomic load where nobody is to be told.
  @inline(__always)
  func noteCommit() {
    if areThere.load(ordering: .sequentiallyConsistent) { wake() }
  }

  @inline(never)
  private func wake() { state.withLock { $0.watch }?.wake() }

  /// Those that a watch tells; put together anew, as no sanitizer sees when the watch has let go of an array that is shared.
  func told(by watch: CommitWatch) -> [CommitObserver] {
    state.withLock { $0.watch === watch ? $0.all.map(\.self) : [] }
  }

  /// The store is about to be closed: when this returns, nobody looks at it any more. It does not wait for those who are
  /// being told, as they may be who closes it. Never inside a write.
  func end() {
    let (ended, all) = state.withLock { state -> (CommitWatch?, [CommitObserver]) in
      defer { (state.watch, state.all, state.hasEnded) = (nil, [], true) }
      areThere.store(false, ordering: .relaxed)
      return (state.watch, state.all)
    }
    ended?.end()
    ended?.waitForSpaceScan()
    for observer in all { observer.end() }
  }
}
