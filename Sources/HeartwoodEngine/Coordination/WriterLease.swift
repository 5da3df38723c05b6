import HeartwoodFiles
import Synchronization

/// This process's right to write a store that other processes may write too.
///
/// It is kept from one write to the next while no other process is attached, and released when nothing was written for a moment;
/// where others are attached, it is released after every write. The process that acquires it next first reads what was written
/// since, or recovers the log where the one before has ended without releasing it. `OpenStore+Lease.swift` has these steps.
///
/// `lock` guards the state, the file lock and every write of the shared header, so that no record comes after the file lock was
/// released and no thread asks for the file lock before. The lease becomes held, and is released, under the writer lock too: a
/// thread that has that lock and finds the lease held keeps it until it gives the writer lock back.
///
/// Order of the locks: the reclaimer's, checkpoints, writer, `lock`. A thread that waits in `request` holds none of them, or the
/// reclaimer's.
final class WriterLease: @unchecked Sendable {
  private let lock = Lock()
  /// A lease that was being acquired is held or released again.
  private let changed = ConditionVariable()
  private var machine: LeaseMachine
  private var fileLock: HeldFileLock?

  // What many threads read without `lock`; changed under it. Relaxed: a stale answer only sends a thread to ask again under the
  // writer lock, and what another process has written is ordered by the shared header's own atomics.
  private let held: Atomic<Bool>
  private let announced = Atomic(false)

  /// The counter of the newest record when this process held the lease the last time, or had the store alone. Under the writer
  /// lock, or `lock`.
  let lastOwnRecord = Atomic<UInt64>(0)
  /// The counter of the newest record that this process has read up to. It only grows while the lease is not held.
  let seenRecord: Atomic<UInt64>
  /// The header's count of waiters when this process yielded to them the last time.
  let yieldedTo = Atomic<UInt64>(0)
  /// Whether a timer is set that releases the lease when nothing was written meanwhile. Changed under the writer lock.
  let isTimerSet = Atomic(false)
  /// How many writes came while other processes were attached. The writer's.
  var sharedWrites = 0
  /// How often the tree has begun again from a checkpoint of another process. The writer's.
  var reloads = 0

  /// What the process is called in records, and where these are in memory; 0 and nil where it is not. Every commit uses
  /// them, and many reads; they would count references to what they are of.
  let name: UInt64
  let records: SharedHeader.Memory?
  /// The store's, which lives longer.
  private let attachment: Unmanaged<ProcessAttachment>?

  /// - Parameter isHeld: Whether no other process can have written since the store was read.
  init(isHeld: Bool, _ attachment: ProcessAttachment?, _ page: SharedHeader?, seenRecord: UInt64) {
    machine = LeaseMachine(isHeld ? .held : .released)
    held = Atomic(isHeld)
    fileLock = isHeld ? attachment?.takeInitialLock() : nil
    self.seenRecord = Atomic(seenRecord)
    self.attachment = attachment.map { .passUnretained($0) }
    name = attachment?.name ?? 0
    records = page.flatMap { $0.isThere ? $0.memory : nil }
  }

  /// Whether this process may write. To be relied on under the writer lock only.
  var isHeld: Bool { held.load(ordering: .relaxed) }
  /// Whether the shared header says that this process writes.
  var isAnnounced: Bool { announced.load(ordering: .relaxed) }
  /// Whether the lease may be released. Under the writer lock.
  var mayRelease: Bool { lock.withLock { machine.mayRelease } }
  /// Whether other processes may be attached. Every commit asks.
  var hasOtherProcesses: Bool { attachment?._withUnsafeGuaranteedRef { $0.hasOtherProcesses } ?? false }

  // MARK: Acquiring

  enum Answer {
    case held
    /// The thread that asks is the one that acquires the lease, and ends with `complete` or `abandon`.
    case acquire
    /// Another thread was still acquiring it when the time was over.
    case busy
    case closed
  }

  /// Waits while another thread acquires the lease.
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

  /// The acquiring thread has the file lock.
  func begin(with fileLock: consuming HeldFileLock) {
    lock.lock()
    defer { lock.unlock() }
    self.fileLock = consume fileLock
    machine.handle(.fileLocked)
    announced.store(false, ordering: .relaxed)
  }

  /// The store is up to date. Under the writer lock.
  func complete() {
    lock.withLock {
      machine.handle(.takenOver)
      held.store(true, ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// The lease could not be acquired.
  func abandon() {
    lock.withLock {
      fileLock = nil
      machine.handle(.failed)
      changed.broadcast()
    }
  }

  // MARK: Holding

  /// An operation of several steps needs the lease until it ends or yields. Under the writer lock.
  func beginOperation() { lock.withLock { machine.handle(.operationBegan) } }

  /// Such an operation ends, or yields. Under the writer lock.
  func endOperation() { lock.withLock { machine.handle(.operationEnded) } }

  /// Writes a record to the shared header, where this process may. Any thread.
  ///
  /// - Parameters:
  ///   - isWriter: Whether the thread has the writer lock.
  ///   - write: Returns the record's counter.
  func announce(
    isWriter: Bool, _ write: () throws(FileSystemError) -> UInt64
  ) throws(FileSystemError) {
    lock.lock()
    defer { lock.unlock() }
    guard machine.mayAnnounce(isWriter: isWriter) else { return }
    note(try write())
    machine.handle(.announced)
    announced.store(true, ordering: .relaxed)
  }

  private func note(_ counter: UInt64) {
    lastOwnRecord.store(counter, ordering: .relaxed)
    seenRecord.store(counter, ordering: .relaxed)
  }

  // MARK: Releasing

  /// Releases the lease. Under the writer lock, where `mayRelease`.
  ///
  /// - Parameters:
  ///   - isInOrder: Whether the log is as the next process expects it. Where it is not, or that can't be written, the next
  ///     process takes this one for one that was killed, and recovers the log.
  ///   - write: Writes the record that says so, and returns its counter.
  func release(isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) {
    lock.withLock {
      announceEnd(isInOrder, write)
      fileLock = nil
      machine.handle(.released)
      changed.broadcast()
    }
  }

  /// Ends the lease for good. Under the locks of checkpoints and of the writer.
  ///
  /// - Returns: false where a thread is acquiring it, which needs those locks.
  func close(isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) -> Bool {
    lock.withLock {
      guard machine.after(.closed) != nil else { return false }
      if machine.phase == .held { announceEnd(isInOrder, write) }
      fileLock = nil
      machine.handle(.closed)
      return true
    }
  }

  /// Waits while a thread acquires the lease.
  func waitForAcquisition() {
    lock.lock()
    defer { lock.unlock() }
    while machine.phase == .waiting || machine.phase == .takingOver { changed.wait(lock) }
  }

  /// The record comes before the release of the file lock: after it, it could follow those of the next process.
  private func announceEnd(_ isInOrder: Bool, _ write: () throws(FileSystemError) -> UInt64) {
    if machine.isAnnounced, isInOrder, let counter = try? write() { note(counter) }
    held.store(false, ordering: .relaxed)
  }
}
