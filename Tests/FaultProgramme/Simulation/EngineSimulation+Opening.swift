import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

extension EngineSimulation {
  // MARK: Ends

  func close() throws {
    guard let closing = engine else { return }
    let unsafe = options.durability == .none
    let isStopped = Self.isStopped(closing)
    let error = try tolerate("close") { try closing.close() }
    // The store is closed even if `close` throws. Closing may have compacted it.
    if error == nil, !isDying, !ledger.isLastOpen { noteMoves() } else { allowMoves() }
    engine = nil
    wasClosedCleanly = error == nil && !isStopped
    if error == nil, !unsafe { ledger.settle() }
  }

  /// Whether a sync has failed, possibly without an error to any caller.
  private static func isStopped(_ engine: Engine) -> Bool {
    do {
      try engine.write { _ in }
      return false
    } catch {
      return true
    }
  }

  func kill() throws {
    trace.note("kill")
    figures["kills"] += 1
    machine.kill()
    leaveProcess()
  }

  func crash() throws {
    // Without syncs the death of the machine would leave no guarantees, so it is shut down cleanly instead.
    if isUnsafe {
      try kill()
      return machine.flush()
    }
    figures["crashes"] += 1
    let isDoubtful = machine.syncsHaveLied
    trace.note("crash: \(machine.crash(&random))")
    leaveProcess()
    ledger.loseCache()
    if isDoubtful {
      isInDoubt = true
      ledger.doubt()
    }
    if random.below(2) == 0 { machine.heal() }
  }

  /// Allows for moves of values by the engine itself.
  private func allowMoves() {
    guard engine != nil, options.givesBackSoon, !ledger.isLastOpen else { return }
    leaveMovesOpen()
  }

  private func leaveMovesOpen() {
    for _ in 0..<Self.mostMoves { ledger.leaveOpen(ledger.rows) }
  }

  private func leaveProcess() {
    allowMoves()
    engine = nil
    held = []
    isDying = false
    wasClosedCleanly = false
  }

  // MARK: Openings

  func beginAgain() throws {
    if random.below(5) == 0 { try lookWithoutWriting() }
    if machine.isFailing, random.below(4) == 0 {
      machine.heal()
      trace.note("healed")
    }
    // Before the options are drawn, because some of them depend on the possible states.
    if machine.syncsHaveReverted { loseCache() }
    options = drawOptions()
    if random.below(8) == 0 { try dieInRecovery() } else { try open() }
  }

  private func dieInRecovery() throws {
    machine.use(random.drawEnd())
    trace.note("the end while opening: \(machine.files.plan)")
    isDying = true
    try open()
    if random.below(2) == 0 { try kill() } else { try crash() }
    machine.heal()
  }

  private func drawOptions() -> EngineOptions {
    var drawn = Session.options
    drawn.clock = machine.clock
    drawn.entropy = machine.entropy
    drawn.segmentBytes = (64 << 10) << random.below(4)
    drawn.checkpointBytes = (64 << 10) << random.below(5)
    drawn.durability = random.pick([.full, .full, .full, .full, .full, .deferred, .deferred, .none])
    if random.below(3) == 0 { drawn.arenaBytes = 20_000 << random.below(4) }
    if random.below(3) == 0 {
      drawn.toleratedGarbage = 1_000 << random.below(5)
      (drawn.segmentBytes, drawn.checkpointBytes) = (64 << 10, 64 << 10)
    }
    // Moves by an opening can only be distinguished from other transactions if the state to be found is
    // known.
    let isKnown = ledger.floor == ledger.generations.count - 1
    if isKnown, random.below(3) == 0 { drawn.toleratedSmallFiles = random.below(6) }
    return drawn
  }

  func open() throws {
    if machine.syncsHaveReverted { loseCache() }
    isUnsafe = isUnsafe || options.durability == .none
    if isUnsafe { machine.noteReliance() }
    if options.toleratedSmallFiles != .max {
      leaveMovesOpen()
      hasReclaimed = true
    }
    do {
      let error = try tolerate("open with durability \(options.durability)") {
        let opened = try Engine(at: Session.path, options: options, fileSystem: machine.files)
        try settle(opened)
        engine = opened
      }
      if error?.code == .damaged { try loseStore() }
    } catch let finding as Finding where isInDoubt {
      trace.note("in doubt: \(finding)")
      try require(!finding.description.hasPrefix(Self.wrongState), finding.description)
      try loseStore()
    }
  }

