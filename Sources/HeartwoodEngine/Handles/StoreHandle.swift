import HeartwoodFiles

/// An engine's handle of an open store, which other engines of this process may share.
final class StoreHandle: Sendable {
  /// The store, even if this handle is closed.
  let store: OpenStore
  /// The observers of the store, which its handles share.
  let observers: CommitObservers
  /// The durability of transactions that do not specify one.
  let durability: Durability
  let end = HandleEnd()
  private let forks = ForkCount.current
  /// Unregisters this handle; nil if the store is not shared.
  private let leaveRegistry: (@Sendable (_ how: Leaving) -> Bool)?

  /// How a handle is unregistered. Returns whether it was the last one, which closes the store.
  enum Leaving {
    case always
    /// Stays registered if it is not the last one.
    case onlyAsLast
  }

  init(
    _ store: OpenStore, _ options: EngineOptions, _ observers: CommitObservers = CommitObservers(),
    leaveRegistry: (@Sendable (_ how: Leaving) -> Bool)? = nil
  ) {
    self.store = store
    self.observers = observers
    durability = options.durability
    self.leaveRegistry = leaveRegistry
  }

  /// The store; throws `.closed` if this handle is closed.
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

  /// Whether this process is a forked child of the one that opened the store. Locks and threads belong to the
  /// parent, so the child uses nothing of the store and does not even close it.
  private var isForked: Bool { forks != ForkCount.current }

  /// A snapshot of the newest generation. Does not use `open`, because all readers would share the reference
  /// count of what it returns.
  func snapshot() throws(EngineError) -> Snapshot {
    try checkOpen()
    return try Refresh(store).newestSnapshot()
  }

  /// Calls `body` with the newest value of a key if it exists. Pins the generation without allocating an object.
  func readNewest(
    _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try checkOpen()
    try store.status.checkOpen()
    try Refresh(store).ifStale()
    let pin = store.generations.pin()
    defer { pin.release() }
    try store.space.readValue(of: key, from: pin.root, body)
  }

  /// Commits the changes of `body`. Does not use `open`, as above.
  func write(_ durability: Durability?, _ body: (WriteTransaction) throws -> Void) throws {
    try checkOpen()
    let commit = Commit(store: store, durability: durability ?? self.durability)
    let outcome = try store.isObserved ? LateCalls.after { try commit.runTelling(body) } : commit.run(body)
    if !outcome.isEmpty { observers.noteCommit() }
  }

  /// Closes the handle. The last handle closes the store; others make committed transactions durable. A
  /// second call does nothing.
  func close() throws(EngineError) {
    guard !end.hasCome, !isForked else { return }
    try LateCalls.after(closeUnlessClosed)
  }

  private func closeUnlessClosed() throws(EngineError) {
    // Throws `.nestedWrite` inside a write of this thread, where waiting would deadlock.
    try store.writer.checkNotNested()
    guard begin() else { return }
    guard let leaveRegistry, !leaveRegistry(.onlyAsLast) else { return try closeStore() }
    observers.end(of: end)
    // Still registered, so that no other handle closes the store meanwhile.
    let failure = failureOfMakingDurable()
    // The others may have been closed in the meantime.
    if leaveRegistry(.always) { try closeStore() }
    if let failure { throw failure }
  }

  private func closeStore() throws(EngineError) {
    observers.end()
    try Closing(store: store).run()
  }

  private func failureOfMakingDurable() -> EngineError? {
    do throws(EngineError) {
      try Closing(store: store).makeDurable()
      return nil
    } catch {
      return error
    }
  }

  /// Called when the engine is released.
  func forget() {
    guard !isForked else { return }
    guard store.writer.isHeldHere else {
      try? close()
      return
    }
    // Inside a write of another engine, which will close the store.
    guard begin() else { return }
    _ = leaveRegistry?(.always)
    observers.end(of: end)
  }

  /// - Returns: False if the handle is closed already.
  private func begin() -> Bool { end.begin() }
}

extension Opening {
  /// Opens the store, or shares it if this process already has it open.
  func openHandle() throws(EngineError) -> StoreHandle {
    try inPlace { (directory) throws(EngineError) in
      guard OpenStoreRegistry.canShare(options), let folder = try? directory.identity() else {
        return StoreHandle(try open(directory), options)
      }
      return try OpenStoreRegistry.all.open(folder, options) { () throws(EngineError) in try open(directory) }
    }
  }
}
