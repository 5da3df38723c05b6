@testable import HeartwoodEngine

/// Several processes with several threads that write one store, reduced to what the writer lease is for: who has the file lock, what
/// the newest record of the shared header says, and which commits the log has.
///
/// Every step is one that a thread of the engine takes without another of its process, or of another process, coming between; a
/// process can be killed before each of them. The lease's transitions and the decision at takeover are the engine's own
/// (`LeaseMachine`); the locks, the log and the header are modelled here. `LeaseModelTests` visits all states.
struct LeaseModel: Hashable {
  /// Deliberate flaws in the protocol, which the model must detect.
  enum Flaw: CaseIterable {
    /// The state says released before the file lock is.
    case clearsLeaseBeforeUnlock
    /// The record that says released comes after the file lock was released.
    case announcesReleaseAfterUnlock
    /// A file is changed before the header says that this process writes.
    case writesUnannounced
    /// A process that was killed while it wrote is taken for one that has released the lease.
    case refreshesFromTheDead
    /// Another process's commits are not read before writing.
    case resumesWithoutRefresh
    /// The lease is released while a commit is not published yet.
    case releasesUnpublished
    /// The lease is released in the middle of an operation that needs it.
    case forgetsOperations
    /// A thread that has waited for the writer lock does not look whether the lease is still held.
    case trustsLeaseOfBefore
    /// A process that opens the store answers from the newest record, also if its writer has ended.
    case opensWithoutSettling
    /// A process does not say that it acquires the file lock.
    case acquiresSilently
    /// A process that opens the store does not look whether the record is still the newest.
    case trustsRecordOfBefore

    /// Whether it concerns processes that open the store.
    var isOfOpenings: Bool {
      switch self {
      case .opensWithoutSettling, .acquiresSilently, .trustsRecordOfBefore: true
      default: false
      }
    }
  }

  /// A process that opens the store, and answers how many commits it has.
  struct Opener: Hashable {
    enum Step: Hashable {
      case begin, readRecord, lookAtLock, lookForSuccessors, decide, done
    }

    var step = Step.begin
    /// The processes that had ended before, as bits.
    var ended = 0
    var record = Record()
    var isFileLockFree = false
    var hasSuccessor = false
  }

  struct Record: Hashable {
    var counter: UInt64 = 0
    var isHeld = false
    var isRecovering = false
    var end = 0
  }

  /// The next step of a thread.
  enum Step: Hashable {
    case request, lockFile, lockWriterToTakeOver, takeOver, announceRecovery, findEnd, publishRecovery,
      complete
    case lockWriter, announce, beginFrame, endFrame, publish, writeRecord
    case lockWriterToRelease, recordRelease, unlockFile, done
    // Steps of an operation that keeps the lease between them.
    case beginOperation, lockWriterInOperation, endOperation
  }

  struct Thread: Hashable {
    var step = Step.request
    var commitsLeft: Int
    /// Keeps the lease between two steps, as a checkpoint does.
    var isOperation = false
    var hasBegun = false
    var acknowledged = 0
  }

  struct Process: Hashable {
    var isAlive = true
    var machine = LeaseMachine()
    var lastOwn: UInt64 = 0
    /// Whether the shared header says that the process acquires the file lock.
    var isSucceeding = false
    /// The number of commits of the log that the process knows.
    var known = 0
    var published = 0
    /// The thread that holds the writer lock, and the thread that holds the lease's lock.
    var writer: Int?
    var leaseLock: Int?
    var threads: [Thread]
  }

  var fileLock: Int?
  var record = Record()
  /// The writer of each commit: process and thread.
  var log: [Int] = []
  /// The last frame of the log is half written.
  var isTorn = false
  var killsLeft: Int
  var processes: [Process]
  /// Nil if no process opens the store.
  var opener: Opener?
  /// States that must never occur.
  var violation: String?

