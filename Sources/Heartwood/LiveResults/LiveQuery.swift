import HeartwoodFiles

/// The results of a request as a context changes: an asynchronous sequence, whose first element is the present result, and each further one
/// the result after changes.
///
/// ```swift
/// for try await result in context.liveQuery(FetchRequest<Person>(where: { $0.age > 17 })) {
///   show(result.objectIDs, result.difference)
/// }
/// ```
///
/// The query is evaluated on its context's queue: use one of a background context to keep the work off the main queue, or
/// `PersistentContainer.liveQuery(_:followsOtherProcesses:)`, which makes a context for it. Elements consist of identifiers, which any
/// thread may use. If results come faster than they are taken, they are joined into one.
///
/// Changes show at the same times as with `FetchedResultsController`. Each iteration is a query of its own, which ends with the iteration.
/// Iteration throws if the request does not fit the model, or if the store cannot be read. After a reset of the context the request is
/// fetched again.
public struct LiveQuery<Object: ManagedObject>: AsyncSequence, Sendable {
  /// The result at some time.
  public typealias Element = LiveResult

  private let context: ManagedObjectContext
  private let request: SharedRequest<Object>

  /// The results of a request in a context.
  ///
  /// - Parameters:
  ///   - request: The request, which is copied. Objects that are equal in all sort descriptors are in creation order, as are all if there is none.
  ///   - context: The context, which the query keeps.
  public init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) {
    self.context = context
    self.request = SharedRequest(request: request.orderedCopy())
  }

  /// Begins to follow the request.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveQueryState(context, request)) }

  /// The results of one iteration.
  public struct Iterator: AsyncIteratorProtocol {
    private let state: LiveQueryState
    private var signals: AsyncStream<Void>.Iterator
    private var last: [ManagedObjectID] = []

    fileprivate init(_ state: LiveQueryState) {
      self.state = state
      signals = state.signals.makeAsyncIterator()
    }

    /// The next result; waits until there is one. Nil if the task was cancelled.
    ///
    /// - Throws: If the request does not fit the model, or the store cannot be read; the iteration has ended then.
    public mutating func next() async throws -> LiveResult? {
      while await signals.next() != nil {
        guard let changes = try state.take() else { continue }
        let result = changes.result(after: last)
        last = result.objectIDs
        return result
      }
      return nil
    }
  }
}

extension PersistentContainer {
  /// The saved results of a request, evaluated in a background context of their own, which merges what the container's other contexts save.
  ///
  /// - Parameters:
  ///   - request: The request, which is copied.
  ///   - followsOtherProcesses: Whether what other coordinators and other processes save is merged, too.
  public func liveQuery<Object: ManagedObject>(
    _ request: FetchRequest<Object>, followsOtherProcesses: Bool = false
  ) -> LiveQuery<Object> {
    let context = newBackgroundContext()
    context.automaticallyMergesChangesFromParent = true
    if followsOtherProcesses { context.automaticallyMergesRemoteChanges = true }
    return LiveQuery(request, in: context)
  }
}

/// The state that an iteration of a live query shares with its tracker, which belongs to the context's queue.
///
/// Unchecked, because the tracker is used on that queue only.
private final class LiveQueryState: @unchecked Sendable {
  private struct Waiting {
    var changes: LiveQueryChanges?
    var error: (any Error)?
  }

  /// Says that something waits.
  let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let waiting = Guarded(Waiting())
  private let context: ManagedObjectContext
  private var tracker: ResultTracker?

  init<Object: ManagedObject>(_ context: ManagedObjectContext, _ request: SharedRequest<Object>) {
    self.context = context
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    context.perform { [weak self] in self?.follow(request.request) }
  }

  deinit {
    // Objects are released on the queue of their context.
    let (context, held) = (context, HeldTracker(tracker: tracker))
    context.perform { withExtendedLifetime(held) {} }
  }

  /// The changes that were found since the last call.
  ///
  /// - Throws: The error that has ended the query, once.
  func take() throws -> LiveQueryChanges? {
    try waiting.withLock { waiting in
      defer { waiting = Waiting() }
      if let error = waiting.error { throw error }
      return waiting.changes
    }
  }

  // MARK: On the context's queue

  private func follow<Object: ManagedObject>(_ request: FetchRequest<Object>) {
    let tracker = ResultTracker(
      context, of: Object.self,
      compile: { try ResultReader(ObjectFetch($0).resolveObjects(request), section: nil) })
    tracker.followsIdentifiers = { true }
    tracker.changed = { [weak self] change in self?.add(change) }
    tracker.failed = { [weak self] error in self?.fail(error) }
    tracker.wasReset = { [weak self] in self?.fetch() }
    self.tracker = tracker
    fetch()
  }

  private func fetch() {
    do {
      try tracker?.fetch()
      add(LiveQueryChanges(fetched: identifiers))
    } catch {
      fail(error)
    }
  }

  private var identifiers: [ManagedObjectID] { tracker?.result?.tracked.map(\.identifier) ?? [] }

  private func add(_ change: ResultChange) {
    add(
      LiveQueryChanges(
        identifiers, difference: change.difference(includingUpdates: false),
        updated: Set(change.changedIdentifiers)))
  }

  private func add(_ changes: LiveQueryChanges) {
    waiting.withLock { $0.changes = changes.after($0.changes) }
    signal.yield()
  }

  private func fail(_ error: any Error) {
    tracker = nil
    waiting.withLock { $0.error = error }
    signal.yield()
    signal.finish()
  }
}

/// Carries a tracker to the queue that it belongs to.
private struct HeldTracker: @unchecked Sendable {
  let tracker: ResultTracker?
}
