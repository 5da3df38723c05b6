import HeartwoodBytes

/// The states of a process's writer lease and their transitions.
///
/// ```
///            request             fileLocked              takenOver
/// released ───────────▶ waiting ────────────▶ takingOver ───────────▶ held
///    ▲                     │                       │                   │
///    ├────────failed───────┴───────────────────────┘                   │
///    └──────────────────────────released───────────────────────────────┘
/// ```
///
/// A value without locks, files and time: a test visits all of its states, and the model of several processes
/// (`LeaseModelTests`) runs the same transitions. `WriterLease` guards it and performs the effects.
///
/// Invariants:
/// - The process holds the file lock in `takingOver` and `held`, and in no other phase except at the end of
///   `waiting`.
/// - At most one thread is between `request` and `takenOver` or `failed`; other threads wait for it.
/// - The shared header is written only in `held`, and in `takingOver` by the thread that takes over.
struct LeaseMachine: Hashable, Sendable {
  enum Phase: Hashable, Sendable, CaseIterable {
    /// Another process may write the store.
    case released
    /// A thread of this process waits for the file lock.
    case waiting
    /// That thread holds the file lock and refreshes or recovers the store.
    case takingOver
    /// Any thread of this process may write the store, under the writer lock.
    case held
    /// The store is closed.
    case closed
  }

  enum Event: Hashable, Sendable, CaseIterable {
    /// A thread wants to write, and acquires the lease.
    case request
    /// The thread holds the file lock.
    case fileLocked
    /// The store is up to date.
    case takenOver
    /// The lease could not be acquired; the file lock is released.
    case failed
    /// The shared header names this process as the writer.
    case announced
    /// An operation of several steps begins. The lease must not be released between the steps.
    case operationBegan
    /// Such an operation ends or yields.
    case operationEnded
    /// The file lock is released.
    case released
    case closed
  }

  private(set) var phase: Phase
  /// Number of operations of several steps in progress.
  private(set) var operations = 0
  /// Whether the shared header names this process as the writer. Required before the process changes a file:
  /// if it is killed, other processes otherwise assume that the log is intact.
  private(set) var isAnnounced = false

  init(_ phase: Phase = .released) { self.phase = phase }

  /// Whether the lease may be released now. The log must also be in order.
  var mayRelease: Bool { phase == .held && operations == 0 }

  /// Whether a thread may write the shared header. Not while another thread takes over, because the log state
  /// in memory may then be older than the header.
  ///
  /// - Parameter isWriter: Whether the thread holds the writer lock.
  func mayAnnounce(isWriter: Bool) -> Bool { phase == .held || (phase == .takingOver && isWriter) }

  /// The state after an event; nil if the event cannot happen in this phase.
  func after(_ event: Event) -> LeaseMachine? {
    var next = self
    switch (event, phase) {
    case (.request, .released): next.phase = .waiting
    case (.fileLocked, .waiting): (next.phase, next.isAnnounced) = (.takingOver, false)
    case (.takenOver, .takingOver): next.phase = .held
    case (.failed, .waiting), (.failed, .takingOver): next.phase = .released
    case (.announced, .takingOver), (.announced, .held): next.isAnnounced = true
    case (.operationBegan, _): next.operations += 1
    case (.operationEnded, _) where operations > 0: next.operations -= 1
    case (.released, .held) where operations == 0: next.phase = .released
    case (.closed, .released), (.closed, .held), (.closed, .closed): next.phase = .closed
    default: return nil
    }
    return next
  }

  /// Changes to the state after an event.
  mutating func handle(_ event: Event) {
    guard let next = after(event) else {
      programError("A writer lease that is \(phase) with \(operations) operations has no \(event).")
    }
    self = next
  }

  /// The step that a process must perform after it acquires the file lock and before it writes.
  enum Takeover: Hashable, Sendable {
    /// Nothing: no other process has written since.
    case resume
    /// Apply the frames up to the end that the newest record names.
    case refresh
    /// Recover the log: the last writer ended before it released the lease.
    case recover
  }

  /// The step that a process must take before it answers from the end of the log that the newest record names. A transaction beyond that
  /// end, of a writer that has ended, is adopted by the next writer: an answer without it would not be the last word.
  enum Settling: Hashable, Sendable {
    /// Nothing: the record names everything that is adopted.
    case isSettled
    /// Recover the log, or read what a recovery adopts: the writer has ended.
    case isAbandoned
    /// Look again: another process recovers the log, or may be about to.
    case isOpen
  }

  /// A process that wants to acquire the file lock says so before, until it has written a record or given up. So a process that holds the file
  /// lock, while none says so, is the writer of the newest record.
  ///
  /// - Parameters:
  ///   - isHeld: Whether the newest record says that another process holds the lease.
  ///   - isRecovering: Whether it says that this process recovers the log.
  ///   - isFileLockFree: Whether no process holds the file lock. Found out after the record was read.
  ///   - hasSuccessor: Whether a process says that it acquires the file lock. Found out after `isFileLockFree`.
  ///   - isNewest: Whether the record is still the newest one. Found out last.
  static func settling(
    isHeld: Bool, isRecovering: Bool, isFileLockFree: Bool, hasSuccessor: Bool, isNewest: Bool
  ) -> Settling {
    guard isHeld else { return .isSettled }
    guard isNewest else { return .isOpen }
    if isFileLockFree { return .isAbandoned }
    return isRecovering || hasSuccessor ? .isOpen : .isSettled
  }

  /// - Parameters:
  ///   - counter: Counter of the newest record in the shared header; nil if there is none.
  ///   - isHeld: Whether that record says that its process holds the lease.
  ///   - lastOwn: Counter of the last record that this process wrote, or found when it had the store
  ///     exclusively.
  static func takeover(counter: UInt64?, isHeld: Bool, lastOwn: UInt64) -> Takeover {
    guard let counter else { return .recover }
    if counter == lastOwn { return .resume }
    return isHeld ? .recover : .refresh
  }
}