  init(
    processes: Int, threads: Int, commits: Int, kills: Int, operations: Bool = false, opens: Bool = false
  ) {
    killsLeft = kills
    opener = opens ? Opener() : nil
    self.processes = (0..<processes).map { _ in
      Process(
        threads: (0..<threads).map { Thread(commitsLeft: commits, isOperation: operations && $0 == 0) })
    }
  }

  var isOver: Bool {
    processes.allSatisfy { !$0.isAlive || $0.threads.allSatisfy { $0.step == .done } }
  }

  /// All states after one step.
  func successors(_ flaw: Flaw?) -> [LeaseModel] {
    var found: [LeaseModel] = []
    for process in processes.indices where processes[process].isAlive {
      for thread in processes[process].threads.indices {
        if let next = after(process, thread, flaw) { found.append(next.checked()) }
      }
      if killsLeft > 0 { found.append(killing(process).checked()) }
    }
    if let opener, let next = after(opener, flaw) { found.append(next) }
    return found
  }

  // MARK: Opening

  /// The state after the next step of the process that opens the store; nil when it has answered.
  private func after(_ opener: Opener, _ flaw: Flaw?) -> LeaseModel? {
    var (next, opener) = (self, opener)
    switch opener.step {
    case .begin:
      for (number, process) in processes.enumerated() where !process.isAlive { opener.ended |= 1 << number }
      opener.step = .readRecord
    case .readRecord:
      opener.record = record
      opener.step = .lookAtLock
    case .lookAtLock:
      opener.isFileLockFree = fileLock == nil
      opener.step = .lookForSuccessors
    case .lookForSuccessors:
      opener.hasSuccessor = processes.contains { $0.isSucceeding }
      opener.step = .decide
    case .decide:
      let isNewest = opener.record == record || flaw == .trustsRecordOfBefore
      let settling = LeaseMachine.settling(
        isHeld: opener.record.isHeld,
        isRecovering: opener.record.isRecovering,
        isFileLockFree: opener.isFileLockFree, hasSuccessor: opener.hasSuccessor, isNewest: isNewest)
      switch flaw == .opensWithoutSettling ? .isSettled : settling {
      case .isSettled: next.answer(opener.record.end, opener)
      // It recovers the log, or reads what a recovery adopts. If another is faster, it looks again.
      case .isAbandoned where fileLock == nil: next.answer(log.count, opener)
      case .isAbandoned, .isOpen:
        next.opener?.step = .readRecord
        return next
      }
      opener.step = .done
    case .done: return nil
    }
    next.opener = opener
    return next
  }

  private mutating func answer(_ count: Int, _ opener: Opener) {
    for writer in log.dropFirst(count) where opener.ended & 1 << (writer / 16) != 0 {
      violation =
        "an opening answers \(count), without a commit of process \(writer / 16), which had ended before"
    }
  }

  private func killing(_ process: Int) -> LeaseModel {
    var next = self
    next.killsLeft -= 1
    next.processes[process].isAlive = false
    // The system releases the locks of the process.
    if next.fileLock == process { next.fileLock = nil }
    return next
  }

  // MARK: Invariants

  private func checked() -> LeaseModel {
    var next = self
    for (number, process) in processes.enumerated() where process.isAlive {
      let writes = process.machine.phase == .held || process.machine.phase == .takingOver
      if writes, fileLock != number { next.violation = "process \(number) writes without the file lock" }
      for (index, thread) in process.threads.enumerated() {
        let found = log.lazy.filter { $0 == number * 16 + index }.count
        if found < thread.acknowledged { next.violation = "an acknowledged commit is lost" }
      }
    }
    return next
  }

  /// A frame is written after the end that the process knows. Any frame there is lost.
  private mutating func beginFrame(_ process: Int) {
    let known = processes[process].known
    if isTorn || known != log.count {
      violation = "process \(process) writes over \(log.count - known) frames"
    }
    if known < record.end { violation = "process \(process) writes over what readers have read" }
    log = Array(log.prefix(known))
    isTorn = true
  }

  // MARK: Steps

