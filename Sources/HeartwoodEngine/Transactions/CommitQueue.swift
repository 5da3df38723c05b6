import HeartwoodFiles

/// Group commit: the transactions that are written but not published yet, in their order.
///
/// One of the waiting threads syncs for all. A sync covers every transaction written before it began, so all commits
/// that are added during one sync share the next one. Every generation that this process commits is published here.
/// Elsewhere, a process publishes only generations that it reads from the log or from a checkpoint: `CatchUp`,
/// `CheckpointReload` and `Replay`.
///
/// Lock order: the writer lock before the queue's. A sync runs without the queue's lock. A committing thread does not
/// hold the writer lock during it either; a thread in `drain` does.
final class CommitQueue: @unchecked Sendable {
  /// A transaction whose last frame has been written.
  struct Entry {
    let number: UInt64
    let root: TreeRoot
    /// The end of the log after the transaction.
    let end: LogPoint
    /// The sync to do before publishing; nil if none is needed.
    let work: SyncRequest?
  }

  private let synced: DurableState
  private let path: LogSegments
  private let generations: Generations
  private let syncs: LogSyncs
  private let status: StoreStatus

  private let lock = Lock()
  private let changed = ConditionVariable()
  // Guarded by `lock`, like the properties after it. Dynamic exclusivity checks would find nothing.
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Number of entries that need a sync.
  private var dueCount = 0
  /// Set while a thread syncs or waits for more commits before its sync.
  private var isSyncing = false
  private var delay = CommitDelay()
  private let delayEnded = ConditionVariable()
  /// Set while a thread waits in `drain`. It holds the writer lock, so no more commits can arrive.
  private var isDraining = false
  /// Number of threads that wait for `changed`.
  private var waiting = 0
  /// The failed sync, after which nothing is published.
  private var failure: EngineError?

  init(log: Log, generations: Generations, syncs: LogSyncs, status: StoreStatus) {
    synced = log.synced
    path = log.path
    self.generations = generations
    self.syncs = syncs
    self.status = status
  }

  /// Whether every written transaction is published, no sync runs and none has failed.
  var isEmpty: Bool { lock.withLock { entries.isEmpty && !isSyncing && failure == nil } }

  /// Adds the newest transaction. Publishes it at once if it needs no sync and no entry precedes it.
  func add(_ entry: Entry, _: WriterHeld) {
    lock.withLock {
      assert(entry.number > entries.last?.number ?? 0, "Transactions are queued out of order.")
      if entry.work == nil, entries.isEmpty, failure == nil {
        publish(entry)
      } else {
        entries.append(entry)
        guard entry.work != nil else { return }
        dueCount += 1
        if dueCount == delay.wanted { delayEnded.broadcast() }
      }
    }
  }

  /// Waits until a transaction is published, and so as durable as requested. Syncs if no other thread does.
  ///
  /// - Throws: `.outcomeUnknown` if the sync failed, `.replaced` if the store's files were deleted or replaced. Every later call for an unpublished transaction throws it too.
  func wait(for number: UInt64) throws(EngineError) {
    guard generations.newest < number else { return }
    lock.lock()
    defer { lock.unlock() }
    while generations.newest < number {
      if let failure { throw Self.outcomeUnknown(failure) }
      if isSyncing { waitForChange() } else { syncAll() }
    }
  }

  /// Waits until a transaction of another thread is published.
  ///
  /// - Throws: `.stopped` if a sync failed, so that the transaction is never published; `.closed` if the store is.
  func waitForEarlier(_ number: UInt64) throws(EngineError) {
    do {
      try wait(for: number)
    } catch {
      try status.checkWritable()
      throw error
    }
  }

  /// Waits until every transaction is published. Syncs, with the writer lock held, if no other thread does. Nothing is
  /// added meanwhile.
  ///
  /// - Parameter last: The newest transaction that was written.
  /// - Throws: As `waitForEarlier`.
  func drain(upTo last: UInt64, _: WriterHeld) throws(EngineError) {
    guard generations.newest < last else { return }
    lock.withLock {
      isDraining = true
      delayEnded.broadcast()
    }
    defer { lock.withLock { isDraining = false } }
    try waitForEarlier(last)
  }

  private func waitForChange() {
    waiting += 1
    changed.wait(lock)
    waiting -= 1
  }

  /// Syncs and publishes all entries that are queued now. Releases `lock` during the sync.
  ///
  /// - Precondition: The caller holds `lock`, and `isSyncing` is false.
  private func syncAll() {
    isSyncing = true
    gather()
    let (count, due) = (entries.count, dueCount)
    // The last request covers the earlier ones.
    let work = entries.last { $0.work != nil }?.work
    lock.unlock()
    let begin = MonotonicTime.nanoseconds
    let failure = work.flatMap(failureOfSync)
    let duration = MonotonicTime.nanoseconds - begin
    lock.lock()
    isSyncing = false
    if let failure {
      self.failure = failure
      entries.removeAll()
      dueCount = 0
    } else {
      for entry in entries[..<count] { publish(entry) }
      entries.removeFirst(count)
      dueCount -= due
      // Entries added during the sync that need none: no thread may be waiting for them.
      while let first = entries.first, first.work == nil { publish(entries.removeFirst()) }
    }
    delay.noteSync(of: due, nanoseconds: duration, waiting: dueCount)
    if waiting > 0 { changed.broadcast() }
  }

  /// Waits for more commits, as long as `CommitDelay` says. Releases `lock` while it waits.
  private func gather() {
    let present = dueCount
    guard !isDraining, let nanoseconds = delay.wait(present: present) else { return }
    let end = MonotonicTime.nanoseconds + nanoseconds
    while dueCount < delay.wanted, !isDraining {
      let left = end - MonotonicTime.nanoseconds
      guard left > 0 else { break }
      delayEnded.wait(lock, nanoseconds: left)
    }
    delay.noteWait(from: present, to: dueCount)
  }

  private func failureOfSync(_ work: SyncRequest) -> EngineError? {
    do {
      try syncs.sync(work)
      synced.note(work)
      return nil
    } catch {
      return error
    }
  }

  private func publish(_ entry: Entry) {
    path.publish(at: entry.end)
    generations.publish(entry.number, entry.root)
  }

  private static func outcomeUnknown(_ failure: EngineError) -> EngineError {
    // It is known: no opening finds the commit.
    if failure.code == .replaced { return failure }
    return EngineError(
      .outcomeUnknown,
      "the sync of this commit failed: close the store, open it again and check whether the commit is in it",
      file: failure.file, underlying: failure)
  }
}
