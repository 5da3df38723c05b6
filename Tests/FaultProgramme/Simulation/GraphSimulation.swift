import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The life of a library: changes in a context, saves, rollbacks, and faults.
final class GraphSimulation: Simulation {
  var random: SplitMix64
  let machine: Machine
  let trace: Trace
  var figures = Figures()
  private var ledger = PromiseLedger(GraphModel())
  private var container: PersistentContainer?
  /// The context that is changed, and its expected contents.
  private var context: ManagedObjectContext?
  private var model = GraphModel()
  private var changes = 0
  private var isDying = false
  /// Whether a crash followed lying syncs: the store may be refused as damaged.
  private var isInDoubt = false

  init(seed: UInt64, _ trace: Trace) {
    random = SplitMix64(seed: seed)
    self.trace = trace
    machine = Machine(seed: random.next(), &random)
  }

  func step() throws {
    guard container != nil else { return try beginAgain() }
    switch random.below(100) {
    case 0..<54: try change()
    case 54..<76: try save()
    case 76..<78: try rollBack()
    case 78..<82: try lookAround()
    case 82..<84: try compare()
    case 84..<86: try verify()
    case 86..<88: try close()
    case 88: try kill()
    case 89: try crash()
    case 90: try dieSoon()
    case 91: setClock()
    default: try turnOfFaults()
    }
  }

  // MARK: Expected errors

  @discardableResult
  private func tolerate(_ what: @autoclosure () -> String, _ body: () throws -> Void) throws
    -> HeartwoodError?
  {
    do {
      try body()
      trace.note(what())
      return nil
    } catch let error as HeartwoodError {
      trace.note("\(what()): \(error.code)")
      figures["errors"] += 1
      try require(
        isExcused(error),
        "an error without a cause: \(error), under it \(String(describing: error.underlying))")
      return error
    }
  }

  private func isExcused(_ error: HeartwoodError) -> Bool {
    // The context reports an object that could not be read, with the store's error as the cause.
    if let cause = error.underlying as? HeartwoodError { return isExcused(cause) }
    guard let cause = error.underlying as? EngineError else { return false }
    return cause.isInjected || (cause.code == .damaged && (machine.syncsHaveReverted || isInDoubt))
  }

  // MARK: The context

  private func change() throws {
    guard let context else { return }
    changes += 1
    guard let edit = random.drawEdit(of: model, changes) else { return trace.note("nothing to change") }
    let error = try tolerate(edit.words) { try context.performAndWait { try edit.apply(to: context) } }
    if error == nil { edit.apply(to: &model) } else { forgetChanges() }
  }

  /// Discards the context. Its contents are unknown after an error in the middle of a change.
  private func forgetChanges() {
    context = container?.newBackgroundContext()
    model = ledger.state
  }

  private func save() throws {
    guard let context else { return }
    let error = try tolerate("save") { try context.performAndWait { try context.save() } }
    if let error { return noteFailure(error) }
    if model != ledger.state { ledger.commit(model, isDurable: true) }
    figures["saves"] += 1
    if random.below(4) == 0, !isDying { try compare() }
  }

  /// Records a failed save. The context is unchanged and may be saved again, unless the store has stopped.
  private func noteFailure(_ error: HeartwoodError) {
    if error.isOutcomeUnknown || isDying {
      if !ledger.isLastOpen { ledger.leaveOpen(model) }
    }
    if random.below(2) == 0 { forgetChanges() }
  }

  private func rollBack() throws {
    guard let context else { return }
    context.performAndWait { context.rollback() }
    model = ledger.state
    trace.note("roll back")
    try compare()
  }

  /// Reads the current contents again, in the same context or in another one.
  private func lookAround() throws {
    guard let context else { return }
    if random.below(2) == 0 {
      context.performAndWait { context.refreshAllObjects() }
      trace.note("refresh")
    } else {
      self.context = container?.newBackgroundContext()
      model = ledger.state
      trace.note("another context")
    }
  }

  /// Checks that the context shows its changes, and a new context the saved state.
  private func compare() throws {
    guard let context, let other = container?.newBackgroundContext() else { return }
    let error = try tolerate("compare") {
      try Self.expect(model, in: context)
      try Self.expect(ledger.state, in: other)
    }
    if error != nil { forgetChanges() }
  }

