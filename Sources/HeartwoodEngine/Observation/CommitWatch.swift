import Dispatch
import HeartwoodFiles
import Synchronization

/// The thread that detects commits, of this process and of others, and notifies observers.
///
/// Other processes publish commits in shared memory, which wakes no thread. But a writer first writes to the
/// log, which the file system reports at least once per millisecond (`LogPreallocator`). So the thread reads
/// the published state after each change in the folder, and repeatedly, because a commit is published only
/// after its sync. Commits of this process wake the thread directly.
///
/// While it reads the state, the thread holds no lock but `stateLock`; while it notifies, it holds none.
final class CommitWatch: @unchecked Sendable {
  /// Weak: observers must not keep the store of an engine that was released.
  private weak var store: OpenStore?
  private let observers: CommitObservers
  private let changes: any DirectoryWatch
  /// The lock file that a writer in another process locks; nil if it can't be checked.
  private let lock: (any File)?

  private let hasEnded = Atomic(false)
  /// Held while the thread uses the store.
  private let stateLock = Lock()

  init(_ store: OpenStore, _ observers: CommitObservers) {
    self.store = store
    self.observers = observers
    let directory = store.folder.directory
    if store.hasOthers {
      // If the system has no more watches, poll.
      changes = (try? directory.watch()) ?? TimedWatch(interval: PollInterval.longestAtFirst)
      lock = try? directory.open(ProcessAttachment.lockName, .readOnly)
    } else {
      changes = TimedWatch(interval: nil)
      lock = nil
    }
  }

  deinit { try? lock?.close() }

  func begin() {
    // A thread of its own, which waits nearly always.
    DispatchQueue(label: "heartwood.commits", qos: .utility).async { self.run() }
  }

  func wake() { changes.wake() }

  /// Makes the thread end soon.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Waits until the thread does not use the store any more.
  ///
  /// - Precondition: `end()` was called.
  func waitUntilUnused() { stateLock.withLock {} }

  private func run() {
    var interval = PollInterval()
    var newest: UInt64 = 0
    while let state = readState() {
      for observer in observers.told(by: self) { observer.notify(state.newest) }
      if state.newest > newest { interval.begin() }
      newest = state.newest
      if wait(interval.next(state.writer)) { interval.begin() }
    }
  }

  /// - Returns: Whether something may have changed meanwhile.
  private func wait(_ seconds: Double?) -> Bool {
    guard seconds == PollInterval.shortest else { return changes.wait(seconds: seconds) }
    // Changes shortly after one another are handled together.
    CurrentThread.sleep(microseconds: UInt32(PollInterval.shortest * 1e6))
    return false
  }

  private struct State {
    let newest: UInt64
    let writer: Writer
  }

  /// The process that may publish a commit next.
  enum Writer {
    /// This engine, which wakes the thread after each commit.
    case here
    /// Another process, or another engine of this one.
    case elsewhere
    case none
  }

  /// Reads the newest generation; nil if the watch or the store has ended.
  private func readState() -> State? {
    stateLock.withLock {
      guard !hasEnded.load(ordering: .sequentiallyConsistent), let store, !store.status.isClosed else {
        return nil
      }
      // Loaded first: a writer that begins later also changes the folder later.
      let writer = writer(of: store)
      try? Refresh(store).ifStale()
      return State(newest: store.generations.newest, writer: writer)
    }
  }

  private func writer(of store: OpenStore) -> Writer {
    guard store.hasOthers, !store.lease.isHeld else { return .here }
    guard let record = try? store.page?.newest(), record.isHeld, record.writer != store.attachment?.name,
      // The writer may have been killed while its record said that it writes.
      (try? lock?.isLocked()) != false
    else { return .none }
    return .elsewhere
  }

  /// The poll intervals of the thread, in seconds.
  struct PollInterval {
    static let shortest = 0.001
    static let longestAtFirst = 0.05
    /// After this time, a writer that has begun has also recorded that it writes.
    private static let announcementSeconds = 0.1

    private var current = Self.shortest
    private var waited = 0.0

    /// Restarts polling with the shortest interval, after a change.
    mutating func begin() { self = PollInterval() }

    /// The next interval in seconds; nil to wait for a change.
    mutating func next(_ writer: Writer) -> Double? {
      switch writer {
      case .here: return nil
      case .none: if waited > Self.announcementSeconds { return nil }
      case .elsewhere: break
      }
      let next = current
      waited += next
      // A writer may hold the lease for long: to copy, verify, reclaim, or sync to a slow disk.
      current = min(current * 2, waited < 2 ? Self.longestAtFirst : 1)
      return next
    }
  }
}