  /// The state after the next step of a thread, or nil if the thread waits.
  private func after(_ number: Int, _ index: Int, _ flaw: Flaw?) -> LeaseModel? {
    var next = self
    let process = processes[number]
    switch process.threads[index].step {
    case .request:
      guard process.leaseLock == nil else { return nil }
      switch process.machine.phase {
      case .held: next.go(number, index, .lockWriter)
      case .released:
        next.handle(.request, number)
        // Read by openings only.
        next.processes[number].isSucceeding = opener != nil && flaw != .acquiresSilently
        next.go(number, index, .lockFile)
      default: return nil
      }
    case .lockFile:
      // The system grants the lock to a process that holds it already.
      guard fileLock == nil || fileLock == number else { return nil }
      next.fileLock = number
      next.handle(.fileLocked, number)
      next.go(number, index, .lockWriterToTakeOver)
    case .lockWriterToTakeOver:
      guard process.writer == nil else { return nil }
      next.processes[number].writer = index
      next.go(number, index, .takeOver)
    case .takeOver: next.takeOver(number, index, flaw)
    case .announceRecovery:
      next.writeRecord(number, isHeld: true, end: record.end, isOwn: false, isRecovering: true)
      next.go(number, index, .findEnd)
    case .findEnd:
      // An incomplete frame is ignored.
      next.isTorn = false
      next.processes[number].known = log.count
      next.processes[number].published = log.count
      next.go(number, index, .publishRecovery)
    case .publishRecovery:
      next.writeRecord(number, isHeld: true, end: process.published)
      next.handle(.announced, number)
      next.go(number, index, .complete)
    case .complete:
      next.handle(.takenOver, number)
      next.processes[number].writer = nil
      next.processes[number].isSucceeding = false
      next.go(number, index, .lockWriter)
    default: return afterHeld(number, index, flaw)
    }
    return next
  }

  private mutating func takeOver(_ number: Int, _ index: Int, _ flaw: Flaw?) {
    var takeover = LeaseMachine.takeover(
      counter: record.counter, isHeld: record.isHeld, lastOwn: processes[number].lastOwn)
    if flaw == .refreshesFromTheDead, takeover == .recover { takeover = .refresh }
    if flaw == .resumesWithoutRefresh, takeover == .refresh { takeover = .resume }
    switch takeover {
    case .resume: go(number, index, .complete)
    case .refresh:
      processes[number].known = record.end
      processes[number].published = record.end
      go(number, index, .complete)
    case .recover: go(number, index, .announceRecovery)
    }
  }

  private func afterHeld(_ number: Int, _ index: Int, _ flaw: Flaw?) -> LeaseModel? {
    var next = self
    let process = processes[number]
    let thread = process.threads[index]
    switch thread.step {
    case .lockWriter:
      guard process.writer == nil else { return nil }
      guard process.machine.phase == .held || flaw == .trustsLeaseOfBefore else {
        next.go(number, index, .request)
        break
      }
      next.processes[number].writer = index
      let isAnnounced = process.machine.isAnnounced || flaw == .writesUnannounced
      next.go(
        number, index, thread.isOperation ? .beginOperation : isAnnounced ? .beginFrame : .announce)
    case .beginOperation:
      next.handle(.operationBegan, number)
      next.processes[number].writer = nil
      next.processes[number].threads[index].hasBegun = true
      next.go(number, index, .lockWriterInOperation)
    case .lockWriterInOperation:
      guard process.writer == nil else { return nil }
      next.processes[number].writer = index
      next.go(number, index, process.machine.isAnnounced ? .beginFrame : .announce)
    case .announce:
      guard process.leaseLock == nil else { return nil }
      next.announce(number)
      next.go(number, index, .beginFrame)
    case .beginFrame:
      next.beginFrame(number)
      next.go(number, index, .endFrame)
    case .endFrame:
      next.isTorn = false
      next.log.append(number * 16 + index)
      next.processes[number].known += 1
      next.processes[number].writer = nil
      next.go(number, index, .publish)
    case .publish:
      // A sync covers everything that was written before it.
      next.processes[number].published = process.known
      next.go(number, index, .writeRecord)
    default: return afterPublished(number, index, flaw)
    }
    return next
  }

