import HeartwoodFiles
import Synchronization

/// Which of the processes that have a store open writes to it: the one that leads.
///
/// It keeps the lock from one write to the next as long as nobody else is there, and for a moment only where nothing more
/// is written; where others are there, it lets go after every write. Whoever leads next first takes up what was written
/// since; where the one before has ended without letting go, it brings the log in order as an opening after a crash does.
///
/// Order of the locks: reclaimer, `leading.taking`, checkpoints, writer.
final class Leading: @unchecked Sendable {
  /// Held by the thread that takes the lead.
  let taking = Lock()
  /// Whether this process leads; changed under the writer lock.
  let isOn: Atomic<Bool>
  /// Whether others have been told that this process leads.
  let hasTold = Atomic(false)
  /// The writer's.
  var writesInCompany = 0
  /// The writer's: how many tasks need the lead until they end, or give way.
  var tasks = 0
  /// The writer's: how often the tree has begun anew from a checkpoint of another process.
  var adoptions = 0
  /// Whether somebody looks after a while whether more was written; changed under the writer lock.
  let isWatched = Atomic(false)
  /// How often others had called when this process gave way the last time.
  let calls = Atomic<UInt64>(0)
  /// The counter of the newest record when this process led the last time, or had the store alone.
  let led = Atomic<UInt64>(0)
  /// The counter of the newest record that is known here.
  let seen = Atomic<UInt64>(0)
  /// Held while a record is written, so that none comes after the lock was let go of.
  let recording = Lock()
  /// What the process is called in records, and where these are in memory; 0 and nil where it is not. Every commit uses
  /// them, and many reads; they would count references to what they are of.
  let name: UInt64
  let records: ProcessPage.Memory?

  /// The store's, which lives longer.
  private let membership: Unmanaged<Membership>?

  init(isOn: Bool, _ membership: Membership?, _ page: ProcessPage?) {
    self.isOn = Atomic(isOn)
    self.membership = membership.map { .passUnretained($0) }
    name = membership?.name ?? 0
    records = page.flatMap { $0.isThere ? $0.memory : nil }
  }

  /// Whether others may be there. Every commit asks.
  var hasCompany: Bool { membership?._withUnsafeGuaranteedRef { $0.hasCompany } ?? false }
}

extension OpenStore {
  /// Runs `body` as the one who writes, while holding the writer lock.
  func withWriterLeading<Result, Failure: Error>(
    orThrow wrapped: (EngineError) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    while true {
      do throws(EngineError) { try lead() } catch { throw wrapped(error) }
      let result = try writer.withLock(orThrow: wrapped) { () throws(Failure) -> Result? in
        // The lead may have been let go of in between.
        membership == nil || (leading.isOn.load(ordering: .relaxed) && !hasGivenWay()) ? try body() : nil
      }
      if let result { return result }
    }
  }

  /// Lets go where others wait: threads that write all the time would leave no moment at which everything is published.
  /// Under the writer lock.
  private func hasGivenWay() -> Bool {
    guard leading.hasCompany, let membership, hasCalls(membership) != nil, leading.tasks == 0,
      (try? commits.drain()) != nil
    else { return false }
    letGo(membership)
    return !leading.isOn.load(ordering: .relaxed)
  }

  /// How often others have called, if any has since this process gave way.
  private func hasCalls(_ membership: Membership) -> UInt64? {
    guard let calls = try? membership.page.callCount(), calls != leading.calls.load(ordering: .relaxed) else {
      return nil
    }
    return calls
  }

