import HeartwoodBytes

/// The states of a process's writer lease, and what each event makes of them.
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
/// (`LeaseModelTests`) runs these very transitions. `WriterLease` guards it and does what follows from it.
///
/// Invariants:
/// - The process has the file lock in `takingOver` and `held`, and in no other phase but at the end of `waiting`.
/// - One thread at a time is between `request` and `takenOver` or `failed`; the others wait for it.
/// - The shared header is written in `takingOver`, by the thread that takes over, and in `held`.
struct LeaseMachine: Hashable, Sendable {
  enum Phase: Hashable, Sendable, CaseIterable {
    /// Another process may write the store.
    case released
    /// A thread of this process waits for the file lock.
    case waiting
    /// That thread has the file lock and brings the store up to what other processes have written.
    case takingOver
    /// Any thread of this process may write the store, under the writer lock.
    case held
    /// The store is closed.
    case closed
  }

  enum Event: Hashable, Sendable, CaseIterable {
    /// A thread wants to write and is the one that acquires the lease.
    case request
    /// It has the file lock.
    case fileLocked
    /// The store is up to date.
    case takenOver
    /// The lease could not be acquired; the file lock is released.
    case failed
    /// The shared header says that this process writes.
    case announced
    /// An operation of several steps begins, between which the lease must not be released.
    case operationBegan
    /// Such an operation has ended, or yields.
    case operationEnded
    /// The file lock is released.
    case released
    case closed
  }

  private(set) var phase: Phase
  /// How many operations of several steps are under way.
  private(set) var operations = 0
  /// Whether the shared header says that this process writes. Before it changes a file it has to: were it killed, the others
  /// would take the log for one in order.
  private(set) var isAnnounced = false

  init(_ phase: Phase = .released) { self.phase = phase }

  /// Whether the lease may be released now; the log must be in order besides.
  var mayRelease: Bool { phase == .held && operations == 0 }

  /// Whether a thread may write the shared header. Not while another one takes over: what is known of the log then may be
  /// older than what the header says.
  ///
  /// - Parameter isWriter: Whether it has the writer lock.
  func mayAnnounce(isWriter: Bool) -> Bool { phase == .held || (phase == .takingOver && isWriter) }

  /// The state after an event; nil where the event cannot happen.
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

  /// Goes on to the state after an event.
  mutating func handle(_ event: Event) {
    guard let next = after(event) else {
      programError("A writer lease that is \(phase) with \(operations) operations has no \(event).")
    }
    self = next
  }

  /// What a process that has just got the file lock has to do before it writes.
  enum Takeover: Hashable, Sendable {
    /// Nothing: no other process has written since.
    case resume
    /// Read what others have written up to the end that the newest record names.
    case refresh
    /// Find the end of the log as after a crash: the process that wrote last has ended before it released the lease.
    case recover
  }

  /// - Parameters:
  ///   - counter: That of the newest record in the shared header; nil where there is none.
  ///   - isHeld: Whether that record says that its process writes.
  ///   - lastOwn: The counter of the last record that this process has written, or found when it had the store alone.
  static func takeover(counter: UInt64?, isHeld: Bool, lastOwn: UInt64) -> Takeover {
    guard let counter else { return .recover }
    if counter == lastOwn { return .resume }
    return isHeld ? .recover : .refresh
  }
}
