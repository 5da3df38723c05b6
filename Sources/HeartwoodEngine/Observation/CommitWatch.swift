import Dispatch
import HeartwoodFiles
import Synchronization

/// The thread that sees commits, of this process and of others, and tells of them.
///
/// Others' are published in memory that all processes share, which wakes nobody. But who commits writes to the log first, and
/// the file system tells of that, of one commit in a millisecond at least (`LogPreallocator`). So each change in the folder is a reason to look at what is published, more than once: the
/// commit is published when its sync has ended. Own commits wake the thread themselves.
///
/// The thread looks holding no lock but `looking`, and tells holding none.
final class CommitWatch: @unchecked Sendable {
  /// Weak: whoever forgets an engine must not have it kept by those who are told.
  private weak var store: OpenStore?
  private let observers: CommitObservers
  private let changes: any DirectoryWatch
  /// What the process that writes holds; nil where it can't be asked.
  private let lock: (any File)?

  private let hasEnded = Atomic(false)
  /// Held while the thread uses the store.
  private let looking = Lock()

  init(_ store: OpenStore, _ observers: CommitObservers) {
    self.store = store
    self.observers = observers
    let directory = store.folder.directory
    if store.hasOthers {
      // Where the system has no more watches to give, the clock does.
      changes = (try? directory.watch()) ?? TimedWatch(interval: Rest.longestOfOften)
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

  /// The thread ends soon.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Behind `end()`: the store is not used any more when this returns.
  func waitForSpaceScan() { looking.withLock {} }

  private func run() {
    var rest = Rest()
    var newest: UInt64 = 0
    while let look = look() {
      for observer in observers.told(by: self) { observer.tell(look.newest) }
      if look.newest > newest { rest.begin() }
      newest = look.newest
      if wait(rest.next(look.writer)) { rest.begin() }
    }
  }

  /// - Returns: whether something may have changed meanwhile.
  private func wait(_ seconds: Double?) -> Bool {
    guard seconds == Rest.shortest else { return changes.wait(seconds: seconds) }
    // Changes that come together are one.
    CurrentThread.sleep(microseconds: UInt32(Rest.shortest * 1e6))
    return false
  }

  private struct SpaceSurvey {
    let newest: UInt64
    let writer: Writer
  }

  /// Who may be about to publish something.
  enum Writer {
    /// This engine, which wakes the thread when it has.
    case here
    /// Another process, or another engine of this one.
    case elsewhere
    case none
  }

  /// Nil at the end.
  private func look() -> SpaceSurvey? {
    looking.withLock {
      guard !hasEnded.load(ordering: .sequentiallyConsistent), let store, !store.status.isClosed else {
        return nil
      }
      // Asked before: what somebody publishes who is there afterwards, changes the folder afterwards.
      let writer = writer(of: store)
      try? store.refreshIfStale()
      return SpaceSurvey(newest: store.generations.newest, writer: writer)
    }
  }

  private func writer(of store: OpenStore) -> Writer {
    guard store.hasOthers, !store.lease.isHeld else { return .here }
    guard let record = try? store.page?.newest(), record.isHeld, record.writer != store.attachment?.name,
      // It may have ended in the middle.
      (try? lock?.isLocked()) != false
    else { return .none }
    return .elsewhere
  }

  /// How long the thread waits until it looks again.
  struct Rest {
    static let shortest = 0.001
    static let longestOfOften = 0.05
    /// Somebody who is about to say that he writes has done so by then.
    private static let settling = 0.1

    private var pause = Self.shortest
    private var waited = 0.0

    /// Something has changed: looks often, then less often.
    mutating func begin() { self = Rest() }

    /// In seconds; nil until something changes.
    mutating func next(_ writer: Writer) -> Double? {
      switch writer {
      case .here: return nil
      case .none: if waited > Self.settling { return nil }
      case .elsewhere: break
      }
      let next = pause
      waited += next
      // Who leads for long copies, verifies or reclaims, or syncs to a slow disk.
      pause = min(pause * 2, waited < 2 ? Self.longestOfOften : 1)
      return next
    }
  }
}

extension OpenStore {
  /// Whether others may write the store.
  var hasOthers: Bool {
    page != nil && (options.access == .readOnly || options.sharing == .processes)
  }
}
