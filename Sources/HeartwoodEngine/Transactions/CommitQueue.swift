import HeartwoodFiles

/// Transactions that are written and not published yet, in their order.
///
/// One of those who wait for them syncs for all: a sync covers every transaction written before it began,
/// so that all commits that come while one sync is under way share the next one. This is where
/// generations are published, and nowhere else.
///
/// Lock order: the writer lock before the queue's. The syncing is done with neither.
final class CommitQueue: @unchecked Sendable {
  /// A transaction whose last frame is written.
  struct Entry {
    let number: UInt64
    let root: TreeRoot
    /// Where the log ends behind it.
    let end: LogPoint
    /// What has to be synced first; nil where it need not be.
    let work: SyncRequest?
  }

  private let synced: DurableState
  private let path: LogSegments
  private let generations: Generations
  private let syncs: LogSyncs
  private let status: StoreStatus

  private let lock = Lock()
  private let changed = ConditionVariable()
  // What the lock guards is looked at under it alone: checks of access would find nothing.
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// How many of them have to be synced.
  private var dueCount = 0
  /// Set while somebody syncs, or is about to.
  private var isSyncing = false
  private var delay = CommitDelay()
  private let delayEnded = ConditionVariable()
  /// Whether somebody waits who keeps others from writing.
  private var isDraining = false
  private var waiting = 0
  /// Why nothing is published any more.
  private var failure: EngineError?

  init(log: Log, generations: Generations, syncs: LogSyncs, status: StoreStatus) {
    synced = log.synced
    path = log.path
    self.generations = generations
    self.syncs = syncs
    self.status = status
  }

  /// Whether everything that was written is published, and nothing under way.
  var isEmpty: Bool { lock.withLock { entries.isEmpty && !isSyncing && failure == nil } }

  /// Adds the newest transaction; under the writer lock. One that need not be synced, and has nobody
  /// before it, is published at once.
  func add(_ entry: Entry) {
    lock.withLock {
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

  /// Waits until a transaction is published, and as durable as it was meant to be; syncs where nobody does.
  ///
  /// - Throws: `.outcomeUnknown` where the sync has failed, also to all who come after it.
  func wait(for number: UInt64) throws(EngineError) {
    guard generations.newest < number else { return }
    lock.lock()
    defer { lock.unlock() }
    while generations.newest < number {
      if let failure { throw Self.outcomeUnknown(failure) }
      if isSyncing { waitForChange() } else { syncAll() }
    }
  }

  /// Waits until a transaction of somebody else is published.
  ///
  /// - Throws: `.stopped` where that will not be.
  func waitForEarlier(_ number: UInt64) throws(EngineError) {
    do {
      try wait(for: number)
    } catch {
      try status.checkWritable()
      throw error
    }
  }

  /// Waits until everything is published; under the writer lock, so that nothing is added meanwhile.
  func drain() throws(EngineError) {
    let last = generations.tip.generation
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

  /// Syncs and publishes what is there now. The lock is held, but for the syncing itself.
  private func syncAll() {
    isSyncing = true
    gather()
    let (count, due) = (entries.count, dueCount)
    // The last one's work covers the others'.
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
      // Those that came meanwhile and need no sync: there may be nobody who waits for them.
      while let first = entries.first, first.work == nil { publish(entries.removeFirst()) }
    }
    delay.noteSync(of: due, nanoseconds: duration, waiting: dueCount)
    if waiting > 0 { changed.broadcast() }
  }

  /// Waits a moment for others who commit, where that pays. The lock is held, but for the waiting itself.
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
    EngineError(
      .outcomeUnknown,
      "the sync of this commit failed: close the store and open it again, and see whether it is there",
      file: failure.file, underlying: failure)
  }
}