  private static func expect(_ model: GraphModel, in context: ManagedObjectContext) throws {
    let found = try context.performAndWait { try GraphFacts(of: context).lines }
    let wanted = model.lines
    guard found != wanted else { return }
    let wrong = found.filter { !wanted.contains($0) }
    let missing = wanted.filter { !found.contains($0) }
    throw Finding(
      "the context shows\n\(wrong.joined(separator: "\n"))\nnot\n\(missing.joined(separator: "\n"))")
  }

  private func verify() throws {
    guard let container else { return }
    try tolerate("verify") {
      let report = try container.persistentStoreCoordinator.verify()
      let isExcused = machine.hasFailed || machine.syncsHaveReverted
      try require(report.isSound || isExcused, "not sound: \(report.findings)")
    }
  }

  // MARK: Ends

  private func close() throws {
    guard let closing = container else { return }
    leaveProcess()
    try tolerate("close") { try closing.close() }
  }

  private func kill() throws {
    trace.note("kill")
    figures["kills"] += 1
    machine.kill()
    leaveProcess()
  }

  private func crash() throws {
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

  private func leaveProcess() {
    container = nil
    context = nil
    isDying = false
  }

  private func dieSoon() throws {
    machine.use(random.drawEnd())
    isDying = true
    trace.note("the end: \(machine.files.plan)")
    if container == nil { try open() } else { try save() }
    if random.below(2) == 0 { try kill() } else { try crash() }
    machine.heal()
  }

  // MARK: Openings

  private func beginAgain() throws {
    if machine.isFailing, random.below(3) == 0 {
      machine.heal()
      trace.note("healed")
    }
    if random.below(8) == 0 { try dieSoon() } else { try open() }
  }

  private func open() throws {
    if machine.syncsHaveReverted { ledger.loseCache() }
    var options = GraphSession.options
    options.clock = machine.clock
    options.entropy = machine.entropy
    options.checkpointBytes = (64 << 10) << random.below(3)
    do {
      let error = try tolerate("open") {
        let opened = try GraphSession.open(machine.files, options: options)
        try settle(opened)
        container = opened
        forgetChanges()
      }
      if let cause = error?.underlying as? EngineError, cause.code == .damaged { try loseStore() }
    } catch let finding as Finding where isInDoubt {
      trace.note("in doubt: \(finding)")
      try require(!finding.description.hasPrefix(Self.wrongState), finding.description)
      try loseStore()
    }
  }

  private static let wrongState = "the store shows"

  private func settle(_ opened: PersistentContainer) throws {
    let context = opened.newBackgroundContext()
    let lines = try context.performAndWait { try GraphFacts(of: context).lines }
    let found = ledger.generations.indices.reversed().first { generation in
      generation >= ledger.floor && ledger.generations[generation].lines == lines
    }
    guard let found else {
      throw Finding(
        "\(Self.wrongState)\n\(lines.joined(separator: "\n"))\nthe newest is\n"
          + ledger.state.lines.joined(separator: "\n"))
    }
    if isInDoubt || random.below(3) == 0 {
      let report = try opened.persistentStoreCoordinator.verify()
      try require(report.isSound, "not sound: \(report.findings)")
    }
    figures["reopenings"] += 1
    ledger.resume(at: found)
    machine.noteOpening()
    isInDoubt = false
  }

  private func loseStore() throws {
    guard isInDoubt else { return }
    figures["stores lost to lying syncs"] += 1
    trace.note("lost")
    leaveProcess()
    machine.beginAnew(seed: random.next())
    ledger = PromiseLedger(GraphModel())
    isInDoubt = false
  }

  // MARK: End

  func end() throws {
    trace.note("the end")
    if random.below(2) == 0 { try crash() }
    machine.heal()
    try close()
    while container == nil { try open() }
    try compare()
    try verify()
    try close()
    try require(machine.disk.openFileCount == 0, "\(machine.disk.openFileCount) files are still open")
    try require(machine.disk.lockCount == 0, "\(machine.disk.lockCount) locks are still held")
  }
}
