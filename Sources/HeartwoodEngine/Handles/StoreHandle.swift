import HeartwoodFiles
import Synchronization

/// An engine's use of an open store, which other engines of this process may use too.
final class StoreHandle: Sendable {
  /// Whether a use has ended; apart, as whoever asks must not keep the store.
  final class End: Sendable {
    fileprivate let flag = Atomic(false)

    var hasCome: Bool { flag.load(ordering: .acquiring) }
  }

  /// The store, also where this use of it has ended.
  let store: OpenStore
  /// For transactions that do not say.
  let durability: Durability
  let end = End()
  private let forks = ForkCount.current
  /// Says that this use has ended, and tells whether it was the last; nil where nobody shares the store.
  private let leaving: (@Sendable () -> Bool)?

  init(_ store: OpenStore, _ options: EngineOptions, leaving: (@Sendable () -> Bool)? = nil) {
    self.store = store
    durability = options.durability
    self.leaving = leaving
  }

  /// The store, as long as this use of it lasts.
  func open() throws(EngineError) -> OpenStore {
    try checkOpen()
    return store
  }

  private func checkOpen() throws(EngineError) {
    if end.hasCome { throw StoreStatus.closed }
    guard !isForked else {
      throw EngineError(
        .closed,
        "the store was opened by the process that this one was forked from, and is used there; open it again here, or run a "
          + "program of its own", file: store.path)
    }
  }

  /// Whether this is a child of the process that opened the store. Its locks and threads are the parent's: nothing is done with
  /// them, not even to close the store.
  private var isForked: Bool { forks != ForkCount.current }

  /// The newest generation. Not by way of `open`: what that returns is counted, and all readers share the count.
  func snapshot() throws(EngineError) -> Snapshot {
    try checkOpen()
    return try store.newestSnapshot()
  }

  /// Calls `body` with the newest value of a key, if there is one.
  func readNewest(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try checkOpen()
    try store.readNewest(key, body)
  }

  /// Commits what `body` changes. Not by way of `open`, as above.
  func write(_ durability: Durability?, _ body: (WriteTransaction) throws -> Void) throws {
    try checkOpen()
    try store.write(durability: durability ?? self.durability, body)
  }

  /// The last one closes the store; the others make durable what was committed. A second call does nothing.
  func close() throws(EngineError) {
    guard !end.hasCome, !isForked else { return }
    // Inside a write this is an error of the program, and waiting would be for ever.
    try store.writer.withLock {}
    guard begin() else { return }
    if leaving?() != false { return try store.close() }
    store.observers.end(of: end)
    try store.makeDurable()
  }

  /// Nobody has the engine any more.
  func forget() {
    guard !isForked else { return }
    guard store.writer.isHeldHere else {
      try? close()
      return
    }
    // Inside a write of another engine, which has yet to close the store.
    guard begin() else { return }
    _ = leaving?()
    store.observers.end(of: end)
  }

  /// - Returns: false where the end has come before.
  private func begin() -> Bool { !end.flag.exchange(true, ordering: .acquiringAndReleasing) }
}
