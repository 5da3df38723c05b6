import HeartwoodFiles
import Synchronization

/// This process's right to write a store that other processes may write too.
///
/// The process keeps the lease between writes while no other process is attached, and releases it after a
/// time without writes. If others are attached, it releases the lease after every write. The next process
/// that acquires the lease first refreshes its store, or recovers the log if the previous writer ended
/// without releasing the lease. `Coordinator` has these steps.
///
/// `lock` guards the state, the file lock and every write of the shared header. So no record is written after
/// the file lock is released, and no thread of this process requests the file lock before that. The lease
/// becomes held, and is released, only under the writer lock: a thread that holds the writer lock and finds
/// the lease held keeps the lease until it releases the writer lock.
///
/// Lock order: the locks of `OpenStore`, then `lock`. A thread that waits in `request` holds none of these except
/// `OpenStore.reclamation`.
final class WriterLease: @unchecked Sendable {
  private let lock = Lock()
  /// Signalled when an acquisition ends: the lease is held or released.
  private let changed = ConditionVariable()
  /// Guarded by `lock`, like `fileLock`.
  private var machine: LeaseMachine
  private var fileLock: HeldFileLock?

  // Read by many threads without `lock`, changed under it. Relaxed: after a stale read a thread checks again
  // under the writer lock, and the atomics of the shared header order the writes of other processes.
  private let held: Atomic<Bool>
  private let announced = Atomic(false)

  /// Counter of the newest record when this process last held the lease, or had the store exclusively.
  /// Guarded by the writer lock, or by `lock`.
  let lastOwnRecord = Atomic<UInt64>(0)
  /// Counter of the newest record that this process has applied. Only grows while the lease is not held.
  let seenRecord: Atomic<UInt64>
  /// Counter of the last record of an ended writer that this process has settled, or has tried to.
  let settledRecord = Atomic<UInt64>(0)
  /// The waiter count when this process last yielded.
  let yieldedTo = Atomic<UInt64>(0)
  /// Whether a timer is set that releases an idle lease. Changed under the writer lock.
  let isTimerSet = Atomic(false)

  /// The process's name in records, and the shared header in memory; 0 and nil if there is none. Copied here
  /// to avoid reference counting in every commit and many reads.
  let name: UInt64
  let records: SharedPage?
  /// Unowned: the store keeps it alive longer than the lease.
  private let attachment: UnownedReference<ProcessAttachment>?

  /// - Parameter isHeld: Whether no other process can have written since the store was read.
  init(isHeld: Bool, _ attachment: ProcessAttachment?, _ page: SharedHeader?, seenRecord: UInt64) {
    machine = LeaseMachine(isHeld ? .held : .released)
    held = Atomic(isHeld)
    fileLock = isHeld ? attachment?.takeInitialLock() : nil
    self.seenRecord = Atomic(seenRecord)
    self.attachment = attachment.map { UnownedReference($0) }
    name = attachment?.name ?? 0
    records = page.flatMap { $0.isThere ? $0.memory : nil }
  }

  /// Whether this process may write. Reliable only for a thread that holds the writer lock.
  var isHeld: Bool { held.load(ordering: .relaxed) }
  /// Whether the shared header names this process as the writer.
  var isAnnounced: Bool { announced.load(ordering: .relaxed) }
  /// Whether the lease may be released.
  func mayRelease(_: WriterHeld) -> Bool { lock.withLock { machine.mayRelease } }
  /// Whether other processes may be attached. Read by every commit.
  var hasOtherProcesses: Bool { attachment?.with { $0.hasOtherProcesses } ?? false }

  // MARK: Acquiring

  enum Answer {
    case held
    /// The caller acquires the lease, and must end with `complete` or `abandon`.
    case acquire
    /// Another thread was still acquiring the lease at the timeout.
    case busy
    case closed
  }