  /// Runs `body`, a task of several steps, as the one who writes. Holds no lock. Other processes do not write meanwhile,
  /// unless the task gives way.
  func withLead<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    guard membership != nil else {
      // Asked here so that a task inside a write is an error and not a wait for itself.
      try writer.withLock {}
      return try body()
    }
    try withWriterLeading(orThrow: { $0 }) { () throws(EngineError) in leading.tasks += 1 }
    defer {
      writer.withLockInBackground {
        leading.tasks -= 1
        watchOrLetGo()
      }
    }
    return try body()
  }

  /// Lets others write between two steps of a task, where they wait for it. With no lock but the reclaimer's.
  ///
  /// - Returns: whether another process has taken a checkpoint meanwhile, which the tree begins from now.
  /// - Throws: `.locked` where one goes on to for all of `busyTimeout`; the task is to end then.
  func giveWay() throws(EngineError) -> Bool {
    guard let membership, leading.hasCompany, hasCalls(membership) != nil else { return false }
    let before = try writer.withLock { () throws(EngineError) in
      leading.tasks -= 1
      _ = hasGivenWay()
      return leading.adoptions
    }
    do {
      return try withWriterLeading(orThrow: { $0 }) { () throws(EngineError) in
        leading.tasks += 1
        return leading.adoptions > before
      }
    } catch {
      // For the end of the task.
      writer.withLockInBackground { leading.tasks += 1 }
      throw error
    }
  }

  /// Sees to it that this process leads. With no locks, or with the writer lock where it does.
  func lead() throws(EngineError) {
    guard !leading.isOn.load(ordering: .relaxed), !writer.isHeldHere, let membership else { return }
    try leading.taking.withLock { () throws(EngineError) in
      guard !leading.isOn.load(ordering: .relaxed) else { return }
      try status.checkWritable()
      try waitForLock(membership)
      do throws(EngineError) {
        try takingUp { () throws(EngineError) in try takeOver(membership) }
      } catch {
        try? membership.letGo()
        throw error
      }
    }
  }

  private func waitForLock(_ membership: Membership) throws(EngineError) {
    giveOthersTime(membership)
    var patience = Patience(seconds: options.busyTimeout)
    var attempts = 0
    do {
      repeat {
        if try membership.tryLead() { return }
        // Now and then: it may have given way for a moment that this process has missed.
        if attempts % Self.attemptsByCall == 0 { try membership.page.noteCall() }
        attempts += 1
      } while patience.wait()
    } catch {
      throw EngineError.files(error, "the store could not be locked")
    }
    throw Membership.busy(
      path, "another process is writing, and has been for \(options.busyTimeout) seconds; try again")
  }

  /// Who asks for the lead in vain tries again after a pause; this process would have taken it back by then.
  private func giveOthersTime(_ membership: Membership) {
    guard let calls = hasCalls(membership) else { return }
    leading.calls.store(calls, ordering: .relaxed)
    var patience = Patience(seconds: Self.timeForOthers)
    while (try? membership.page.newest())?.leader == membership.name, patience.wait() {}
  }

  /// Longer than the longest pause.
  private static let timeForOthers = 0.005
  /// Some 50 milliseconds.
  private static let attemptsByCall = 32

  // MARK: Taking over

  /// Under the locks of checkpoints and of the writer.
  private func takeOver(_ membership: Membership) throws(EngineError) {
    try status.checkWritable()
    try folder.checkIsInPlace()
    let record = try newestRecord(membership.page)
    var hasRecovered = false
    if let record, hasLedLast(record) {
      // Nobody has led meanwhile.
    } else if let record, isInOrder(record) {
      try CatchUp(store: self, end: record.end, durable: record.durable).run()
      #if DELIBERATE_BUGS
        if !DeliberateBug.isOn(.reusesNumbersOfOthers) { numbers.raise(to: record.nextSegment) }
      #else
        numbers.raise(to: record.nextSegment)
      #endif
      let slot = try anchor.reload(folder).slot
      try makeDurable(slot)
      try takeCheckpointOfOthers(slot)
    } else {
      try recover(record)
      hasRecovered = true
    }
    try log.resume()
    leading.hasTold.store(false, ordering: .relaxed)
    leading.isOn.store(true, ordering: .relaxed)
    do throws(EngineError) {
      if hasRecovered { try publishRecord() }
      #if DELIBERATE_BUGS
        if DeliberateBug.isOn(.keepsTreeOfOldCheckpoint) { foreign = .none }
      #endif
      if case .checkpoint(let checkpoint) = foreign { try adopt(checkpoint) }
    } catch {
      leading.isOn.store(false, ordering: .relaxed)
      throw error
    }
  }

  private func hasLedLast(_ record: ProcessRecord) -> Bool {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.writesBehindOthersUnseen) { return true }
    #endif
    return record.counter == leading.led.load(ordering: .relaxed)
  }

  /// Whether the one that led has let go of the log as it is to be.
  private func isInOrder(_ record: ProcessRecord) -> Bool {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.takesDeadLeaderForOrderly) { return true }
    #endif
    return !record.isHeld && record.identifier == log.identifier
  }

  /// Makes up for a process that writes without syncs.
  private func makeDurable(_ slot: AnchorSlot) throws(EngineError) {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.leavesFilesUnsynced) { return }
    #endif
    if slot.isUnsynced, options.durability != .none { try folder.syncEverything() }
  }

  /// The tree begins anew where others have written pages: from the newest checkpoint of theirs, or from the last one that
  /// is known where this process has put pages behind it that no checkpoint names, as theirs may lie there now.
  private func takeCheckpointOfOthers(_ slot: AnchorSlot) throws(EngineError) {
    guard case .none = foreign else { return }
    if let position = slot.checkpoint, position.rawValue > lastCheckpoint?.position.rawValue ?? 0 {
      foreign = .checkpoint(try NamedCheckpoint.named(by: slot, in: log.segments, folder: folder))
    } else if hasUnnamedPages {
      foreign = .checkpoint(lastCheckpoint)
    }
  }

  private var hasUnnamedPages: Bool {
    #if DELIBERATE_BUGS
      if DeliberateBug.isOn(.keepsPagesWrittenOver) { return false }
    #endif
    return !pages.has(lastCheckpoint?.pageSegments ?? [])
  }

  /// Whoever led has ended in the middle of it.
  private func recover(_ record: ProcessRecord?) throws(EngineError) {
    try tellRecovering(record)
    let contents = try anchor.reload(folder)
    try makeDurable(contents.slot)
    let found = try Opening(path, options, fileSystem).find(folder, anchor, contents, endsAsSaid: false)
    numbers.raise(to: found.next)
    let end = found.log.end
    let adoption = try Adoption(
      self, found.checkpoint, found.log.segments, end: end, durable: end)
    pages.seal()
    guard end.generation > generations.tip.generation else {
      guard end.generation == generations.tip.generation else {
        throw EngineError.damaged(
          "transactions that were there are not any more; close the store and open it again", file: path)
      }
      return adoption.takeLogOnly()
    }
    try adoption.run()
  }

  /// Before any file is changed: whoever led must not go on as if nothing had happened, should this process end in the middle.
  private func tellRecovering(_ record: ProcessRecord?) throws(EngineError) {
    guard var record, let membership else { return }
    (record.leader, record.isHeld) = (leading.name, true)
    do {
      _ = try leading.recording.withLock { () throws(FileSystemError) in try membership.page.write(record) }
    } catch {
      throw EngineError.files(error, "other processes could not be told that the store is recovered")
    }
  }

  /// Begins anew from a checkpoint of another process, by an empty transaction of the store's own.
  private func adopt(_ checkpoint: NamedCheckpoint?) throws(EngineError) {
    let (adoption, bytes, generation) = try writeHoldingLock(isForced: true) {
      (transaction) throws(EngineError) -> (Adoption, Int, UInt64) in
      let adoption = try Adoption(
        self, checkpoint, log.segments, end: transaction.start, durable: log.durable)
      return (adoption, try adoption.begin(), transaction.number)
    }
    adoption.end(bytes, generation: generation)
  }

  // MARK: Letting go

  /// The store was opened with nobody else there: from here on others may come, and lead.
  func letOthersIn() throws(EngineError) {
    guard let membership else { return }
    do throws(FileSystemError) {
      let record = try membership.page.newest()
      if let record { leading.led.store(record.counter, ordering: .relaxed) }
      // Whoever called before has gone.
      leading.calls.store(try membership.page.callCount(), ordering: .relaxed)
      let isKnown = record.map {
        !$0.isHeld && $0.identifier == log.identifier && $0.end == log.end && $0.durable == durableForOthers
          && $0.nextSegment == numbers.upcoming
      }
      if isKnown != true { try self.record(isHeld: true) }
      guard options.sharing == .processes, membership.page.isThere else { return }
      try membership.settle()
    } catch {
      throw EngineError.files(error, "the store could not be opened to other processes")
    }
    writer.withLockInBackground { letGo(membership) }
  }

  /// After a write, when it is published: others may write now, or soon. Under the writer lock.
  func watchOrLetGo() {
    guard let membership, options.sharing == .processes, membership.page.isThere,
      leading.isOn.load(ordering: .relaxed)
    else { return }
    if membership.hasCompany { lookForCompany(membership) }
    guard let seconds = options.idleSeconds, !membership.hasCompany else { return letGo(membership) }
    if !leading.isWatched.exchange(true, ordering: .relaxed) { watch(seconds) }
  }

  /// Now and then: whoever was there may have gone.
  private func lookForCompany(_ membership: Membership) {
    leading.writesInCompany += 1
    guard leading.writesInCompany % 64 == 0, (try? membership.tryBeAlone()) == true else { return }
    try? membership.settle()
  }

  private func watch(_ seconds: Double) {
    let written = log.appendedBytes
    options.worker.submit(afterSeconds: seconds) { [weak self] in
      guard let self, let membership else { return }
      writer.withLockInBackground {
        if self.log.appendedBytes == written, self.leading.isOn.load(ordering: .relaxed) {
          self.letGo(membership)
        }
        if self.leading.isOn.load(ordering: .relaxed) { return self.watch(seconds) }
        self.leading.isWatched.store(false, ordering: .relaxed)
      }
    }
  }

  /// Lets others lead, unless something is under way. Under the writer lock.
  func letGo(_ membership: Membership) {
    guard leading.tasks == 0, status.isStopped || commits.isEmpty else { return }
    log.zeros.stop()
    // The anchor has to name the newest checkpoint, as pages are appended behind those; and what lies behind the end of the
    // log has to be zeros, as it goes on there.
    let isNamed = lastCheckpoint?.position == newestCheckpoint?.position
    let isInOrder = !status.isStopped && isNamed && (!log.mustRoll || (try? roll()) != nil)
    leading.recording.withLock {
      // Where it can't be told, whoever comes next takes this one for a writer that has ended in the middle.
      if isInOrder, leading.hasTold.load(ordering: .relaxed) { try? record(isHeld: false) }
      leading.isOn.store(false, ordering: .relaxed)
      try? membership.letGo()
    }
  }

  // MARK: Records

  /// Tells others up to where the log is published, if this process leads. Any thread.
  func publishRecord() throws(EngineError) {
    guard membership != nil else { return }
    try leading.recording.withLock { () throws(EngineError) in
      guard leading.isOn.load(ordering: .relaxed) else { return }
      do throws(FileSystemError) {
        try record(isHeld: true)
      } catch {
        throw EngineError.files(error, "other processes could not be told of the commit")
      }
    }
  }

  private func record(isHeld: Bool) throws(FileSystemError) {
    let record = ProcessRecord(
      identifier: log.identifier, leader: leading.name, isHeld: isHeld, end: log.settled,
      durable: durableForOthers, nextSegment: numbers.upcoming)
    let counter =
      if let memory = leading.records { ProcessPage.write(record, to: memory) } else {
        try membership?.page.write(record) ?? 0
      }
    leading.hasTold.store(true, ordering: .relaxed)
    leading.led.store(counter, ordering: .relaxed)
    leading.seen.store(counter, ordering: .relaxed)
  }

  /// A process without syncs has made nothing durable, whatever it takes for that itself.
  private var durableForOthers: LogPoint {
    options.durability == .none ? log.path.tail.first?.header.firstPoint ?? log.durable : log.durable
  }

  /// Tells others that this process leads, so that they look after the store if it ends. Before any file is changed.
  func tellLeading() throws(EngineError) {
    if membership != nil, !leading.hasTold.load(ordering: .relaxed) { try publishRecord() }
  }
}
