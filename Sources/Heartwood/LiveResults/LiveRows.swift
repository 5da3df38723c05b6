import HeartwoodFiles

/// The rows of a fetch as a context changes: an asynchronous sequence, whose first element are the present rows, and each further one the
/// rows after changes.
///
/// ```swift
/// let counts = RowFetch(Track.self, columns: { ($0.genre.name, RowFunction.count()) })
/// for try await rows in context.liveRows(counts) {
///   for (genre, count) in rows { print(genre ?? "", count ?? 0) }
/// }
/// ```
///
/// The fetch is executed on its context's queue: use a background context to keep the work off the main queue, or
/// `PersistentContainer.liveRows(_:followsOtherProcesses:)`, which makes a context for it. It is executed again after changes of what it
/// reads, once for all changes until its turn on the queue comes, and not before the last rows were taken; rows that are equal to the last
/// ones are no element.
///
/// Changes show at the same times as with `FetchedResultsController`: the context's own unsaved changes once they are processed, and what
/// others save once it is merged. Each iteration is a query of its own, which ends with the iteration. Iteration throws if the fetch does
/// not fit the model, or if the store cannot be read.
public struct LiveRows<Row>: AsyncSequence, Sendable {
  /// The rows at some time.
  public typealias Element = [Row]

  private let context: ManagedObjectContext
  private let fetch: RowFetch<Row>

  /// The rows of a fetch in a context, which is kept.
  public init(_ fetch: RowFetch<Row>, in context: ManagedObjectContext) {
    self.context = context
    self.fetch = fetch
  }

  /// Begins to follow the fetch.
  public func makeAsyncIterator() -> Iterator { Iterator(LiveRowsState(context, fetch)) }

  /// The rows of one iteration.
  public struct Iterator: AsyncIteratorProtocol {
    private let state: LiveRowsState<Row>
    private var signals: AsyncStream<Void>.Iterator

    fileprivate init(_ state: LiveRowsState<Row>) {
      self.state = state
      signals = state.signals.makeAsyncIterator()
    }

    /// The next rows; waits until there are some. Nil if the task was cancelled.
    ///
    /// - Throws: If the fetch does not fit the model, or the store cannot be read; the iteration has ended then.
    public mutating func next() async throws -> [Row]? {
      while await signals.next() != nil {
        if let rows = try state.take() { return try rows.map { try $0.decoded() } }
      }
      return nil
    }
  }
}

extension PersistentContainer {
  /// The saved rows of a fetch, evaluated in a background context of their own, which merges what the container's other contexts save.
  ///
  /// - Parameters:
  ///   - fetch: The fetch.
  ///   - followsOtherProcesses: Whether what other coordinators and other processes save is merged, too.
  public func liveRows<Row>(_ fetch: RowFetch<Row>, followsOtherProcesses: Bool = false) -> LiveRows<Row> {
    let context = newBackgroundContext()
    context.automaticallyMergesChangesFromParent = true
    if followsOtherProcesses { context.automaticallyMergesRemoteChanges = true }
    return LiveRows(fetch, in: context)
  }
}

/// The state that an iteration shares with the context that it follows.
///
/// Unchecked, because what the context reports, and what was fetched last, are used on its queue only.
private final class LiveRowsState<Row>: ContextTracker, @unchecked Sendable {
  private struct Shared {
    var rows: [UndecodedRow<Row>]?
    var error: (any Error)?
    /// Whether the rows may have changed since they were fetched.
    var isStale = false
    /// Whether a fetch will be executed on the queue.
    var isExpected = false
    var hasEnded = false

    /// Whether a fetch is due that is not expected yet, and that is then.
    mutating func expect() -> Bool {
      guard isStale, !isExpected, !hasEnded, rows == nil else { return false }
      isExpected = true
      return true
    }
  }

  /// Says that something waits.
  let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let shared = Guarded(Shared())
  private let context: ManagedObjectContext
  private let fetch: RowFetch<Row>
  // On the context's queue.
  private var reads = RowReads.everything
  private var last: [[Value]]?

  init(_ context: ManagedObjectContext, _ fetch: RowFetch<Row>) {
    self.context = context
    self.fetch = fetch
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    shared.withLock { $0.isExpected = true }
    context.perform { [weak self] in
      guard let self else { return }
      context.trackers.add(self)
      execute()
    }
  }

  /// The rows that were fetched since the last call.
  ///
  /// - Throws: The error that has ended the query, once.
  func take() throws -> [UndecodedRow<Row>]? {
    let (rows, isDue) = try shared.withLock { shared in
      if let error = shared.error {
        shared.error = nil
        throw error
      }
      let rows = shared.rows
      shared.rows = nil
      return (rows, shared.expect())
    }
    if isDue { schedule() }
    return rows
  }

  // MARK: On the context's queue

  func apply(_ touched: TouchedObjects) { if reads.mayShow(touched) { refresh() } }
  func noteStores() { refresh() }
  func reset() { refresh() }

  private func refresh() {
    let isDue = shared.withLock { shared in
      shared.isStale = true
      return shared.expect()
    }
    if isDue { schedule() }
  }

  /// Executes the fetch after what the queue does now.
  private func schedule() { context.perform { [weak self] in self?.execute() } }

  private func execute() {
    shared.withLock { ($0.isExpected, $0.isStale) = (false, false) }
    do {
      var (rows, reads): ([UndecodedRow<Row>], RowReads) = ([], RowReads())
      try RowFetching(context).forEachRow(of: fetch, &reads) { row in
        rows.append(row)
        return true
      }
      self.reads = reads
      let values = rows.map(\.values)
      if let last, last.elementsEqual(values, by: { $0.elementsEqual($1, by: { $0.isStored(as: $1) }) }) {
        return
      }
      last = values
      shared.withLock { $0.rows = rows }
      signal.yield()
    } catch {
      shared.withLock { ($0.error, $0.hasEnded) = (error, true) }
      signal.yield()
      signal.finish()
    }
  }
}