  /// Requests the lease, and waits while another thread acquires it.
  ///
  /// - Parameter seconds: The longest time to wait.
  func request(timeout seconds: Double) -> Answer {
    let end = MonotonicTime.nanoseconds + Int(max(0, min(seconds, 1e9)) * 1e9)
    lock.lock()
    defer { lock.unlock() }
    while true {
      switch machine.phase {
      case .held: return .held
      case .closed: return .closed
      case .released:
        machine.handle(.request)
        return .acquire
      case .waiting, .takingOver:
        let left = end - MonotonicTime.nanoseconds
        guard left > 0 else { return .busy }
        changed.wait(lock, nanoseconds: left)
      }
    }
  }

  /// Records that the acquiring thread holds the file lock.
  func begin(with fileLock: consuming HeldFileLock) {
    lock.lock()
    defer { lock.unlock() }
    self.fileLock = consume fileLock
    machine.handle(.fileLocked)
    announced.store(false, ordering: .relaxed)
  }

  /// Records that the store is up to date and the lease is held.
  func complete(_: WriterHeld) {
    lock.withLock {
      machine.handle(.takenOver)
      held.store(true, ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// Ends an acquisition that failed, and releases the file lock.
  func abandon() {
    lock.withLock {
      fileLock = nil
      machine.handle(.failed)
      changed.broadcast()
    }
  }

  // MARK: Holding

  /// Keeps the lease for an operation of several steps until the operation ends or yields.
  func beginOperation(_: WriterHeld) { lock.withLock { machine.handle(.operationBegan) } }

  /// Ends such an operation, also before it yields.
  func endOperation(_: WriterHeld) { lock.withLock { machine.handle(.operationEnded) } }

  /// Writes a record to the shared header if this process may. Callable from any thread.
  ///
  /// - Parameters:
  ///   - held: Nil if the thread does not hold the writer lock.
  ///   - write: Writes the record and returns its counter.
  func announce(
    _ held: WriterHeld?, _ write: () throws(FileSystemError) -> UInt64
  ) throws(FileSystemError) {
    lock.lock()
    defer { lock.unlock() }
    guard machine.mayAnnounce(isWriter: held != nil) else { return }
    note(try write())
    machine.handle(.announced)
    announced.store(true, ordering: .relaxed)
  }

  private func note(_ counter: UInt64) {
    lastOwnRecord.store(counter, ordering: .relaxed)
    seenRecord.store(counter, ordering: .relaxed)
  }

  // MARK: Releasing

  /// Releases the lease.
  ///
  /// - Precondition: `mayRelease` is true.
  /// - Parameters:
  ///   - isInOrder: Whether the log is as the next process expects it. If not, or if the record cannot be
  ///     written, the next process treats this one as killed and recovers the log.
  ///   - write: Writes the record of the release and returns its counter.
  func release(_: WriterHeld, isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) {
    lock.withLock {
      announceEnd(isInOrder, write)
      fileLock = nil
      machine.handle(.released)
      changed.broadcast()
    }
  }

  /// Ends the lease permanently.
  ///
  /// - Returns: False if a thread is acquiring the lease, which needs the checkpoint lock and the writer lock.
  func close(_: WriterHeld, isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) -> Bool {
    lock.withLock {
      guard machine.after(.closed) != nil else { return false }
      if machine.phase == .held { announceEnd(isInOrder, write) }
      fileLock = nil
      machine.handle(.closed)
      return true
    }
  }

  /// Waits until no thread is acquiring the lease.
  func waitForAcquisition() {
    lock.lock()
    defer { lock.unlock() }
    while machine.phase == .waiting || machine.phase == .takingOver { changed.wait(lock) }
  }

  /// Must precede the release of the file lock: a later record could follow those of the next process.
  private func announceEnd(_ isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) {
    if machine.isAnnounced, isInOrder, let counter = try? write() { note(counter) }
    held.store(false, ordering: .relaxed)
  }
}