  private func afterPublished(_ number: Int, _ index: Int, _ flaw: Flaw?) -> LeaseModel? {
    var next = self
    let process = processes[number]
    let thread = process.threads[index]
    switch thread.step {
    case .writeRecord:
      guard process.leaseLock == nil else { return nil }
      if process.machine.mayAnnounce(isWriter: false) { next.announce(number) }
      next.processes[number].threads[index].acknowledged += 1
      next.go(number, index, thread.isOperation ? .endOperation : .lockWriterToRelease)
    case .endOperation:
      guard process.writer == nil else { return nil }
      next.handle(.operationEnded, number)
      next.go(number, index, .lockWriterToRelease)
    case .lockWriterToRelease:
      guard process.writer == nil, process.leaseLock == nil else { return nil }
      let isFree = process.machine.operations == 0 || flaw == .forgetsOperations
      let isPublished = process.published == process.known || flaw == .releasesUnpublished
      guard process.machine.phase == .held, isFree, isPublished else {
        next.finishCommit(number, index)
        break
      }
      (next.processes[number].writer, next.processes[number].leaseLock) = (index, index)
      next.go(
        number, index,
        flaw == .announcesReleaseAfterUnlock || flaw == .clearsLeaseBeforeUnlock
          ? .unlockFile : .recordRelease)
      if flaw == .clearsLeaseBeforeUnlock {
        if process.machine.isAnnounced { next.writeRecord(number, isHeld: false, end: process.published) }
        next.release(number)
        next.processes[number].leaseLock = nil
      }
    case .recordRelease:
      if process.machine.isAnnounced { next.writeRecord(number, isHeld: false, end: process.published) }
      if flaw == .announcesReleaseAfterUnlock {
        next.endRelease(number, index)
      } else {
        next.go(number, index, .unlockFile)
      }
    case .unlockFile:
      if fileLock == number { next.fileLock = nil }
      switch flaw {
      case .clearsLeaseBeforeUnlock:
        next.processes[number].writer = nil
        next.finishCommit(number, index)
      case .announcesReleaseAfterUnlock:
        let isAnnounced = process.machine.isAnnounced
        next.release(number)
        if isAnnounced { next.go(number, index, .recordRelease) } else { next.endRelease(number, index) }
      default:
        next.release(number)
        next.endRelease(number, index)
      }
    default: return nil
    }
    return next
  }

  private mutating func endRelease(_ number: Int, _ index: Int) {
    (processes[number].writer, processes[number].leaseLock) = (nil, nil)
    finishCommit(number, index)
  }

  private mutating func release(_ number: Int) {
    // In a flaw only: the engine does not release a lease that an operation needs.
    while processes[number].machine.operations > 0 { handle(.operationEnded, number) }
    handle(.released, number)
  }

  private mutating func announce(_ number: Int) {
    writeRecord(number, isHeld: true, end: processes[number].published)
    handle(.announced, number)
  }

  private mutating func writeRecord(
    _ number: Int, isHeld: Bool, end: Int, isOwn: Bool = true, isRecovering: Bool = false
  ) {
    if end < record.end {
      violation = "the header of process \(number) goes back from \(record.end) to \(end)"
    }
    record = Record(counter: record.counter + 1, isHeld: isHeld, isRecovering: isRecovering, end: end)
    if isOwn { processes[number].lastOwn = record.counter }
  }

  private mutating func finishCommit(_ number: Int, _ index: Int) {
    processes[number].threads[index].commitsLeft -= 1
    go(number, index, processes[number].threads[index].commitsLeft > 0 ? .request : .done)
  }

  private mutating func handle(_ event: LeaseMachine.Event, _ number: Int) {
    if let next = processes[number].machine.after(event) {
      processes[number].machine = next
    } else {
      violation = "a lease that is \(processes[number].machine.phase) has no \(event)"
    }
  }

  private mutating func go(_ number: Int, _ index: Int, _ step: Step) {
    processes[number].threads[index].step = step
  }
}