  private func loseCache() {
    ledger.loseCache()
    guard isUnsafe else { return }
    isInDoubt = true
    ledger.doubt()
  }

  private static let wrongState = "opened at generation"

  /// Checks that the store is in an allowed state and completely readable.
  private func settle(_ opened: Engine) throws {
    let generation = Int(opened.newestGeneration.rawValue)
    let rows = try Session.rows(of: opened)
    try require(
      ledger.allows(generation, rows),
      "\(Self.wrongState) \(generation) with \(rows.summary); possible are \(ledger.floor) to "
        + "\(ledger.generations.count - 1), generation \(ledger.newest) is \(ledger.rows.summary)")
    if isInDoubt || random.below(4) == 0 {
      let findings = try findings(of: opened)
      try require(findings.isEmpty, "not sound: \(findings)")
    }
    figures["reopenings"] += 1
    ledger.resume(at: generation, hasMoved: options.toleratedSmallFiles != .max)
    machine.noteOpening()
    isMade = true
    isInDoubt = false
    isUnsafe = options.durability == .none
    hasReclaimed = hasReclaimed || options.givesBackSoon
    wasClosedCleanly = false
  }

  /// Starts another store if the old one is refused as damaged after lying syncs.
  private func loseStore() throws {
    guard isInDoubt else { return }
    figures["stores lost to lying syncs"] += 1
    trace.note("lost")
    held = []
    engine = nil
    machine.beginAnew(seed: random.next())
    ledger = PromiseLedger<Rows>()
    (isInDoubt, isMade, hasReclaimed, isUnsafe) = (false, false, false, false)
  }

  /// Checks that opening read-only shows a complete state and changes no byte.
  private func lookWithoutWriting() throws {
    var reading = drawOptions()
    reading.access = .readOnly
    let before = machine.disk.digest
    do {
      try tolerate("look without writing") {
        let reader = try Engine(at: Session.path, options: reading, fileSystem: machine.files)
        let generation = Int(reader.newestGeneration.rawValue)
        let rows = try Session.rows(of: reader)
        let hidden = try reader.statistics().unrecoveredTransactions
        try reader.close()
        try require(
          ledger.generations.indices.contains(generation) && ledger.generations[generation] == rows,
          "read only it shows \(rows.summary) as generation \(generation)")
        try require(
          !wasClosedCleanly || generation == ledger.newest && hidden == 0,
          "read only, a store that was closed is at \(generation) with \(hidden) hidden, not \(ledger.newest)"
        )
      }
    } catch let finding as Finding {
      guard isRefusedRightly(finding) else { throw finding }
    }
    try require(before == machine.disk.digest, "opened to read only, the store has changed")
  }

  private func isRefusedRightly(_ finding: Finding) -> Bool {
    (!isMade || isInDoubt) && finding.description.hasPrefix("an error without a cause")
  }

  /// Checks that an open store can't be opened exclusively.
  func openTwice() throws {
    guard engine != nil else { return }
    var other = drawOptions()
    // No process closes the store meanwhile, so waiting would be useless.
    (other.sharing, other.busyTimeout) = (.exclusive, 0)
    do {
      let second = try Engine(at: Session.path, options: other, fileSystem: machine.anotherProcess())
      throw Finding("the store is open twice, the second time at \(second.newestGeneration)")
    } catch let error as EngineError {
      trace.note("open twice: \(error.code)")
      try require(error.code == .locked || error.isInjected, "opened twice, it says \(error)")
    }
  }

  // MARK: End

  /// Closes and reopens everything without faults, and checks that the store is complete and no other files
  /// are left.
  func end() throws {
    trace.note("the end")
    if random.below(2) == 0 { try crash() }
    machine.heal()
    try close()
    held = []
    options = Session.options
    options.entropy = machine.entropy
    while engine == nil { try open() }
    if let engine {
      let report = try engine.verify()
      try require(report.isSound, "in the end not sound: \(report.findings)")
    }
    try compareAll()
    try close()
    try require(machine.disk.openFileCount == 0, "\(machine.disk.openFileCount) files are still open")
    try require(machine.disk.lockCount == 0, "\(machine.disk.lockCount) locks are still held")
    var checker = StoreChecker(promise: ledger.promise)
    checker.everyGeneration = max(1, ledger.newest / 8)
    try checker.check(machine.disk)
    figures["generations"] += ledger.newest
  }
}

extension EngineOptions {
  /// Whether automatic reclamation can start in a store as small as those here.
  var givesBackSoon: Bool { reclamation == .automatic && toleratedGarbage < 1 << 20 }
}
